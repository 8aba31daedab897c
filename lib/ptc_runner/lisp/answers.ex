defmodule PtcRunner.Lisp.Answers do
  @moduledoc false
  # The built-ins that a run asks Elixir for: formats, regular expressions, JSON, dates. Their numbers of arguments were checked.
  #
  # An answer is `{true, value}`, or `{false, reason, text}` for an error of the program, whose words `PtcRunner.Lisp.FaultWords`
  # completes.

  alias PtcRunner.Json.Deadline
  alias PtcRunner.Lisp.Answers.{Dates, Format, Json, Patterns, Regexes}
  alias PtcRunner.Lisp.Words

  @typedoc "What a run is resumed with, or the limit that it has exceeded."
  @type answer ::
          {true, term()}
          | {false, reason :: String.t(), text :: String.t()}
          | {:error, :timeout | :memory_exceeded}

  @typedoc "The milliseconds and the words that are left."
  @type limits :: {timeout(), non_neg_integer()}

  @json ["json/parse-string", "json/parse-lines", "json/generate-string"]
  @regexes ["re-pattern", "re-find", "re-matches", "re-seq", "re-split", "extract", "extract-int"]
  @clock ["java.util.Date.", "System/currentTimeMillis"]
  @regexes_in_texts ["split", "replace"]

  @doc """
  Evaluates a built-in. `patterns` are the regular expressions that the run has compiled; `now` is the time of a run that has one.

      iex> alias PtcRunner.Lisp.Answers
      iex> {answer, _patterns} = Answers.answer("format", ["%.1f%%", 12.34], {1_000, 0}, %{})
      iex> answer
      {true, "12.3%"}

      iex> alias PtcRunner.Lisp.Answers
      iex> {answer, _patterns} = Answers.answer("re-find", ["a", "b"], {1_000, 0}, %{})
      iex> answer
      {false, "type_error", "re-find: invalid argument types: string, string"}

  """
  @spec answer(String.t(), [term()], limits(), Patterns.t(), now :: String.t() | nil) ::
          {answer(), Patterns.t()}
  def answer(name, args, limits, patterns, now \\ nil)

  def answer("format", args, _limits, patterns, _now), do: {Format.answer(args), patterns}

  def answer(name, args, limits, patterns, _now) when name in @json,
    do: {Json.answer(name, args, limits), patterns}

  def answer(name, args, {timeout, max_heap}, patterns, _now)
      when name in @regexes or name in @regexes_in_texts,
      do: Regexes.answer(name, args, {Deadline.from_now(timeout), max_heap}, patterns)

  def answer(name, [], _limits, patterns, now) when name in @clock and now != nil,
    do: {Dates.at(name, now), patterns}

  def answer(name, args, _limits, patterns, _now), do: {Dates.answer(name, args), patterns}

  @doc """
  The error of arguments that a built-in cannot take.

      iex> PtcRunner.Lisp.Answers.invalid_types("re-find", [nil, 1])
      {false, "type_error", "re-find: invalid argument types: nil, number"}

  """
  @spec invalid_types(String.t(), [term()]) :: answer()
  def invalid_types(name, args),
    do: type_error("#{name}: invalid argument types: #{Enum.map_join(args, ", ", &Words.type/1)}")

  @doc "An error of the kind `type_error`."
  @spec type_error(String.t()) :: answer()
  def type_error(text), do: {false, "type_error", text}

  @doc "An error of the kind `runtime_error`."
  @spec runtime_error(String.t()) :: answer()
  def runtime_error(text), do: {false, "runtime_error", text}
end

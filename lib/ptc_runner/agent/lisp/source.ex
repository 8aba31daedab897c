defmodule PtcRunner.Agent.Lisp.Source do
  @moduledoc false
  # From the text of an answer to a compiled program of PTC-Lisp: in a fence, or bare.

  alias PtcRunner.Agent.Candidates
  alias PtcRunner.Agent.Lisp.{Fences, Told}
  alias PtcRunner.Agent.Thinking
  alias PtcRunner.Lisp.{ErrorPlace, Given, Preparing, Program, Remembered}
  alias PtcRunner.Options

  @type result ::
          {:ok, Program.t(), warnings :: [String.t()]}
          | {:error, {atom(), String.t()}, feedback :: String.t()}

  @none "The answer has no program of PTC-Lisp"

  @doc """
  See `PtcRunner.Agent.program/2`; the options are already validated.

      iex> {:ok, program, []} = PtcRunner.Agent.Lisp.Source.read("Here:\\n```clojure\\n(+ 1 2)\\n```", [])
      iex> program.source
      "(+ 1 2)\\n"

  """
  @spec read(String.t(), keyword()) :: result()
  def read(text, opts) do
    given = opts |> Options.given([:timeout, :max_heap]) |> Given.read()
    compile = &compiled(&1, given, Given.limits(given))
    text = Thinking.blanked(text)

    case found(text, compile, Keyword.get(opts, :memory, %{})) do
      {:ok, program, warnings} -> {:ok, program, warnings}
      {:error, {reason, message, at}} -> invalid({reason, message}, at)
      {:error, error} -> invalid(error, nil)
    end
  end

  defp invalid(error, at), do: {:error, error, Told.invalid(error, at)}

  defp compiled(source, given, limits) do
    case Preparing.compiled(source, given, limits) do
      {:ok, program, _signature} ->
        {:ok, program}

      # Its message says where it is.
      {:error, :parse_error, message, _at} ->
        {:error, {:parse_error, message, nil}}

      {:error, reason, message, at} ->
        at = ErrorPlace.of_problem(source, at)
        {:error, {reason, message, at && ErrorPlace.line_of(source, at)}}

      {:error, limit} ->
        {:error, {limit, "the program could not be compiled within the limits", nil}}
    end
  end

  defp found(text, compile, memory) do
    if String.valid?(text) do
      case Fences.programs(text) do
        [] -> bare(text, compile, memory)
        [fence] -> fenced(fence, compile)
        fences -> several(fences, text, compile)
      end
    else
      {:error, {:parse_error, "The answer is not UTF-8"}}
    end
  end

  defp fenced(%{text: source, closed?: closed?}, compile) do
    case compile.(source) do
      {:ok, program} ->
        if String.trim(source) == "",
          do: {:error, {:parse_error, @none}},
          else: {:ok, program, []}

      {:error, {reason, message, _at}} when not closed? ->
        {:error, {reason, "#{message}. The answer ends inside of its fence: it was cut off"}}

      error ->
        error
    end
  end

  # The last one counts if the words before it take back the one before.
  defp several(fences, text, compile) do
    case Enum.uniq_by(fences, &String.trim(&1.text)) do
      [fence] ->
        fenced(fence, compile)

      different ->
        [last, before | _] = Enum.reverse(different)

        if Candidates.corrects?(text, before.span, last.span) do
          with {:ok, program, warnings} <- fenced(last, compile),
               do: {:ok, program, ["took the last of #{length(different)} programs" | warnings]}
        else
          {:error,
           {:parse_error, "The answer has #{length(different)} different programs. Write one"}}
        end
    end
  end

  # Without a fence: the whole text, or what begins with a bracket and ends with one.
  defp bare(text, compile, memory) do
    whole = String.trim(text)

    with {:ok, program} <- compile.(whole),
         true <- whole != "" and names?(program, memory) do
      {:ok, program, []}
    else
      _prose -> form(whole, compile)
    end
  end

  defp form(text, compile) do
    case Fences.form(text) do
      nil ->
        {:error, {:parse_error, @none}}

      source ->
        with {:ok, program} <- compile.(source) do
          warnings =
            if source == text, do: [], else: ["took the program without the text around it"]

          {:ok, program, warnings}
        end
    end
  end

  # A sentence is a row of symbols that mean nothing.
  defp names?(%Program{names: %{unbound: unbound}}, memory),
    do: Enum.all?(unbound, &(Remembered.fetch(memory, &1) != :error))
end

defmodule PtcRunner.Lisp.Answers.Patterns do
  @moduledoc false
  # Regular expressions: compiled once in a run, and searched under limits.
  #
  # A search goes from match to match, as `:re.run/3` with `:global` does, and looks at the clock between two of them. The steps of the
  # matcher from one place of the text are limited. From many places it may take seconds: see `PtcRunner.Lisp.Answers.Search`.

  @typedoc "What a run has compiled, by source; `{:whole, source}` matches only whole texts."
  @type t :: %{optional(String.t() | {:whole, String.t()}) => tuple()}

  @typedoc "The places of a match and its groups in the text."
  @type match :: [{integer(), non_neg_integer()}]

  @options [:unicode, :ucp]
  @limits [:report_errors, match_limit: 100_000, match_limit_recursion: 1_000]

  # The most patterns that a run keeps, and the most bytes of one.
  @kept 100
  @most_bytes 256

  @doc "The maximum number of bytes of a pattern."
  @spec most_bytes() :: pos_integer()
  def most_bytes, do: @most_bytes

  @doc """
  Compiles a pattern, or says what is wrong with it, and where.

      iex> {:ok, _compiled} = PtcRunner.Lisp.Answers.Patterns.compile("a+")
      iex> PtcRunner.Lisp.Answers.Patterns.compile("a{2,1}")
      {:error, {"numbers out of order in {} quantifier", 5}}

  """
  @spec compile(String.t()) ::
          {:ok, tuple()} | {:error, {String.t(), non_neg_integer()} | :too_long}
  def compile(source) when byte_size(source) > @most_bytes, do: {:error, :too_long}

  def compile(source) do
    case :re.compile(source, @options) do
      {:ok, compiled} -> {:ok, compiled}
      {:error, {text, place}} -> {:error, {List.to_string(text), place}}
    end
  rescue
    ArgumentError -> {:error, {"the pattern is not valid UTF-8", 0}}
  end

  @doc "The compiled pattern of a source, and what the run has compiled then."
  @spec compiled(String.t() | {:whole, String.t()}, t()) :: {:ok, tuple(), t()} | {:error, term()}
  def compiled(key, patterns) when is_map_key(patterns, key),
    do: {:ok, :erlang.map_get(key, patterns), patterns}

  def compiled(key, patterns) do
    with {:ok, compiled} <- compile_key(key) do
      kept = if map_size(patterns) < @kept, do: patterns, else: %{}
      {:ok, compiled, Map.put(kept, key, compiled)}
    end
  end

  # A pattern that does not match the whole text at first may do so by another alternative.
  defp compile_key({:whole, source}) do
    with {:ok, _alone} <- compile(source) do
      case :re.compile("\\A(?:#{source})\\z", @options) do
        {:ok, compiled} -> {:ok, compiled}
        # A comment at the end of an extended pattern.
        {:error, _closed} -> :re.compile("\\A(?:#{source}\n)\\z", @options)
      end
    end
  end

  defp compile_key(source), do: compile(source)

  @doc """
  The first match; `nil` if there is none.

      iex> alias PtcRunner.Lisp.Answers.Patterns
      iex> {:ok, compiled} = Patterns.compile("(a)|(b)")
      iex> Patterns.first("xb", compiled)
      {:ok, [{1, 1}, {-1, 0}, {1, 1}]}

  """
  @spec first(String.t(), tuple(), non_neg_integer(), [atom()]) ::
          {:ok, match() | nil} | {:error, atom()}
  def first(text, compiled, from \\ 0, options \\ []) do
    case :re.run(text, compiled, [{:offset, from}, {:capture, :all, :index} | options] ++ @limits) do
      {:match, match} -> {:ok, match}
      :nomatch -> {:ok, nil}
      {:error, _limit} -> {:error, :too_complex}
    end
  rescue
    ArgumentError -> {:error, :not_utf8}
  end

  @doc """
  All matches, one after another. `until`: the time at which the search ends, in milliseconds.

      iex> alias PtcRunner.Lisp.Answers.Patterns
      iex> {:ok, compiled} = Patterns.compile("")
      iex> Patterns.all("ab", compiled, :infinity)
      {:ok, [[{0, 0}], [{1, 0}], [{2, 0}]]}

  """
  @spec all(String.t(), tuple(), integer() | :infinity) :: {:ok, [match()]} | {:error, atom()}
  def all(text, compiled, until), do: from(text, 0, compiled, until, [])

  defp from(text, place, _compiled, _until, found) when place > byte_size(text),
    do: {:ok, Enum.reverse(found)}

  defp from(text, place, compiled, until, found) do
    with :ok <- in_time(until),
         {:ok, [{start, length} | _] = match} <- first(text, compiled, place) do
      if length > 0,
        do: from(text, start + length, compiled, until, [match | found]),
        else: after_empty(text, start, compiled, until, [match | found])
    else
      {:ok, nil} -> {:ok, Enum.reverse(found)}
      error -> error
    end
  end

  # After an empty match, there may be another one at the same place that is not empty.
  defp after_empty(text, place, compiled, until, found) do
    case first(text, compiled, place, [:notempty_atstart, :anchored]) do
      {:ok, [{start, length} | _] = match} ->
        from(text, start + length, compiled, until, [match | found])

      {:ok, nil} ->
        from(text, place + next(text, place), compiled, until, found)

      error ->
        error
    end
  end

  defp next(text, place) when place < byte_size(text) do
    case binary_part(text, place, byte_size(text) - place) do
      <<char::utf8, _::binary>> -> byte_size(<<char::utf8>>)
      _no_character -> 1
    end
  end

  defp next(_text, _end), do: 1

  defp in_time(:infinity), do: :ok

  defp in_time(until),
    do: if(System.monotonic_time(:millisecond) < until, do: :ok, else: {:error, :timeout})
end

defmodule PtcRunner.Lisp.ErrorPlace do
  @moduledoc false
  # Where in the text of a program an error is.
  #
  # A run that fails tells the addresses of its instructions, whose place the program knows. An error before the run has its place in itself.

  alias PtcRunner.CLI.Place
  alias PtcRunner.Json.Explain.Format
  alias PtcRunner.Lisp.Program

  # Characters of a part that are shown.
  @shown 80

  # A string or a regular expression, a comment, or a symbol.
  @tokens ~r/"(?:[^"\\]|\\.)*"|;[^\n]*|[A-Za-z0-9+\-*\/<>=?!_%.&']+/s

  @typedoc "Addresses of a run that has failed, the innermost first."
  @type addresses :: [non_neg_integer()]

  @typedoc "Offset and length in bytes, of a text."
  @type range :: {non_neg_integer(), non_neg_integer()}

  @typedoc "Line and column, from 1, in characters; offset and length in bytes."
  @type t :: %{
          line: pos_integer(),
          column: pos_integer(),
          offset: non_neg_integer(),
          length: non_neg_integer()
        }

  @doc """
  An error of a run, and where the run was.

      iex> PtcRunner.Lisp.ErrorPlace.split({:error, {:at, [7], {:tool_failed, "Tool 'find' failed: no"}}})
      {{:error, {:tool_failed, "Tool 'find' failed: no"}}, [7]}

      iex> PtcRunner.Lisp.ErrorPlace.split({:error, :timeout})
      {{:error, :timeout}, []}

  """
  @spec split(term()) :: {term(), addresses()}
  def split({:error, {:at, at, fault}}), do: {{:error, fault}, at}
  def split(outcome), do: {outcome, []}

  @doc """
  The place in a program that a run of it was at: the innermost part of its text. `nil` if the run was at none, or if the program cannot be compiled
  again within its limits.

      iex> {:ok, program} = PtcRunner.Lisp.Program.build("(+ 1 2)", [], [], {1_000, 0})
      iex> PtcRunner.Lisp.ErrorPlace.of_run(program, [], {1_000, 0})
      nil

  """
  @spec of_run(Program.t(), addresses(), Program.limits()) :: t() | nil
  def of_run(_program, [], _limits), do: nil

  def of_run(%Program{source: source} = program, at, limits) do
    range = Program.place(program, at, limits)
    if range, do: place(source, range)
  end

  @doc """
  The place of an error that a program has before it runs.

      iex> PtcRunner.Lisp.ErrorPlace.of_problem("(map inc\\n  (if))", {11, 4})
      %{line: 2, column: 3, offset: 11, length: 4}

      iex> PtcRunner.Lisp.ErrorPlace.of_problem("(+ 1 ;totl\\n totl)", {:names, ["totl"]})
      %{line: 2, column: 2, offset: 12, length: 4}

      iex> PtcRunner.Lisp.ErrorPlace.of_problem("(tool/find {})", {:names, ["x", "tool/find"]})
      %{line: 1, column: 2, offset: 1, length: 9}

      iex> PtcRunner.Lisp.ErrorPlace.of_problem("(/ 1 0)", nil)
      nil

  """
  @spec of_problem(String.t(), Program.at()) :: t() | nil
  def of_problem(_text, nil), do: nil

  # Of these names, the one that stands first.
  def of_problem(text, {:names, names}) do
    range =
      @tokens
      |> Regex.scan(text, return: :index)
      |> Enum.find_value(fn [{at, length}] ->
        if binary_part(text, at, length) in names, do: {at, length}
      end)

    if range, do: place(text, range)
  end

  def of_problem(text, range), do: place(text, range)

  defp place(text, {offset, length}) do
    {line, column} = Place.line_and_column(text, offset)
    %{line: line, column: column, offset: offset, length: length}
  end

  @doc """
  One line for a model or a person: where the error of a run is, from what the run has used, and the text there. `nil` if that is not known.

      iex> {:error, step} = PtcRunner.Lisp.run("(+ 1\\n   (/ 1 0))")
      iex> PtcRunner.Lisp.ErrorPlace.line("(+ 1\\n   (/ 1 0))", step.usage)
      "at line 2, column 4: (/ 1 0)"

      iex> PtcRunner.Lisp.ErrorPlace.line("(+ 1 2)", %{})
      nil

  """
  @spec line(String.t(), map() | nil) :: String.t() | nil
  def line(text, %{error_at: at}), do: line_of(text, at)
  def line(_text, _usage), do: nil

  @doc """
  The line of `line/2` for an error at this place.

      iex> PtcRunner.Lisp.ErrorPlace.line_of("(if)", %{line: 1, column: 1, offset: 0, length: 4})
      "at line 1, column 1: (if)"

  """
  @spec line_of(String.t(), t()) :: String.t()
  def line_of(text, %{line: line, column: column, offset: offset, length: length}),
    do:
      "at line #{line}, column #{column}: #{Format.line(binary_part(text, offset, length), @shown)}"
end

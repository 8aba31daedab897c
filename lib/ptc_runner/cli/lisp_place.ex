defmodule PtcRunner.CLI.LispPlace do
  @moduledoc false
  # Finds where an error is in the text of a program of PTC-Lisp.

  alias PtcRunner.Lisp.{Names, Program}

  # A string or a regular expression, a comment, or a symbol.
  @tokens ~r/"(?:[^"\\]|\\.)*"|;[^\n]*|[A-Za-z0-9+\-*\/<>=?!_%.&']+/s
  @limits {5_000, 0}

  @typedoc "Offset and length in bytes, of a text."
  @type range :: {non_neg_integer(), non_neg_integer()}

  @doc """
  The range of an error that a program has before it runs; `nil` for the errors of a run.

      iex> PtcRunner.CLI.LispPlace.of("(map inc\\n  (if))", %{reason: :invalid_arity}, %{}, [])
      {11, 4}

      iex> PtcRunner.CLI.LispPlace.of("(+ 1 ;totl\\n totl)", %{reason: :unbound_var}, %{}, [])
      {12, 4}

      iex> PtcRunner.CLI.LispPlace.of("(tool/find {})", %{reason: :unknown_tool}, %{}, ["search"])
      {1, 9}

      iex> PtcRunner.CLI.LispPlace.of("(/ 1 0)", %{reason: :arithmetic_error}, %{}, [])
      nil

  """
  @spec of(binary(), %{:reason => atom(), optional(atom()) => term()}, map(), [String.t()]) ::
          range() | nil
  def of(text, %{reason: reason}, memory, tools) do
    case Program.problem(text, @limits) do
      {_start, _length} = range -> range
      nil when reason in [:unbound_var, :unknown_tool] -> named(text, memory, tools)
      nil -> nil
    end
  end

  # Of the names that are not known, the one that stands first.
  defp named(text, memory, tools) do
    with {:ok, program} <- Program.build(text, [], [], @limits) do
      {unbound, unknown} = Names.unknown(program, memory, tools)
      wrong = MapSet.new(unbound ++ Enum.map(unknown, &("tool/" <> &1)))

      @tokens
      |> Regex.scan(text, return: :index)
      |> Enum.find_value(fn [{at, length}] ->
        if binary_part(text, at, length) in wrong, do: {at, length}
      end)
    else
      _error -> nil
    end
  end
end

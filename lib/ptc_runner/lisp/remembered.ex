defmodule PtcRunner.Lisp.Remembered do
  @moduledoc false
  # The functions that a program finds in its memory, as data: they are compiled together with it.
  #
  # Only the values of names that the program mentions are looked at, and those of the names that their functions mention.

  alias PtcRunner.Json.Deadline
  alias PtcRunner.Lisp.Function

  @typedoc "The text of a function, and the sorted names of what it has captured."
  @type found :: {String.t(), [String.t()]}

  # So many parts of the memory are looked at between two looks at the clock.
  @parts 10_000

  # How programs read the results of earlier turns.
  @history ["*1", "*2", "*3"]

  @doc """
  The value of a name in a memory, whose keys are texts or atoms.

      iex> PtcRunner.Lisp.Remembered.fetch(%{"a" => 1, count: 2}, "count")
      {:ok, 2}

      iex> PtcRunner.Lisp.Remembered.fetch(%{"a" => 1}, "b")
      :error

  """
  @spec fetch(map(), String.t()) :: {:ok, term()} | :error
  def fetch(memory, name) when is_map_key(memory, name), do: Map.fetch(memory, name)

  def fetch(memory, name) do
    Map.fetch(memory, String.to_existing_atom(name))
  rescue
    _no_atom in [ArgumentError, SystemLimitError] -> :error
  end

  @doc """
  Whether a program may read the results of earlier ones: a text that has their names only in a string counts, too.

      iex> Enum.map(["(inc *1)", "(* 1 2)"], &PtcRunner.Lisp.Remembered.reads_history?/1)
      [true, false]

  """
  @spec reads_history?(String.t()) :: boolean()
  def reads_history?(source), do: :binary.match(source, @history) != :nomatch

  @doc """
  The names of these that the memory has.

      iex> PtcRunner.Lisp.Remembered.known(%{"map" => 1}, ["map", "count"])
      ["map"]

  """
  @spec known(map(), [String.t()]) :: [String.t()]
  def known(memory, _names) when memory == %{}, do: []
  def known(memory, names), do: Enum.filter(names, &(fetch(memory, &1) != :error))

  @doc """
  The functions in the values of names, each once. `:timeout` if that takes longer than the timeout: a value that is made of the same parts again and again is
  walked like its copy.

      iex> alias PtcRunner.Lisp.{Function, Remembered}
      iex> memory = %{"f" => [%Function{kind: :closure, source: "(fn [] x)", captured: %{"x" => 1}}], "g" => 5}
      iex> Remembered.functions(memory, [], ["f", "g"], "(f)", 1_000)
      {:ok, [{"(fn [] x)", ["x"]}]}

      iex> tree = Enum.reduce(1..60, 1, fn _, tree -> [tree, tree] end)
      iex> PtcRunner.Lisp.Remembered.functions(%{"tree" => tree}, [], ["tree"], "tree", 10)
      {:error, :timeout}

  """
  @spec functions(map(), [term()], [String.t()], String.t(), timeout()) ::
          {:ok, [found()]} | {:error, :timeout}
  def functions(memory, [], _names, _source, _timeout) when memory == %{}, do: {:ok, []}

  def functions(memory, history, names, source, timeout) do
    values = for name <- names, {:ok, value} <- [fetch(memory, name)], do: value
    past = if history != [] and reads_history?(source), do: Enum.take(history, 3), else: []
    {found, _left, _deadline} = find([values | past], {%{}, @parts, Deadline.from_now(timeout)})
    {:ok, found |> Map.keys() |> Enum.sort()}
  catch
    :overdue -> {:error, :timeout}
  end

  defp counted({found, 0, deadline}) do
    # Any number is less than an atom.
    if System.monotonic_time(:millisecond) > deadline, do: throw(:overdue)
    {found, @parts, deadline}
  end

  defp counted({found, left, deadline}), do: {found, left - 1, deadline}

  # Returns what was found with this, the parts until the next look at the clock, and the deadline.
  defp find([item | rest], state), do: find(rest, find(item, counted(state)))

  defp find(
         %Function{kind: :closure, source: source, captured: captured},
         {found, left, deadline}
       )
       when is_binary(source) and is_map(captured) do
    names = captured |> Map.keys() |> Enum.sort()

    if Enum.all?(names, &is_binary/1),
      do: find(:maps.values(captured), {Map.put(found, {source, names}, true), left, deadline}),
      else: {found, left, deadline}
  end

  defp find(%Function{captured: captured}, state) when is_map(captured),
    do: find(:maps.values(captured), state)

  # A struct of this name may be anything.
  defp find(%MapSet{map: members}, state) when is_map(members),
    do: members |> Map.keys() |> find(state)

  defp find(%_struct{}, state), do: state
  defp find(map, state) when is_map(map), do: map |> :maps.values() |> find(state)
  defp find(_other, state), do: state
end

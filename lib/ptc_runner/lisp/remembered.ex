defmodule PtcRunner.Lisp.Remembered do
  @moduledoc false
  # The functions that a program finds in its memory, as data: they are compiled together with it.
  #
  # Only the values of names that the program mentions are looked at, and those of the names that their functions mention.

  alias PtcRunner.Lisp.Function

  @typedoc "The text of a function, and the sorted names of what it has captured."
  @type found :: {String.t(), [String.t()]}

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
  The names of these that the memory has.

      iex> PtcRunner.Lisp.Remembered.known(%{"map" => 1}, ["map", "count"])
      ["map"]

  """
  @spec known(map(), [String.t()]) :: [String.t()]
  def known(memory, _names) when memory == %{}, do: []
  def known(memory, names), do: Enum.filter(names, &(fetch(memory, &1) != :error))

  @doc """
  The functions in the values of names, each once.

      iex> alias PtcRunner.Lisp.{Function, Remembered}
      iex> memory = %{"f" => [%Function{kind: :closure, source: "(fn [] x)", captured: %{"x" => 1}}], "g" => 5}
      iex> Remembered.functions(memory, [], ["f", "g"], "(f)")
      [{"(fn [] x)", ["x"]}]

  """
  @spec functions(map(), [term()], [String.t()], String.t()) :: [found()]
  def functions(memory, [], _names, _source) when memory == %{}, do: []

  def functions(memory, history, names, source) do
    values = for name <- names, {:ok, value} <- [fetch(memory, name)], do: value
    past = if history != [] and reads_history?(source), do: Enum.take(history, 3), else: []

    [values | past] |> find(%{}) |> Map.keys() |> Enum.sort()
  end

  defp reads_history?(source), do: :binary.match(source, @history) != :nomatch

  defp find([item | rest], found), do: find(rest, find(item, found))

  defp find(%Function{kind: :closure, source: source, captured: captured}, found)
       when is_binary(source) and is_map(captured) do
    names = captured |> Map.keys() |> Enum.sort()

    if Enum.all?(names, &is_binary/1),
      do: find(:maps.values(captured), Map.put(found, {source, names}, true)),
      else: found
  end

  defp find(%Function{captured: captured}, found) when is_map(captured),
    do: find(:maps.values(captured), found)

  defp find(%MapSet{} = set, found), do: set |> MapSet.to_list() |> find(found)
  defp find(%_struct{}, found), do: found
  defp find(map, found) when is_map(map), do: map |> :maps.values() |> find(found)
  defp find(_other, found), do: found
end

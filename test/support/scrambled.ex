defmodule PtcRunner.Test.Scrambled do
  @moduledoc """
  Data of which only some parts stay as they are. For tests that a program depends on no other part.
  """

  @doc """
  The map with other values in all places that no source names. A path stands for what its items have there, and for what is no
  object in the place of one.

      iex> data = %{"rows" => [%{"id" => 1, "n" => 2}], "m" => 3}
      iex> PtcRunner.Test.Scrambled.but(data, [{:context, ["rows", :each, "id"], true}], :context)
      %{"rows" => [%{"id" => 1, "n" => "scrambled"}], "m" => "scrambled"}
      iex> PtcRunner.Test.Scrambled.but(data, [{:context, ["rows"], false}], :context)
      %{"rows" => ["scrambled"], "m" => "scrambled"}
      iex> PtcRunner.Test.Scrambled.but(data, [{:unknown, [], true}], :context) == data
      true
  """
  @spec but(map(), [PtcRunner.Json.Plan.source()], :context | :memory) :: map()
  def but(data, sources, root) do
    if Enum.any?(sources, &match?({:unknown, _path, _whole?}, &1)) do
      data
    else
      paths = for {^root, path, whole?} <- sources, do: {path, whole?}
      Map.new(data, fn {name, value} -> {name, value(value, inside(paths, [name]))} end)
    end
  end

  defp inside(paths, steps),
    do: for({[first | rest], whole?} <- paths, first in steps, do: {rest, whole?})

  # The paths as they are for this value, which is an object or is none.
  defp of_kind({[:object | rest], whole?}, map) when is_map(map), do: of_kind({rest, whole?}, map)
  defp of_kind({[:object | _rest], _whole?}, _other), do: []
  defp of_kind({[:other | _rest], _whole?}, map) when is_map(map), do: []
  defp of_kind({[:other | rest], whole?}, other), do: of_kind({rest, whole?}, other)

  defp of_kind({[:single | _rest], _whole?}, list) when is_list(list), do: []
  defp of_kind({[:single | rest], whole?}, single), do: of_kind({rest, whole?}, single)

  defp of_kind({[{:without, names}], true}, map) when is_map(map) and not is_struct(map),
    do: for({key, _value} <- map, key not in names, do: {[key], true})

  defp of_kind({[{:without, _names} | rest], whole?}, map) when is_map(map),
    do: of_kind({rest, whole?}, map)

  defp of_kind({[{:without, _names} | _rest], _whole?}, _other), do: []
  defp of_kind(path, _value), do: [path]

  defp value(_value, []), do: "scrambled"

  # A path that leads through a value says of what kind it is, also if it ends there for this kind.
  defp value(value, paths), do: kept(value, Enum.flat_map(paths, &of_kind(&1, value)))

  defp kept(value, paths) do
    cond do
      {[], true} in paths -> value
      is_struct(value) -> value
      is_map(value) -> object(value, paths)
      not is_list(value) or List.improper?(value) -> value
      Enum.any?(paths, fn {path, _whole?} -> path != [] and is_binary(hd(path)) end) -> value
      true -> Enum.map(value, &value(&1, inside(paths, [:each])))
    end
  end

  # Its keys stay, so a number of keys does too.
  defp object(map, paths) do
    Map.new(map, fn {key, value} -> {key, value(value, inside(paths, [key, :value]))} end)
  end
end

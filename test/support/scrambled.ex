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
      Map.new(data, fn {name, value} -> {name, value(value, inside(paths, name))} end)
    end
  end

  defp inside(paths, step),
    do: for({[first | rest], whole?} <- paths, first in [step, :each], do: {rest, whole?})

  defp value(_value, []), do: "scrambled"

  defp value(value, paths) do
    cond do
      {[], true} in paths -> value
      is_struct(value) -> value
      is_map(value) -> object(value, paths)
      not is_list(value) or List.improper?(value) -> value
      Enum.any?(paths, fn {path, _whole?} -> path != [] and hd(path) != :each end) -> value
      true -> Enum.map(value, &value(&1, inside(paths, :each)))
    end
  end

  # Its keys stay, so a number of keys does too.
  defp object(map, paths) do
    Map.new(map, fn {key, value} -> {key, value(value, inside(paths, key))} end)
  end
end

defmodule PtcRunner.Test.Nulls do
  @moduledoc """
  Programs as providers write them that require every field: null stands for each optional field that a program does
  not use.
  """

  alias PtcRunner.Schema.Table

  @doc """
  The program with all its nulls. Plain data stay as they are; `on_error` is left out where it is not given, because its null is
  a value.

      iex> program = %{"program" => %{"op" => "round", "value" => 1.5}}
      iex> PtcRunner.Test.Nulls.filled(program)
      %{"program" => %{"op" => "round", "precision" => nil, "value" => 1.5}}

  """
  @spec filled(map()) :: map()
  def filled(%{"program" => node} = program) do
    operations = Map.new(Table.operations(2), &{&1.name, &1.fields})
    %{program | "program" => value(node, operations)}
  end

  defp value(%{"op" => op} = node, operations) when is_map_key(operations, op) do
    fields = Map.fetch!(operations, op)

    nulls =
      for %{name: name, required?: false, presence: presence} <- fields,
          presence != :nullable,
          into: %{},
          do: {name, nil}

    node =
      for %{name: name, type: type} <- fields, is_map_key(node, name), into: node do
        {name, field(type, node[name], operations)}
      end

    Map.merge(nulls, node)
  end

  defp value(%{} = map, operations), do: map(map, operations)
  defp value(list, operations) when is_list(list), do: Enum.map(list, &value(&1, operations))
  defp value(plain, _operations), do: plain

  defp field(type, given, operations) when type in [:expr, :template, :text],
    do: value(given, operations)

  defp field({:list, type}, given, operations) when is_list(given),
    do: Enum.map(given, &field(type, &1, operations))

  defp field({:list_or_node, _type}, given, operations), do: value(given, operations)

  defp field({:map, :template}, %{} = given, operations), do: map(given, operations)

  defp field(:cases, given, operations), do: Enum.map(given, &map(&1, operations))

  defp field(:sort_keys, given, operations) when is_list(given) do
    nulls = %{"expr" => nil, "field" => nil, "order" => nil}
    for key <- given, do: nulls |> Map.merge(key) |> map(operations)
  end

  defp field(_plain, given, _operations), do: given

  # The values of an object that is no operation.
  defp map(map, operations),
    do: Map.new(map, fn {key, value} -> {key, value(value, operations)} end)
end

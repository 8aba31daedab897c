defmodule PtcRunner.Test.Generator.Faults do
  @moduledoc """
  Puts one fault at a random place of a program of `PtcRunner.Test.Generator.Deep`.
  """

  alias PtcRunner.Test.Generator.Deep

  @lists ~w(filter reject map take drop distinct reverse sort_by select sum count some every flat_map group_by join first last fold)
  @arithmetic ~w(add sub mul div mod)
  @texts ~w(upper lower trim replace split)
  @reads ~w(get sum sort_by eq neq gt lt gte lte contains group_by)

  @faults [
    :field_renamed,
    :selected_renamed,
    :name_renamed,
    :tool_renamed,
    :argument_dropped,
    :argument_added,
    :argument_of_wrong_type,
    :text_as_number,
    :list_as_number,
    :number_as_text,
    :number_as_list,
    :count_before_list,
    :field_of_list,
    :source_dropped,
    :result_of_wrong_type
  ]

  @doc "The kinds of faults."
  @spec faults() :: [atom()]
  def faults, do: @faults

  @doc "The case with a fault of a kind at a random place; nil if it has no such place."
  @spec put(Deep.deep_case(), atom()) :: Deep.deep_case() | nil
  def put(deep, :result_of_wrong_type) do
    other =
      Enum.reject(
        [:int, {:list, :bool}, {:map, [{"zz", :int}]}, :bool],
        &same_kind?(&1, deep.returns)
      )

    %{deep | returns: Enum.random(other)}
  end

  def put(deep, :source_dropped) do
    case deep.program do
      %{"op" => "pipe", "steps" => [_source, %{"op" => op} = step | rest]} when op in @lists ->
        %{deep | program: %{"op" => "pipe", "steps" => [step | rest]}, returns: :any}

      _other ->
        nil
    end
  end

  def put(deep, fault) do
    case places(deep.program, [], [])
         |> Enum.filter(fn {node, _path} -> fits?(fault, node) end) do
      [] ->
        nil

      places ->
        {node, path} = Enum.random(places)
        program = replaced(deep.program, Enum.reverse(path), change(fault, node))
        %{deep | program: program, returns: :any}
    end
  end

  # A text may be coerced only where it is an argument, so kinds differ here.
  defp same_kind?(type, type), do: true
  defp same_kind?({:list, _}, {:list, _}), do: true
  defp same_kind?({:map, _}, {:map, _}), do: false
  defp same_kind?(:int, :float), do: true
  defp same_kind?(_type, _other), do: false

  # All operations, each with its path, the last part first.
  defp places(%{"op" => "literal"} = node, path, found), do: [{node, path} | found]

  defp places(%{} = node, path, found) do
    found = if is_binary(node["op"]), do: [{node, path} | found], else: found
    Enum.reduce(node, found, fn {key, part}, found -> places(part, [key | path], found) end)
  end

  defp places(list, path, found) when is_list(list) do
    list
    |> Enum.with_index()
    |> Enum.reduce(found, fn {part, at}, found -> places(part, [at | path], found) end)
  end

  defp places(_other, _path, found), do: found

  defp replaced(_node, [], new), do: new

  defp replaced(node, [key | path], new) when is_map(node),
    do: Map.update!(node, key, &replaced(&1, path, new))

  defp replaced(list, [at | path], new), do: List.update_at(list, at, &replaced(&1, path, new))

  defp fits?(:field_renamed, %{"op" => op, "field" => _}), do: op in @reads
  defp fits?(:field_renamed, %{"op" => "get", "path" => _}), do: true
  defp fits?(:selected_renamed, %{"op" => op}), do: op in ["select", "rename"]
  defp fits?(:name_renamed, %{"op" => op, "name" => _}), do: op in ["load", "var"]

  defp fits?(fault, %{"op" => "call", "args" => args})
       when fault in [:tool_renamed, :argument_added, :argument_dropped, :argument_of_wrong_type],
       do: fault != :argument_of_wrong_type or Map.has_key?(args, "id")

  defp fits?(fault, %{"op" => op}) when fault in [:text_as_number, :list_as_number],
    do: op in @arithmetic

  defp fits?(:number_as_text, %{"op" => op, "value" => _}), do: op in @texts
  defp fits?(:number_as_list, %{"op" => "pipe", "steps" => [_ | rest]}), do: list_next?(rest)

  defp fits?(fault, %{"op" => "pipe", "steps" => steps})
       when fault in [:count_before_list, :field_of_list],
       do: positions(steps) != []

  defp fits?(_fault, _node), do: false

  defp list_next?(rest), do: match?([%{"op" => op} | _] when op in @lists, rest)

  # The steps, after the first one, that work on a list.
  defp positions(steps) do
    for {%{"op" => op}, at} <- Enum.with_index(steps), at > 0, op in @lists, do: at
  end

  defp change(:field_renamed, %{"path" => [first | rest]} = node),
    do: %{
      node
      | "path" => Enum.random([["zz" <> first | rest], [first | Enum.map(rest, &("zz" <> &1))]])
    }

  defp change(:field_renamed, %{"field" => field} = node), do: %{node | "field" => field <> "zz"}

  defp change(:selected_renamed, %{"op" => "select", "fields" => [first | rest]} = node),
    do: %{node | "fields" => Enum.shuffle([first <> "s_" | rest])}

  defp change(:selected_renamed, %{"op" => "rename", "fields" => fields} = node),
    do: %{node | "fields" => Map.new(fields, fn {old, new} -> {old <> "s_", new} end)}

  defp change(:name_renamed, %{"name" => name} = node), do: %{node | "name" => name <> "x"}
  defp change(:tool_renamed, %{"tool" => name} = node), do: %{node | "tool" => name <> "s"}
  defp change(:argument_added, node), do: put_in(node, ["args", "more"], 1)

  defp change(:argument_dropped, %{"tool" => "user"} = node),
    do: %{node | "args" => Map.delete(node["args"], "id")}

  defp change(:argument_dropped, node), do: %{node | "args" => Map.delete(node["args"], "to")}

  defp change(:argument_of_wrong_type, node),
    do: put_in(node, ["args", "id"], Enum.random([[1], %{"a" => 1}, true, "seven", 1.5]))

  defp change(:text_as_number, node), do: operand(node, %{"op" => "literal", "value" => "7"})
  defp change(:list_as_number, node), do: operand(node, %{"op" => "load", "name" => "rows"})
  defp change(:number_as_text, node), do: %{node | "value" => Enum.random([7, 2.5])}

  defp change(:number_as_list, %{"steps" => [_first | rest]} = node),
    do: %{node | "steps" => [%{"op" => "load", "name" => "n"} | rest]}

  defp change(:count_before_list, node), do: insert(node, %{"op" => "count"})
  defp change(:field_of_list, node), do: insert(node, %{"op" => "get", "field" => "id"})

  defp operand(node, value), do: %{node | Enum.random(["left", "right"]) => value}

  defp insert(%{"steps" => steps} = node, step),
    do: %{node | "steps" => List.insert_at(steps, Enum.random(positions(steps)), step)}
end

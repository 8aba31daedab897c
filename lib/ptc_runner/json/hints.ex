defmodule PtcRunner.Json.Hints do
  @moduledoc false
  # What typical mistakes of programs of edition 2 need besides their error: for models, and for explanations.

  alias PtcRunner.Json.{Message, Program}
  alias PtcRunner.Schema.Table
  alias PtcRunner.Shown

  @get ~s({"op":"get","field":NAME})
  @constant ~s({"op":"literal","value":...})

  # Shapes of operations that compute something for each item.
  @lists ["list_of_body", "flat_list_of_body"]

  # Shapes of operations with a condition for each item.
  @conditions ["filtered", "found", "decided"]

  # Shapes of operations on a field of items, or on what is computed for each.
  @of_items ["aggregate", "keyed_item", "sorted"]

  @counts ["count", "index"]

  # What is done with dates in the place of arithmetic.
  @dates ~s(Dates are no numbers: {"op":"date_diff","from":T,"to":T,"unit":"day"} is the time between two, ) <>
           ~s({"op":"date_add","amount":N,"unit":"day"} moves one, {"op":"date_part","part":"year"} takes a number of it; min and max find the first and the last.)

  # Maximum number of parts of a path that are followed.
  @most_parts 65

  @doc """
  What to write instead, by the code of a fault, or an empty text.

      iex> PtcRunner.Json.Hints.of_fault({:validation, :node_not_a_map, nil, nil, ["price"]}, 2)
      ~s(A NODE belongs there: {"op":"get","field":NAME} reads a field of the current value, {"op":"literal","value":...} is a constant.)

      iex> PtcRunner.Json.Hints.of_fault({:execution, :needs_numeric_operands, "mul", nil, [nil, 3]}, 2)
      ~s(A missing field is null: {"op":"coalesce","values":[NODE,0]} gives it a value.)

      iex> PtcRunner.Json.Hints.of_fault({:execution, :needs_numeric_operands, "mul", nil, [nil, 3]}, 1)
      ""

  """
  @spec of_fault(Message.fault(), 1 | 2) :: String.t()
  def of_fault(fault, 2), do: fault |> Message.fault() |> hint()
  def of_fault(_fault, _edition), do: ""

  defp hint({:expensive_to_inspect, fault}), do: hint(fault)
  defp hint({:validation, :node_not_a_map, _op, _field, [got]}), do: no_node(got)

  defp hint({:validation, :field_missing, op, field, terms}),
    do: missing(shape(op), Message.missing_field(op, field, terms))

  defp hint({:validation, :field_not_integer, _op, field, []}) when field in @counts,
    do: "It is never computed: a number stands there."

  defp hint({:validation, :field_not_list, _op, "by", []}),
    do:
      ~s("by" is a list like [{"field":NAME,"order":"desc"}]; for one key write "field" and "order".)

  defp hint({:execution, :needs_numbers, _op, _field, [value]}),
    do: if(date?(value), do: @dates, else: "")

  defp hint({:execution, :needs_numeric_operands, _op, _field, operands}) do
    cond do
      Enum.any?(operands, &date?/1) ->
        @dates

      Enum.any?(operands, &null?/1) ->
        ~s(A missing field is null: {"op":"coalesce","values":[NODE,0]} gives it a value.)

      true ->
        ""
    end
  end

  defp hint(_fault), do: ""

  defp date?(%module{}) when module in [Date, DateTime, NaiveDateTime], do: true
  defp date?(text) when is_binary(text), do: text =~ ~r/\A[0-9]{4}-[0-9]{2}-[0-9]{2}/
  defp date?(_value), do: false

  # Where the values are concealed, only their kinds are there.
  defp null?(operand), do: operand == nil or operand == Shown.kind(nil)

  defp shape(op), do: with({shape, _fields} <- Table.shape(op), do: shape)

  defp missing(shape, "expr") when shape in @lists,
    do: ~s("expr" is a NODE that is computed for each item: #{@get} takes a field of it.)

  defp missing("accumulator", "expr"),
    do:
      ~s("expr" is a NODE that is computed for each item, {"op":"var","name":"acc"} in it is the result so far.)

  defp missing(shape, "where") when shape in @conditions,
    do:
      ~s("where" is a NODE that is computed for each item, such as {"op":"eq","field":NAME,"value":VALUE}.)

  defp missing(shape, "field") when shape in @of_items,
    do:
      ~s("field" is a name that all items have. Or "expr" is a NODE that is computed for each item: {"op":"it"} is the item itself.)

  defp missing("grouped", "field"),
    do: ~s{The key of a group is "field" (a name), "fields" (several names) or "expr" (a NODE).}

  defp missing(_shape, _field), do: ""

  defp no_node(text) when is_binary(text),
    do:
      "A NODE belongs there: #{@get} reads a field of the current value, #{@constant} is a constant."

  defp no_node(nil), do: ""
  defp no_node(_constant), do: "A NODE belongs there: #{@constant} is a constant."

  @doc """
  The findings about fields, with a sentence for those that the items of groups have and the groups do not.

      iex> program = %{"program" => %{"op" => "pipe", "steps" => [
      ...>   %{"op" => "load", "name" => "rows"}, %{"op" => "group_by", "field" => "city"}, %{"op" => "sum", "field" => "n"}]}}
      iex> finding = %{kind: :key_not_found, path: ["program", "steps", 2], message: "none of 2 had n"}
      iex> [finding] = PtcRunner.Json.Hints.of_findings([finding], program)
      iex> finding.message
      ~s(none of 2 had n: without "each", group_by gives objects with the key and "items", the list of the group's items)

  """
  @spec of_findings([finding], term()) :: [finding] when finding: %{optional(term()) => term()}
  def of_findings(findings, source) do
    # The program is made once for all findings.
    with true <- Enum.any?(findings, &(&1.kind == :key_not_found)),
         {:ok, node} <- Program.term(source) do
      for finding <- findings, do: of_finding(finding, {:checked, node})
    else
      _nothing -> findings
    end
  end

  defp of_finding(%{kind: :key_not_found, path: path, message: message} = finding, program) do
    if length(path) <= @most_parts and groups?(program, before(path)) do
      %{
        finding
        | message:
            message <>
              ~s(: without "each", group_by gives objects with the key and "items", the list of the group's items)
      }
    else
      finding
    end
  end

  defp of_finding(finding, _program), do: finding

  # The path of the step before the one at a path.
  defp before(["program" | path]) do
    case Enum.reverse(path) do
      [index | around] when is_integer(index) and index > 0 ->
        Enum.reverse(around, [index - 1])

      _no_step ->
        nil
    end
  end

  defp groups?(_program, nil), do: false

  defp groups?(program, path) do
    case Program.part(program, path) do
      %{"op" => "group_by"} = step -> not is_map(step["each"])
      _other -> false
    end
  end
end

defmodule PtcRunner.Json.Hints do
  @moduledoc false
  # What typical mistakes of programs of edition 2 need besides their error: for models, and for explanations.

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Program}

  @get ~s({"op":"get","field":NAME})
  @constant ~s({"op":"literal","value":...})

  @loops ["filter", "reject", "find", "some", "every"]

  # What follows an operation's name where a number must stand.
  @counts for field <- ["count", "index"], do: field <> "' must be an integer"

  # Maximum number of parts of a path that are followed.
  @most_parts 65

  @doc """
  What to write instead, or an empty text.

      iex> PtcRunner.Json.Hints.of_error({:validation_error, ~s(Node must be a map, got "price")}, 2)
      ~s(A NODE belongs there: {"op":"get","field":NAME} reads a field of the current value, {"op":"literal","value":...} is a constant.)

      iex> PtcRunner.Json.Hints.of_error({:execution_error, "mul requires numeric operands, got: nil, 3"}, 2)
      ~s(A missing field is null: {"op":"coalesce","values":[NODE,0]} gives it a value.)

      iex> PtcRunner.Json.Hints.of_error({:execution_error, "mul requires numeric operands, got: nil, 3"}, 1)
      ""

  """
  @spec of_error(Json.error(), 1 | 2) :: String.t()
  def of_error({:validation_error, "Node must be a map, got " <> got}, 2), do: no_node(got)

  def of_error({:validation_error, "Operation '" <> rest}, 2) do
    case String.split(rest, "'", parts: 3) do
      [op, " requires field ", "expr'"] when op in ["map", "flat_map"] ->
        ~s("expr" is a NODE that is computed for each item: #{@get} takes a field of it.)

      [op, " requires field ", "where'"] when op in @loops ->
        ~s("where" is a NODE that is computed for each item, such as {"op":"eq","field":NAME,"value":VALUE}.)

      [op, " requires field ", "expr'"] when op == "fold" ->
        ~s("expr" is a NODE that is computed for each item, {"op":"var","name":"acc"} in it is the result so far.)

      ["group_by", " requires field ", "field'"] ->
        ~s{The key of a group is "field" (a name), "fields" (several names) or "expr" (a NODE).}

      [_op, " field ", field] when field in @counts ->
        "It is never computed: a number stands there."

      _other ->
        ""
    end
  end

  def of_error({:validation_error, "Field 'by' must be a list"}, 2),
    do:
      ~s("by" is a list like [{"field":NAME,"order":"desc"}]; for one key write "field" and "order".)

  def of_error({:execution_error, text}, 2) do
    with [_op, operands] <- String.split(text, " requires numeric operands, got: ", parts: 2),
         true <- String.starts_with?(operands, "nil, ") or String.ends_with?(operands, ", nil") do
      ~s(A missing field is null: {"op":"coalesce","values":[NODE,0]} gives it a value.)
    else
      _other -> ""
    end
  end

  def of_error(_error, _edition), do: ""

  defp no_node("\"" <> _string),
    do:
      "A NODE belongs there: #{@get} reads a field of the current value, #{@constant} is a constant."

  defp no_node("nil"), do: ""
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
    if Enum.any?(findings, &(&1.kind == :key_not_found)) do
      program = whole(source)
      for finding <- findings, do: of_finding(finding, program)
    else
      findings
    end
  end

  defp of_finding(%{kind: :key_not_found, path: path, message: message} = finding, program) do
    if length(path) <= @most_parts and groups?(before(program, path)) do
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

  defp whole(%Program{source: source}), do: whole(source)
  defp whole({_checked, node}), do: %{"program" => node}
  defp whole(%{} = map), do: map

  defp whole(text) when is_binary(text) do
    case Codec.decode(text) do
      {:ok, map} -> map
      _too_large -> nil
    end
  end

  defp whole(_other), do: nil

  # The step before the one at a path.
  defp before(list, [index]) when is_list(list) and is_integer(index) and index > 0,
    do: Enum.at(list, index - 1)

  defp before(list, [index | rest]) when is_list(list) and is_integer(index),
    do: list |> Enum.at(index) |> before(rest)

  defp before(%{} = map, [key | rest]) when is_map_key(map, key),
    do: map |> Map.fetch!(key) |> before(rest)

  defp before(_part, _path), do: nil

  defp groups?(%{"op" => "group_by"} = node), do: not is_map(node["each"])
  defp groups?(_other), do: false
end

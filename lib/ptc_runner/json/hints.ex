defmodule PtcRunner.Json.Hints do
  @moduledoc false
  # What typical mistakes of programs of edition 2 need besides their error: for models, and for explanations.

  alias PtcRunner.Json
  alias PtcRunner.Json.Program

  @get ~s({"op":"get","field":NAME})
  @constant ~s({"op":"literal","value":...})

  @loops ["filter", "reject", "find", "some", "every"]

  # Operations on a field of items, or on what is computed for each.
  @of_items ["sum", "avg", "min", "max", "min_by", "max_by", "median", "percentile", "sort_by"]

  # A date as an error shows it, and what is done with dates in the place of arithmetic.
  @date ~r/(?:got:? |, )"?[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])/
  @dates ~s(Dates are no numbers: {"op":"date_diff","from":T,"to":T,"unit":"day"} is the time between two, ) <>
           ~s({"op":"date_add","amount":N,"unit":"day"} moves one, {"op":"date_part","part":"year"} takes a number of it; min and max find the first and the last.)

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

      iex> PtcRunner.Json.Hints.of_error({:execution_error, "sub requires numeric operands, got: 2026-01-31, 2026-01-01"}, 2) =~ "date_diff"
      true

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

      [op, " requires field ", "field'"] when op in @of_items ->
        ~s("field" is a name that all items have. Or "expr" is a NODE that is computed for each item: {"op":"it"} is the item itself.)

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
    if text =~ " requires numeric " and text =~ @date, do: @dates, else: of_operands(text)
  end

  def of_error(_error, _edition), do: ""

  defp of_operands(text) do
    with [_op, operands] <- String.split(text, " requires numeric operands, got: ", parts: 2),
         true <- String.starts_with?(operands, "nil, ") or String.ends_with?(operands, ", nil") do
      ~s(A missing field is null: {"op":"coalesce","values":[NODE,0]} gives it a value.)
    else
      _other -> ""
    end
  end

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

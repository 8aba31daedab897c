defmodule PtcRunner.Test.Oracle.Check do
  @moduledoc false
  # Validation before the run. Checks fail by throwing (see Fail), depth first.

  import PtcRunner.Test.Oracle.Fail, only: [fail: 1, proper_list?: 1]

  alias PtcRunner.Test.Oracle.Suggestion

  @comparisons ~w(eq neq gt gte lt lte contains in)

  # Fields in the order of their checks. Operations with checks of their own have `:special`.
  @fields %{
    "literal" => [{"value", :any}],
    "load" => [{"name", :string}],
    "var" => [{"name", :string}],
    "let" => :special,
    "if" => [{"condition", :node}, {"else", :node}, {"then", :node}],
    "and" => [{"conditions", :nodes}],
    "or" => [{"conditions", :nodes}],
    "not" => [{"condition", :node}],
    "merge" => [{"objects", :nodes}],
    "concat" => [{"lists", :nodes}],
    "zip" => [{"lists", :nodes}],
    "pipe" => [{"steps", :nodes}],
    "object" => :special,
    "filter" => [{"where", :node}],
    "reject" => [{"where", :node}],
    "map" => [{"expr", :node}],
    "filter_in" => [{"field", :string}, {"value", :any}],
    "select" => :special,
    "sort_by" => :special,
    "add" => [{"left", :operand}, {"right", :operand}],
    "sub" => [{"left", :operand}, {"right", :operand}],
    "mul" => [{"left", :operand}, {"right", :operand}],
    "div" => [{"left", :operand}, {"right", :operand}],
    "pct" => [{"part", :operand}, {"whole", :operand}],
    "round" => [{"value", :operand}],
    "get" => :special,
    "sum" => [{"field", :string}],
    "avg" => [{"field", :string}],
    "min" => [{"field", :string}],
    "max" => [{"field", :string}],
    "min_by" => [{"field", :string}],
    "max_by" => [{"field", :string}],
    "count" => [],
    "first" => [],
    "last" => [],
    "distinct" => [],
    "keys" => [],
    "typeof" => [],
    "nth" => :special,
    "take" => :special,
    "drop" => :special,
    "call" => [{"args", {:optional, :map}}, {"tool", :string}]
  }

  @operations Map.merge(@fields, Map.new(@comparisons, &{&1, :special}))
  @names @operations |> Map.keys() |> Enum.sort()

  @doc "The 50 operation names, ascending."
  @spec names() :: [String.t()]
  def names, do: @names

  @doc "Checks the node under `\"program\"`."
  @spec program(term()) :: :ok
  def program(ast) when is_map(ast) do
    check_node(ast)
    :ok
  end

  def program(ast), do: fail("AST must be a map, got #{inspect(ast)}")

  defp check_node(node) when not is_map(node) or is_struct(node) do
    fail("Node must be a map, got #{inspect(node)}")
  end

  defp check_node(%{"op" => nil}), do: fail("Missing required field 'op'")

  defp check_node(%{"op" => op} = node) do
    case @operations do
      %{^op => :special} -> special(op, node)
      %{^op => fields} -> Enum.each(fields, &field(op, &1, node))
      _ -> unknown(op)
    end
  end

  defp check_node(implicit_object), do: object_fields(implicit_object)

  defp unknown(op) when is_binary(op) do
    fail("Unknown operation '#{op}'" <> Suggestion.text(op, @names))
  end

  defp unknown(op), do: fail("Unknown operation '#{inspect(op)}'")

  # Only values that look like operations are nodes; all others are literals.
  defp object_fields(fields) do
    for {_key, %{"op" => _} = value} <- fields |> Map.to_list() |> Enum.sort_by(&elem(&1, 0)),
        do: check_node(value)
  end

  defp field(op, {name, {:optional, type}}, node) do
    if Map.has_key?(node, name), do: field(op, {name, type}, node)
  end

  defp field(op, {name, type}, node), do: op |> present(name, node) |> typed(name, type)

  defp typed(_value, _name, :any), do: :ok
  defp typed(value, _name, :string) when is_binary(value), do: :ok
  defp typed(_value, name, :string), do: fail("Field '#{name}' must be a string")
  defp typed(value, _name, :map) when is_map(value), do: :ok
  defp typed(_value, name, :map), do: fail("Field '#{name}' must be a map")
  defp typed(value, _name, :node), do: check_node(value)
  defp typed(value, _name, :operand) when is_number(value), do: :ok
  defp typed(value, _name, :operand), do: check_node(value)
  defp typed(value, name, :nodes), do: value |> list(name) |> Enum.each(&check_node/1)

  defp special("let", node) do
    Enum.each(["in", "name", "value"], &present("let", &1, node))
    typed(node["name"], "name", :string)
    check_node(node["value"])
    check_node(node["in"])
  end

  defp special("object", node) do
    fields = present("object", "fields", node)
    typed(fields, "fields", :map)
    object_fields(fields)
  end

  defp special("nth", node), do: natural("nth", "index", node)
  defp special(op, node) when op in ["take", "drop"], do: natural(op, "count", node)

  defp special("select", node) do
    fields = "select" |> not_nil("fields", node) |> list("fields")

    unless Enum.all?(fields, &is_binary/1) do
      fail("All field names in 'fields' must be strings")
    end
  end

  defp special("sort_by", node) do
    "sort_by" |> not_nil("field", node) |> typed("field", :string)

    case node["order"] do
      order when order in [nil, "asc", "desc"] -> :ok
      order when is_binary(order) -> fail("Field 'order' must be 'asc' or 'desc', got '#{order}'")
      order -> fail("Field 'order' must be 'asc' or 'desc', got '#{inspect(order)}'")
    end
  end

  defp special("get", %{"field" => _, "path" => _}) do
    fail("Operation 'get' accepts 'field' or 'path', not both")
  end

  defp special("get", %{"field" => field}), do: typed(field, "field", :string)

  defp special("get", %{"path" => path}) do
    unless path |> list("path") |> Enum.all?(&is_binary/1) do
      fail("All path elements in 'path' must be strings")
    end
  end

  defp special("get", _node), do: fail("Operation 'get' requires either 'field' or 'path'")

  defp special(op, node) when op in @comparisons do
    unless node["field"] == nil, do: typed(node["field"], "field", :string)
    present(op, "value", node)
  end

  defp natural(op, name, node) do
    case not_nil(op, name, node) do
      n when is_integer(n) and n >= 0 -> :ok
      n when is_integer(n) -> fail("Operation '#{op}' #{name} must be non-negative, got #{n}")
      _ -> fail("Operation '#{op}' field '#{name}' must be an integer")
    end
  end

  defp present(op, name, node) do
    case node do
      %{^name => value} -> value
      _ -> fail("Operation '#{op}' requires field '#{name}'")
    end
  end

  defp not_nil(op, name, node) do
    if node[name] == nil do
      fail("Operation '#{op}' requires field '#{name}'")
    else
      node[name]
    end
  end

  defp list(value, name) do
    if proper_list?(value), do: value, else: fail("Field '#{name}' must be a list")
  end
end

defmodule PtcRunner.Test.Oracle.Check do
  @moduledoc false
  # Validation before the run. Checks fail by throwing (see Fail), depth first.

  import PtcRunner.Test.Oracle.Fail, only: [fail: 1, name: 1, proper_list?: 1, shown: 1]

  alias PtcRunner.Test.Oracle.{Lists, Suggestion}

  @comparisons ~w(eq neq gt gte lt lte contains in)

  # Fields in the order of their checks; the fields of operations on lists are in `Lists`.
  @fields %{
    "literal" => [{"value", :any}],
    "load" => [{"name", :string}],
    "var" => [{"name", :string}],
    "let" => [{"in", :node}, {"name", :string}, {"value", :node}],
    "if" => [{"condition", :node}, {"else", :node}, {"then", :node}],
    "and" => [{"conditions", :nodes}],
    "or" => [{"conditions", :nodes}],
    "not" => [{"condition", :node}],
    "merge" => [{"objects", :nodes}],
    "concat" => [{"lists", :nodes}],
    "zip" => [{"lists", :nodes}],
    "pipe" => [{"steps", :nodes}],
    "object" => [{"fields", :map}],
    "filter" => [{"where", :node}],
    "reject" => [{"where", :node}],
    "map" => [{"expr", :node}],
    "filter_in" => [{"field", :string}, {"value", :any}],
    "select" => [{"fields", :strings}],
    "add" => [{"left", :operand}, {"right", :operand}],
    "sub" => [{"left", :operand}, {"right", :operand}],
    "mul" => [{"left", :operand}, {"right", :operand}],
    "div" => [{"left", :operand}, {"right", :operand}],
    "pct" => [{"part", :operand}, {"whole", :operand}],
    "round" => [{"precision", {:optional, :any}}, {"value", :operand}],
    "get" => [{"default", :any}, {"field", :string}, {"path", :strings}],
    "keys" => [],
    "typeof" => [],
    "call" => [{"args", {:optional, :map}}, {"tool", :string}]
  }

  # These have their own checks.
  @special ["let", "object", "select", "sort_by", "get" | @comparisons]

  @operations @fields
              |> Map.merge(Lists.fields())
              |> Map.merge(Map.new(@comparisons, &{&1, [{"field", :string}, {"value", :any}]}))
  @names @operations |> Map.keys() |> Enum.sort()

  @doc "The names of the operations, ascending."
  @spec names() :: [String.t()]
  def names, do: @names

  @doc "Checks the node under `\"program\"`."
  @spec program(term()) :: :ok
  def program(ast) when is_map(ast) do
    check_node(ast)
    :ok
  end

  def program(ast), do: fail("AST must be a map, got #{shown(ast)}")

  defp check_node(node) when not is_map(node) or is_struct(node) do
    fail("Node must be a map, got #{shown(node)}")
  end

  defp check_node(%{"op" => nil}), do: fail("Missing required field 'op'")

  defp check_node(%{"op" => op} = node) do
    case @operations do
      %{^op => _fields} when op in @special -> special(op, node)
      %{^op => fields} -> Enum.each(fields, &field(op, &1, node))
      _ -> unknown(op)
    end

    mistyped(node)
  end

  defp check_node(implicit_object), do: object_fields(implicit_object)

  @doc "Fails for the first field of an operation whose name is close to one that is not there."
  @spec mistyped(term()) :: :ok
  def mistyped(%{"op" => op} = node) when is_map_key(@operations, op) do
    known = for {name, _type} <- @operations[op], do: name

    case {Enum.reject(known, &Map.has_key?(node, &1)),
          Map.keys(node) -- ["op", "__input" | known]} do
      {[_ | _] = missing, others} -> Enum.each(Enum.sort(others), &mistyped(op, &1, missing))
      _ -> :ok
    end
  end

  def mistyped(_node), do: :ok

  defp mistyped(op, name, missing) when is_binary(name) do
    hint = Suggestion.text(name, missing)
    if hint != "", do: fail("Unknown field '#{name(name)}' in operation '#{op}'" <> hint)
  end

  defp mistyped(_op, _name, _missing), do: :ok

  defp unknown(op) when is_binary(op) do
    fail("Unknown operation '#{name(op)}'" <> Suggestion.text(op, @names))
  end

  defp unknown(op), do: fail("Unknown operation '#{shown(op)}'")

  # Only values that look like operations are nodes; all others are literals.
  defp object_fields(fields) do
    for {_key, %{"op" => _} = value} <- fields |> Map.to_list() |> Enum.sort_by(&elem(&1, 0)),
        do: check_node(value)
  end

  defp field(op, {name, {:optional, type}}, node) do
    if Map.has_key?(node, name), do: field(op, {name, type}, node)
  end

  defp field(op, {name, :natural}, node), do: natural(op, name, node)
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

  defp special("select", node) do
    fields = "select" |> not_nil("fields", node) |> list("fields")

    unless Enum.all?(fields, &is_binary/1) do
      fail("All field names in 'fields' must be strings")
    end
  end

  defp special("sort_by", node) do
    "sort_by" |> not_nil("field", node) |> typed("field", :string)

    case node["order"] do
      order when order in [nil, "asc", "desc"] ->
        :ok

      order when is_binary(order) ->
        fail("Field 'order' must be 'asc' or 'desc', got '#{name(order)}'")

      order ->
        fail("Field 'order' must be 'asc' or 'desc', got '#{shown(order)}'")
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

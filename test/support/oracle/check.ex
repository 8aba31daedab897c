defmodule PtcRunner.Test.Oracle.Check do
  @moduledoc false
  # Validation before the run. Checks fail by throwing (see Fail), depth first.

  import PtcRunner.Test.Oracle.Fail, only: [fail: 1, name: 1, proper_list?: 1, shown: 1]

  alias PtcRunner.Test.Oracle.{Fields, Forms, Pattern, Suggestion}

  @comparisons ~w(eq neq gt gte lt lte contains in)

  # These have their own checks in edition 1.
  @special ["let", "object", "select", "sort_by", "get" | @comparisons]

  @units ~w(year month week day hour minute second)
  @parts ~w(year quarter month week day weekday yearday hour minute second date month_start week_start year_month)

  @typedoc "The edition, and whether an unknown operation is answered with a similar one."
  @type rules :: {edition :: 1 | 2, suggest? :: boolean()}

  @doc "The names of the operations, ascending."
  @spec names(1 | 2) :: [String.t()]
  def names(edition), do: edition |> Fields.operations() |> Map.keys() |> Enum.sort()

  @doc "Checks the node under `\"program\"`."
  @spec program(term(), 1 | 2) :: :ok
  def program(ast, edition) when is_map(ast) do
    check_node(ast, {edition, true})
    :ok
  end

  def program(ast, _edition), do: fail("AST must be a map, got #{shown(ast)}")

  @doc "Checks a new operation that nobody has validated, when it is evaluated."
  @spec reached(map()) :: :ok
  def reached(node) do
    check_node(node, {2, false})
    :ok
  end

  @doc "Checks only what edition 2 has added to an old operation that nobody has validated."
  @spec reached_new(map()) :: :ok
  def reached_new(%{"op" => op} = node) do
    given = Fields.given(node)
    Forms.check(given, false)
    Enum.each(Fields.new(op), &field(op, &1, given, {2, false}))
    :ok
  end

  defp check_node(node, _rules) when not is_map(node) or is_struct(node) do
    fail("Node must be a map, got #{shown(node)}")
  end

  defp check_node(%{"op" => nil}, _rules), do: fail("Missing required field 'op'")

  defp check_node(%{"op" => op} = node, {edition, _suggest?} = rules) do
    case Fields.operations(edition) do
      %{^op => fields} when edition == 2 -> edition_2(op, fields, Fields.given(node), rules)
      %{^op => _fields} when op in @special -> special(op, node, rules)
      %{^op => fields} -> Enum.each(fields, &field(op, &1, node, rules))
      _ -> unknown(op, rules)
    end

    mistyped(node, edition)
  end

  defp check_node(implicit_object, {1, _suggest?} = rules),
    do: object_fields(implicit_object, rules)

  # Its current value is checked as in edition 1, one level deep.
  defp check_node(implicit_object, rules) do
    implicit_object
    |> Map.reject(fn {key, value} -> key == "__input" and not operation?(value) end)
    |> template_fields(rules)
  end

  defp operation?(%{"op" => op}), do: is_binary(op)
  defp operation?(_other), do: false

  @doc "Fails for the first field of an operation whose name is close to one that is not there."
  @spec mistyped(term(), 1 | 2) :: :ok
  def mistyped(%{"op" => op} = node, edition) do
    case Fields.operations(edition) do
      %{^op => fields} -> mistyped_in(node, for({name, _type} <- fields, do: name))
      _ -> :ok
    end
  end

  def mistyped(_node, _edition), do: :ok

  defp mistyped_in(%{"op" => op} = node, known) do
    case {Enum.reject(known, &Map.has_key?(node, &1)),
          Map.keys(node) -- ["op", "__input" | known]} do
      {[_ | _] = missing, others} -> Enum.each(Enum.sort(others), &mistyped(op, &1, missing))
      _ -> :ok
    end
  end

  defp mistyped(op, name, missing) when is_binary(name) do
    hint = Suggestion.text(name, missing)
    if hint != "", do: fail("Unknown field '#{name(name)}' in operation '#{op}'" <> hint)
  end

  defp mistyped(_op, _name, _missing), do: :ok

  defp unknown(op, {edition, suggest?}) when is_binary(op) do
    hint = if suggest?, do: Suggestion.text(op, names(edition)), else: ""
    fail("Unknown operation '#{name(op)}'" <> hint)
  end

  defp unknown(op, _rules), do: fail("Unknown operation '#{shown(op)}'")

  # Only values that look like operations are nodes; all others are literals.
  defp object_fields(fields, rules) do
    for {_key, %{"op" => _} = value} <- fields |> Map.to_list() |> Enum.sort_by(&elem(&1, 0)),
        do: check_node(value, rules)
  end

  ## Edition 2

  defp edition_2("let", _fields, node, rules) do
    Enum.each(["in", "name", "value"], &present("let", &1, node))
    typed(node["name"], "name", :string, rules)
    template(node["value"], rules)
    template(node["in"], rules)
  end

  defp edition_2(op, fields, node, rules) do
    Forms.check(node, true)
    Enum.each(fields, &field(op, &1, node, rules))
  end

  @doc false
  def template(%{"op" => op} = node, rules) when is_binary(op), do: check_node(node, rules)
  def template(struct, _rules) when is_struct(struct), do: :ok
  def template(fields, rules) when is_map(fields), do: template_fields(fields, rules)

  def template(list, rules) when is_list(list),
    do: if(proper_list?(list), do: Enum.each(list, &template(&1, rules)), else: :ok)

  def template(_constant, _rules), do: :ok

  defp template_fields(fields, rules) do
    fields
    |> Map.to_list()
    |> Enum.sort_by(&elem(&1, 0))
    |> Enum.each(fn {_key, value} -> template(value, rules) end)
  end

  ## Fields

  defp field(op, {name, {optional, type}}, node, rules) when optional in [:optional, :given] do
    if Map.has_key?(node, name), do: field(op, {name, type}, node, rules)
  end

  defp field(op, {name, :natural}, node, _rules), do: natural(op, name, node)

  defp field("select", {name, :strings}, node, rules),
    do: "select" |> not_nil(name, node) |> typed(name, :strings, rules)

  defp field(op, {name, type}, node, rules),
    do: op |> present(name, node) |> typed(name, type, rules)

  defp typed(_value, _name, :any, _rules), do: :ok
  defp typed(value, _name, :string, _rules) when is_binary(value), do: :ok
  defp typed(_value, name, :string, _rules), do: fail("Field '#{name}' must be a string")
  defp typed(value, _name, :map, _rules) when is_map(value), do: :ok
  defp typed(_value, name, :map, _rules), do: fail("Field '#{name}' must be a map")
  defp typed(value, _name, :node, rules), do: check_node(value, rules)
  defp typed(value, _name, :operand, _rules) when is_number(value), do: :ok
  defp typed(value, _name, :operand, rules), do: check_node(value, rules)

  defp typed(value, name, :nodes, rules),
    do: value |> list(name) |> Enum.each(&check_node(&1, rules))

  defp typed(value, _name, :template, rules), do: template(value, rules)

  defp typed(value, name, :templates, rules),
    do: value |> list(name) |> Enum.each(&template(&1, rules))

  defp typed(%{"op" => op} = node, _name, :parts, rules) when is_binary(op),
    do: check_node(node, rules)

  defp typed(value, name, :parts, rules), do: typed(value, name, :templates, rules)

  defp typed(value, name, :template_fields, rules) do
    typed(value, name, :map, rules)
    template_fields(value, rules)
  end

  defp typed(value, name, :strings, _rules) do
    unless value |> list(name) |> Enum.all?(&is_binary/1),
      do: fail("All field names in '#{name}' must be strings")
  end

  defp typed(value, name, :path, _rules) do
    unless value |> list(name) |> Enum.all?(&is_binary/1),
      do: fail("All path elements in '#{name}' must be strings")
  end

  defp typed(value, name, :steps, _rules) do
    unless value |> list(name) |> Enum.all?(&(is_binary(&1) or is_integer(&1))),
      do: fail("All path elements in '#{name}' must be strings or integers")
  end

  defp typed(value, name, :new_names, rules) do
    typed(value, name, :map, rules)

    unless value |> Map.values() |> Enum.all?(&is_binary/1),
      do: fail("All new names in '#{name}' must be strings")
  end

  defp typed(value, _name, :positive, _rules) when is_integer(value) and value > 0, do: :ok

  defp typed(_value, name, :positive, _rules),
    do: fail("Field '#{name}' must be a positive integer")

  defp typed(value, _name, :percent, _rules)
       when is_number(value) and value >= 0 and value <= 100,
       do: :ok

  defp typed(_value, name, :percent, _rules),
    do: fail("Field '#{name}' must be a number from 0 to 100")

  defp typed(value, _name, :places, _rules) when is_integer(value) and value in 0..20, do: :ok

  defp typed(_value, name, :places, _rules),
    do: fail("Field '#{name}' must be an integer from 0 to 20")

  defp typed(value, _name, :boolean, _rules) when is_boolean(value), do: :ok
  defp typed(_value, name, :boolean, _rules), do: fail("Field '#{name}' must be true or false")

  defp typed(value, name, :cases, rules),
    do: value |> list(name) |> Enum.each(&one_case(&1, rules))

  defp typed(value, name, :keys, rules) do
    case list(value, name) do
      [] -> fail("Field 'by' must not be empty")
      keys -> Enum.each(keys, &key(&1, rules))
    end
  end

  defp typed(%{"op" => op} = node, _name, needle, rules)
       when needle in [:needle, :replacement] and is_binary(op),
       do: check_node(node, rules)

  defp typed("", name, :needle, _rules), do: fail("Field '#{name}' must not be empty")

  defp typed(value, name, needle, rules) when needle in [:needle, :replacement],
    do: typed(value, name, :string, rules)

  defp typed(value, name, :pattern, rules) do
    typed(value, name, :string, rules)
    Pattern.check(value)
  end

  defp typed(kind, name, :kind, rules) do
    typed(kind, name, :string, rules)

    unless kind in ~w(inner left group),
      do: fail("Field 'kind' must be 'inner', 'left' or 'group', got '#{name(kind)}'")
  end

  defp typed(value, name, :unit, rules), do: enumerated(value, name, @units, rules)
  defp typed(value, name, :part, rules), do: enumerated(value, name, @parts, rules)
  defp typed(value, _name, :order, _rules), do: order(value)

  defp enumerated(value, name, known, rules) do
    typed(value, name, :string, rules)

    unless value in known,
      do: fail("Field '#{name}' must be one of #{Enum.join(known, ", ")}, got '#{name(value)}'")
  end

  defp one_case(%{"when" => condition, "then" => value} = one, rules) when not is_struct(one) do
    template(value, rules)
    check_node(condition, rules)
  end

  defp one_case(_other, _rules),
    do: fail("Each case in 'cases' must have 'when' and 'then'")

  # An element of `by` is checked like `sort_by` itself.
  defp key(key, rules) when is_map(key) and not is_struct(key) do
    node = key |> Map.drop(["by"]) |> Map.put("op", "sort_by") |> Fields.given()
    Forms.check(node, true)
    Enum.each(Fields.operations(2)["sort_by"], &field("sort_by", &1, node, rules))
  end

  defp key(_other, _rules), do: fail("All elements in 'by' must be maps")

  ## Edition 1

  defp special("let", node, rules) do
    Enum.each(["in", "name", "value"], &present("let", &1, node))
    typed(node["name"], "name", :string, rules)
    check_node(node["value"], rules)
    check_node(node["in"], rules)
  end

  defp special("object", node, rules) do
    fields = present("object", "fields", node)
    typed(fields, "fields", :map, rules)
    object_fields(fields, rules)
  end

  defp special("select", node, rules), do: field("select", {"fields", :strings}, node, rules)

  defp special("sort_by", node, rules) do
    "sort_by" |> not_nil("field", node) |> typed("field", :string, rules)
    order(node["order"])
  end

  defp special("get", %{"field" => _, "path" => _}, _rules) do
    fail("Operation 'get' accepts 'field' or 'path', not both")
  end

  defp special("get", %{"field" => field}, rules), do: typed(field, "field", :string, rules)
  defp special("get", %{"path" => path}, rules), do: typed(path, "path", :path, rules)

  defp special("get", _node, _rules),
    do: fail("Operation 'get' requires either 'field' or 'path'")

  defp special(op, node, rules) when op in @comparisons do
    unless node["field"] == nil, do: typed(node["field"], "field", :string, rules)
    present(op, "value", node)
  end

  defp order(order) when order in [nil, "asc", "desc"], do: :ok

  defp order(order) when is_binary(order),
    do: fail("Field 'order' must be 'asc' or 'desc', got '#{name(order)}'")

  defp order(order), do: fail("Field 'order' must be 'asc' or 'desc', got '#{shown(order)}'")

  ## Parts

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
      _ -> Forms.missing(op, name)
    end
  end

  defp not_nil(op, name, node) do
    if node[name] == nil, do: Forms.missing(op, name), else: node[name]
  end

  defp list(value, name) do
    if proper_list?(value), do: value, else: fail("Field '#{name}' must be a list")
  end
end

defmodule PtcRunner.Test.Oracle.Eval do
  @moduledoc false
  # Evaluation of nodes. The environment has everything that an expression can read, and is only
  # passed down, so bindings and the current value are lexical by construction.

  import PtcRunner.Test.Oracle.Fail, only: [fail: 1, list!: 2, map!: 2, name: 1, shown: 1]

  alias PtcRunner.Test.Oracle.{Arithmetic, Check, Current, Lists, Tools}

  @type environment :: %{
          context: map(),
          memory: map(),
          tools: map(),
          bindings: map(),
          current: :absent | {:value, term()}
        }

  @on_current Current.operations()

  @doc "The environment of the outermost node."
  @spec environment(map(), map(), map()) :: environment()
  def environment(context, memory, tools) do
    current =
      case memory do
        %{"__input" => value} -> {:value, value}
        _ -> :absent
      end

    %{context: context, memory: memory, tools: tools, bindings: %{}, current: current}
  end

  @doc "Evaluates a node; its own current value (`\"__input\"`) has precedence over the outer one."
  @spec eval(term(), environment()) :: term()
  def eval(%{"op" => op} = node, env) when op in ["literal", "load", "var"], do: known(node, env)
  def eval(%{"__input" => own} = node, env), do: known(node, %{env | current: {:value, own}})
  def eval(node, env), do: known(node, env)

  @doc "Evaluates a node for an operation that sets its current value, which has precedence."
  @spec eval_on(term(), term(), environment()) :: term()
  def eval_on(node, value, env), do: known(node, %{env | current: {:value, value}})

  # In a part that was not validated, a mistyped field is reported after the node has been evaluated.
  defp known(node, env) do
    value = node(node, env)
    Check.mistyped(node)
    value
  end

  defp node(node, _env) when not is_map(node) or is_struct(node) do
    fail("Node must be a map, got #{shown(node)}")
  end

  defp node(%{"op" => nil}, _env), do: fail("Missing required field 'op'")

  defp node(%{"op" => op} = node, env) when op in @on_current do
    case env.current do
      :absent -> fail("No input available")
      {:value, current} -> Current.run(op, node, current, env)
    end
  end

  defp node(%{"op" => op} = node, env), do: operation(op, node, env)
  defp node(implicit_object, env), do: implicit_object |> Map.delete("__input") |> object(env)

  ## Data and bindings

  defp operation("literal", node, _env), do: node["value"]

  defp operation("load", node, env) do
    Map.get(env.context, string!(node["name"], "Context key"))
  end

  defp operation("var", %{"name" => "__input"}, env) do
    case env.current do
      {:value, current} -> current
      :absent -> nil
    end
  end

  defp operation("var", node, env) do
    name = string!(node["name"], "Memory key")

    case env.bindings do
      %{^name => value} -> value
      _ -> Map.get(env.memory, name)
    end
  end

  defp operation("let", node, env) do
    value = eval(node["value"], env)

    case string!(node["name"], "let name") do
      "__input" -> eval(node["in"], %{env | current: {:value, value}})
      name -> eval(node["in"], put_in(env.bindings[name], value))
    end
  end

  ## Logic

  defp operation("if", node, env) do
    branch = if eval(node["condition"], env), do: "then", else: "else"
    eval(node[branch], env)
  end

  defp operation("and", node, env) do
    node |> members("and", "conditions") |> Enum.all?(&eval(&1, env))
  end

  defp operation("or", node, env) do
    node |> members("or", "conditions") |> Enum.any?(&eval(&1, env))
  end

  defp operation("not", node, env), do: !eval(node["condition"], env)

  ## Combination

  defp operation("object", node, env) do
    node |> Map.get("fields", %{}) |> map!("object fields must be a map") |> object(env)
  end

  defp operation("merge", node, env) do
    node
    |> members("merge", "objects")
    |> Enum.map(&(&1 |> eval(env) |> map!("merge requires map values")))
    |> Enum.reduce(%{}, &Map.merge(&2, &1))
  end

  defp operation("concat", node, env), do: "concat" |> lists(node, env) |> Enum.concat()
  defp operation("zip", node, env), do: "zip" |> lists(node, env) |> Lists.zip()

  defp operation("pipe", node, env) do
    node |> members("pipe", "steps") |> pipe(env)
  end

  ## Arithmetic

  defp operation("round", node, env) do
    node["value"] |> operand(env) |> Arithmetic.round(Map.get(node, "precision", 0))
  end

  defp operation("pct", node, env), do: arithmetic("pct", node["part"], node["whole"], env)

  defp operation(op, node, env) when op in ["add", "sub", "mul", "div"] do
    arithmetic(op, node["left"], node["right"], env)
  end

  ## Tools, and what is no operation

  defp operation("call", node, env) do
    Tools.call(env.tools, node["tool"], Map.get(node, "args", %{}))
  end

  defp operation(op, _node, _env) when is_binary(op), do: fail("Unknown operation '#{name(op)}'")
  defp operation(op, _node, _env), do: fail("Unknown operation '#{shown(op)}'")

  ## Parts

  defp object(fields, env) do
    fields
    |> Map.to_list()
    |> Enum.sort_by(&elem(&1, 0))
    |> Map.new(fn {key, value} -> {key, literal_or_node(value, env)} end)
  end

  @doc "Evaluates a value that may be a literal: only a map with an operation is evaluated."
  @spec literal_or_node(term(), environment()) :: term()
  def literal_or_node(%{"op" => _} = node, env), do: eval(node, env)
  def literal_or_node(literal, _env), do: literal

  # The first step gets nil, except that a direct `var "__input"` reads the pipe's own value.
  defp pipe([], _env), do: nil

  defp pipe([%{"op" => "var", "name" => "__input"} = var | steps], env) do
    var |> known(env) |> steps(steps, env)
  end

  defp pipe(steps, env), do: steps(nil, steps, env)

  defp steps(value, steps, env), do: Enum.reduce(steps, value, &eval_on(&1, &2, env))

  defp arithmetic(op, left, right, env) do
    left = operand(left, env)
    Arithmetic.binary(op, left, operand(right, env))
  end

  defp operand(number, _env) when is_number(number), do: number
  defp operand(node, env), do: eval(node, env)

  defp lists(op, node, env) do
    node
    |> members(op, "lists")
    |> Enum.map(&(&1 |> eval(env) |> list!("#{op} requires list values")))
  end

  defp members(node, op, name) do
    node |> Map.get(name, []) |> list!("#{op} #{name} must be a list")
  end

  defp string!(name, _what) when is_binary(name), do: name
  defp string!(name, what), do: fail("#{what} must be a string, got #{shown(name)}")
end

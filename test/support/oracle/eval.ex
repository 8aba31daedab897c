defmodule PtcRunner.Test.Oracle.Eval do
  @moduledoc false
  # Evaluation of nodes. The environment has everything that an expression can read, and is only
  # passed down, so bindings and the current value are lexical by construction.

  import PtcRunner.Test.Oracle.Fail,
    only: [fail: 1, list!: 2, map!: 2, name: 1, proper_list?: 1, shown: 1]

  alias PtcRunner.Test.Oracle.{Added, Arithmetic, Check, Current, Fields, Lists, Tools}

  @typedoc "`checked?` says whether the node has been validated, with all its parts."
  @type environment :: %{
          context: map(),
          memory: map(),
          tools: map(),
          bindings: map(),
          current: :absent | {:value, term()},
          edition: 1 | 2,
          checked?: boolean(),
          now: String.t() | nil
        }

  @on_current Current.operations()
  @operations_2 Fields.operations(2)

  @doc "The environment of the outermost node. Options: `:edition` (1), `:now`, and `:checked?` (false)."
  @spec environment(map(), map(), map(), keyword()) :: environment()
  def environment(context, memory, tools, opts \\ []) do
    current =
      case memory do
        %{"__input" => value} -> {:value, value}
        _ -> :absent
      end

    edition = Keyword.get(opts, :edition, 1)

    %{
      context: context,
      memory: memory,
      tools: tools,
      bindings: %{},
      current: current,
      edition: edition,
      # In edition 1 some parts of a program are never validated.
      checked?: edition == 2 and Keyword.get(opts, :checked?, false),
      now: opts[:now]
    }
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
  defp known(node, %{checked?: true} = env), do: node(node, env)

  defp known(node, env) do
    value = node(node, env)
    Check.mistyped(node, env.edition)
    value
  end

  defp node(node, _env) when not is_map(node) or is_struct(node) do
    fail("Node must be a map, got #{shown(node)}")
  end

  defp node(%{"op" => nil}, _env), do: fail("Missing required field 'op'")

  defp node(%{"op" => op} = node, %{edition: 2} = env) when is_map_key(@operations_2, op) do
    env = reached(op, node, env)
    node = Fields.given(node)

    cond do
      Fields.added?(op) -> Added.run(op, node, env)
      op in @on_current -> Current.run_2(op, node, env)
      true -> operation(op, node, env)
    end
  end

  defp node(%{"op" => op} = node, env) when op in @on_current,
    do: Current.run(op, node, current!(env), env)

  defp node(%{"op" => op} = node, env), do: operation(op, node, env)
  defp node(implicit_object, env), do: implicit_object |> Map.delete("__input") |> object(env)

  # A new operation that nobody has validated is checked with all its parts when it is reached.
  defp reached(_op, _node, %{checked?: true} = env), do: env

  defp reached(op, node, env) do
    if Fields.added?(op) do
      Check.reached(node)
      %{env | checked?: true}
    else
      Check.reached_new(node)
      env
    end
  end

  @doc "The current value; without one the program ends."
  @spec current!(environment()) :: term()
  def current!(%{current: {:value, current}}), do: current
  def current!(_env), do: fail("No input available")

  @doc "The environment with a name bound, as by `let`."
  @spec bind(environment(), String.t() | nil, term()) :: environment()
  def bind(env, nil, _value), do: env
  def bind(env, "__input", value), do: %{env | current: {:value, value}}
  def bind(env, name, value), do: put_in(env.bindings[name], value)

  @doc "Evaluates a template of edition 2."
  @spec template(term(), environment()) :: term()
  def template(%{"op" => op} = node, env) when is_binary(op), do: eval(node, env)
  def template(struct, _env) when is_struct(struct), do: struct
  def template(fields, env) when is_map(fields), do: object(fields, env)

  def template(list, env) when is_list(list),
    do: if(proper_list?(list), do: Enum.map(list, &template(&1, env)), else: list)

  def template(constant, _env), do: constant

  # A place of a node in edition 1, of a template in edition 2.
  defp place(node, %{edition: 1} = env), do: eval(node, env)
  defp place(template, env), do: template(template, env)

  defp place_at(node, name, env) do
    case node do
      %{^name => part} -> place(part, env)
      _absent -> eval(nil, env)
    end
  end

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
    value = place_at(node, "value", env)
    place_at(node, "in", bind(env, string!(node["name"], "let name"), value))
  end

  ## Logic

  defp operation("if", node, env) do
    branch = if eval(node["condition"], env), do: "then", else: "else"
    place_at(node, branch, env)
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
    |> Enum.map(&(&1 |> place(env) |> map!("merge requires map values")))
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

  defp operation("call", node, %{edition: 1} = env) do
    env.tools |> Tools.call(node["tool"], Map.get(node, "args", %{})) |> Tools.value!()
  end

  defp operation("call", node, env) do
    args = node |> Map.get("args", %{}) |> args(env)

    case {Tools.call(env.tools, node["tool"], args), node} do
      {{:failed, text}, %{"on_error" => template}} -> template(template, bind(env, "error", text))
      {answer, _node} -> Tools.value!(answer)
    end
  end

  defp operation(op, _node, _env) when is_binary(op), do: fail("Unknown operation '#{name(op)}'")
  defp operation(op, _node, _env), do: fail("Unknown operation '#{shown(op)}'")

  ## Parts

  # The names of the arguments are data, "op" among them.
  defp args(args, env) when is_map(args) and not is_struct(args), do: object(args, env)
  defp args(other, _env), do: other

  @doc "A map with the same keys, whose values are evaluated in the order of the keys."
  @spec object(map(), environment()) :: map()
  def object(fields, env) do
    fields
    |> Map.to_list()
    |> Enum.sort_by(&elem(&1, 0))
    |> Map.new(fn {key, value} -> {key, literal_or_node(value, env)} end)
  end

  @doc "Evaluates a value that may be a literal: only a map with an operation is evaluated."
  @spec literal_or_node(term(), environment()) :: term()
  def literal_or_node(template, %{edition: 2} = env), do: template(template, env)
  def literal_or_node(%{"op" => _} = node, env), do: eval(node, env)
  def literal_or_node(literal, _env), do: literal

  # In edition 1 the first step gets nil, except that a direct `var "__input"` reads the pipe's own value.
  defp pipe([], _env), do: nil

  defp pipe(steps, %{edition: 2} = env) do
    case env.current do
      {:value, current} -> steps(current, steps, env)
      :absent -> steps(nil, steps, env)
    end
  end

  defp pipe([%{"op" => "var", "name" => "__input"} = var | steps], env) do
    var |> known(env) |> steps(steps, env)
  end

  defp pipe(steps, env), do: steps(nil, steps, env)

  defp steps(value, steps, env), do: Enum.reduce(steps, value, &eval_on(&1, &2, env))

  defp arithmetic(op, left, right, env) do
    left = operand(left, env)
    Arithmetic.binary(op, left, operand(right, env))
  end

  @doc "A number, or the value of a node."
  @spec operand(term(), environment()) :: term()
  def operand(number, _env) when is_number(number), do: number
  def operand(node, env), do: eval(node, env)

  defp lists(op, node, env) do
    node
    |> members(op, "lists")
    |> Enum.map(&(&1 |> place(env) |> list!("#{op} requires list values")))
  end

  defp members(node, op, name) do
    node |> Map.get(name, []) |> list!("#{op} #{name} must be a list")
  end

  defp string!(name, _what) when is_binary(name), do: name
  defp string!(name, what), do: fail("#{what} must be a string, got #{shown(name)}")
end

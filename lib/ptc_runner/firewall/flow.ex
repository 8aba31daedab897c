defmodule PtcRunner.Firewall.Flow do
  @moduledoc false
  # Which parts of a program's value come from firewalled fields, by the program alone.
  #
  # A value is secret if an operation reads a firewalled name, or if it depends on a secret value: also on a
  # condition, on an order, or on the number of items that were kept. Rows that have firewalled fields
  # are clear, because texts conceal these fields wherever the rows are shown. Some operations of edition 2 take a row's
  # fields out of it without naming them; where the data have firewalled fields, their values are secret.

  alias PtcRunner.Firewall.{Marks, Reads, Shape}
  alias PtcRunner.Json.Program
  alias PtcRunner.Schema.Table
  alias PtcRunner.Shown.Budget
  alias PtcRunner.SubAgent.Signature.Firewall

  # Texts of programs that have none of these read no firewalled name. The last one may be any character.
  @marks [~s("_), ~s("-), "\\u"]

  # Texts of programs that have none of these, and no operation that reveals fields, show no fields that they do not name.
  @revealing_marks [~s("key"), "\\u"]

  # Edition 2 gave operations of these shapes fields that their rules here do not know.
  @keyed ["aggregate", "sorted", "keyed_item", "count", "distinct", "read"]

  @input "__input"

  # Maximum number of parts of a program that are looked at. Parts may be shared, so there may be more of them than fit
  # into memory. A program with more parts counts as one that reads firewalled names.
  @parts 500_000

  @typedoc "A program in any of its forms."
  @type program :: String.t() | map() | Program.t() | {:checked | :unchecked, term()} | tuple()

  @doc """
  A program whose term is made once, for several questions.

      iex> read = PtcRunner.Firewall.Flow.read(~s({"program": {"op": "sum", "field": "_pin"}}))
      iex> {PtcRunner.Firewall.Flow.of(read, %{}), PtcRunner.Firewall.Flow.program(read)}
      {:secret, ~s({"program": {"op": "sum", "field": "_pin"}})}

  """
  @spec read(program()) :: program()
  def read(program), do: {:read, program, Program.term(program)}

  @doc "The program of `read/1`; another one as it is."
  @spec program(program()) :: program()
  def program({:read, program, _term}), do: program
  def program(program), do: program

  @doc """
  The shape of a program's value, if it runs with this memory. `hidden?` tells whether the data that it reads may have
  firewalled fields.

      iex> program = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "users"}, {"op": "first"},
      ...>   {"id": {"op": "get", "field": "id"}, "pin": {"op": "get", "field": "_pin"}}]}})
      iex> PtcRunner.Firewall.Flow.of(program, %{})
      {:object, %{"pin" => :secret}}

  """
  @spec of(program(), term(), (() -> boolean())) :: Shape.t()
  def of(program, memory, hidden? \\ fn -> false end) do
    names = names(program, memory, hidden?)

    case node(program, names) do
      :clear -> :clear
      :unknown -> :secret
      {:ok, node} -> Budget.within(@parts, :secret, &of_node(node, names, &1))
    end
  end

  defp of_node(node, names, left) do
    if Reads.touches?(node, names, left), do: shape(node, scope(names, left)), else: :clear
  end

  @doc """
  The shape of a run's result, from the shape of the program's value: the value itself, or its `"result"`.

      iex> PtcRunner.Firewall.Flow.result({:object, %{"result" => :secret}}, 4711, %{})
      :secret

  """
  @spec result(Shape.t(), term(), map()) :: Shape.t()
  def result({:object, fields} = shape, value, delta) do
    extracted = Enum.map(["result", :result], &Map.get(fields, &1, :clear))
    whole = if value === delta, do: shape, else: :clear
    Enum.reduce(extracted, whole, &Shape.join/2)
  end

  def result(shape, _value, _delta), do: shape

  @doc """
  Whether a program reads a firewalled name, or a name of this memory that comes from one. `hidden?` as for `of/3`.

      iex> program = %{"program" => %{"op" => "sum", "field" => "_pin"}}
      iex> {PtcRunner.Firewall.Flow.reads?(program, %{}), PtcRunner.Firewall.Flow.reads?(%{"program" => %{"op" => "count"}}, %{})}
      {true, false}

  """
  @spec reads?(program(), term(), (() -> boolean())) :: boolean()
  def reads?(program, memory, hidden? \\ fn -> false end) do
    names = names(program, memory, hidden?)

    case node(program, names) do
      :clear -> false
      :unknown -> true
      {:ok, node} -> Budget.within(@parts, true, &Reads.touches?(node, names, &1))
    end
  end

  @doc """
  Tells of a text whether a program has it; of each if the program is too large to be looked at.

      iex> written? = PtcRunner.Firewall.Flow.written(~s({"program": {"n": {"op": "load", "name": "a"}}}))
      iex> Enum.map(["n", "a", "b"], written?)
      [true, true, false]

  """
  @spec written(program()) :: (String.t() -> boolean())
  def written(program) do
    # The node of a text is not looked at without a name.
    case node(program, [@input]) do
      {:ok, node} ->
        texts = Budget.within(@parts, :all, &Reads.texts(node, %{}, &1))
        &(texts == :all or is_map_key(texts, &1))

      :unknown ->
        fn _text -> true end
    end
  end

  @doc """
  Whether a program compares values that it computes: they may be rows with all their fields.

      iex> compared = &~s({"program": {"op": "eq", "field": "a", "value": \#{&1}}})
      iex> Enum.map([~s("x"), ~s({"op": "load", "name": "a"})], &PtcRunner.Firewall.Flow.compares?(compared.(&1)))
      [false, true]

  """
  @spec compares?(program()) :: boolean()
  def compares?(program) do
    case node(program, [@input]) do
      {:ok, node} -> Budget.within(@parts, true, &Reads.compares?(node, &1))
      :unknown -> true
    end
  end

  # The names that are concealed, and whether fields without a name are.
  defp names(program, memory, hidden?) do
    names = Marks.names(memory)
    if reveals?(program) and hidden?.(), do: [Reads.fields() | names], else: names
  end

  # Whether a program shows fields that it does not name.
  defp reveals?({:observed, _observation, program}), do: reveals?(program)

  defp reveals?(program) do
    with false <- unmarked?(program, Reads.revealing_names() ++ @revealing_marks),
         {:ok, node} <- term(program) do
      Budget.within(@parts, true, &Reads.revealed?(node, &1))
    else
      true -> false
      :error -> true
    end
  end

  defp scope(names, left) do
    current = if @input in names, do: :secret, else: :clear
    %{current: current, bound: %{}, memory: names, left: left}
  end

  # The part that runs.
  defp node({:observed, _observation, program}, names), do: node(program, names)

  defp node(program, names) do
    if names == [] and unmarked?(program, @marks),
      do: :clear,
      else: with(:error <- term(program), do: :unknown)
  end

  defp term({:read, _program, term}), do: term
  defp term(program), do: Program.term(program)

  # Whether a text has none of these.
  defp unmarked?({:read, program, _term}, marks), do: unmarked?(program, marks)
  defp unmarked?(%Program{source: source}, marks), do: unmarked?(source, marks)

  defp unmarked?(text, marks) when is_binary(text),
    do: :binary.match(text, marks) == :nomatch

  defp unmarked?(_program, _marks), do: false

  # The shape of a node

  defp shape(%{"op" => op} = node, scope) when is_binary(op) do
    case Table.shape(op) do
      {_shape, :all} -> added(node, scope)
      {shape, fields} -> shape(shape, fields, node, scope)
      nil -> :secret
    end
  end

  defp shape(node, scope) when is_map(node), do: object(node, scope)
  defp shape(_no_node, _scope), do: :clear

  # A field of edition 2 in an operation of edition 1: secret if anything in the operation is.
  defp shape(shape, fields, node, scope) do
    if shape in @keyed and Enum.any?(fields, &is_map_key(node, &1)),
      do: added(node, scope),
      else: operation(shape, node, scope)
  end

  # What it sees, and what it names.
  defp added(node, scope) do
    Budget.spend!(scope.left)

    if clear?([scope.current | :maps.values(scope.bound)]) and
         not Reads.touches?(node, scope.memory, scope.left),
       do: :clear,
       else: :secret
  end

  defp operation("aggregate", node, %{current: current}),
    do: current |> Shape.item() |> entry(node["field"]) |> whole()

  defp operation(shape, node, %{current: current} = scope)
       when shape in ["sorted", "keyed_item", "among"] do
    key = current |> Shape.item() |> entry(node["field"])
    value = if shape == "keyed_item", do: Shape.item(current), else: current
    if clear?([key, template(node["value"], scope)]), do: value, else: :secret
  end

  defp operation("compared", node, %{current: current} = scope) do
    compared =
      cond do
        is_map_key(node, "left") -> template(node["left"], scope)
        node["field"] == nil -> current
        true -> entry(current, node["field"])
      end

    if clear?([compared, template(node["value"], scope)]) and
         not Reads.guess?(node["value"], scope.left) and
         not Reads.guess?(node["left"], scope.left),
       do: :clear,
       else: :secret
  end

  defp operation(shape, _node, %{current: current}) when shape in ["count", "keys", "kind"],
    do: if(current == :secret, do: :secret, else: :clear)

  defp operation(shape, node, scope) when shape in ["connective", "negation", "number", "zipped"],
    do: node |> Map.delete("op") |> object(scope) |> whole()

  defp operation("item", _node, %{current: current}), do: Shape.item(current)

  defp operation(shape, _node, %{current: current}) when shape in ["sublist", "selected"],
    do: current

  defp operation("constant", _node, _scope), do: :clear
  defp operation("context", %{"name" => name}, _scope), do: entry(:clear, name)
  defp operation("name", %{"name" => @input}, scope), do: scope.current

  defp operation("name", %{"name" => name}, scope) do
    case scope.bound do
      %{^name => shape} -> shape
      _memory -> if name in scope.memory, do: :secret, else: entry(:clear, name)
    end
  end

  # In edition 1 the first step gets nil, which is clear.
  defp operation("chained", node, scope) do
    case proper(node["steps"]) do
      [] -> :clear
      steps -> Enum.reduce(steps, scope.current, &shape(&1, %{scope | current: &2}))
    end
  end

  defp operation("bind", %{"name" => name} = node, scope) do
    bound = template(node["value"], scope)

    scope =
      if name == @input,
        do: %{scope | current: bound},
        else: put_in(scope.bound[name], bound)

    template(node["in"], scope)
  end

  defp operation("branch", node, scope) do
    if clear?([shape(node["condition"], scope)]),
      do: Shape.join(template(node["then"], scope), template(node["else"], scope)),
      else: :secret
  end

  defp operation("object_of_parts", node, scope), do: template(node["fields"], scope)

  defp operation("list_of_body", _node, %{current: :secret}), do: :secret

  defp operation("list_of_body", node, scope) do
    Shape.items(shape(node["expr"], of_item(node, scope)))
  end

  defp operation("filtered", node, %{current: current} = scope) do
    kept = shape(node["where"], of_item(node, scope))
    if clear?([kept]), do: current, else: :secret
  end

  defp operation("distinct", _node, %{current: current}), do: whole(current)

  defp operation("merged", node, scope) do
    shapes = node["objects"] |> proper() |> Enum.map(&template(&1, scope))

    if Enum.any?(shapes, &match?({:items, _}, &1)),
      do: :secret,
      else: Enum.reduce(shapes, :clear, &Shape.join/2)
  end

  defp operation("concatenated", node, scope) do
    node["lists"]
    |> proper()
    |> Enum.map(&template(&1, scope))
    |> Enum.reduce(:clear, &Shape.join/2)
  end

  defp operation("read", node, scope) do
    path = if is_map_key(node, "field"), do: [node["field"]], else: proper(node["path"])
    found = Enum.reduce(path, scope.current, &entry(&2, &1))
    Shape.join(found, template(node["default"], scope))
  end

  # A key "op" of `args` itself is an argument.
  defp operation("call", node, scope) do
    args = node["args"] |> argument_shapes(scope) |> whole()
    Shape.join(args, template(node["on_error"], scope))
  end

  defp operation(_shape, _invalid, _scope), do: :secret

  # The item of a loop is its current value, and may have a name.
  defp of_item(node, scope) do
    scope = %{scope | current: Shape.item(scope.current)}

    case node["as"] do
      @input -> scope
      name when is_binary(name) -> put_in(scope.bound[name], scope.current)
      _none -> scope
    end
  end

  defp argument_shapes(args, scope) when is_map(args), do: object(args, scope)
  defp argument_shapes(args, scope), do: template(args, scope)

  defp object(node, scope),
    do:
      node
      |> :maps.to_list()
      |> Map.new(fn {k, v} -> {k, template(v, scope)} end)
      |> Shape.object()

  # A value that may have operations inside it.
  defp template(%{"op" => op} = node, scope) when is_binary(op), do: shape(node, scope)

  defp template(map, scope) when is_map(map) do
    Budget.spend!(scope.left)
    object(map, scope)
  end

  defp template(list, scope) when is_list(list) do
    Budget.spend!(scope.left)

    list
    |> proper()
    |> Enum.map(&template(&1, scope))
    |> Enum.reduce(:clear, &Shape.join/2)
    |> Shape.items()
  end

  defp template(_constant, _scope), do: :clear

  # An item of a list: any one.
  defp entry(shape, index) when is_integer(index), do: shape

  defp entry(shape, name),
    do: if(Firewall.hidden?(name), do: :secret, else: Shape.entry(shape, name))

  defp clear?(shapes), do: Enum.all?(shapes, &(&1 == :clear))
  defp whole(shape), do: if(shape == :clear, do: :clear, else: :secret)

  defp proper(list) when is_list(list), do: if(List.improper?(list), do: [], else: list)
  defp proper(_other), do: []
end

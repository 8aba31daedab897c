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
  alias PtcRunner.Shown.Budget
  alias PtcRunner.SubAgent.Signature.Firewall

  # Texts of programs that have none of these read no firewalled name. The last one may be any character.
  @marks [~s("_), ~s("-), "\\u"]

  # Texts of programs that have none of these show no fields that they do not name.
  @revealing_marks [~s("entries"), ~s("text"), ~s("to_text"), ~s("key"), "\\u"]

  @input "__input"

  # Maximum number of parts of a program that are looked at. Parts may be shared, so there may be more of them than fit
  # into memory. A program with more parts counts as one that reads firewalled names.
  @parts 500_000

  # How the value of an operation depends on the current value and on its parts.
  @by_field ~w(sum avg min max)
  @ordered ~w(sort_by min_by max_by filter_in)
  @compared ~w(eq neq gt gte lt lte contains in)
  @counted ~w(count keys typeof)
  @computed ~w(and or not add sub mul div pct round zip)
  @one ~w(first last nth)
  @some ~w(take drop select)
  @own ~w(load literal var pipe let if object map filter reject distinct merge concat get call)
  # The operations of edition 2, and fields of it in the others: secret if anything in them is.
  @added ~w(it list coalesce switch some every find flat_map flatten reverse chunk fold range) ++
           ~w(set unset rename entries from_entries index_by group_by join) ++
           ~w(text to_text upper lower trim length split replace starts_with ends_with matches extract to_number) ++
           ~w(mod abs floor ceil median percentile date_diff date_add date_part now)
  @added_fields %{
    "sum" => ["expr"],
    "avg" => ["expr"],
    "min" => ["expr"],
    "max" => ["expr"],
    "min_by" => ["expr"],
    "max_by" => ["expr"],
    "sort_by" => ["expr", "by"],
    "count" => ["where"],
    "distinct" => ["field", "expr"],
    "get" => ["from", "key"]
  }
  @known @by_field ++
           @ordered ++ @compared ++ @counted ++ @computed ++ @one ++ @some ++ @own ++ @added

  @typedoc "A program in any of its forms."
  @type program :: String.t() | map() | Program.t() | {:checked | :unchecked, term()} | tuple()

  @doc """
  The operations whose flow is known: all of the language.

      iex> PtcRunner.Schema.valid_operation_names(edition: 2) -- PtcRunner.Firewall.Flow.known()
      []

  """
  @spec known() :: [String.t()]
  def known, do: @known

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
    with false <- unmarked?(program, @revealing_marks),
         {:ok, node} <- Program.term(program) do
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
      else: with(:error <- Program.term(program), do: :unknown)
  end

  # Whether a text has none of these.
  defp unmarked?(%Program{source: source}, marks), do: unmarked?(source, marks)

  defp unmarked?(text, marks) when is_binary(text),
    do: :binary.match(text, marks) == :nomatch

  defp unmarked?(_program, _marks), do: false

  # The shape of a node

  defp shape(%{"op" => op} = node, scope) when is_binary(op) do
    cond do
      op in @added or Enum.any?(Map.get(@added_fields, op, []), &is_map_key(node, &1)) ->
        added(node, scope)

      op in @own ->
        own(op, node, scope)

      true ->
        operation(op, node, scope)
    end
  end

  defp shape(node, scope) when is_map(node), do: object(node, scope)
  defp shape(_no_node, _scope), do: :clear

  # What it sees, and what it names.
  defp added(node, scope) do
    Budget.spend!(scope.left)

    if clear?([scope.current | :maps.values(scope.bound)]) and
         not Reads.touches?(node, scope.memory, scope.left),
       do: :clear,
       else: :secret
  end

  defp operation(op, node, %{current: current}) when op in @by_field,
    do: current |> Shape.item() |> entry(node["field"]) |> whole()

  defp operation(op, node, %{current: current} = scope) when op in @ordered do
    key = current |> Shape.item() |> entry(node["field"])
    value = if op in ["min_by", "max_by"], do: Shape.item(current), else: current
    if clear?([key, template(node["value"], scope)]), do: value, else: :secret
  end

  defp operation(op, node, %{current: current} = scope) when op in @compared do
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

  defp operation(op, _node, %{current: current}) when op in @counted,
    do: if(current == :secret, do: :secret, else: :clear)

  defp operation(op, node, scope) when op in @computed,
    do: node |> Map.delete("op") |> object(scope) |> whole()

  defp operation(op, _node, %{current: current}) when op in @one, do: Shape.item(current)
  defp operation(op, _node, %{current: current}) when op in @some, do: current
  defp operation(_unknown, _node, _scope), do: :secret

  defp own("literal", _node, _scope), do: :clear
  defp own("load", %{"name" => name}, _scope), do: entry(:clear, name)
  defp own("var", %{"name" => @input}, scope), do: scope.current

  defp own("var", %{"name" => name}, scope) do
    case scope.bound do
      %{^name => shape} -> shape
      _memory -> if name in scope.memory, do: :secret, else: entry(:clear, name)
    end
  end

  # In edition 1 the first step gets nil, which is clear.
  defp own("pipe", node, scope) do
    case proper(node["steps"]) do
      [] -> :clear
      steps -> Enum.reduce(steps, scope.current, &shape(&1, %{scope | current: &2}))
    end
  end

  defp own("let", %{"name" => name} = node, scope) do
    bound = template(node["value"], scope)

    scope =
      if name == @input,
        do: %{scope | current: bound},
        else: put_in(scope.bound[name], bound)

    template(node["in"], scope)
  end

  defp own("if", node, scope) do
    if clear?([shape(node["condition"], scope)]),
      do: Shape.join(template(node["then"], scope), template(node["else"], scope)),
      else: :secret
  end

  defp own("object", node, scope), do: template(node["fields"], scope)

  defp own("map", _node, %{current: :secret}), do: :secret

  defp own("map", node, scope) do
    Shape.items(shape(node["expr"], of_item(node, scope)))
  end

  defp own(op, node, %{current: current} = scope) when op in ["filter", "reject"] do
    kept = shape(node["where"], of_item(node, scope))
    if clear?([kept]), do: current, else: :secret
  end

  defp own("distinct", _node, %{current: current}), do: whole(current)

  defp own("merge", node, scope) do
    shapes = node["objects"] |> proper() |> Enum.map(&template(&1, scope))

    if Enum.any?(shapes, &match?({:items, _}, &1)),
      do: :secret,
      else: Enum.reduce(shapes, :clear, &Shape.join/2)
  end

  defp own("concat", node, scope) do
    node["lists"]
    |> proper()
    |> Enum.map(&template(&1, scope))
    |> Enum.reduce(:clear, &Shape.join/2)
  end

  defp own("get", node, scope) do
    path = if is_map_key(node, "field"), do: [node["field"]], else: proper(node["path"])
    found = Enum.reduce(path, scope.current, &entry(&2, &1))
    Shape.join(found, template(node["default"], scope))
  end

  # A key "op" of `args` itself is an argument.
  defp own("call", node, scope) do
    args = node["args"] |> argument_shapes(scope) |> whole()
    Shape.join(args, template(node["on_error"], scope))
  end

  defp own(_op, _invalid, _scope), do: :secret

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

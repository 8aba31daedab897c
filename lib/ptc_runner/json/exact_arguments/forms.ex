defmodule PtcRunner.Json.ExactArguments.Forms do
  @moduledoc false
  # What the arguments of the calls in a program can be, where operations only choose, bind or take apart a value: literals of the program,
  # each with its marks. A value that an operation computes with ends elsewhere.
  #
  # What an operation does with a value, its shape says (`PtcRunner.Schema.Table.shape/1`).
  #
  # The forms of a value are examples: each literal that the value can have in it is in at least one of them. A list whose items may be others,
  # or in another order, is `{:any, items}`: each of its items may be at each index.

  alias PtcRunner.Schema.Table

  # Maximum number of forms of a value. What is in further ones counts as being elsewhere.
  @most 64

  # The fields that the rules of a shape know. An operation that has another one computes, and so does one of any other shape.
  @fields %{
    "constant" => ["value"],
    "input" => [],
    "name" => ["name"],
    "bind" => ["name", "value", "in"],
    "branch" => ["condition", "then", "else"],
    "cases" => ["cases", "else"],
    "first_of" => ["values"],
    "concatenated" => ["lists"],
    "merged" => ["objects"],
    "list_of_parts" => ["items"],
    "object_of_parts" => ["fields"],
    "reshaped" => ["fields"],
    "chained" => ["steps"],
    "item" => ["index"],
    "sublist" => ["count"],
    "backwards" => [],
    "filtered" => ["as", "where"],
    "sorted" => ["by", "expr", "field", "order"],
    "distinct" => ["expr", "field"],
    "list_of_body" => ["as", "expr"],
    "flat_list_of_body" => ["as", "expr"],
    "read" => ["default", "field", "from", "key", "path"],
    "call" => ["args", "on_error", "tool"]
  }

  @input "__input"

  @typedoc "The marks that are in decimals, and those that are elsewhere, by their numbers."
  @type found :: %{wanted: MapSet.t(), elsewhere: MapSet.t()}

  @typedoc "Notes the marks of one form of the arguments of a call."
  @type place :: (String.t(), map(), found() -> found())

  @doc """
  The marks in a program; those in arguments of calls are noted by `place`.

      iex> alias PtcRunner.Json.ExactArguments.Forms
      iex> program = %{"op" => "let", "name" => "n", "value" => "#0:1.5", "in" => %{"op" => "call", "tool" => "t", "args" =>
      ...>   %{"a" => %{"op" => "var", "name" => "n"}, "b" => %{"op" => "add", "left" => "#1:2.5", "right" => 1}}}}
      iex> place = fn "t", args, found -> Forms.each(args, "#", found, &Forms.put(&2, :wanted, &1)) end
      iex> found = Forms.found(%{"program" => program}, "#", place)
      iex> {MapSet.to_list(found.wanted), MapSet.to_list(found.elsewhere)}
      {[0], [1]}

  """
  @spec found(term(), String.t(), place()) :: found()
  def found(program, mark, place) do
    found = %{wanted: MapSet.new(), elsewhere: MapSet.new()}
    env = %{mark: mark, place: place, names: %{}, current: []}
    node = with %{"program" => node} <- program, do: node
    {forms, found} = forms(node, env, found)
    used(forms, env, found)
  end

  @doc """
  The number and the digits of a mark; nil for any other value.

      iex> PtcRunner.Json.ExactArguments.Forms.mark("#12:1.50", "#")
      {12, "1.50"}

  """
  @spec mark(term(), String.t()) :: {non_neg_integer(), String.t()} | nil
  def mark(text, mark) when is_binary(text) do
    if String.starts_with?(text, mark) do
      [at, digits] = text |> String.replace_prefix(mark, "") |> String.split(":", parts: 2)
      {String.to_integer(at), digits}
    end
  end

  def mark(_value, _mark), do: nil

  @doc "A value with what `fun` gives in the place of each mark."
  @spec each_mark(term(), String.t(), (non_neg_integer(), String.t() -> term())) :: term()
  def each_mark(map, mark, fun) when is_map(map),
    do: Map.new(map, fn {key, value} -> {key, each_mark(value, mark, fun)} end)

  def each_mark(list, mark, fun) when is_list(list), do: Enum.map(list, &each_mark(&1, mark, fun))

  def each_mark(value, mark, fun) do
    case mark(value, mark) do
      {at, digits} -> fun.(at, digits)
      nil -> value
    end
  end

  @doc "Goes through the numbers of the marks in a value."
  @spec each(term(), String.t(), acc, (non_neg_integer(), acc -> acc)) :: acc when acc: term()
  def each(map, mark, acc, fun) when is_map(map),
    do: Enum.reduce(map, acc, fn {_key, value}, acc -> each(value, mark, acc, fun) end)

  def each({:any, items}, mark, acc, fun), do: each(items, mark, acc, fun)

  def each(list, mark, acc, fun) when is_list(list),
    do: Enum.reduce(list, acc, &each(&1, mark, &2, fun))

  def each(value, mark, acc, fun) do
    case mark(value, mark) do
      {at, _digits} -> fun.(at, acc)
      nil -> acc
    end
  end

  @doc "Notes a mark."
  @spec put(found(), :wanted | :elsewhere, non_neg_integer()) :: found()
  def put(found, where, at), do: %{found | where => MapSet.put(found[where], at)}

  @doc "Notes that the marks in a value are elsewhere."
  @spec elsewhere(term(), String.t(), found()) :: found()
  def elsewhere(value, mark, found), do: each(value, mark, found, &put(&2, :elsewhere, &1))

  defp used(forms, env, found), do: elsewhere(forms, env.mark, found)

  # The forms of a node or a template, and what is found on the way.
  defp forms(%{"op" => op} = node, env, found) when is_binary(op),
    do: op |> shape(node) |> operation(node, env, found)

  defp forms(map, env, found) when is_map(map), do: object(map, env, found)
  defp forms(list, env, found) when is_list(list), do: items(list, env, found)
  defp forms(constant, _env, found), do: {[constant], found}

  defp object(map, env, found) do
    {names, values} = map |> Map.to_list() |> Enum.unzip()
    {rows, found} = items(values, env, found)
    {Enum.map(rows, &Map.new(Enum.zip(names, &1))), found}
  end

  # Lists with one form of each item: each form of an item is in one of them.
  defp items(values, env, found) do
    {all, found} = Enum.map_reduce(values, found, &forms(&1, env, &2))
    count = all |> Enum.map(&length/1) |> Enum.max(fn -> 1 end) |> max(1)
    all = for forms <- all, do: List.to_tuple(if(forms == [], do: [nil], else: forms))
    {for(at <- 0..(count - 1)//1, do: Enum.map(all, &elem(&1, rem(at, tuple_size(&1))))), found}
  end

  # The shape of an operation, if it has no field that the rules of the shape do not know.
  defp shape(op, node) do
    with {shape, _of_edition_2} <- Table.shape(op),
         %{^shape => known} <- @fields,
         false <- Enum.any?(Map.keys(node) -- ["op" | known], &(&1 in Table.field_names(op, 2))),
         do: shape,
         else: (_other -> :computes)
  end

  defp operation("constant", node, _env, found), do: {[node["value"]], found}
  defp operation("input", _node, env, found), do: {env.current, found}
  defp operation("name", %{"name" => @input}, env, found), do: {env.current, found}
  defp operation("name", %{"name" => name}, env, found), do: {Map.get(env.names, name, []), found}

  defp operation("bind", %{"name" => name} = node, env, found) do
    {forms, found} = forms(node["value"], env, found)
    forms(node["in"], bound(env, name, forms), found)
  end

  defp operation("branch", node, env, found) do
    found = spent(node["condition"], env, found)
    any([node["then"], node["else"]], env, found)
  end

  defp operation("cases", node, env, found) do
    cases = for %{} = it <- List.wrap(node["cases"]), do: it
    found = Enum.reduce(cases, found, &spent(&1["when"], env, &2))
    any(Enum.map(cases, & &1["then"]) ++ [node["else"]], env, found)
  end

  defp operation("first_of", node, env, found), do: any(List.wrap(node["values"]), env, found)

  defp operation("concatenated", node, env, found) do
    {forms, found} = any(List.wrap(node["lists"]), env, found)
    {moved(forms), found}
  end

  defp operation("merged", node, env, found), do: any(List.wrap(node["objects"]), env, found)

  defp operation("list_of_parts", %{"items" => items}, env, found) when is_list(items),
    do: items(items, env, found)

  defp operation("object_of_parts", %{"fields" => %{} = fields}, env, found),
    do: object(fields, env, found)

  # Of a list, each item gets the fields.
  defp operation("reshaped", %{"fields" => %{} = fields}, env, found) do
    of_item = %{env | current: env.current ++ of_lists(env.current)}
    {forms, found} = object(fields, of_item, found)
    some(env.current ++ forms ++ Enum.map(forms, &{:any, [&1]}), env, found)
  end

  defp operation("chained", %{"steps" => steps}, env, found) when is_list(steps) do
    {env, found} =
      Enum.reduce(steps, {env, found}, fn step, {env, found} ->
        {forms, found} = forms(step, env, found)
        {%{env | current: forms}, found}
      end)

    {env.current, found}
  end

  defp operation("item", _node, env, found), do: {of_lists(env.current), found}

  defp operation(shape, _node, env, found) when shape in ["sublist", "backwards"],
    do: {moved(env.current), found}

  defp operation(shape, node, env, found) when shape in ["filtered", "sorted", "distinct"],
    do: {moved(env.current), spent_parts(node, env, used(asked(node, env.current), env, found))}

  defp operation(shape, node, env, found) when shape in ["list_of_body", "flat_list_of_body"] do
    items = of_lists(env.current)
    of_item = bound(%{env | current: items}, node["as"] || @input, items)
    {forms, found} = forms(node["expr"], of_item, found)
    lists = if shape == "list_of_body", do: Enum.map(forms, &{:any, [&1]}), else: moved(forms)
    {lists, found}
  end

  defp operation("read", node, env, found) do
    {forms, found} =
      if is_map_key(node, "from"), do: forms(node["from"], env, found), else: {env.current, found}

    {keys, found} = path(node, env, found)
    default = node["default"]

    case keys do
      {:ok, path} -> some(Enum.flat_map(forms, &inside(&1, path)) ++ [default], env, found)
      :error -> {[default], used(forms, env, found)}
    end
  end

  defp operation("call", %{"tool" => tool, "args" => %{} = args} = node, env, found)
       when is_binary(tool) do
    {forms, found} = object(args, env, found)
    found = Enum.reduce(forms, found, &env.place.(tool, plain(&1), &2))

    if is_map_key(node, "on_error"),
      do: forms(node["on_error"], env, found),
      else: {[], found}
  end

  # Any other operation computes.
  defp operation(_shape, node, env, found),
    do: {[], spent_parts(node, env, used(env.current, env, found))}

  defp bound(env, @input, forms), do: %{env | current: forms}
  defp bound(env, name, forms), do: %{env | names: Map.put(env.names, name, forms)}

  # What an operation computes with to choose or to order the items of the current list: their field, or all of them.
  defp asked(%{"field" => field} = node, current)
       when is_binary(field) and not is_map_key(node, "by") and not is_map_key(node, "expr"),
       do: current |> of_lists() |> Enum.flat_map(&inside(&1, [field]))

  defp asked(_node, current), do: current

  defp spent(node, env, found) do
    {forms, found} = forms(node, env, found)
    used(forms, env, found)
  end

  defp spent_parts(node, env, found) do
    env = %{env | current: []}

    Enum.reduce(Map.delete(node, "op"), found, fn {_key, part}, found ->
      spent(part, env, found)
    end)
  end

  # The forms of all these.
  defp any(nodes, env, found) do
    {all, found} = Enum.map_reduce(nodes, found, &forms(&1, env, &2))
    some(Enum.concat(all), env, found)
  end

  defp some(forms, env, found) do
    {forms, more} = forms |> Enum.uniq() |> Enum.split(@most)
    {forms, used(more, env, found)}
  end

  defp of_lists(forms), do: Enum.flat_map(forms, &of_list/1)

  defp of_list({:any, items}), do: items
  defp of_list(list) when is_list(list), do: list
  defp of_list(_no_list), do: []

  # Lists with some of these items, in any order.
  defp moved(forms), do: Enum.map(forms, &if(is_list(&1), do: {:any, &1}, else: &1))

  # The form as a value.
  defp plain({:any, items}), do: plain(items)
  defp plain(list) when is_list(list), do: Enum.map(list, &plain/1)
  defp plain(map) when is_map(map), do: Map.new(map, fn {key, value} -> {key, plain(value)} end)
  defp plain(value), do: value

  defp path(%{"field" => field}, _env, found) when is_binary(field), do: {{:ok, [field]}, found}
  defp path(%{"path" => path}, _env, found) when is_list(path), do: {{:ok, path}, found}

  defp path(%{"key" => key}, env, found) do
    case forms(key, env, found) do
      {[key], found} when is_binary(key) or is_integer(key) -> {{:ok, [key]}, found}
      {forms, found} -> {:error, used(forms, env, found)}
    end
  end

  defp path(_node, _env, found), do: {:error, found}

  defp inside(value, []), do: [value]
  defp inside(map, [key | rest]) when is_map_key(map, key), do: inside(Map.fetch!(map, key), rest)

  defp inside(list, [at | rest]) when is_list(list) and is_integer(at) and at >= 0,
    do: for(item <- list |> Enum.drop(at) |> Enum.take(1), form <- inside(item, rest), do: form)

  defp inside({:any, items}, [at | rest]) when is_integer(at),
    do: Enum.flat_map(items, &inside(&1, rest))

  defp inside(_value, _path), do: []
end

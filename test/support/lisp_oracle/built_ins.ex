defmodule PtcRunner.Test.LispOracle.BuiltIns do
  @moduledoc false
  # The built-ins of `PtcRunner.Test.LispOracle`, from the specification alone.

  @doc "Calls a value as a function."
  @spec apply(term(), [term()]) :: term()
  def apply(function, args) when is_function(function, 1), do: function.(args)
  def apply({:kw, _} = key, [of]), do: looked(of, key)
  def apply(map, [key]) when is_map(map), do: look(map, key, nil)
  def apply({:builtin, name}, args), do: call(name, args)
  def apply(_other, _args), do: throw(:unknown)

  @doc "The items of what is seqable."
  @spec items(term()) :: [term()]
  def items(nil), do: []
  def items(list) when is_list(list), do: list
  def items(text) when is_binary(text), do: String.graphemes(text)
  def items(map) when is_map(map), do: for({key, value} <- ordered(map), do: [key, value])
  def items(_other), do: throw(:wrong)

  # Small maps are in the order of their keys: keywords (which are structs) before texts.
  defp ordered(map), do: Enum.sort_by(map, fn {key, _} -> order(key) end)
  defp order(number) when is_number(number), do: {0, number}
  defp order(atom) when is_atom(atom), do: {1, Atom.to_string(atom)}
  defp order({:kw, name}), do: order_of_map(__struct__: :keyword, name: name)
  defp order(map) when is_map(map), do: map |> Map.to_list() |> order_of_map()
  defp order(list) when is_list(list), do: {3, Enum.map(list, &order/1)}
  defp order(text), do: {4, text}

  # Maps are compared by their size, then by their keys, then by the values. A keyword is a struct of two fields.
  defp order_of_map(pairs) do
    pairs = pairs |> Enum.map(fn {key, value} -> {order(key), order(value)} end) |> Enum.sort()
    {2, {length(pairs), Enum.map(pairs, &elem(&1, 0)), Enum.map(pairs, &elem(&1, 1))}}
  end

  @doc "Looks a key up flexibly."
  @spec look(term(), term(), term()) :: term()
  def look(nil, _key, default), do: default

  def look(list, index, default) when is_list(list),
    do: if(is_integer(index) and index >= 0, do: Enum.at(list, index, default), else: default)

  def look(map, {:kw, name} = key, default) when is_map(map),
    do: Map.get_lazy(map, key, fn -> Map.get(map, name, default) end)

  def look(map, name, default) when is_map(map) and is_binary(name),
    do: Map.get_lazy(map, name, fn -> Map.get(map, {:kw, name}, default) end)

  def look(map, key, default) when is_map(map), do: Map.get(map, key, default)
  def look(_other, _key, _default), do: throw(:unknown)

  # A keyword as a function.
  defp looked(of, key) when is_map(of) or is_list(of) or of == nil, do: look(of, key, nil)
  defp looked(_other, _key), do: throw(:unknown)

  @doc "Calls a built-in."
  @spec call(String.t(), [term()]) :: term()
  def call("+", args), do: numbers(args, &Enum.reduce(&1, fn b, a -> a + b end))
  def call("*", args), do: numbers(args, &Enum.reduce(&1, fn b, a -> a * b end))
  def call("-", args), do: numbers(args, &Enum.reduce(&1, fn b, a -> a - b end))
  def call("inc", [a]), do: numbers([a], fn [a] -> a + 1 end)
  def call("dec", [a]), do: numbers([a], fn [a] -> a - 1 end)
  def call("abs", [a]), do: numbers([a], fn [a] -> abs(a) end)

  def call(name, [a, b]) when name in ["quot", "rem", "mod", "/"] do
    if not (is_integer(a) and is_integer(b)) or b == 0, do: throw(:wrong)

    case name do
      "quot" -> div(a, b)
      "rem" -> rem(a, b)
      "mod" -> Integer.mod(a, b)
      "/" -> a / b
    end
  end

  def call("=", [a, b]), do: a == b
  def call("not=", [a, b]), do: a != b
  def call("<", [a, b]), do: less(a, b)
  def call(">", [a, b]), do: less(b, a)
  def call("not", [a]), do: !a
  def call("even?", [a]), do: is_integer(a) and rem(a, 2) == 0
  def call("odd?", [a]), do: is_integer(a) and rem(a, 2) != 0
  def call("pos?", [a]), do: is_number(a) and a > 0
  def call("nil?", [a]), do: a == nil
  def call("string?", [a]), do: is_binary(a)
  def call("vector?", [a]), do: is_list(a)
  def call("map?", [a]), do: is_map(a)
  def call("identity", [a]), do: a

  def call("map", [f, coll]), do: for(item <- items(coll), do: by(f, item))

  def call("map", [f, a, b]) do
    for {x, y} <- Enum.zip(items(a), items(b)), do: __MODULE__.apply(f, [x, y])
  end

  def call("filter", [f, coll]), do: Enum.filter(items(coll), &by(f, &1))
  def call("remove", [f, coll]), do: Enum.reject(items(coll), &by(f, &1))

  def call("keep", [f, coll]),
    do: coll |> items() |> Enum.map(&by(f, &1)) |> Enum.reject(&(&1 == nil))

  def call("some", [f, coll]), do: Enum.find_value(items(coll), &(by(f, &1) || nil))
  def call("every?", [f, coll]), do: Enum.all?(items(coll), &by(f, &1))

  def call("reduce", [f, first, coll]),
    do: Enum.reduce(items(coll), first, &__MODULE__.apply(f, [&2, &1]))

  def call("group-by", [f, coll]) when is_list(coll) or is_nil(coll),
    do: Enum.group_by(items(coll), &by(f, &1))

  def call("map-indexed", [f, coll]) do
    for {item, at} <- Enum.with_index(items(coll)), do: __MODULE__.apply(f, [at, item])
  end

  def call("take-while", [f, coll]), do: Enum.take_while(items(coll), &by(f, &1))
  def call("drop-while", [f, coll]), do: Enum.drop_while(items(coll), &by(f, &1))
  def call("apply", [f, list]) when is_list(list), do: __MODULE__.apply(f, list)

  def call("count", [coll]), do: length(items(coll))
  def call("empty?", [coll]), do: items(coll) == []
  def call("first", [coll]), do: coll |> sequence() |> List.first()
  def call("last", [coll]), do: coll |> sequence() |> List.last()
  def call("rest", [coll]), do: coll |> sequence() |> Enum.drop(1)
  def call("reverse", [coll]), do: coll |> sequence() |> Enum.reverse()
  def call("take", [n, coll]) when is_integer(n), do: Enum.take(items(coll), n)
  def call("drop", [n, coll]) when is_integer(n), do: Enum.drop(items(coll), n)
  def call("distinct", [coll]), do: coll |> sequence() |> Enum.uniq()
  def call("range", [n]) when is_integer(n), do: if(n > 0, do: Enum.to_list(0..(n - 1)), else: [])
  def call("conj", [list, x]) when is_list(list), do: list ++ [x]
  def call("conj", [nil, x]), do: [x]
  def call("conj", [map, [key, value]]) when is_map(map), do: Map.put(map, key, value)
  def call("cons", [x, coll]), do: [x | items(coll)]

  def call("concat", [a, b]) when (is_list(a) or a == nil) and (is_list(b) or b == nil),
    do: (a || []) ++ (b || [])

  def call("into", [list, coll]) when is_list(list), do: list ++ items(coll)
  def call("nth", [list, index]) when is_list(list) or list == nil, do: look(list, index, nil)

  def call("get", [of, key]) when is_map(of) or is_list(of) or of == nil, do: look(of, key, nil)

  def call("get", [of, key, default]) when is_map(of) or is_list(of) or of == nil,
    do: look(of, key, default)

  def call("assoc", [nil, key, value]), do: %{key => value}
  def call("assoc", [map, key, value]) when is_map(map), do: Map.put(map, key, value)
  def call("dissoc", [map, key]) when is_map(map), do: Map.delete(map, key)

  def call("update", [map, key, f]) when is_map(map),
    do: Map.put(map, key, __MODULE__.apply(f, [Map.get(map, key)]))

  def call("merge", [a, b]) when (is_map(a) or a == nil) and (is_map(b) or b == nil),
    do: Map.merge(a || %{}, b || %{})

  def call("keys", [nil]), do: nil
  def call("keys", [map]) when is_map(map), do: for({key, _} <- ordered(map), do: key)
  def call("vals", [nil]), do: nil
  def call("vals", [map]) when is_map(map), do: for({_, value} <- ordered(map), do: value)
  def call("contains?", [nil, _key]), do: false

  def call("contains?", [map, key]) when is_map(map) do
    none = make_ref()
    look(map, key, none) != none
  end

  def call("contains?", [list, value]) when is_list(list), do: Enum.any?(list, &(&1 === value))
  def call("zipmap", [keys, values]), do: keys |> items() |> Enum.zip(items(values)) |> Map.new()

  def call("str", args), do: Enum.map_join(args, &str/1)
  def call("upper-case", [text]) when is_binary(text), do: String.upcase(text)
  def call("trim", [text]) when is_binary(text), do: String.trim(text)

  def call("subs", [text, from]) when is_binary(text) and is_integer(from) and from >= 0,
    do: String.slice(text, from, String.length(text))

  def call("join", [separator, list]) when is_binary(separator) and is_list(list),
    do: Enum.map_join(list, separator, &str/1)

  def call("split", [text, ","]) when is_binary(text), do: String.split(text, ",")

  def call("includes?", [text, part]) when is_binary(text) and is_binary(part),
    do: String.contains?(text, part)

  # What the specification says of such arguments is not repeated here.
  def call(_name, _args), do: throw(:unknown)

  # A function of an item, or a keyword, which finds nothing in what has no keys.
  defp by({:kw, _} = key, item) when is_map(item), do: look(item, key, nil)
  defp by({:kw, _}, item) when is_list(item) or item == nil, do: nil
  defp by(f, item), do: __MODULE__.apply(f, [item])

  defp sequence(nil), do: []
  defp sequence(list) when is_list(list), do: list
  defp sequence(text) when is_binary(text), do: String.graphemes(text)
  defp sequence(_other), do: throw(:wrong)

  defp numbers(args, f) do
    if Enum.all?(args, &is_number/1), do: f.(args), else: throw(:wrong)
  rescue
    ArithmeticError -> throw(:wrong)
  end

  # Any two values are compared.
  defp less(a, b), do: order(a) < order(b)

  @doc "What `println` prints."
  @spec print(term()) :: String.t()
  def print(nil), do: "nil"
  def print(text) when is_binary(text), do: text

  def print([_ | _] = list) do
    # A list of characters is printed as the text that they make.
    if Enum.all?(list, &(is_binary(&1) and String.length(&1) == 1)),
      do: Enum.join(list),
      else: pr(list)
  end

  def print(value), do: pr(value)

  defp str(nil), do: ""
  defp str(text) when is_binary(text), do: text
  defp str(float) when is_float(float), do: inspect(float)
  defp str(value), do: pr(value)

  defp pr({:kw, name}), do: ":" <> name
  defp pr(list) when is_list(list), do: "[" <> Enum.map_join(list, " ", &pr/1) <> "]"

  defp pr(map) when is_map(map) do
    "{" <>
      Enum.map_join(ordered(map), " ", fn {key, value} -> key(key) <> " " <> pr(value) end) <> "}"
  end

  defp pr(float) when is_float(float),
    do: :erlang.float_to_binary(float, [:compact, decimals: 10])

  defp pr(function) when is_function(function) or is_tuple(function), do: throw(:unknown)
  defp pr(other), do: inspect(other)

  defp key(atom) when is_atom(atom), do: ":#{atom}"
  defp key(key), do: pr(key)
end

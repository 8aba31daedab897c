defmodule PtcRunner.Json.Plan.Formula do
  @moduledoc false
  # Numbers of calls: as texts, and as numbers where the data is given.

  alias PtcRunner.Json.Plan
  alias PtcRunner.Json.Plan.Paths
  alias PtcRunner.Json.Text

  @typedoc "A sum of products of a number and factors; nil if nothing is known."
  @type t :: [{pos_integer(), [factor()]}] | nil

  @type factor :: Plan.source() | {non_neg_integer(), t()}

  @doc "The numbers of a tool that is called once for equal arguments."
  @spec cached({t(), t()}, boolean() | nil) :: {t(), t()}
  def cached({least, most}, true), do: {smallest(least), most}
  def cached(both, _cache?), do: both

  defp smallest([]), do: []
  defp smallest([{_times, []}]), do: [{1, []}]
  defp smallest(least), do: [{1, [{1, least}]}]

  @doc """
  What is left of a number of calls when another one is taken away; `:more` if that may be the larger one.

      iex> orders = {:context, ["orders"], false}
      iex> for {taken, from} <- [{[{1, []}], [{3, []}]}, {[{1, [orders]}], [{1, [orders]}, {1, []}]}, {[{2, []}], [{1, []}]}, {nil, [{1, []}]}],
      ...>   do: PtcRunner.Json.Plan.Formula.minus(from, taken)
      [[{2, []}], [{1, []}], :more, :more]
  """
  @spec minus(t(), t()) :: t() | :more
  def minus(from, taken) when from == nil or taken == nil, do: :more

  def minus(from, taken) do
    Enum.reduce_while(taken, from, fn product, left ->
      case Enum.find_value(larger(product), &without(left, &1)) do
        nil -> {:halt, :more}
        left -> {:cont, left}
      end
    end)
  end

  # A product, and larger ones: a smaller one of a number and a formula is no more than either.
  defp larger({times, factors} = product) do
    case Enum.split_with(factors, &match?({number, _formula} when is_integer(number), &1)) do
      {[{number, formula} | limited], others} ->
        less = [{times * number, limited ++ others}]

        less =
          case formula do
            [{more, inner}] -> [{times * more, limited ++ inner ++ others} | less]
            _sum -> less
          end

        [product | less]

      {[], _factors} ->
        [product]
    end
  end

  defp without(left, {times, factors}) do
    factors = Enum.sort(factors)

    case Enum.split_with(left, fn {_times, others} -> Enum.sort(others) == factors end) do
      {[{^times, _factors}], others} -> others
      {[{more, _factors}], others} when more > times -> [{more - times, factors} | others]
      _less -> nil
    end
  end

  @doc """
  The sum of two numbers of calls.

      iex> PtcRunner.Json.Plan.Formula.plus([{1, []}], [{2, []}])
      [{3, []}]
  """
  @spec plus(t(), t()) :: t()
  def plus(one, other) when one == nil or other == nil, do: nil

  def plus(one, other) do
    Enum.reduce(other, one, fn {times, factors}, sum ->
      case Enum.split_with(sum, fn {_times, others} -> others == factors end) do
        {[{more, _factors}], others} -> [{more + times, factors} | others]
        {[], _all} -> [{times, factors} | sum]
      end
    end)
  end

  @doc """
  How often a tool is called, in words.

      iex> orders = {:context, ["orders"], false}
      iex> for both <- [{[], []}, {[{1, []}], [{1, []}]}, {[], [{1, []}]}, {[], [{3, [orders]}]}, {[{1, [orders]}], [{1, [orders]}]}, {[], nil}],
      ...>   do: PtcRunner.Json.Plan.Formula.text(both, nil)
      ["0", "1", "≤ 1", "≤ count(orders) × 3", "= count(orders)", "unknown"]
  """
  @spec text({t(), t()}, non_neg_integer() | nil) :: String.t()
  def text({_least, nil}, limit) when limit != nil, do: "≤ #{limit}"
  def text({[], nil}, nil), do: "unknown"
  def text({least, nil}, nil), do: "≥ " <> sum(least)
  def text({least, most}, limit), do: plain(least, most) <> limited(most, limit)

  defp plain(same, same), do: if(number(same), do: sum(same), else: "= " <> sum(same))
  defp plain([], most), do: "≤ " <> sum(most)
  defp plain(least, most), do: sum(least) <> " to " <> sum(most)

  defp limited(_most, nil), do: ""

  defp limited(most, limit) do
    case number(most) do
      number when is_integer(number) and number <= limit -> ""
      _more -> ", no more than #{limit}"
    end
  end

  defp number([]), do: 0
  defp number([{number, []}]), do: number
  defp number(_formula), do: nil

  defp sum([]), do: "0"

  # The numbers alone come last.
  defp sum(products) do
    {numbers, others} = Enum.split_with(products, fn {_times, factors} -> factors == [] end)
    Enum.map_join(others ++ numbers, " + ", &product/1)
  end

  defp product({times, []}), do: "#{times}"
  defp product({1, factors}), do: Enum.map_join(factors, " × ", &factor/1)
  defp product({times, factors}), do: product({1, factors}) <> " × #{times}"

  defp factor({number, formula}) when is_integer(number), do: "min(#{number}, #{sum(formula)})"
  defp factor(source), do: Paths.text(source)

  @doc """
  The numbers; nil where they are not known. `data` has the `:context` and the `:memory` that are given.

      iex> items = {:context, ["orders", :each, "items"], false}
      iex> orders = [%{"items" => [1, 2]}, %{"items" => [3]}]
      iex> PtcRunner.Json.Plan.Formula.numbers({[], [{2, [items]}]}, %{context: %{"orders" => orders}, memory: nil})
      {0, 6}
  """
  @spec numbers({t(), t()}, %{context: map() | nil, memory: map() | nil}) ::
          {non_neg_integer() | nil, non_neg_integer() | nil}
  def numbers({same, same}, data) do
    number = value(same, data)
    {number, number}
  end

  def numbers({least, most}, data), do: {value(least, data), value(most, data)}

  defp value(nil, _data), do: nil
  defp value([], _data), do: 0
  defp value([{number, []}], _data), do: number

  defp value(products, data) do
    Enum.reduce_while(products, 0, fn product, sum ->
      case times(product, data) do
        nil -> {:halt, nil}
        number -> {:cont, sum + number}
      end
    end)
  end

  defp times({times, factors}, data) do
    Enum.reduce_while(factors, times, fn factor, product ->
      case of_factor(factor, data) do
        nil -> {:halt, nil}
        number -> {:cont, product * number}
      end
    end)
  end

  defp of_factor({number, formula}, data) when is_integer(number) do
    with of when is_integer(of) <- value(formula, data), do: min(number, of)
  end

  defp of_factor({root, path, _whole?}, data) when root in [:context, :memory] do
    case data do
      %{^root => map} when map != nil -> count(path, map)
      _not_given -> nil
    end
  end

  defp of_factor(_source, _data), do: nil

  # The items of all lists at a path together; nil if they are not known: a text of JSON is not decoded for it, and with `structs: :values`
  # a struct is an object.
  defp count(_path, %Text{}), do: nil
  defp count([], struct) when is_struct(struct), do: nil
  defp count([:value | _path], struct) when is_struct(struct), do: nil
  defp count([], list) when is_list(list), do: proper(list, 0)
  defp count([], map) when is_map(map), do: map_size(map)
  defp count([], _other), do: 0

  defp count([:each | path], list) when is_list(list),
    do: if(proper(list, 0), do: summed(list, path, 0))

  defp count([:value | path], map) when is_map(map),
    do: map |> Map.values() |> summed(path, 0)

  defp count([:object | path], map) when is_map(map), do: count(path, map)
  defp count([:single | path], single) when not is_list(single), do: count(path, single)
  defp count([:other | path], other) when not is_map(other), do: count(path, other)

  defp count([{:without, names} | path], map) when is_map(map) and not is_struct(map),
    do: count(path, Map.drop(map, names))

  defp count([{:without, _names} | path], map) when is_struct(map), do: count(path, map)

  defp count([name | path], map) when is_map(map) and is_binary(name) do
    case map do
      %{^name => value} -> count(path, value)
      _missing -> named(map, name, path)
    end
  end

  defp count(_path, _other), do: 0

  # With `keys: :any`, an atom is a key too; the number is not known then.
  defp named(map, name, path) do
    case Enum.find(map, fn {key, _value} -> is_atom(key) and Atom.to_string(key) == name end) do
      nil -> 0
      {_key, value} -> count(path, value)
    end
  end

  defp proper([_ | rest], count), do: proper(rest, count + 1)
  defp proper([], count), do: count
  defp proper(_improper, _count), do: nil

  defp summed([], _path, sum), do: sum

  defp summed([item | rest], path, sum) do
    case count(path, item) do
      nil -> nil
      count -> summed(rest, path, sum + count)
    end
  end
end

defmodule PtcRunner.Lisp.Inside do
  @moduledoc false
  # Values of a run whose functions are marked tuples, for messages: the functions become data that can be printed.
  #
  # The marks are numbers that only the program knows: its first constants. What is known of a function is another constant, the
  # tuple `{mark, name, params, doc, source, captured}`, and the constant behind it is the function's address.

  alias PtcRunner.Lisp.Function

  # Parts of a list or a map that a message can show.
  @most 70
  @deep 8

  @doc """
  Some values with their functions as data, as far as a message shows them.

      iex> consts = {7, 8, 9, 10, {7, "f", ["x"], nil, "(fn [x] x)", []}, 40}
      iex> [function, list] = PtcRunner.Lisp.Inside.shown([{7, 40}, [{8, 1}, 2]], consts)
      iex> {function.kind, function.params, hd(list).kind}
      {:closure, ["x"], :builtin}

  """
  @spec shown([term()], tuple()) :: [term()]
  def shown(values, consts) when tuple_size(consts) >= 4,
    do: Enum.map(values, &show(&1, consts, @deep))

  def shown(values, _consts), do: values

  defp show(tuple, consts, _deep) when is_tuple(tuple) and tuple_size(tuple) > 1 do
    case elem(tuple, 0) do
      mark when mark == elem(consts, 0) -> closure(elem(tuple, 1), consts)
      mark when mark == elem(consts, 1) -> %Function{kind: :builtin}
      mark when mark == elem(consts, 2) -> made(tuple)
      mark when mark == elem(consts, 3) -> {:tool, elem(tuple, 1)}
      _other -> tuple
    end
  end

  defp show([_ | _] = list, consts, deep) when deep > 0, do: items(list, consts, deep - 1, @most)

  defp show(map, consts, deep)
       when is_map(map) and not is_struct(map) and map_size(map) <= @most and deep > 0 do
    Map.new(map, fn {key, value} ->
      {show(key, consts, deep - 1), show(value, consts, deep - 1)}
    end)
  end

  defp show(other, _consts, _deep), do: other

  defp items([item | rest], consts, deep, left) when left > 0,
    do: [show(item, consts, deep) | items(rest, consts, deep, left - 1)]

  defp items(rest, _consts, _deep, _left), do: rest

  defp closure(address, consts),
    do: consts |> Tuple.to_list() |> known(elem(consts, 0), address)

  defp known([{mark, name, params, _doc, _source, _captured}, address | _], mark, address),
    do: %Function{kind: :closure, name: name, params: params}

  defp known([_other | rest], mark, address), do: known(rest, mark, address)
  defp known([], _mark, _address), do: %Function{kind: :made}

  defp made({_mark, kind, _functions}) when is_atom(kind), do: %Function{kind: kind}
  defp made(_other), do: %Function{kind: :made}
end

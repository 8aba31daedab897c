defmodule PtcRunner.Lisp.Arguments do
  @moduledoc false
  # The arguments of a tool, whose keys are texts. The native side has made texts of keywords.

  @doc """
  The arguments with a text for each key, through lists and plain maps; `-` in a text is `_`. Other keys are texts as Elixir inspects
  them. What has only such keys is returned as it is.

      iex> PtcRunner.Lisp.Arguments.of(%{"a-b" => [%{1 => 2}], "c" => nil})
      %{"a_b" => [%{"1" => 2}], "c" => nil}

  """
  @spec of(term()) :: term()
  def of(args), do: if(plain?(args), do: args, else: made(args))

  @doc """
  The arguments of several calls; see `of/1`. Keys that are those of the call before are not looked at again.

      iex> PtcRunner.Lisp.Arguments.all([%{"a" => 1}, %{"a" => [%{"b-c" => 2}]}, %{"a-b" => 3}])
      [%{"a" => 1}, %{"a" => [%{"b_c" => 2}]}, %{"a_b" => 3}]

  """
  @spec all([term()]) :: [term()]
  def all(calls), do: all(calls, nil, nil)

  # `known`: the arguments of the call before, if they stay as they are, and their keys.
  defp all([args | rest], known, keys) when args === known, do: [args | all(rest, known, keys)]

  defp all([args | rest], _known, known) when is_map(args) and not is_struct(args) do
    keys = :maps.keys(args)

    if keys == known and leaves?(:maps.values(args)) do
      [args | all(rest, args, known)]
    else
      made = of(args)
      kept? = made === args
      [made | all(rest, kept? && args, kept? && keys)]
    end
  end

  defp all([args | rest], _known, _keys), do: [of(args) | all(rest, nil, nil)]
  defp all([], _known, _keys), do: []

  defp leaves?([value | rest]),
    do: not is_map(value) and not is_list(value) and leaves?(rest)

  defp leaves?([]), do: true

  defp plain?(map) when is_map(map) and not is_struct(map), do: plain_entries?(:maps.to_list(map))
  defp plain?([item | rest]), do: plain?(item) and plain?(rest)
  defp plain?(_other), do: true

  defp plain_entries?([{key, value} | rest]) when is_binary(key),
    do: :binary.match(key, "-") == :nomatch and plain?(value) and plain_entries?(rest)

  defp plain_entries?(rest), do: rest == []

  defp made(map) when is_map(map) and not is_struct(map),
    do: Map.new(map, fn {key, value} -> {text(key), made(value)} end)

  defp made([item | rest]), do: [made(item) | made(rest)]
  defp made(other), do: other

  defp text(key) when is_binary(key), do: String.replace(key, "-", "_")
  defp text(key), do: PtcRunner.Shown.text(key)
end

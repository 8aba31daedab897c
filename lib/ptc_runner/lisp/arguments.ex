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

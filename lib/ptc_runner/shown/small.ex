defmodule PtcRunner.Shown.Small do
  @moduledoc false
  # The texts of small terms of JSON, as `inspect/1` makes them, without its algebra. Most arguments and answers of tools are such terms.

  # Parts of a term, and bytes of a text in it.
  @parts 24
  @bytes 64

  @doc """
  The text that `inspect/1` makes of a term; nil of one that is not small, or that is no JSON, or that has something to conceal.

      iex> alias PtcRunner.Shown.Small
      iex> for term <- [%{"id" => 1, "tags" => ["a", nil]}, "say \\"hi\\"", %{"_pin" => 1}, [7, 8]], do: Small.text(term)
      [~S(%{"id" => 1, "tags" => ["a", nil]}), nil, nil, nil]

  """
  @spec text(term()) :: String.t() | nil
  def text(term) do
    case shown(term, @parts) do
      {shown, _left} -> IO.iodata_to_binary(shown)
      :other -> nil
    end
  end

  defp shown(_term, 0), do: :other
  defp shown(text, left) when is_binary(text), do: quoted(text, left)
  defp shown(nil, left), do: {"nil", left - 1}
  defp shown(true, left), do: {"true", left - 1}
  defp shown(false, left), do: {"false", left - 1}
  defp shown([], left), do: {"[]", left - 1}

  # Of 60 bits.
  defp shown(integer, left) when is_integer(integer) and abs(integer) < 0x1000_0000_0000_000,
    do: {Integer.to_string(integer), left - 1}

  defp shown(float, left) when is_float(float), do: {inspect(float), left - 1}

  # A list that begins with an integer may be a text.
  defp shown([first | rest], left) when not is_integer(first) do
    with {shown, left} <- shown(first, left - 1), do: elements(rest, ["[" | shown], left)
  end

  defp shown(map, left) when is_map(map) and map_size(map) < @parts do
    case :maps.to_list(map) do
      [] -> {"%{}", left - 1}
      [entry | rest] -> entry |> entry("%{", left - 1) |> entries(rest)
    end
  end

  defp shown(_other, _left), do: :other

  defp elements([next | rest], before, left) do
    with {shown, left} <- shown(next, left), do: elements(rest, [before, ", " | shown], left)
  end

  defp elements([], before, left), do: {[before | "]"], left}
  defp elements(_improper, _before, _left), do: :other

  # The entries of a map with few keys, all texts, are in the order of their keys.
  defp entries({before, left}, [entry | rest]),
    do: entry |> entry([before | ", "], left) |> entries(rest)

  defp entries({before, left}, []), do: {[before | "}"], left}
  defp entries(:other, _rest), do: :other

  defp entry({<<first, _rest::binary>> = key, value}, before, left)
       when first not in [?_, ?-] do
    with {key, left} <- quoted(key, left), {shown, left} <- shown(value, left) do
      {[before, key, " => " | shown], left}
    end
  end

  defp entry(_other, _before, _left), do: :other

  defp quoted(text, left) when left > 0 and byte_size(text) <= @bytes,
    do: if(plain?(text), do: {[?", text | "\""], left - 1}, else: :other)

  defp quoted(_long, _left), do: :other

  # Nothing in it is escaped.
  defp plain?(<<char, rest::binary>>) when char in 32..126 and char not in [?", ?\\, ?#],
    do: plain?(rest)

  defp plain?(rest), do: rest == ""
end

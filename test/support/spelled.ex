defmodule PtcRunner.Test.Spelled do
  @moduledoc """
  Writes a term as a JSON text in one of many spellings: white space between tokens, escapes in strings and keys, keys that are repeated
  behind the first one, and white space around that makes the text long. The term determines the spelling.
  """

  alias PtcRunner.Test.JsonText

  # A text of more bytes is read in place.
  @short 4_096

  @doc """
  The text, `:error` for a term without a JSON form.

      iex> {:ok, text} = PtcRunner.Test.Spelled.text(%{"a" => [1, "b", -0.5, nil]})
      iex> PtcRunner.Json.Codec.decode!(text)
      %{"a" => [1, "b", -0.5, nil]}

      iex> PtcRunner.Test.Spelled.text(:a)
      :error

  """
  @spec text(term()) :: {:ok, String.t()} | :error
  def text(term) do
    case JsonText.encode(term) do
      {:ok, _plain} -> {:ok, spelled(term)}
      :error -> :error
    end
  end

  # The state of the generator is kept in the process, and that of the test is put back.
  defp spelled(term) do
    before = :rand.export_seed()
    :rand.seed(:exsss, :erlang.phash2(term))
    text = [pad(), value(term), pad()] |> IO.iodata_to_binary()
    if before != :undefined, do: :rand.seed(before)
    text
  end

  defp pad,
    do: if(one_in(2), do: String.duplicate(Enum.random([" ", "\n", "\t"]), @short), else: "")

  defp blank, do: if(one_in(4), do: Enum.random([" ", "\n  ", "\t\r\n"]), else: "")

  defp one_in(count), do: :rand.uniform(count) == 1

  defp value(map) when is_map(map) do
    entries = for {key, value} <- map, do: {key, value(value)}
    again = for {key, _value} <- map, one_in(12), do: {key, value(Enum.random([nil, 7, "again"]))}
    entries = for {key, text} <- entries ++ again, do: [string(key), blank(), ":", blank(), text]
    ["{", blank(), Enum.intersperse(entries, [blank(), ",", blank()]), blank(), "}"]
  end

  defp value(list) when is_list(list) do
    ["[", blank(), Enum.map_intersperse(list, [blank(), ",", blank()], &value/1), blank(), "]"]
  end

  defp value(string) when is_binary(string), do: string(string)

  defp value(scalar) do
    {:ok, text} = JsonText.encode(scalar)
    text
  end

  defp string(string) do
    often = Enum.random([3, 1_000])
    [?", for(<<char::utf8 <- string>>, do: char(char, one_in(often))), ?"]
  end

  defp char(char, escape?) when char in [?", ?\\] or char < 0x20,
    do: char |> named(escape?) || escaped(char)

  defp char(char, true), do: escaped(char)
  defp char(char, false), do: <<char::utf8>>

  defp named(?", true), do: ~S(\")
  defp named(?\\, true), do: ~S(\\)
  defp named(?\n, true), do: ~S(\n)
  defp named(?\t, true), do: ~S(\t)
  defp named(_char, _named?), do: nil

  defp escaped(char) do
    for <<unit::16 <- :unicode.characters_to_binary([char], :unicode, {:utf16, :big})>> do
      digits = unit |> Integer.to_string(16) |> String.pad_leading(4, "0")
      ["\\u", if(one_in(2), do: String.downcase(digits), else: digits)]
    end
  end
end

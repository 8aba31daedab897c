defmodule PtcRunner.Test.CodecOracle do
  @moduledoc """
  `PtcRunner.Json.Codec.encode/1` in plain Elixir, without protocols: the JSON text of a term, or
  all parts of it that have no JSON form.

      iex> PtcRunner.Test.CodecOracle.encode(%{:a => [1, -0.0], 2 => :b})
      {:ok, ~S({"2":"b","a":[1,-0.0]})}

      iex> PtcRunner.Test.CodecOracle.encode([{1}, %{[] => <<0xFF>>}])
      {:error, [{1}, [], <<0xFF>>]}
  """

  @doc "The text, or the values without a JSON form."
  @spec encode(term()) :: {:ok, String.t()} | {:error, [term()]}
  def encode(term) do
    text = write(term)

    case text |> List.wrap() |> List.flatten() |> Enum.filter(&is_tuple/1) do
      [] -> {:ok, IO.iodata_to_binary(text)}
      offending -> {:error, for({:offending, value} <- offending, do: value)}
    end
  end

  defp write(term) when term in [nil, true, false], do: name(term, "null")
  defp write(atom) when is_atom(atom), do: string(Atom.to_string(atom))
  defp write(integer) when is_integer(integer), do: Integer.to_string(integer)
  defp write(float) when is_float(float), do: :erlang.float_to_binary(float, [:short])
  defp write(string) when is_binary(string), do: string(string)

  defp write(list) when is_list(list) do
    if List.improper?(list),
      do: [{:offending, list}],
      else: [?[, list |> Enum.map(&write/1) |> Enum.intersperse(?,), ?]]
  end

  defp write(%{__struct__: module} = struct) when is_atom(module), do: [{:offending, struct}]

  defp write(%{} = map) do
    entries = for {key, value} <- map, do: [key(key), ?:, write(value)]
    [?{, Enum.intersperse(entries, ?,), ?}]
  end

  defp write(other), do: [{:offending, other}]

  defp name(nil, null), do: null
  defp name(boolean, _null), do: Atom.to_string(boolean)

  defp key(key) when is_atom(key), do: string(Atom.to_string(key))
  defp key(key) when is_binary(key), do: string(key)
  defp key(key) when is_number(key), do: [?", write(key), ?"]
  defp key(other), do: [{:offending, other}]

  defp string(string) do
    if String.valid?(string),
      do: [?", for(<<char::utf8 <- string>>, do: escape(char)), ?"],
      else: [{:offending, string}]
  end

  @short %{?" => ?", ?\\ => ?\\, ?\b => ?b, ?\f => ?f, ?\n => ?n, ?\r => ?r, ?\t => ?t}

  defp escape(char) when is_map_key(@short, char), do: [?\\, Map.fetch!(@short, char)]
  defp escape(char) when char < 0x20, do: ["\\u00", Base.encode16(<<char>>)]
  defp escape(char), do: <<char::utf8>>
end

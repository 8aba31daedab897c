defmodule PtcRunner.Json.Encodable do
  @moduledoc false
  # Converts any term to one that has a form in JSON. For records of runs, which must be
  # written even if, for example, a tool received a pid.

  alias PtcRunner.Json.Encoder
  alias PtcRunner.Sandbox.Modules
  alias PtcRunner.Shown

  @doc """
  Tuples become lists, structs without an encoder become maps, and functions, pids and other terms become
  the text of `inspect/1`.

      iex> PtcRunner.Json.Encodable.term(%{{:a, 1} => {:timeout, 50}, ok: [~D[2025-11-20], :b]})
      %{"{:a, 1}" => [:timeout, 50], ok: [~D[2025-11-20], :b]}

  """
  @spec term(term()) :: term()
  def term(text) when is_binary(text),
    do: if(String.valid?(text), do: text, else: Shown.text(text))

  def term(plain) when is_atom(plain) or is_number(plain), do: plain
  def term([]), do: []

  def term(list) when is_list(list),
    do: if(List.improper?(list), do: Shown.text(list), else: Enum.map(list, &term/1))

  def term(tuple) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> term()

  def term(%module{} = struct) when is_atom(module) do
    if encoder?(struct), do: struct, else: struct |> Map.from_struct() |> term()
  end

  def term(map) when is_map(map),
    do: Map.new(map, fn {key, value} -> {key(key), term(value)} end)

  def term(other), do: Shown.text(other)

  @doc """
  The fields of a record, without those that are nil or empty.

      iex> PtcRunner.Json.Encodable.record(%{return: 1, fail: nil, turns: []})
      %{return: 1}

  """
  @spec record(map()) :: map()
  def record(fields) do
    for {name, value} <- fields, value not in [nil, [], %{}], into: %{}, do: {name, term(value)}
  end

  defp key(key) when is_atom(key) or is_number(key), do: key
  defp key(key) when is_binary(key), do: term(key)
  defp key(key), do: Shown.text(key)

  defp encoder?(struct) do
    is_struct(struct, Decimal) or Modules.implementation(Encoder, struct, nil) != nil or
      (Modules.loaded?(Jason.Encoder) and
         Modules.implementation(Jason.Encoder, struct, nil) not in [nil, Jason.Encoder.Any])
  end
end

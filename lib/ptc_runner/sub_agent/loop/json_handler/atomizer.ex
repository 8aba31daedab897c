defmodule PtcRunner.SubAgent.Loop.JsonHandler.Atomizer do
  @moduledoc false
  # Converts keys to existing atoms, and strings to dates if the type has them.

  alias PtcRunner.SubAgent.Signature.Base
  alias PtcRunner.SubAgent.KeyNormalizer

  # A JSON object never becomes a struct.
  @struct_key "__struct__"

  def safe_to_atom(text) when is_binary(text) do
    String.to_existing_atom(text)
  rescue
    # no such atom, not a text, or longer than any atom
    _error in [ArgumentError, SystemLimitError] -> text
  end

  # Without a signature, a key at the top must be an atom or a string.
  def top(map) when is_map(map) and not is_struct(map),
    do: rekey(map, &top_key/1, &value(&1, nil))

  def top(map) when is_struct(map), do: not_enumerable(map)

  def value(map, {:closed_map, fields}) when is_map(map), do: value(map, {:map, fields})

  def value(map, {:map, fields}) when is_map(map) and not is_struct(map) do
    types = Map.new(fields)

    map
    |> Map.new(fn {key, value} -> {key, value(value, field_type(types, key))} end)
    |> rekey(&key/1, & &1)
  end

  def value(list, {:list, type}) when is_list(list), do: each(list, type)
  def value(value, {:optional, type}), do: value(value, type)

  def value(value, {kind, _, _} = type) when kind in [:where, :struct, :defs],
    do: value(value, Base.bare(type))

  def value(text, :datetime) when is_binary(text) do
    case DateTime.from_iso8601(text) do
      {:ok, datetime, _offset} -> datetime
      {:error, _reason} -> text
    end
  end

  def value(%DateTime{} = datetime, :datetime), do: datetime
  def value(struct, _type) when is_struct(struct), do: not_enumerable(struct)
  def value(map, _type) when is_map(map), do: rekey(map, &key/1, &value(&1, nil))
  def value(list, _type) when is_list(list), do: each(list, nil)
  def value(other, _type), do: other

  defp field_type(types, key), do: Map.get(types, to_string(key)) || Map.get(types, key)

  defp each([first | rest], type), do: [value(first, type) | each(rest, type)]
  defp each([], _type), do: []

  defp rekey(map, key_fun, value_fun), do: KeyNormalizer.rekey(map, key_fun, value_fun)

  defp key(@struct_key), do: @struct_key
  defp key(key) when is_binary(key), do: safe_to_atom(key)
  defp key(key), do: key

  defp top_key(key) do
    case key do
      atom when is_atom(atom) -> atom
      text when is_binary(text) -> key(text)
    end
  end

  defp not_enumerable(struct),
    do: raise(Protocol.UndefinedError, protocol: Enumerable, value: struct)
end

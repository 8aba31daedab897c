defmodule PtcRunner.SubAgent.JsonRepair.Names do
  @moduledoc false
  # Checks whether the keys of a value, which matches its type, are the declared names.

  @doc false
  # False if a key is another spelling of a declared field, and the field itself is missing.
  @spec declared?(term(), term()) :: boolean()
  def declared?(value, {:optional, type}), do: declared?(value, type)
  def declared?(value, {:list, type}) when is_list(value), do: plain?(type) or each?(value, type)
  def declared?(value, {:map, fields}) when is_map(value), do: named?(value, fields)
  def declared?(value, {:closed_map, fields}) when is_map(value), do: named?(value, fields)
  def declared?(_value, _type), do: true

  defp each?([value | values], type), do: declared?(value, type) and each?(values, type)
  defp each?([], _type), do: true

  # Values of these types have no keys.
  defp plain?({:optional, type}), do: plain?(type)
  defp plain?({:list, type}), do: plain?(type)
  defp plain?(type), do: is_atom(type)

  defp named?(map, fields) do
    {there, absent} = Enum.split_with(fields, fn {name, _type} -> is_map_key(map, name) end)

    spelled?(map, there, absent) and
      Enum.all?(there, fn {name, type} -> declared?(Map.fetch!(map, name), type) end)
  end

  defp spelled?(_map, _there, []), do: true
  defp spelled?(map, there, _absent) when map_size(map) == length(there), do: true

  defp spelled?(map, _there, absent) do
    spellings = MapSet.new(absent, fn {name, _type} -> squeezed(name) end)
    not Enum.any?(map, fn {key, _value} -> squeezed(key) in spellings end)
  end

  # `String.replace/3` takes a hundred bytes for each match.
  defp squeezed(name) do
    for <<byte <- name>>, byte not in [?_, ?-, ?\s], into: "", do: <<lower(byte)>>
  end

  defp lower(byte) when byte in ?A..?Z, do: byte + 32
  defp lower(byte), do: byte
end

defmodule PtcRunner.SubAgent.JsonRepair.Names do
  @moduledoc false
  # Checks whether the keys of a value, which matches its type, are the declared names.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.KeyNormalizer
  alias PtcRunner.SubAgent.Signature.{Base, Firewall}

  @doc false
  # False if a key is another spelling of a declared field, and the field itself is missing.
  @spec declared?(term(), term()) :: boolean()
  def declared?(value, {:optional, type}), do: declared?(value, type)

  def declared?(value, {kind, _, _} = type) when kind in [:where, :struct, :defs],
    do: declared?(value, Base.bare(type))

  def declared?(value, {:list, type}) when is_list(value), do: plain?(type) or each?(value, type)

  def declared?(value, {kind, fields}) when kind in [:map, :closed_map] and is_map(value),
    do: named?(value, fields)

  def declared?(_value, _type), do: true

  defp each?([value | values], type), do: declared?(value, type) and each?(values, type)
  defp each?([], _type), do: true

  # Values of these types have no keys.
  defp plain?({:optional, type}), do: plain?(type)
  defp plain?({:where, type, _rules}), do: plain?(type)
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

  @doc false
  # Whether a type has an optional field: of other types, a value that matches has all fields.
  @spec optional?(term()) :: boolean()
  def optional?({kind, _, _} = type) when kind in [:where, :struct, :defs],
    do: optional?(Base.bare(type))

  def optional?({:list, type}), do: optional?(type)
  def optional?({:optional, _type}), do: true

  def optional?({kind, fields}) when kind in [:map, :closed_map],
    do: Enum.any?(fields, fn {_name, type} -> optional?(type) end)

  def optional?(_scalar), do: false

  @doc """
  Gives keys that are another spelling of one declared field their declared names, with a warning for each.

  The field must be absent, and exactly one key must be a spelling of it. Keys that differ only in hyphens and
  underscores stay as they are.

      iex> type = {:map, [{"rows", {:list, {:map, [{"paid_at", {:optional, :string}}]}}}]}
      iex> PtcRunner.SubAgent.JsonRepair.Names.renamed(%{"rows" => [%{"paidAt" => "x"}]}, type)
      {%{"rows" => [%{"paid_at" => "x"}]}, [~s(read the key "paidAt" as "paid_at")]}

  """
  @spec renamed(term(), term()) :: {term(), [String.t()]}
  def renamed(value, type) do
    {value, warnings} = rename(value, type, [])
    {value, Enum.reverse(warnings)}
  end

  defp rename(value, {:optional, type}, warnings), do: rename(value, type, warnings)

  defp rename(value, {kind, _, _} = type, warnings) when kind in [:where, :struct, :defs],
    do: rename(value, Base.bare(type), warnings)

  defp rename(value, {:list, type}, warnings) when is_list(value) do
    if plain?(type),
      do: {value, warnings},
      else: Enum.map_reduce(value, warnings, &rename(&1, type, &2))
  end

  defp rename(value, {kind, fields}, warnings)
       when kind in [:map, :closed_map] and is_map(value) do
    {value, warnings} = respelled(value, fields, warnings)

    Enum.reduce(fields, {value, warnings}, fn {name, type}, {map, warnings} ->
      with false <- plain?(type),
           key when key != nil <- key(map, name) do
        {part, more} = rename(Map.fetch!(map, key), type, [])
        {%{map | key => part}, public(more, name) ++ warnings}
      else
        _none -> {map, warnings}
      end
    end)
  end

  defp rename(value, _type, warnings), do: {value, warnings}

  @doc """
  Gives keys that differ from a declared name in hyphens and underscores only that name: validation finds them,
  coercion does not, and would drop them.

      iex> type = {:map, [{"paid_at", {:optional, :int}}]}
      iex> PtcRunner.SubAgent.JsonRepair.Names.hyphenated(%{"paid-at" => "7"}, type)
      %{"paid_at" => "7"}

  """
  @spec hyphenated(term(), term()) :: term()
  def hyphenated(value, {:optional, type}), do: hyphenated(value, type)

  def hyphenated(value, {kind, _, _} = type) when kind in [:where, :struct, :defs],
    do: hyphenated(value, Base.bare(type))

  def hyphenated(value, {:list, type}) when is_list(value),
    do: if(plain?(type), do: value, else: Enum.map(value, &hyphenated(&1, type)))

  def hyphenated(value, {kind, fields}) when kind in [:map, :closed_map] and is_map(value) do
    Enum.reduce(fields, value, fn {name, type}, map ->
      case key(map, name) do
        nil -> map
        ^name -> if plain?(type), do: map, else: Map.update!(map, name, &hyphenated(&1, type))
        key -> as_declared(map, key, name, type, fields)
      end
    end)
  end

  def hyphenated(value, _type), do: value

  defp as_declared(map, key, name, type, fields) do
    if List.keymember?(fields, key, 0) do
      map
    else
      {value, map} = Map.pop!(map, key)
      Map.put(map, name, hyphenated(value, type))
    end
  end

  # Keys inside a firewalled field are not shown.
  defp public([_ | _] = warnings, name) do
    if Firewall.hidden?(name),
      do:
        Enum.map(warnings, fn _ -> "read a key in #{inspect(Shown.name(name))} as declared" end),
      else: warnings
  end

  defp public([], _name), do: []

  defp respelled(map, fields, warnings) do
    {there, absent} = Enum.split_with(fields, fn {name, _type} -> key(map, name) != nil end)

    if absent == [] or map_size(map) == length(there),
      do: {map, warnings},
      else: respelled(map, fields, absent, warnings)
  end

  defp respelled(map, fields, absent, warnings) do
    declared = MapSet.new(fields, fn {name, _type} -> key(map, name) end)
    keys = for key <- Map.keys(map), is_binary(key), key not in declared, do: key
    keys = Enum.group_by(keys, &squeezed/1)
    names = Enum.group_by(fields, fn {name, _type} -> squeezed(name) end)

    Enum.reduce(absent, {map, warnings}, fn {name, _type}, {map, warnings} ->
      spelling = squeezed(name)

      case {Map.get(keys, spelling), Map.fetch!(names, spelling)} do
        {[key], [_field]} ->
          {value, map} = Map.pop!(map, key)
          {Map.put(map, name, value), [warning(key, name) | warnings]}

        _none_or_several ->
          {map, warnings}
      end
    end)
  end

  defp warning(key, name),
    do: "read the key #{inspect(Shown.name(key))} as #{inspect(Shown.name(name))}"

  # The key of a field, by the rules of validation.
  defp key(map, name) when is_map_key(map, name), do: name

  defp key(map, name), do: Enum.find(KeyNormalizer.spellings(name), &is_map_key(map, &1))

  # `String.replace/3` takes a hundred bytes for each match.
  defp squeezed(name) do
    for <<byte <- name>>, byte not in [?_, ?-, ?\s], into: "", do: <<lower(byte)>>
  end

  defp lower(byte) when byte in ?A..?Z, do: byte + 32
  defp lower(byte), do: byte
end

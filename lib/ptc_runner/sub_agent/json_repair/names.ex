defmodule PtcRunner.SubAgent.JsonRepair.Names do
  @moduledoc false
  # Checks whether the keys of a value, which matches its type, are the declared names.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.KeyNormalizer
  alias PtcRunner.SubAgent.Loop.JsonHandler.Union
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
  defp plain?({kind, type}) when kind in [:optional, :list, :map_of], do: plain?(type)
  defp plain?({:where, type, _rules}), do: plain?(type)
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
  # Whether a type has a field that may be missing: of other types, a value that matches has all fields.
  @spec optional?(term()) :: boolean()
  def optional?({:where, type, rules}),
    do: (is_list(rules) and List.keymember?(rules, :default, 0)) or optional?(type)

  def optional?({:struct, _module, type}), do: optional?(type)
  def optional?({:list, type}), do: optional?(type)
  def optional?({:map_of, type}), do: optional?(type)
  def optional?({:optional, _type}), do: true
  def optional?({:one_of, types, _field}), do: Enum.any?(types, &optional?/1)

  def optional?({:defs, names, type}) when is_map(names),
    do: optional?(type) or Enum.any?(names, fn {_name, type} -> optional?(type) end)

  def optional?({kind, fields}) when kind in [:map, :closed_map],
    do: Enum.any?(fields, fn {_name, type} -> optional?(type) end)

  def optional?(_scalar), do: false

  @doc """
  Gives keys that are another spelling of one declared field their declared names, with a warning for each.

  The field must be absent, and exactly one key must be a spelling of it. Keys that differ only in hyphens and
  underscores stay as they are. An object of one of several types has the fields of the one that it certainly is of.

      iex> type = {:map, [{"rows", {:list, {:map, [{"paid_at", {:optional, :string}}]}}}]}
      iex> PtcRunner.SubAgent.JsonRepair.Names.renamed(%{"rows" => [%{"paidAt" => "x"}]}, type)
      {%{"rows" => [%{"paid_at" => "x"}]}, [~s(read the key "paidAt" as "paid_at")]}

      iex> alias PtcRunner.SubAgent.JsonRepair.Names
      iex> type = {:one_of, [{:map, [{"card_no", :string}]}, {:map, [{"iban", :string}]}], nil}
      iex> Names.renamed(%{"cardNo" => "x"}, {:map_of, type})
      {%{"cardNo" => "x"}, []}
      iex> Names.renamed(%{"by" => %{"cardNo" => "x"}}, {:map_of, type})
      {%{"by" => %{"card_no" => "x"}}, [~s(read the key "cardNo" as "card_no")]}

  """
  @spec renamed(term(), term()) :: {term(), [String.t()]}
  def renamed(value, type) do
    {value, warnings} = walk(value, type, %{}, &respelled/3, [])
    {value, Enum.reverse(warnings)}
  end

  @doc """
  Gives keys that differ from a declared name in hyphens and underscores only that name: validation finds them,
  coercion does not, and would drop them.

      iex> type = {:map, [{"paid_at", {:optional, :int}}]}
      iex> PtcRunner.SubAgent.JsonRepair.Names.hyphenated(%{"paid-at" => "7"}, type)
      %{"paid_at" => "7"}

  """
  @spec hyphenated(term(), term()) :: term()
  def hyphenated(value, type), do: value |> walk(type, %{}, &as_declared/3, []) |> elem(0)

  # `rename` gives the keys of one object other names. `names`: the types of the names around.
  defp walk(value, {:optional, type}, names, rename, told),
    do: walk(value, type, names, rename, told)

  defp walk(value, {:struct, _module, type}, names, rename, told),
    do: walk(value, type, names, rename, told)

  defp walk(value, {:where, type, _rules}, names, rename, told),
    do: walk(value, type, names, rename, told)

  defp walk(value, {:defs, inner, type}, names, rename, told) when is_map(inner),
    do: walk(value, type, Map.merge(names, inner), rename, told)

  defp walk(value, {:ref, name}, names, rename, told),
    do: walk(value, Union.resolved(name, names), names, rename, told)

  defp walk([_ | _] = list, {:list, type}, names, rename, told) do
    if plain?(type) or List.improper?(list),
      do: {list, told},
      else: Enum.map_reduce(list, told, &walk(&1, type, names, rename, &2))
  end

  defp walk(map, {:map_of, type}, names, rename, told) when is_map(map) and not is_struct(map) do
    if plain?(type),
      do: {map, told},
      else: Enum.reduce(Map.keys(map), {map, told}, &part(&1, &1, type, names, rename, &2))
  end

  defp walk(map, {:one_of, types, field}, names, rename, told)
       when is_map(map) and not is_struct(map) do
    {map, more} = Union.spelled(map, types, field, names, &walk(&1, &2, names, rename, []))

    {map, more ++ told}
  end

  defp walk(map, {kind, fields}, names, rename, told)
       when kind in [:map, :closed_map] and is_map(map) and not is_struct(map) do
    Enum.reduce(fields, rename.(map, fields, told), fn {name, type}, {map, told} ->
      key = if not plain?(type), do: key(map, name)
      if key == nil, do: {map, told}, else: part(key, name, type, names, rename, {map, told})
    end)
  end

  defp walk(value, _type, _names, _rename, told), do: {value, told}

  defp part(key, name, type, names, rename, {map, told}) do
    {part, more} = walk(Map.fetch!(map, key), type, names, rename, [])
    {%{map | key => part}, public(more, name) ++ told}
  end

  defp as_declared(map, fields, told) do
    declared = fn {name, _type}, map ->
      case key(map, name) do
        key when key in [nil, name] -> map
        key -> if List.keymember?(fields, key, 0), do: map, else: moved(map, key, name)
      end
    end

    {Enum.reduce(fields, map, declared), told}
  end

  defp moved(map, key, name) do
    {value, map} = Map.pop!(map, key)
    Map.put(map, name, value)
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
          {moved(map, key, name), [warning(key, name) | warnings]}

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

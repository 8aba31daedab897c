defmodule PtcRunner.SubAgent.JsonRepair.Names do
  @moduledoc false
  # Checks whether the keys of a value, which matches its type, are the declared names.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.JsonRepair.Twins
  alias PtcRunner.SubAgent.Signature.{Base, Firewall, Type}

  @doc false
  # False if a key is another spelling of a declared field, and the field itself is missing.
  @spec declared?(term(), term()) :: boolean()
  def declared?(value, {:optional, type}), do: declared?(value, type)

  def declared?(value, {kind, _, _} = type) when kind in [:where, :struct, :defs],
    do: declared?(value, Base.bare(type))

  def declared?(value, {:list, type}) when is_list(value),
    do: Type.plain?(type) or each?(value, type)

  def declared?(value, {kind, fields}) when kind in [:map, :closed_map] and is_map(value),
    do: named?(value, fields)

  def declared?(_value, _type), do: true

  defp each?([value | values], type), do: declared?(value, type) and each?(values, type)
  defp each?([], _type), do: true

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
  def optional?(type) do
    Type.any?(type, fn
      {:where, _type, rules} -> is_list(rules) and List.keymember?(rules, :default, 0)
      {:optional, _type} -> true
      _other -> false
    end)
  end

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
  def renamed(value, type), do: Type.walk(value, type, &renamed/3)

  # The keys inside a firewalled field are not shown.
  defp renamed(map, fields, path) do
    hidden = Enum.find(path, &Firewall.hidden?/1)
    respelled(map, fields, &warning(&1, &2, hidden))
  end

  @doc """
  An error for each field that is missing and that an object has under a key in another spelling, where `renamed/2` would give it its name.

      iex> type = {:map, [{"user_id", {:optional, :int}}]}
      iex> for map <- [%{"userId" => 1}, %{"user-id" => 1}, %{"user" => 1}],
      ...>   do: PtcRunner.SubAgent.JsonRepair.Names.misspelled(map, type)
      [[%{path: ["user_id"], message: ~s(expected field, got the key "userId")}], [], []]

  """
  @spec misspelled(term(), term()) :: [%{path: list(), message: String.t()}]
  def misspelled(value, type), do: value |> Type.walk(type, &misspelled/3) |> elem(1)

  defp misspelled(map, fields, path) do
    hidden? = Enum.any?(path, &Firewall.hidden?/1)

    {_map, errors} =
      respelled(map, fields, fn key, name ->
        key = if hidden?, do: "a key in another spelling", else: "the key " <> shown(key)
        %{path: path ++ [name], message: "expected field, got " <> key}
      end)

    {map, errors}
  end

  @doc """
  Gives keys that differ from a declared name in hyphens and underscores only that name: validation finds them,
  coercion does not, and would drop them.

      iex> type = {:map, [{"paid_at", {:optional, :int}}]}
      iex> PtcRunner.SubAgent.JsonRepair.Names.hyphenated(%{"paid-at" => "7"}, type)
      %{"paid_at" => "7"}

  """
  @spec hyphenated(term(), term()) :: term()
  def hyphenated(value, type), do: value |> Type.walk(type, &as_declared/3) |> elem(0)

  @doc """
  Whether an absent field has several keys that are another spelling of it: it is not known which one is meant.

      iex> type = {:map, [{"o", {:map, [{"user_id", :int}]}}]}
      iex> for keys <- [["userId", "userID"], ["userId"], ["user_id", "userID"]] do
      ...>   PtcRunner.SubAgent.JsonRepair.Names.several?(%{"o" => Map.new(keys, &{&1, 1})}, type)
      ...> end
      [true, false, false]

  """
  @spec several?(term(), term()) :: boolean()
  def several?(value, type), do: value |> Type.walk(type, &unclear/3) |> elem(1) != []

  @doc """
  An error for each field that an object has under several keys, in different spellings and with different values.

      iex> type = {:map, [{"user_id", :int}]}
      iex> for map <- [%{"user_id" => 1, "user-id" => 2}, %{"user_id" => 1, "userId" => 1}],
      ...>   do: PtcRunner.SubAgent.JsonRepair.Names.clashes(map, type)
      [[%{path: [], message: ~s("user-id" and "user_id" are one field, and their values differ: write one of them)}], []]

  """
  @spec clashes(term(), term()) :: [%{path: list(), message: String.t()}]
  def clashes(value, type) do
    if declared_alone?(value, type),
      do: [],
      else: value |> Type.walk(type, &clashing/3) |> elem(1)
  end

  # Whether each object has its declared keys and no others, as in most answers. This takes less time than a walk.
  defp declared_alone?(_value, type) when is_atom(type), do: true

  defp declared_alone?(map, {kind, fields})
       when kind in [:map, :closed_map] and map_size(map) == length(fields),
       do: fields_alone?(fields, map)

  defp declared_alone?(list, {:list, type}) when is_list(list),
    do: Type.plain?(type) or items_alone?(list, type)

  defp declared_alone?(_value, type), do: Type.plain?(type)

  defp fields_alone?([{name, type} | rest], map) do
    case map do
      %{^name => value} -> declared_alone?(value, type) and fields_alone?(rest, map)
      _absent -> false
    end
  end

  defp fields_alone?([], _map), do: true

  defp items_alone?([value | rest], type),
    do: declared_alone?(value, type) and items_alone?(rest, type)

  defp items_alone?(rest, _type), do: rest == []

  defp clashing(map, fields, path) do
    declared = for {name, _type} <- fields, is_map_key(map, name), do: name

    if length(declared) == map_size(map),
      do: {map, []},
      else: {map, clashing(map, fields, declared, path)}
  end

  defp clashing(map, fields, declared, path) do
    others = for key <- Map.keys(map) -- declared, is_binary(key), do: {squeezed(key), key}

    for {name, _type} <- fields,
        spelling = squeezed(name),
        own = if(is_map_key(map, name), do: [name], else: []),
        hidden? <- [Firewall.hidden?(name)],
        [_, _ | _] = keys <- [
          own ++ for({^spelling, key} <- others, Firewall.hidden?(key) == hidden?, do: key)
        ],
        [_, _ | _] <- [keys |> Enum.map(&Map.fetch!(map, &1)) |> Enum.uniq()],
        uniq: true,
        do: Twins.told(Enum.sort(keys), path)
  end

  defp unclear(map, fields, _path) do
    absent = for {name, _type} <- fields, Type.key(map, name) == nil, do: squeezed(name)
    declared = for {name, _type} <- fields, key = Type.key(map, name), do: key
    keys = for key <- Map.keys(map) -- declared, is_binary(key), do: squeezed(key)
    found = Enum.frequencies(keys)
    {map, for(name <- absent, Map.get(found, name, 0) > 1, do: name)}
  end

  defp as_declared(map, fields, _path) do
    declared = fn {name, _type}, map ->
      case Type.key(map, name) do
        key when key in [nil, name] -> map
        key -> if List.keymember?(fields, key, 0), do: map, else: moved(map, key, name)
      end
    end

    {Enum.reduce(fields, map, declared), []}
  end

  defp moved(map, key, name) do
    {value, map} = Map.pop!(map, key)
    Map.put(map, name, value)
  end

  # `told` makes what is told of a key and the name that it gets.
  defp respelled(map, fields, told) do
    {there, absent} = Enum.split_with(fields, fn {name, _type} -> Type.key(map, name) != nil end)

    if absent == [] or map_size(map) == length(there),
      do: {map, []},
      else: respelled(map, fields, absent, told)
  end

  defp respelled(map, fields, absent, told) do
    declared = MapSet.new(fields, fn {name, _type} -> Type.key(map, name) end)
    keys = for key <- Map.keys(map), is_binary(key), key not in declared, do: key
    keys = Enum.group_by(keys, &squeezed/1)
    names = Enum.group_by(fields, fn {name, _type} -> squeezed(name) end)

    {map, all} =
      Enum.reduce(absent, {map, []}, fn {name, _type}, {map, all} ->
        spelling = squeezed(name)

        case {Map.get(keys, spelling), Map.fetch!(names, spelling)} do
          {[key], [_field]} -> {moved(map, key, name), [told.(key, name) | all]}
          _none_or_several -> {map, all}
        end
      end)

    {map, Enum.reverse(all)}
  end

  defp warning(key, name, nil), do: "read the key #{shown(key)} as #{shown(name)}"
  defp warning(_key, _name, hidden), do: "read a key in #{shown(hidden)} as declared"

  defp shown(name), do: name |> Shown.name() |> inspect()

  # A sign in front of a name is no spelling of it: it may mean the opposite. `String.replace/3` takes a hundred bytes for each match.
  defp squeezed(<<?-, rest::binary>>), do: "-" <> letters(rest)
  defp squeezed(name), do: letters(name)

  defp letters(name) do
    for <<byte <- name>>, byte not in [?_, ?-, ?\s], into: "", do: <<lower(byte)>>
  end

  defp lower(byte) when byte in ?A..?Z, do: byte + 32
  defp lower(byte), do: byte
end

defmodule PtcRunner.SubAgent.Loop.JsonHandler.Union do
  @moduledoc false
  # Which type of a union a JSON value probably has, before its texts become dates. The validation decides.
  # And which values are members of an enumeration.

  alias PtcRunner.SubAgent.Signature.{Base, Validator}

  # Maximum number of names and unions that stand for each other.
  @steps 100

  # An improper list has no length, and is no list of rules.
  @doc "The values of an enumeration among rules; nil if there is none."
  @spec enumeration(term()) :: [term()] | nil
  def enumeration(rules) when length(rules) >= 0 do
    case List.keyfind(rules, :enum, 0) do
      {:enum, values} when length(values) >= 0 -> values
      _other -> nil
    end
  end

  def enumeration(_rules), do: nil

  @doc "The type of a name, without names that stand for it; nil if there is none. It keeps an enumeration."
  @spec resolved(String.t(), map()) :: term()
  def resolved(name, names), do: plain({:ref, name}, names, @steps)

  defp plain(_type, _names, 0), do: nil
  defp plain({:ref, name}, names, steps), do: plain(Map.get(names, name), names, steps - 1)

  defp plain({:where, type, rules}, names, steps) do
    inner = plain(type, names, steps - 1)
    if enumeration(rules), do: {:where, inner, rules}, else: inner
  end

  defp plain({:defs, _names, _type} = type, _names_around, _steps), do: type
  defp plain(type, _names, _steps), do: type

  @doc "The value of the first type without parts that takes it, or the value itself."
  @spec first([term()], map(), term(), (term() -> term())) :: term()
  def first(types, names, value, convert) do
    types
    |> members(names)
    |> Enum.find_value({:as, value}, fn type ->
      made = if is_atom(Base.bare(type)), do: convert.(type), else: value

      if is_atom(Base.bare(type)) and Validator.validate(made, type) == :ok, do: {:as, made}
    end)
    |> elem(1)
  end

  @doc "The type of a map or a list: by the field that discriminates, or by the fields that it must have."
  @spec chosen(map() | list(), [term()], String.t() | nil, map()) :: term()
  def chosen(list, types, _field, names) when is_list(list) do
    types = members(types, names)

    member(list, types) || Enum.find(types, &match?({:list, _type}, Base.bare(&1))) ||
      ruled(types)
  end

  def chosen(map, types, field, names) do
    types = members(types, names)
    maps = for type <- types, map?(Base.bare(type)), do: type

    member(map, types) ||
      Enum.find(maps, &(field != nil and named?(map, Base.bare(&1), field))) ||
      Enum.find(maps, &fits?(map, Base.bare(&1))) || List.first(maps) || ruled(types)
  end

  @doc """
  An object of a union as `spell` makes it with the one type that it certainly is of: by the field that discriminates, or else by the fields that it
  must have. `spell` returns an object and what it tells of it.

      iex> types = [{:map, [{"user_id", :int}]}, {:map, [{"name", :string}]}]
      iex> spell = fn map, {:map, [{name, _type}]} -> {Map.new(map, fn {_key, value} -> {name, value} end), [name]} end
      iex> alias PtcRunner.SubAgent.Loop.JsonHandler.Union
      iex> Union.spelled(%{"name" => "a"}, types, nil, %{}, spell)
      {%{"name" => "a"}, ["name"]}
      iex> Union.spelled(%{"id" => 7}, types, nil, %{}, spell)
      {%{"id" => 7}, []}

  """
  @spec spelled(map(), [term()], String.t() | nil, map(), (map(), term() -> {map(), list()})) ::
          {map(), list()}
  def spelled(map, types, field, names, spell) do
    maps = for type <- members(types, names), map?(Base.bare(type)), do: type

    of? = fn map, type ->
      if field != nil,
        do: named?(map, Base.bare(type), field),
        else: fits?(map, Base.bare(type))
    end

    case Enum.find(maps, &of?.(map, &1)) do
      nil ->
        case for(type <- maps, {made, _} = one <- [spell.(map, type)], of?.(made, type), do: one) do
          [one] -> one
          _none_or_several -> {map, []}
        end

      type ->
        spell.(map, type)
    end
  end

  # The type whose enumeration has the value.
  defp member(value, types),
    do: Enum.find(types, fn type -> Enum.any?(values(type), &(&1 == value)) end)

  defp ruled(types), do: Enum.find(types, &(values(&1) != []))

  defp values({:where, _type, rules}), do: enumeration(rules) || []
  defp values(_type), do: []

  @doc """
  The types of a union, with those of the unions in it, and of names.

      iex> alias PtcRunner.SubAgent.Loop.JsonHandler.Union
      iex> Union.members([:int, {:ref, "T"}], %{"T" => {:one_of, [:string, {:optional, :map}], nil}})
      [:int, :string, :map]

  """
  @spec members([term()], map()) :: [term()]
  def members(types, names), do: members(types, names, @steps)

  defp members(_types, _names, 0), do: []

  defp members(types, names, steps) do
    Enum.flat_map(types, fn type ->
      case optional(type) do
        {:one_of, types, _field} -> members(types, names, steps - 1)
        {:ref, name} -> names |> Map.get(name) |> List.wrap() |> members(names, steps - 1)
        type -> [type]
      end
    end)
  end

  defp optional({:optional, type}), do: optional(type)
  defp optional(type), do: type

  defp map?({kind, _fields}) when kind in [:map, :closed_map, :map_of], do: true
  defp map?(type), do: type == :map

  defp named?(map, {kind, fields}, field) when kind in [:map, :closed_map] do
    with {_name, {:where, _type, rules}} <- List.keyfind(fields, field, 0),
         [_ | _] = values <- rules[:enum] do
      Map.get(map, field) in values
    else
      _other -> false
    end
  end

  defp named?(_map, _type, _field), do: false

  defp fits?(map, {kind, fields}) when kind in [:map, :closed_map],
    do: Enum.all?(fields, fn {name, type} -> has?(map, name, type) end)

  defp fits?(_map, _type), do: true

  defp has?(_map, _name, {:optional, _type}), do: true

  defp has?(map, name, {:where, _type, rules}) do
    case map do
      %{^name => value} -> rules[:enum] == nil or value in rules[:enum]
      %{} -> Keyword.has_key?(rules, :default)
    end
  end

  defp has?(map, name, _type), do: is_map_key(map, name)
end

defmodule PtcRunner.SubAgent.Signature.FromSchema.Types do
  @moduledoc false
  # The alternatives of a place as one type: a scalar, a list, a map, or one of several.

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.FromSchema
  alias PtcRunner.SubAgent.Signature.FromSchema.{Alternative, Discriminator, Place, Reader}
  alias PtcRunner.SubAgent.Signature.Type

  @never {:one_of, [], nil}
  @null {:where, :any, [enum: [nil]]}
  @scalars [:number, :string]

  @doc "The type of these alternatives; a place for what is not kept."
  @spec of([Alternative.t()], Place.t(), Reader.state()) :: {Signature.type(), Reader.state()}
  def of(alternatives, place, state) do
    {found, state} = Enum.map_reduce(alternatives, state, &kinds(&1, place, &2))
    {found |> Enum.concat() |> joined(), state}
  end

  # `:null`, or a type that does not take null.
  defp joined(types) do
    {nulls, types} = types |> Enum.uniq() |> Enum.split_with(&(&1 == :null))

    case types |> enumerated() |> wide() do
      [] when nulls == [] -> @never
      [] -> @null
      [:any] -> :any
      [{:where, :any, _rules} = type] when nulls == [] -> type
      [type] when nulls == [] -> type
      [type] -> {:optional, type}
      types when nulls == [] -> {:one_of, types, Discriminator.of(types)}
      types -> {:optional, {:one_of, types, Discriminator.of(types)}}
    end
  end

  # A type takes the values of the same type with rules.
  defp wide(types) do
    plain = for type <- types, is_atom(type), into: MapSet.new(), do: type

    if :any in plain do
      [:any]
    else
      Enum.reject(types, fn
        {:where, type, rules} -> type in plain and not Keyword.has_key?(rules, :description)
        _other -> false
      end)
    end
  end

  # Enumerations of one type are one.
  defp enumerated(types) do
    groups =
      for {:where, type, [{:enum, values} | rest]} <- types,
          rest in [[], [whole: true]],
          reduce: %{} do
        groups -> Map.update(groups, {type, rest}, [values], &[values | &1])
      end

    {types, _done} =
      Enum.flat_map_reduce(types, MapSet.new(), fn
        {:where, type, [{:enum, _values} | rest]} = one, done ->
          key = {type, rest}

          cond do
            not is_map_key(groups, key) ->
              {[one], done}

            MapSet.member?(done, key) ->
              {[], done}

            true ->
              values = groups |> Map.fetch!(key) |> Enum.reverse() |> Enum.concat() |> Enum.uniq()
              {[{:where, type, [{:enum, values} | rest]}], MapSet.put(done, key)}
          end

        other, done ->
          {[other], done}
      end)

    types
  end

  defp kinds(%{enum: [_ | _] = values} = alternative, place, state) do
    {types, state} = listed(values, alternative, place, state)
    {types |> together(state) |> described(alternative.note), state}
  end

  defp kinds(%{enum: []}, _place, state), do: {[], state}

  defp kinds(alternative, place, state) do
    case anything(alternative) do
      {:ok, type} ->
        {described([type], alternative.note), state}

      :no ->
        {types, state} =
          Enum.flat_map_reduce([:object, :array, :string, :number, :boolean, :null], state, fn
            kind, state -> kind(kind, Map.fetch!(alternative, kind), place, state)
          end)

        {described(types, alternative.note), state}
    end
  end

  # Values of several kinds are one enumeration for a reader.
  defp together(types, %{lenient?: true}) do
    {nulls, types} = Enum.split_with(types, &(&1 == :null))

    case for {:where, _type, [{:enum, values} | _]} <- types, do: values do
      [_, _ | _] = all when length(all) == length(types) ->
        nulls ++ [{:where, :any, [enum: Enum.concat(all)]}]

      _one ->
        nulls ++ types
    end
  end

  defp together(types, _state), do: types

  defp described(types, nil), do: types

  defp described(types, text) do
    Enum.map(types, fn
      :null -> :null
      type -> FromSchema.rules(type, description: text)
    end)
  end

  # All kinds, with rules for some of them.
  defp anything(alternative) do
    plain? =
      Enum.all?([:null, :boolean, :object], &Alternative.any?(&1, Map.fetch!(alternative, &1))) and
        Enum.all?(@scalars, &(Map.fetch!(alternative, &1) != nil)) and
        not is_map_key(alternative.number, :int) and alternative.array != nil and
        alternative.array.prefix == [] and alternative.array.items == []

    if plain? do
      rules =
        alternative.number |> Map.merge(alternative.string) |> Map.merge(alternative.array.rules)

      {:ok, FromSchema.rules(:any, Map.to_list(rules))}
    else
      :no
    end
  end

  defp kind(_kind, none, _place, state) when none in [nil, false], do: {[], state}
  defp kind(:null, true, _place, state), do: {[:null], state}
  defp kind(:boolean, true, _place, state), do: {[:bool], state}
  defp kind(:string, rules, _place, state), do: {[where(:string, rules)], state}
  defp kind(:number, rules, _place, state), do: {[number(rules, state)], state}

  defp kind(:array, array, place, state) do
    {type, state} = list(array, place, state)
    {List.wrap(type), state}
  end

  defp kind(:object, object, place, state) do
    {type, state} = object(object, place, state)
    {List.wrap(type), state}
  end

  # The numbers of others stay as they are.
  defp number(%{int: true} = rules, %{lenient?: true}), do: where(:int, Map.delete(rules, :int))
  defp number(rules, %{lenient?: true}), do: where(:number, rules)

  defp number(%{int: true} = rules, _state),
    do: where(:int, rules |> Map.delete(:int) |> Map.put(:whole, true))

  defp number(rules, _state), do: where(:float, rules)

  defp where(type, rules), do: FromSchema.rules(type, Map.to_list(rules))

  # Of the values of an enumeration those that the other keywords take.
  defp listed(values, alternative, place, state) do
    groups = Enum.group_by(values, &Alternative.kind/1)

    Enum.flat_map_reduce([:object, :array, :string, :number, :boolean, :null], state, fn kind,
                                                                                         state ->
      case groups do
        %{^kind => values} -> values(kind, values, alternative, place, state)
        %{} -> {[], state}
      end
    end)
  end

  defp values(kind, values, alternative, place, state) do
    {types, state} = kind(kind, Map.fetch!(alternative, kind), place, state)

    case {kind, types} do
      {_kind, []} -> {[], state}
      {:null, [:null]} -> {[:null], state}
      {kind, [type]} -> valid(kind, Enum.uniq(values), type, place, state)
    end
  end

  defp valid(kind, values, type, place, state) do
    {values, state} =
      Enum.flat_map_reduce(values, state, fn value, state ->
        case FromSchema.valid?(value, type) do
          true ->
            {[value], state}

          false ->
            {[], state}

          :unknown ->
            {[value],
             Reader.drop(state, place, "enum", "its values are not compared with the rest")}
        end
      end)

    {if(values == [], do: [], else: [one_of(kind, values, type, state)]), state}
  end

  defp one_of(:boolean, [_, _], _type, _state), do: :bool
  defp one_of(:boolean, values, _type, _state), do: {:where, :bool, [enum: values]}
  defp one_of(:string, values, _type, _state), do: {:where, :string, [enum: values]}
  defp one_of(:object, values, _type, _state), do: {:where, :any, [enum: values]}

  # A list of an enumeration is a list.
  defp one_of(:array, values, {:where, type, _rules}, state),
    do: one_of(:array, values, type, state)

  defp one_of(:array, values, type, _state), do: {:where, type, [enum: values]}

  defp one_of(:number, values, type, state) do
    cond do
      not Enum.all?(values, &(is_integer(&1) or trunc(&1) == &1)) ->
        {:where, if(state.lenient?, do: :number, else: :float), [enum: values]}

      not state.lenient? ->
        {:where, :int, [enum: Enum.map(values, &trunc/1), whole: true]}

      Enum.all?(values, &is_integer/1) or int?(type) ->
        {:where, :int, [enum: Enum.map(values, &trunc/1)]}

      true ->
        {:where, :number, [enum: values]}
    end
  end

  defp int?({:where, type, _rules}), do: int?(type)
  defp int?(type), do: type == :int

  defp list(array, place, state) do
    {items, state} = part(array.items, state)
    {prefix, state} = Enum.map_reduce(array.prefix, state, &part/2)
    {items, rules, prefix} = ended(items, array.rules, prefix)

    cond do
      impossible?(rules) ->
        {nil, state}

      Enum.all?(prefix, &(&1 == items)) ->
        {where({:list, items}, rules), state}

      true ->
        state = Reader.drop(state, place, "prefixItems", "the items of a list have one type")

        state =
          if items == :any,
            do: state,
            else: Reader.drop(state, place, "items", "they follow prefixItems")

        {where({:list, :any}, rules), state}
    end
  end

  defp part(places, state) do
    {type, default, state} = FromSchema.convert(places, state)
    if default, do: with_default(type, default, hd(places), state), else: {type, state}
  end

  # No item may follow, or may stand at a place: the list ends there.
  defp ended(items, rules, prefix) do
    case Enum.find_index(prefix, &(&1 == @never)) || (items == @never && length(prefix)) do
      no when no in [nil, false] ->
        {items, rules, prefix}

      at ->
        prefix = Enum.take(prefix, at)
        rules = Map.update(rules, :max_items, at, &min(&1, at))
        {if(prefix == [], do: :any, else: hd(prefix)), rules, prefix}
    end
  end

  defp impossible?(%{min_items: least, max_items: most}), do: least > most
  defp impossible?(_rules), do: false

  defp object(object, place, state) do
    {others, state} = part(object.others, state)

    names = for name <- object.required, not is_map_key(object.fields, name), do: name
    fields = Enum.reduce(names, object.fields, &Map.put(&2, &1, object.others))

    {fields, state} =
      fields
      |> Enum.sort_by(&elem(&1, 0))
      |> Enum.map_reduce(state, &field(&1, object.required, place, &2))

    never? =
      Enum.any?(fields, fn {name, type} ->
        type == @never and MapSet.member?(object.required, name)
      end)

    cond do
      never? -> {nil, state}
      others == @never -> {{:closed_map, present(fields)}, state}
      others == :any and state.lenient? -> {lenient(fields, object.open, state), state}
      fields == [] and others == :any -> {:map, state}
      others == :any -> {{:map, fields}, state}
      true -> of_others(fields, others, object, place, state)
    end
  end

  # Where nothing is said of other fields, a tool has only those that are declared: see `PtcRunner.Agent.Tool.Schemas`.
  defp lenient([], :unsaid, %{at: [], depth: 1}), do: {:map, []}
  defp lenient([], _open, _state), do: :map
  defp lenient(fields, :said, _state), do: {:open_map, fields, :any}
  defp lenient(fields, _open, _state), do: {:map, fields}

  # A field that no value may have is none of a closed map.
  defp present(fields),
    do: Enum.reject(fields, fn {_name, type} -> type == {:optional, @never} end)

  defp of_others([], others, _object, _place, state), do: {{:map_of, others}, state}

  defp of_others(fields, others, _object, _place, %{lenient?: true} = state),
    do: {{:open_map, fields, others}, state}

  defp of_others(fields, others, object, place, state) do
    if object.fields == %{} do
      state = Reader.drop(state, place, "required", "a map of any keys requires none")
      {{:map_of, others}, state}
    else
      why = "a map with fields takes others of any type"
      {{:map, fields}, Reader.drop(state, place, "additionalProperties", why)}
    end
  end

  defp field({name, places}, required, place, %{at: path} = state) do
    {type, default, state} = FromSchema.convert(places, %{state | at: [name | path]})

    {field, state} =
      field(name, type, default, MapSet.member?(required, name), {places, place, state})

    {field, %{state | at: path}}
  end

  defp field(name, type, default, required?, {places, place, state}) do
    at = List.first(places, place)

    cond do
      not required? ->
        {type, state} = with_default(type, default, at, state)
        {{name, Type.optional(type)}, refused(state, name, type)}

      default == nil ->
        {{name, type}, state}

      true ->
        {{name, type}, Reader.drop(state, at, "default", "the field is required")}
    end
  end

  # Of the whole value, the fields that may be missing, and that take no null.
  defp refused(%{at: [_name], depth: 1} = state, name, type) do
    if match?({:optional, _type}, type) or type == :any or match?({:where, :any, _}, type),
      do: state,
      else: %{state | refused: [name | state.refused]}
  end

  defp refused(state, _name, _type), do: state

  @doc "The type with its default, if that is valid. A default of null is what a missing field is."
  @spec with_default(Signature.type(), {:ok, term()} | nil, Place.t(), Reader.state()) ::
          {Signature.type(), Reader.state()}
  def with_default(type, _default, _place, %{defaults?: false} = state), do: {type, state}
  def with_default(type, nil, _place, state), do: {type, state}
  def with_default(type, {:ok, nil}, _place, state), do: {type, state}

  def with_default(type, {:ok, value}, place, state) do
    case FromSchema.valid?(value, type) do
      true -> {FromSchema.rules(type, default: value), state}
      false -> {type, Reader.drop(state, place, "default", "it is not valid")}
      :unknown -> {type, Reader.drop(state, place, "default", "the type contains itself")}
    end
  end
end

defmodule PtcRunner.Json.Plan.Recipes do
  @moduledoc false
  # The patterns of the arguments of each call, from what the native side says about how they are made: see
  # `native/ptc_program/src/plan/recipes/reply.rs`.

  alias PtcRunner.Json.Plan.{Digest, Formula, Pattern}

  # Parts of a pattern that are kept apart, and steps of a path.
  @most_parts 1_000
  @most_steps 64
  # Parts of an expression in which constants are looked for.
  @most_looked 200
  # Operations that leave out fields of objects.
  @reshaping ~w(select unset)

  @typedoc "A call of the program: its tool, how often it is made, and its arguments."
  @type site :: %{
          tool: String.t(),
          formula: {Formula.t(), Formula.t()},
          arguments: Pattern.t()
        }

  @doc """
  The calls of a program.

      iex> recipes = [:nothing, :unknown, {:constant, "Ada"}, {:context, "sums"}, {:item, 3}, {:object, [{"to", 2}, {"sum", 4}]}]
      iex> PtcRunner.Json.Plan.Recipes.sites({recipes, [{"pay", [], [{1, []}], 5}]})
      [%{tool: "pay", formula: {[], [{1, []}]},
         arguments: {:object, %{"to" => {:is, "Ada"}, "sum" => {:part, {:context, "sums"}, [:each]}}}}]

  """
  @spec sites({list(), list()}) :: [site()]
  def sites({recipes, calls}) do
    recipes = recipes |> answered(calls) |> folded() |> List.to_tuple()

    {sites, _known} =
      Enum.map_reduce(calls, {recipes, %{}, %{}}, fn {tool, least, most, args}, known ->
        {{pattern, _size}, known} = pattern(args, known)
        {%{tool: tool, formula: {least, most}, arguments: arguments(pattern)}, known}
      end)

    sites
  end

  # An answer is that of a call with its arguments. Each call has one, and both are in one order.
  defp answered(recipes, calls) do
    {recipes, _left} =
      Enum.map_reduce(recipes, calls, fn
        {:answer, name}, [{name, _least, _most, args} | calls] -> {{:answer, name, args}, calls}
        recipe, calls -> {recipe, calls}
      end)

    recipes
  end

  # What a `fold` has accumulated is made by its first value and its body, and by those of the folds around it; a call in the body has none of that in its
  # own recipe. In the table, what is accumulated stands before the body, and the fold behind it.
  defp folded(recipes) do
    numbered = Enum.with_index(recipes)
    {accumulated, {folds, _open}} = Enum.flat_map_reduce(numbered, {%{}, []}, &of_fold/2)

    if accumulated == [] do
      recipes
    else
      known = {List.to_tuple(recipes), %{}, %{}}

      {digests, _known} =
        Enum.reduce(accumulated, {%{nil: ""}, known}, &with_around(&1, &2, folds))

      Enum.map(numbered, fn
        {{:accumulated, _number}, id} when :erlang.map_get(id, digests) == nil -> :unknown
        {{:accumulated, _number}, id} -> {:accumulated, digests[id], folds[id]}
        {recipe, _id} -> recipe
      end)
    end
  end

  # With the one of the fold around.
  defp of_fold({{:accumulated, _number}, id}, {folds, open}),
    do: {[{id, List.first(open)}], {folds, [id | open]}}

  defp of_fold({{:made, "fold", _parts, _input, _copied}, fold}, {folds, [id | open]}),
    do: {[], {Map.put(folds, id, fold), open}}

  defp of_fold(_other, so_far), do: {[], so_far}

  defp with_around({id, around}, {digests, known}, folds) do
    {digest, known} = digest(Map.fetch!(folds, id), known)
    around = Map.fetch!(digests, around)
    whole = if digest != nil and around != nil, do: Digest.of([digest, around])
    {Map.put(digests, id, whole), known}
  end

  defp arguments({:is, map}) when is_map(map) and not is_struct(map),
    do: {:object, Map.new(map, fn {name, value} -> {name, {:is, value}} end)}

  defp arguments(pattern), do: pattern

  # The pattern of a recipe, with the number of its parts. What is known is kept, because a recipe may stand in several others.
  defp pattern(id, {_recipes, patterns, _digests} = known) when is_map_key(patterns, id),
    do: {Map.fetch!(patterns, id), known}

  defp pattern(id, {recipes, _patterns, _digests} = known) do
    {found, {recipes, patterns, digests}} = recipes |> elem(id) |> of(id, known)
    {pattern, size} = found
    found = if size > @most_parts, do: nil, else: {pattern, size}

    if found == nil do
      {made, {recipes, patterns, digests}} = made(id, {recipes, patterns, digests})
      {made, {recipes, Map.put(patterns, id, made), digests}}
    else
      {found, {recipes, Map.put(patterns, id, found), digests}}
    end
  end

  defp of(:nothing, _id, known), do: {{:null, 1}, known}
  defp of(:unknown, _id, known), do: {{:unknown, 1}, known}
  defp of(:now, _id, known), do: {{{:part, :now, []}, 1}, known}
  defp of({:constant, value}, _id, known), do: {{{:is, value}, 1}, known}

  defp of({root, name}, _id, known) when root in [:context, :memory, :error],
    do: {{{:part, {root, name}, []}, 1}, known}

  defp of({:answer, name, args}, _id, known) do
    case digest(args, known) do
      {nil, known} -> {{:unknown, 1}, known}
      {digest, known} -> {{{:part, {:answer, name, digest}, []}, 1}, known}
    end
  end

  defp of({:item, of}, _id, known), do: step(of, [:each], known)
  defp of({:group, of}, _id, known), do: step(of, [], known)
  defp of({:field, of, name}, _id, known), do: step(of, [name], known)

  defp of({:object, fields}, _id, known) do
    {parts, {size, known}} =
      Enum.map_reduce(fields, {1, known}, fn {name, of}, {size, known} ->
        {{part, more}, known} = pattern(of, known)
        {{name, part}, {size + more, known}}
      end)

    if Enum.all?(parts, &match?({_name, {:is, _value}}, &1)),
      do: {{{:is, Map.new(parts, fn {name, {:is, value}} -> {name, value} end)}, size}, known},
      else: {{{:object, Map.new(parts)}, size}, known}
  end

  defp of({:list, items}, _id, known) do
    {parts, size, known} = several(items, known)

    if Enum.all?(parts, &match?({:is, _value}, &1)),
      do: {{{:is, for({:is, value} <- parts, do: value)}, size}, known},
      else: {{{:list, parts}, size}, known}
  end

  defp of({:one_of, members}, _id, known) do
    {parts, size, known} = several(members, known)
    {{parts |> Enum.uniq_by(&Pattern.exact/1) |> Enum.sort() |> one_of(), size}, known}
  end

  # It is what it copies, if that is a part of the data. Objects without some of their fields are none.
  defp of({:made, op, _parts, _input, copied}, id, known)
       when copied != nil and op not in @reshaping,
       do: copied |> pattern(known) |> copied(&made(id, &1))

  defp of(_made, id, known), do: made(id, known)

  defp copied({{{:part, _root, _steps}, _size} = part, known}, _other), do: {part, known}
  defp copied({{{:among, _all}, _size} = among, known}, _other), do: {among, known}
  defp copied({_made, known}, other), do: other.(known)

  # The pattern of a value of which a field is read: without some other fields, its fields are what they were.
  defp whole(id, {recipes, _patterns, _digests} = known) do
    case elem(recipes, id) do
      {:made, _op, _parts, _input, of} when of != nil ->
        of |> whole(known) |> copied(&pattern(id, &1))

      {:item, of} ->
        of |> whole(known) |> part([:each], &pattern(id, &1))

      {:group, of} ->
        of |> whole(known) |> part([], &pattern(id, &1))

      _other ->
        pattern(id, known)
    end
  end

  defp one_of([only]), do: only
  defp one_of(all), do: if(:unknown in all, do: :unknown, else: {:one_of, all})

  defp several(ids, known) do
    {parts, {size, known}} =
      Enum.map_reduce(ids, {1, known}, fn id, {size, known} ->
        {{part, more}, known} = pattern(id, known)
        {part, {size + more, known}}
      end)

    {parts, size, known}
  end

  # A part of a part of the data.
  defp step(of, [name] = steps, known) when is_binary(name),
    do: of |> whole(known) |> part(steps, &part_of_made(of, steps, &1))

  defp step(of, steps, known),
    do: of |> pattern(known) |> part(steps, &part_of_made(of, steps, &1))

  # A part of a pattern that has been found; `other` gives that of what an expression makes.
  defp part({{{:part, root, before}, _size}, known}, steps, _other)
       when length(before) < @most_steps,
       do: {{{:part, root, before ++ steps}, 1}, known}

  defp part({{:unknown, _size}, known}, _steps, _other), do: {{:unknown, 1}, known}

  defp part({{constant, size}, known}, steps, other) do
    case part(constant, steps) do
      nil -> other.(known)
      part -> {{part, size}, known}
    end
  end

  # The items of a constant list, and fields of constants, are constants.
  defp part({:is, list}, [:each]) when is_list(list), do: among(list)
  defp part({:is, value}, [name]) when is_binary(name), do: {:is, field(value, name)}

  defp part({:among, all}, [name]) when is_binary(name),
    do: {:among, all |> Enum.map(&field(&1, name)) |> Enum.uniq_by(&Pattern.exact/1)}

  defp part({:among, all}, [:each]),
    do: if(Enum.all?(all, &is_list/1), do: all |> Enum.concat() |> among())

  defp part({kind, _value} = same, []) when kind in [:is, :among], do: same
  defp part(_other, _steps), do: nil

  defp among(list),
    do: if(not List.improper?(list), do: {:among, Enum.uniq_by(list, &Pattern.exact/1)})

  defp field(value, name) do
    case value do
      %{^name => part} -> part
      _other -> nil
    end
  end

  defp part_of_made(of, steps, known) do
    case digest(of, known) do
      {nil, known} -> {{:unknown, 1}, known}
      {digest, known} -> {{{:part, {:made, digest, constants(of, known)}, steps}, 1}, known}
    end
  end

  defp made(id, known) do
    case digest(id, known) do
      {nil, known} -> {{:unknown, 1}, known}
      {digest, known} -> {{{:made, digest, constants(id, known)}, 1}, known}
    end
  end

  # Fields of operations that name a field or a place, and say nothing about a value.
  @names ~w(field fields path key keys as name by on left_key right_key where)

  # The constants that stand in a computed value, as far as its expression has not too many parts.
  defp constants(id, {recipes, _patterns, _digests}),
    do: constants([id], recipes, [], {@most_looked, []})

  defp constants(ids, _recipes, found, {left, _folds}) when ids == [] or left == 0,
    do: found |> Enum.reverse() |> Enum.uniq_by(&Pattern.exact/1)

  defp constants([id | ids], recipes, found, {left, folds}) do
    case elem(recipes, id) do
      {:constant, value} ->
        constants(ids, recipes, [value | found], {left - 1, folds})

      {:accumulated, _digest, fold} ->
        inside = if fold in folds, do: [], else: [fold]
        constants(inside ++ ids, recipes, found, {left - 1, inside ++ folds})

      recipe ->
        constants(parts(recipe) ++ ids, recipes, found, {left - 1, folds})
    end
  end

  defp parts({:made, _op, parts, input, _copied}),
    do: for({name, of} <- parts, name not in @names, do: of) ++ [input]

  defp parts({:object, fields}), do: Enum.map(fields, &elem(&1, 1))
  defp parts({:with, of, fields}), do: [of | Enum.map(fields, &elem(&1, 1))]
  defp parts({kind, inside}) when kind in [:list, :one_of], do: inside
  defp parts({:each, _list, body}), do: [body]
  defp parts({:field, of, _name}), do: [of]
  defp parts({kind, of}) when kind in [:item, :group], do: [of]
  defp parts(_other), do: []

  # The digest of how a value is made; nil if a part of that is unknown.
  defp digest(id, {_recipes, _patterns, digests} = known) when is_map_key(digests, id),
    do: {Map.fetch!(digests, id), known}

  defp digest(id, {recipes, _patterns, _digests} = known) do
    {inside, {recipes, patterns, digests}} = recipes |> elem(id) |> inside(known)
    digest = if inside != nil, do: Digest.of(inside)
    {digest, {recipes, patterns, Map.put(digests, id, digest)}}
  end

  defp inside(:unknown, known), do: {nil, known}
  defp inside(word, known) when is_atom(word), do: {word, known}
  defp inside({:constant, _value} = constant, known), do: {constant, known}

  defp inside({root, _name} = named, known)
       when root in [:context, :memory, :error, :accumulated],
       do: {named, known}

  defp inside({:accumulated, digest, _fold}, known), do: {{:accumulated, digest}, known}

  defp inside({:answer, name, args}, known), do: all({:answer, name}, [args], known)

  defp inside({kind, of}, known) when kind in [:item, :group], do: all({kind}, [of], known)
  defp inside({:field, of, name}, known), do: all({:field, name}, [of], known)
  defp inside({:each, list, body}, known), do: all({:each}, [list, body], known)

  defp inside({:object, fields}, known) do
    {names, ids} = fields |> Enum.sort() |> Enum.unzip()
    all({:object, names}, ids, known)
  end

  defp inside({:with, of, fields}, known) do
    {names, ids} = fields |> Enum.sort() |> Enum.unzip()
    all({:with, names}, [of | ids], known)
  end

  defp inside({kind, ids}, known) when kind in [:list, :one_of], do: all({kind}, ids, known)

  # What it copies is made of the same parts.
  defp inside({:made, op, parts, input, _copied}, known) do
    {names, ids} = Enum.unzip(parts)
    all({:made, op, names}, [input | ids], known)
  end

  defp all(kind, ids, known) do
    {digests, known} = Enum.map_reduce(ids, known, &digest/2)
    {if(nil not in digests, do: {kind, digests}), known}
  end
end

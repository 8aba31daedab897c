defmodule PtcRunner.SubAgent.Signature.FromSchema.Reader do
  @moduledoc false
  # From the places of a JSON Schema to the alternatives that they leave. What combines schemas (`$ref`, `allOf`, `anyOf`,
  # `oneOf`, `not`) is resolved here, at one place of the value; the parts of the value are read later, in
  # `PtcRunner.SubAgent.Signature.FromSchema`. The work is bounded: references are counted, alternatives limited.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.FromSchema.{Alternative, Keywords, Mapped, Place, Sound}

  # Maximum number of alternatives of a place.
  @most 100

  @type state :: %{
          :root => Place.t(),
          :index => map() | nil,
          :formats? => boolean(),
          :budget => integer(),
          :lenient? => boolean(),
          :without => String.t() | nil,
          :at => [String.t()],
          :dropped => %{{String.t(), String.t()} => {non_neg_integer(), [String.t()], String.t()}},
          optional(atom()) => term()
        }

  @typedoc "What a place says beside its demands."
  @type notes :: %{description: String.t() | nil, default: {:ok, term()} | nil}

  @none %{description: nil, default: nil}

  @doc "What all of these places demand together."
  @spec all([Place.t()], state()) :: {[Alternative.t()], notes(), state()}
  def all(places, state) do
    any = if state.object?, do: Alternative.of_kinds([:object]), else: Alternative.any()

    Enum.reduce(places, {[any], @none, state}, fn place, {met, notes, state} ->
      {more, said, state} = alternatives(place, [], state)
      {met, state} = meet(met, more, "allOf", place, state)
      {met, noted(notes, said), state}
    end)
  end

  @doc "Lists what is not kept, once for each place and keyword."
  @spec drop(state(), Place.t(), String.t(), String.t()) :: state()
  def drop(state, {_schema, pointer, _base}, keyword, why) do
    key = {Place.text(pointer), keyword}
    %{state | dropped: Map.put_new(state.dropped, key, {map_size(state.dropped), state.at, why})}
  end

  # What is said where a schema is used wins over what is said where it is defined.
  defp noted(notes, others) do
    %{
      description: notes.description || others.description,
      default: notes.default || others.default
    }
  end

  # `around`: the places that are being read at the same place of the value.
  defp alternatives({true, _pointer, _base}, _around, state),
    do: {[Alternative.any()], @none, state}

  defp alternatives({false, _pointer, _base}, _around, state), do: {[], @none, state}

  defp alternatives({_schema, _pointer, _base} = place, _around, %{budget: budget} = state)
       when budget <= 0,
       do:
         {[Alternative.any()], @none, drop(state, place, "$ref", "there are too many references")}

  defp alternatives({schema, pointer, _base} = place, around, state) when is_map(schema) do
    around = [pointer | around]

    state =
      if state.refs?, do: %{state | budget: state.budget - 1 - map_size(schema)}, else: state

    {{schema, _, _} = place, {own, lost}, state} = own(place, state)
    state = Enum.reduce(lost, state, fn {key, why}, state -> drop(state, place, key, why) end)

    {[own], notes(schema, place), state}
    |> referred(schema, place, around)
    |> every(schema, place, around)
    |> some("anyOf", schema, place, around)
    |> some("oneOf", schema, place, around)
    |> without(schema, place)
  end

  # What the keywords of a place demand. Of a schema of others, what is no schema is left out.
  defp own({schema, _pointer, _base} = place, %{lenient?: false} = state) do
    case Map.keys(schema) |> Enum.find(&(not is_binary(&1))) do
      nil -> {place, Keywords.read(schema, place, state.formats?), state}
      key -> Keywords.bad!(place, "its keys must be strings, got #{Shown.text(key, 200)}")
    end
  end

  defp own({schema, pointer, base}, state) do
    place = {Sound.meant(schema, state.without), pointer, base}

    case Sound.shaped?(elem(place, 0)) && attempt(place, state) do
      {:ok, read} -> {place, known(read), state}
      _wrong -> mended(place, state)
    end
  end

  defp attempt({schema, _pointer, _base} = place, state) do
    {:ok, Keywords.read(schema, place, state.formats?)}
  catch
    {:no_schema, _pointer, _why} -> :error
  end

  defp mended({schema, pointer, base}, state) do
    {schema, lost} = Sound.of(schema)
    place = {schema, pointer, base}

    state =
      Enum.reduce(lost, state, fn {tokens, why}, state ->
        {tokens, [keyword]} = Enum.split(tokens, -1)
        at = if match?(["properties", _name], tokens), do: tl(tokens) ++ state.at, else: state.at
        place = {schema, Enum.reverse(tokens, pointer), base}
        %{drop(%{state | at: at}, place, keyword, why) | at: state.at}
      end)

    {place, schema |> Keywords.read(place, state.formats?) |> known(), state}
  end

  # Other words than keywords demand nothing.
  defp known({own, lost}), do: {own, Enum.reject(lost, &Keywords.unknown?/1)}

  defp notes(schema, place) do
    description =
      case schema do
        %{"description" => text} when is_binary(text) ->
          text

        %{"description" => other} ->
          Keywords.bad!(place, "\"description\" must be a string, got #{Shown.text(other, 200)}")

        %{} ->
          nil
      end

    %{description: description, default: with(:error <- Map.fetch(schema, "default"), do: nil)}
  end

  @doc "Where the reference of a schema leads; `{:drop, why}` if that is nothing that can be kept."
  @spec target(Place.t(), state()) :: {:ok, Place.t()} | {:drop, String.t()}
  def target({%{"$ref" => ref}, _pointer, _base} = place, state) when is_binary(ref) do
    case Place.follow(ref, place, state.root, state.index) do
      {:ok, {schema, _pointer, _base}}
      when state.lenient? and not is_map(schema) and not is_boolean(schema) ->
        {:drop, "it points to no schema"}

      {:ok, {schema, _pointer, _base} = target} ->
        Keywords.schema!(schema, place, "$ref")
        {:ok, target}

      :nowhere when state.lenient? ->
        {:drop, "it points to nothing"}

      :nowhere ->
        Keywords.bad!(place, "\"$ref\" points to nothing: #{Shown.text(ref, 200)}")

      :elsewhere ->
        {:drop, "#{Shown.text(ref, 200)} is not in this schema"}
    end
  end

  def target({%{"$ref" => _other}, _pointer, _base}, %{lenient?: true}),
    do: {:drop, "it is no text"}

  def target({%{"$ref" => other}, _pointer, _base} = place, _state),
    do: Keywords.bad!(place, "\"$ref\" must be a string, got #{Shown.text(other, 200)}")

  defp referred({met, notes, state}, %{"$ref" => _}, place, around) do
    case target(place, state) do
      {:ok, target} -> joined({met, notes, state}, target, "$ref", place, around)
      {:drop, why} -> {met, notes, drop(state, place, "$ref", why)}
    end
  end

  defp referred(done, _schema, _place, _around), do: done

  # A place that is read already, as a part of itself, adds nothing. Only a reference leads back.
  defp joined({met, notes, state}, {_schema, pointer, _base} = target, keyword, place, around) do
    if keyword == "$ref" and pointer in around do
      {met, notes, drop(state, place, keyword, "it leads back to itself")}
    else
      {more, said, state} = alternatives(target, around, state)
      {met, state} = meet(met, more, keyword, place, state)
      {met, noted(notes, said), state}
    end
  end

  defp every(done, schema, place, around) do
    Enum.reduce(
      parts(schema, "allOf", place) || [],
      done,
      &joined(&2, &1, "allOf", place, around)
    )
  end

  defp some({met, notes, state}, keyword, schema, place, around) do
    case parts(schema, keyword, place) do
      nil ->
        {met, notes, state}

      parts ->
        parts = if state.lenient?, do: demanded(parts, schema), else: parts

        {branches, {said, state}} =
          Enum.map_reduce(parts, {@none, state}, &branch(&1, &2, around))

        one? = match?([_one], parts)
        state = if one?, do: state, else: Enum.reduce(parts, state, &without_default/2)

        state = if keyword == "oneOf", do: overlap(branches, met, place, state), else: state
        # Alternatives that say the same beside the type say it of the whole.
        notes = if one?, do: noted(notes, said), else: notes
        {met, state} = meet(met, Enum.concat(branches), keyword, place, state)
        {met, notes, state}
    end
  end

  defp demanded(parts, schema) do
    for {part, pointer, base} <- parts,
        do: {Mapped.demanded(part, schema), pointer, base}
  end

  defp without_default({%{"default" => value}, _pointer, _base} = part, state) when value != nil,
    do: drop(state, part, "default", "it stands in one of several schemas")

  defp without_default(_part, state), do: state

  defp branch(part, {_said, state}, around) do
    {alternatives, said, state} = alternatives(part, around, state)
    {Enum.map(alternatives, &%{&1 | note: &1.note || said.description}), {said, state}}
  end

  defp parts(schema, keyword, place) do
    case schema do
      %{^keyword => [_ | _] = parts} ->
        if List.improper?(parts), do: no_parts(parts, keyword, place)

        for {part, at} <- Enum.with_index(parts) do
          Keywords.schema!(part, place, "#{keyword}/#{at}")
          Place.in_place(place, part, [keyword, "#{at}"])
        end

      %{^keyword => other} ->
        no_parts(other, keyword, place)

      %{} ->
        nil
    end
  end

  defp no_parts(other, keyword, place) do
    Keywords.bad!(
      place,
      "#{inspect(keyword)} must be an array with schemas, got #{Shown.text(other, 200)}"
    )
  end

  # Exactly one: the branches must exclude each other where the rest of the schema leaves them.
  defp overlap(branches, met, place, state) do
    count = branches |> Enum.map(&length/1) |> Enum.sum()

    branches =
      if count * length(met) <= @most,
        do: Enum.map(branches, fn branch -> elem(crossed(branch, met), 0) end),
        else: branches

    if count <= @most and apart?(branches),
      do: state,
      else: drop(state, place, "oneOf", "a value of several of them is taken too")
  end

  defp apart?([]), do: true

  defp apart?([branch | others]) do
    Enum.all?(others, fn other ->
      Enum.all?(branch, fn a -> Enum.all?(other, &Alternative.disjoint?(a, &1)) end)
    end) and apart?(others)
  end

  # Only kinds can be excluded.
  defp without({met, notes, state}, %{"not" => schema}, place) do
    Keywords.schema!(schema, place, "not")

    case excluded(schema) do
      {:ok, kinds} ->
        {met, state} = meet(met, kinds, "not", place, state)
        {met, notes, state}

      :error ->
        {met, notes, drop(state, place, "not", "types can only exclude whole types")}
    end
  end

  defp without(done, _schema, _place), do: done

  @names ~w(null boolean number string array object)
  @kinds [:null, :boolean, :number, :string, :array, :object]

  defp excluded(none) when none == %{} or none == true, do: {:ok, []}
  defp excluded(false), do: {:ok, [Alternative.any()]}

  defp excluded(%{"type" => type} = schema) when map_size(schema) == 1 do
    types = List.wrap(type)

    if not List.improper?(types) and Enum.all?(types, &(&1 in @names)) do
      kinds = for kind <- @kinds, Atom.to_string(kind) not in types, do: kind
      {:ok, [Alternative.of_kinds(kinds)]}
    else
      :error
    end
  end

  defp excluded(_schema), do: :error

  defp meet(met, [only], keyword, place, state) do
    if only == Alternative.any(),
      do: {met, state},
      else: crossed(met, [only]) |> told(keyword, place, state)
  end

  defp meet(met, more, _keyword, place, state) when length(met) * length(more) <= @most,
    do: crossed(met, more) |> told("allOf", place, state)

  defp meet(met, _more, keyword, place, state),
    do: {met, drop(state, place, keyword, "there are more than #{@most} combinations")}

  defp crossed(met, more) do
    pairs = for a <- met, b <- more, do: Alternative.meet(a, b)

    {for({both, _lost} <- pairs, Alternative.kinds(both) != [], do: both),
     Enum.flat_map(pairs, &elem(&1, 1))}
  end

  defp told({met, lost}, _keyword, place, state) do
    state =
      Enum.reduce(Enum.uniq(lost), state, fn key, state ->
        drop(state, place, key, "a type has only one such rule")
      end)

    {met, state}
  end
end

defmodule PtcRunner.SubAgent.Signature.Schema.Builder do
  @moduledoc false
  # From a type to a JSON Schema that a provider takes. What cannot be told by keywords is told in descriptions, and noted;
  # what cannot be told at all is noted as a problem.

  alias PtcRunner.Shown.Budget
  alias PtcRunner.SubAgent.Signature.{Annotations, UnknownType}
  alias PtcRunner.SubAgent.Signature.Schema.{Found, Names, Parts, Provider, Rules, Value}

  # Maximum number of types in a type, each counted as often as it stands there.
  @parts 500_000

  @scalars %{
    string: "string",
    keyword: "string",
    datetime: "string",
    int: "integer",
    float: "number",
    number: "number",
    bool: "boolean"
  }

  @decimal "^[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]{1,9})?$"
  @decimal_words ~s(a decimal number as text, such as "12.50")

  @not_declared "whose fields are not declared"

  @doc """
  The schema, without definitions, and what was found. The path of the whole is `""`; where `key` is given, the schema is an
  object with this key.
  """
  @spec build(term(), String.t() | nil, Provider.t(), Annotations.t()) :: {map(), Found.t()}
  def build(type, key, provider, notes) do
    Budget.within(@parts, :too_large, fn budget ->
      ctx = %{
        provider: provider,
        notes: notes,
        budget: budget,
        names: %{},
        scope: 0,
        within: :root,
        optional?: false,
        discriminator: nil,
        depth: 0
      }

      root(type, key, ctx)
    end)
    |> case do
      :too_large ->
        raise ArgumentError, "type has more than #{@parts} parts, too many for a JSON Schema"

      built ->
        built
    end
  end

  defp root(type, nil, ctx) do
    {schema, found} = node(type, "", ctx, Found.new())
    {schema |> described("", ctx) |> Parts.finished(ctx.provider), found}
  end

  defp root(type, key, ctx) do
    {schema, found} = node(type, "", %{ctx | depth: 1}, Found.new())
    null? = ctx.provider.required == :all and optional?(type)
    schema = schema |> Parts.nullable(null?) |> described("", ctx) |> Parts.finished(ctx.provider)
    required = if needed?(type, ctx.provider), do: [key], else: []
    {Parts.object([{key, schema}], required, ctx.provider), found}
  end

  defp node(type, path, ctx, found) do
    Budget.spend!(ctx.budget)
    of(type, path, ctx, found)
  end

  defp of({:optional, type}, path, ctx, found), do: node(type, path, ctx, found)
  defp of({:struct, _module, type}, path, ctx, found), do: node(type, path, ctx, found)

  defp of({:where, type, rules}, path, ctx, found) when is_list(rules) do
    rules = if is_map_key(ctx.notes.enums, path), do: Keyword.delete(rules, :enum), else: rules
    ruled(type, rules, path, ctx, found)
  end

  defp of({:list, type}, path, ctx, found) do
    {items, found} = node(type, path, ctx, found)
    {%{"type" => "array", "items" => Parts.finished(items, ctx.provider)}, found}
  end

  defp of({kind, fields}, path, ctx, found) when kind in [:map, :closed_map],
    do: object(fields, path, ctx, found)

  defp of({:map_of, type}, path, ctx, found) do
    inside = %{deeper(ctx) | optional?: ctx.optional? or ctx.provider.required == :declared}
    {values, found} = node(type, Annotations.join(path, "*"), inside, found)

    if ctx.provider.map_of do
      schema = Parts.finished(values, ctx.provider)
      {%{"type" => "object", "additionalProperties" => schema}, found}
    else
      {%{}, Found.problem(found, path, "a map with any keys")}
    end
  end

  # No value is of this type.
  defp of({:one_of, [], _field}, _path, %{provider: %{name: :plain}}, found),
    do: {%{"not" => %{}}, found}

  defp of({:one_of, [], _field}, path, _ctx, found),
    do: {%{}, Found.problem(found, path, "a place without values")}

  defp of({:one_of, types, field}, path, ctx, found) do
    inside = %{ctx | discriminator: field}

    {schemas, found} =
      Enum.map_reduce(types, Found.count(found, :unions), fn type, found ->
        {schema, found} = node(type, path, inside, found)
        {Parts.finished(schema, ctx.provider), found}
      end)

    {%{"anyOf" => schemas}, found}
  end

  defp of({:defs, names, type}, path, ctx, found) do
    {scope, unique, new?, found} = Names.define(found, names, ctx.scope, ctx.provider)
    ctx = %{ctx | scope: scope, names: Map.merge(ctx.names, unique)}
    node(type, path, ctx, if(new?, do: definitions(names, unique, ctx, found), else: found))
  end

  defp of({:ref, name}, path, ctx, found) do
    case ctx.names do
      %{^name => unique} ->
        {%{"$ref" => Names.pointer(unique)},
         Found.edge(found, {ctx.within, unique, path, ctx.optional?})}

      _unknown ->
        UnknownType.raise!({:ref, name})
    end
  end

  defp of(type, path, ctx, found) when type in [:any, :map],
    do: open(type, ctx.provider, path, found)

  defp of(:date, _path, _ctx, found), do: {%{"type" => "string", "format" => "date"}, found}
  defp of(:decimal, _path, ctx, found), do: {decimal(ctx.provider), found}

  defp of(type, path, ctx, found) when is_map_key(@scalars, type) do
    schema = %{"type" => Map.fetch!(@scalars, type)}

    schema =
      if type == :datetime and ctx.provider.name != :plain,
        do: Map.put(schema, "format", "date-time"),
        else: schema

    case ctx.notes.enums do
      %{^path => values} -> {Map.put(schema, "enum", values), Found.enum(found, values)}
      %{} -> {schema, found}
    end
  end

  defp of(type, _path, _ctx, _found), do: UnknownType.raise!(type)

  defp decimal(%{name: :plain}),
    do: %{"type" => "string", "format" => "decimal", "pattern" => @decimal}

  defp decimal(%{patterns: :none}), do: Parts.say(%{"type" => "string"}, nil, [@decimal_words])

  defp decimal(_provider),
    do: Parts.say(%{"type" => "string", "pattern" => @decimal}, nil, [@decimal_words])

  defp open(type, %{open: :object}, _path, found) when type in [:any, :map],
    do: {%{"type" => "object"}, found}

  defp open(:map, %{open: :kinds}, _path, found), do: {object_of_any(), found}

  defp open(:any, %{open: :kinds}, _path, found) do
    scalars = for type <- ["string", "number", "boolean"], do: %{"type" => type}
    {%{"anyOf" => scalars ++ [object_of_any()]}, found}
  end

  defp open(type, _provider, path, found),
    do: {%{}, Found.problem(found, path, inspect(type), ", #{@not_declared}")}

  defp object_of_any, do: %{"type" => "object", "additionalProperties" => true}

  defp object(fields, path, ctx, found) do
    constant = ctx.discriminator
    ctx = deeper(ctx)
    provider = ctx.provider

    {properties, found} =
      Enum.map_reduce(fields, Found.object(found, path, ctx.depth, fields), fn field, found ->
        {name, schema, found} = property(field, path, ctx, found)
        {{name, if(name == constant, do: Parts.constant(schema, provider), else: schema)}, found}
      end)

    required = for {name, type} <- fields, needed?(type, provider), do: name
    found = Found.count(found, :optional, length(fields) - length(required))
    {Parts.object(properties, Enum.uniq(required), provider), found}
  end

  defp property({name, type}, path, ctx, found) do
    path = Annotations.join(path, name)
    inside = %{ctx | optional?: ctx.optional? or not needed?(type, ctx.provider)}
    {schema, found} = node(type, path, inside, found)
    null? = ctx.provider.required == :all and optional?(type)
    schema = schema |> Parts.nullable(null?) |> described(path, ctx)
    {name, Parts.finished(schema, ctx.provider), found}
  end

  defp deeper(ctx), do: %{ctx | depth: ctx.depth + 1, discriminator: nil}

  defp optional?(type), do: match?({:optional, _type}, type)

  defp needed?(_type, %{required: :all}), do: true
  defp needed?({:optional, _type}, _provider), do: false

  defp needed?({:where, _type, rules}, _provider) when is_list(rules),
    do: not List.keymember?(rules, :default, 0)

  defp needed?(_type, _provider), do: true

  defp described(schema, path, ctx) do
    case ctx.notes.descriptions do
      %{^path => text} -> Parts.say(schema, text, [])
      %{} -> schema
    end
  end

  defp definitions(names, unique, ctx, found) do
    Enum.reduce(Enum.sort(names), found, fn {name, type}, found ->
      within = Map.fetch!(unique, name)
      ctx = %{ctx | within: within, optional?: false, discriminator: nil, depth: 0}
      {schema, found} = node(type, name, ctx, found)
      Found.definition(found, within, Parts.finished(schema, ctx.provider))
    end)
  end

  # Any value with rules: nothing is said about the kind of the others.
  defp ruled(:any, rules, path, ctx, found) do
    case {ctx.provider.open, Rules.enum(rules[:enum] || [])} do
      {:object, _values} ->
        with_rules(%{}, :any, rules, path, ctx, found)

      {_open, [_ | _] = values} ->
        with_rules(listed(values), :any, Keyword.delete(rules, :enum), path, ctx, found)

      {_open, []} ->
        {schema, found} = open(:any, ctx.provider, path, found)
        words = for rule <- rules, Rules.told?(rule), do: Rules.words(rule)

        {Parts.say(schema, rules[:description], words),
         Enum.reduce(words, found, &Found.note(&2, path, &1))}
    end
  end

  defp ruled(type, rules, path, ctx, found) do
    {schema, found} = node(type, path, ctx, found)
    with_rules(schema, type, rules, path, ctx, found)
  end

  defp with_rules(schema, type, rules, path, ctx, found) do
    {keywords, words} = Rules.keywords(rules, type, ctx.provider)
    found = Enum.reduce(words, found, &Found.note(&2, path, &1))
    found = if enum = keywords["enum"], do: Found.enum(found, enum), else: found
    # A list of decimals says more than the form of each.
    schema = if is_map_key(keywords, "enum"), do: Map.drop(schema, ["pattern"]), else: schema
    {schema |> Map.merge(keywords) |> Parts.say(rules[:description], words), found}
  end

  # Each kind of the values of an enumeration.
  defp listed(values) do
    schemas =
      for {type, values} <- values |> Enum.group_by(&Value.type/1) |> Enum.sort(),
          do: %{"type" => type, "enum" => values}

    case schemas do
      [schema] -> schema
      schemas -> %{"anyOf" => schemas}
    end
  end
end

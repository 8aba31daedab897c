defmodule PtcRunner.SubAgent.Signature.FromSchema.Keywords do
  @moduledoc false
  # The keywords of a JSON Schema that are about the value itself, as an alternative; what they must look like; and which
  # ones types cannot say.

  alias PtcRunner.{Native, Quanta, Shown}
  alias PtcRunner.SubAgent.Signature.FromSchema.{Alternative, Pattern, Place}
  require Quanta

  @numbers [
    {"minimum", :min},
    {"maximum", :max},
    {"exclusiveMinimum", :exclusive_min},
    {"exclusiveMaximum", :exclusive_max},
    {"multipleOf", :multiple_of}
  ]
  @texts [{"minLength", :min_length}, {"maxLength", :max_length}]
  @lists [{"minItems", :min_items}, {"maxItems", :max_items}]

  @kinds %{
    "null" => :null,
    "boolean" => :boolean,
    "number" => :number,
    "integer" => :integer,
    "string" => :string,
    "array" => :array,
    "object" => :object
  }

  @formats %{
    "date" => :date,
    "date-time" => :datetime,
    "time" => :full_time,
    "email" => :email,
    "uri" => :uri,
    "uuid" => :uuid
  }

  # The greatest count of a rule.
  @most 0xFFFF_FFFF_FFFF

  @read ~w($ref allOf anyOf oneOf not type enum const format pattern uniqueItems items prefixItems additionalItems
           properties required additionalProperties nullable) ++
          for({keyword, _rule} <- @numbers ++ @texts ++ @lists, do: keyword)

  # Keywords that say nothing about which values are valid.
  @annotations ~w($schema $id $anchor $dynamicAnchor $comment $vocabulary $defs definitions id title description
                  default example examples deprecated readOnly writeOnly contentEncoding contentMediaType
                  contentSchema discriminator xml externalDocs minContains maxContains then else)

  @no_rule "types have no such rule"
  @no_keyword "it is no keyword of draft 2020-12"
  @unkept %{
    "patternProperties" => @no_rule,
    "propertyNames" => @no_rule,
    "dependentRequired" => @no_rule,
    "dependentSchemas" => @no_rule,
    "dependencies" => @no_rule,
    "minProperties" => @no_rule,
    "maxProperties" => @no_rule,
    "contains" => @no_rule,
    "unevaluatedProperties" => @no_rule,
    "unevaluatedItems" => @no_rule,
    "if" => @no_rule,
    "$dynamicRef" => "it depends on where the schema is used",
    "$recursiveRef" => "it depends on where the schema is used"
  }

  @type lost :: [{keyword :: String.t(), why :: String.t()}]

  @doc "Ends the reading: this is no schema."
  @spec bad!(Place.t(), String.t()) :: no_return()
  def bad!({_schema, pointer, _base}, text), do: throw({:no_schema, pointer, text})

  @doc "What the keywords of this schema demand, without those that combine schemas, and what is not kept."
  @spec read(map(), Place.t(), boolean()) :: {Alternative.t(), lost()}
  def read(schema, place, formats?) do
    lost = unkept(schema)
    made = kinds(schema, place)
    {made, lost} = with_enum(made, schema, place, lost)
    made = put(made, :number, &numbers(&1, schema, place))
    {string, lost} = strings(made.string, schema, place, formats?, lost)
    made = put(%{made | string: string}, :array, &array(&1, schema, place))
    {put(made, :object, &object(&1, schema, place)), lost}
  end

  defp put(made, kind, change) do
    case made do
      %{^kind => nil} -> made
      %{^kind => value} -> %{made | kind => change.(value)}
    end
  end

  defp unkept(schema) do
    lost =
      for {keyword, value} <- schema,
          keyword not in @read and keyword not in @annotations,
          why = why(keyword, value, schema),
          do: {keyword, why}

    if List.keymember?(lost, "patternProperties", 0) and
         Map.get(schema, "additionalProperties", true) not in [true, %{}],
       do: [{"additionalProperties", "it depends on patternProperties"} | lost],
       else: lost
  end

  defp why("if", _value, schema),
    do: if(is_map_key(schema, "then") or is_map_key(schema, "else"), do: @unkept["if"])

  defp why("contains", _value, %{"minContains" => least} = schema)
       when least == 0 and not is_map_key(schema, "maxContains"),
       do: nil

  defp why("minProperties", least, _schema) when least == 0, do: nil

  defp why("contains", _value, _schema), do: @no_rule

  defp why(keyword, value, _schema) when is_map_key(@unkept, keyword),
    do: if(value == true or value == %{}, do: nil, else: @unkept[keyword])

  defp why("x-" <> _name, _value, _schema), do: nil
  defp why(_keyword, _value, _schema), do: @no_keyword

  @doc "Whether what is not kept is no keyword at all."
  @spec unknown?({String.t(), String.t()}) :: boolean()
  def unknown?({_keyword, why}), do: why == @no_keyword

  defp kinds(%{"type" => type} = schema, place) do
    types = if is_binary(type), do: [type], else: type
    list!(types, "type", place)

    if types == [] or not Enum.all?(types, &is_map_key(@kinds, &1)) do
      names = @kinds |> Map.keys() |> Enum.sort() |> Enum.join(", ")

      bad!(
        place,
        "\"type\" must be one of #{names}, or a list of them, got #{Shown.text(type, 200)}"
      )
    end

    types = if schema["nullable"] == true, do: ["null" | types], else: types
    types |> Enum.sort(:desc) |> Enum.map(&Map.fetch!(@kinds, &1)) |> Alternative.of_kinds()
  end

  defp kinds(_schema, _place), do: Alternative.any()

  defp list!(value, keyword, place) do
    if not is_list(value) or List.improper?(value),
      do: bad!(place, "#{inspect(keyword)} must be an array, got #{Shown.text(value, 200)}")
  end

  defp with_enum(made, schema, place, lost) do
    values =
      case schema do
        %{"const" => value, "enum" => values} ->
          list!(values, "enum", place)
          Enum.filter(values, &(&1 == value))

        %{"const" => value} ->
          [value]

        %{"enum" => values} ->
          list!(values, "enum", place)
          values

        %{} ->
          nil
      end

    {%{made | enum: values}, lost}
  end

  defp numbers(rules, schema, place) do
    Enum.reduce(@numbers, rules, fn {keyword, rule}, rules ->
      case schema do
        # As drafts before 6 have it.
        %{^keyword => flag} when is_boolean(flag) and rule in [:exclusive_min, :exclusive_max] ->
          exclusive(rules, flag, rule)

        %{^keyword => number} ->
          number!(number, keyword, place)
          Map.put(rules, rule, number)

        %{} ->
          rules
      end
    end)
  end

  defp exclusive(rules, false, _rule), do: rules

  defp exclusive(rules, true, rule) do
    inclusive = if rule == :exclusive_min, do: :min, else: :max

    case Map.pop(rules, inclusive) do
      {nil, rules} -> rules
      {bound, rules} -> Map.put(rules, rule, bound)
    end
  end

  defp number!(number, "multipleOf", _place) when is_number(number) and number > 0, do: :ok

  defp number!(number, keyword, _place) when is_number(number) and keyword != "multipleOf",
    do: :ok

  defp number!(other, keyword, place) do
    wanted = if keyword == "multipleOf", do: "a number above 0", else: "a number"
    bad!(place, "#{inspect(keyword)} must be #{wanted}, got #{Shown.text(other, 200)}")
  end

  defp counts(rules, keywords, schema, place) do
    Enum.reduce(keywords, rules, fn {keyword, rule}, rules ->
      case schema do
        %{^keyword => count} -> Map.put(rules, rule, count!(count, keyword, place))
        %{} -> rules
      end
    end)
  end

  defp count!(count, _keyword, _place)
       when is_number(count) and count >= 0 and count == trunc(count),
       do: min(trunc(count), @most)

  defp count!(other, keyword, place) do
    bad!(place, "#{inspect(keyword)} must be an integer from 0 on, got #{Shown.text(other, 200)}")
  end

  defp strings(nil, _schema, _place, _formats?, lost), do: {nil, lost}

  defp strings(rules, schema, place, formats?, lost) do
    rules = counts(rules, @texts, schema, place)
    {rules, lost} = pattern(rules, schema, place, lost)

    case schema do
      %{"format" => format} when is_map_key(@formats, format) and formats? ->
        {Map.put(rules, :format, @formats[format]), lost}

      %{"format" => format} when not is_binary(format) ->
        bad!(place, "\"format\" must be a string, got #{Shown.text(format, 200)}")

      %{"format" => format} when formats? ->
        {rules, [{"format", "rules have no format #{Shown.text(format, 100)}"} | lost]}

      %{} ->
        {rules, lost}
    end
  end

  defp pattern(rules, %{"pattern" => pattern}, _place, lost) when is_binary(pattern) do
    with {:ok, pattern} <- Pattern.of(pattern),
         :ok <- compiled(pattern) do
      {Map.put(rules, :pattern, pattern), lost}
    else
      {:error, why} -> {rules, [{"pattern", why} | lost]}
    end
  end

  defp pattern(_rules, %{"pattern" => other}, place, _lost),
    do: bad!(place, "\"pattern\" must be a string, got #{Shown.text(other, 200)}")

  defp pattern(rules, _schema, _place, lost), do: {rules, lost}

  defp compiled(pattern) do
    case Quanta.run(Native.signature_validate({:where, :any, [pattern: pattern]}, nil, false)) do
      {:unknown, _type} -> {:error, "it is no regular expression, or too large"}
      _read -> :ok
    end
  end

  defp array(array, schema, place) do
    rules = counts(array.rules, @lists, schema, place)
    rules = if schema["uniqueItems"] == true, do: Map.put(rules, :unique, true), else: rules

    {prefix, rest} =
      case schema do
        %{"prefixItems" => parts} -> {{"prefixItems", parts}, "items"}
        # As drafts before 2020-12 have it.
        %{"items" => parts} when is_list(parts) -> {{"items", parts}, "additionalItems"}
        %{} -> {nil, "items"}
      end

    %{array | prefix: prefix(prefix, place), items: part(schema, rest, place), rules: rules}
  end

  defp prefix(nil, _place), do: []

  defp prefix({keyword, parts}, place) do
    list!(parts, keyword, place)

    for {part, at} <- Enum.with_index(parts),
        do: [Place.in_place(place, schema!(part, place, "#{keyword}/#{at}"), [keyword, "#{at}"])]
  end

  # A part that takes everything is no part.
  defp part(schema, keyword, place) do
    case schema do
      %{^keyword => everything} when everything == true or everything == %{} -> []
      %{^keyword => part} -> [Place.in_place(place, schema!(part, place, keyword), [keyword])]
      %{} -> []
    end
  end

  @doc "A schema, or the end of the reading."
  @spec schema!(term(), Place.t(), String.t()) :: map() | boolean()
  def schema!(schema, _place, _keyword) when is_boolean(schema), do: schema
  def schema!(schema, _place, _keyword) when is_map(schema) and not is_struct(schema), do: schema

  def schema!(other, place, keyword) do
    bad!(place, "#{inspect(keyword)} must be a schema, got #{Shown.text(other, 200)}")
  end

  defp object(object, schema, place) do
    patterns? = Map.get(schema, "patternProperties", %{}) != %{}
    others = if patterns?, do: [], else: part(schema, "additionalProperties", place)

    open =
      cond do
        patterns? or is_map_key(schema, "additionalProperties") -> :said
        is_map_key(schema, "properties") or is_map_key(schema, "required") -> :unsaid
        true -> nil
      end

    made = %{fields: fields(schema, place), required: required(schema, place), others: others}
    object |> Map.merge(made) |> Map.put(:open, open)
  end

  defp fields(%{"properties" => properties}, place)
       when is_map(properties) and not is_struct(properties) do
    Map.new(properties, fn
      {name, schema} when is_binary(name) ->
        {name,
         [Place.in_place(place, schema!(schema, place, "properties"), ["properties", name])]}

      {name, _schema} ->
        bad!(place, "the names of \"properties\" must be strings, got #{Shown.text(name, 200)}")
    end)
  end

  defp fields(%{"properties" => other}, place),
    do: bad!(place, "\"properties\" must be an object, got #{Shown.text(other, 200)}")

  defp fields(_schema, _place), do: %{}

  defp required(%{"required" => names}, place) do
    list!(names, "required", place)

    case Enum.find(names, &(not is_binary(&1))) do
      nil -> MapSet.new(names)
      other -> bad!(place, "\"required\" must name fields, got #{Shown.text(other, 200)}")
    end
  end

  defp required(_schema, _place), do: MapSet.new()
end

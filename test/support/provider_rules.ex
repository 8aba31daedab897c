defmodule PtcRunner.Test.ProviderRules do
  @moduledoc """
  Judges schemas by what the providers' documents say, and values by schemas. Written apart from the library, which has its own table.

      iex> alias PtcRunner.Test.ProviderRules
      iex> ProviderRules.faults(%{"type" => "string", "minLength" => 1}, :gemini)
      ["#: the keyword minLength"]
      iex> ProviderRules.fits?(%{"type" => ["integer", "null"], "minimum" => 1}, 0)
      false
  """

  @structure ~w(type properties required additionalProperties items enum anyOf $ref $defs description)

  @keywords %{
    openai_strict:
      ~w(const pattern format multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems),
    anthropic: ~w(const pattern format default minItems),
    gemini: ~w(format minimum maximum minItems maxItems propertyOrdering),
    plain:
      ~w(const pattern format default multipleOf minimum maximum exclusiveMinimum exclusiveMaximum) ++
        ~w(minItems maxItems uniqueItems minLength maxLength)
  }

  @formats %{
    openai_strict: ~w(date-time time date duration email hostname ipv4 ipv6 uuid),
    anthropic: ~w(date-time time date duration email hostname uri ipv4 ipv6 uuid),
    gemini: ~w(date-time date time),
    plain: ~w(date-time time date email uri uuid decimal)
  }

  @types ~w(string number integer boolean object array null)

  @doc "What a provider would refuse in a schema, each with its place."
  @spec faults(map(), atom()) :: [String.t()]
  def faults(schema, provider) do
    root(schema, provider) ++ node(schema, "#", provider, schema)
  end

  defp root(%{"type" => "object"}, _provider), do: []
  defp root(_schema, :openai_strict), do: ["#: the root is no object"]
  defp root(_schema, _provider), do: []

  defp node(schema, place, provider, whole) when is_map(schema) do
    known = @structure ++ @keywords[provider]
    keys = for key <- Map.keys(schema), key not in known, do: "#{place}: the keyword #{key}"
    keys ++ own(schema, place, provider, whole) ++ inner(schema, place, provider, whole)
  end

  defp node(other, place, _provider, _whole), do: ["#{place}: #{inspect(other)}"]

  defp own(schema, place, provider, whole) do
    checks = [
      {types(schema["type"]), "a type that is none"},
      {provider == :plain or is_map_key(schema, "type") or is_map_key(schema, "anyOf") or
         is_map_key(schema, "$ref"), "no type"},
      {schema["format"] == nil or schema["format"] in @formats[provider], "a format"},
      {object?(schema, provider), "an object that is not closed"},
      {required?(schema, provider), "properties that are not required"},
      {enum?(schema["enum"], provider), "an enumeration"},
      {provider == :plain or not is_map_key(schema, "$ref") or map_size(schema) == 1,
       "keywords beside $ref"},
      {ref?(schema["$ref"], whole), "a reference to nothing"},
      {provider != :anthropic or schema["minItems"] in [nil, 0, 1], "minItems"},
      {pattern?(schema["pattern"], provider), "a pattern"},
      {ordering?(schema), "an ordering that has not all names"},
      {not is_map_key(schema, "description") or is_binary(schema["description"]), "a description"}
    ]

    for {false, text} <- checks, do: "#{place}: #{text}"
  end

  defp types(nil), do: true
  defp types(type) when is_binary(type), do: type in @types
  defp types([type, "null"]), do: type in @types
  defp types(_other), do: false

  defp object?(%{"type" => type} = schema, provider)
       when provider in [:openai_strict, :anthropic],
       do: "object" not in List.wrap(type) or schema["additionalProperties"] == false

  defp object?(_schema, _provider), do: true

  defp required?(%{"properties" => properties, "required" => required}, :openai_strict),
    do: Enum.sort(Map.keys(properties)) == Enum.sort(required)

  defp required?(%{"properties" => properties, "required" => required}, _provider),
    do: required -- Map.keys(properties) == []

  defp required?(schema, _provider), do: not is_map_key(schema, "properties")

  defp enum?(nil, _provider), do: true
  defp enum?(values, :plain), do: values != []
  defp enum?(values, :gemini), do: Enum.all?(values, &(is_binary(&1) or is_number(&1)))
  defp enum?(values, _provider), do: not Enum.any?(values, &(is_list(&1) or is_map(&1)))

  defp ref?(nil, _whole), do: true

  defp ref?("#/$defs/" <> name, whole),
    do: is_map_key(whole["$defs"] || %{}, unescaped(name))

  defp ref?(_other, _whole), do: false

  defp unescaped(name),
    do: name |> URI.decode() |> String.replace("~1", "/") |> String.replace("~0", "~")

  # As ECMAScript reads it; no provider takes look-around or flags.
  defp pattern?(nil, _provider), do: true

  defp pattern?(pattern, provider) do
    match?({:ok, _}, Regex.compile(pattern)) and not (pattern =~ ~r/\(\?(?!:)|\\[pPAzZ]|\[\[/) and
      not (provider == :anthropic and pattern =~ ~r/\\[bB]|[0-9]{3}\}/)
  end

  defp ordering?(%{"propertyOrdering" => names} = schema),
    do: Enum.sort(names) == Enum.sort(Map.keys(schema["properties"]))

  defp ordering?(_schema), do: true

  defp inner(schema, place, provider, whole) do
    lists = for {schema, n} <- Enum.with_index(schema["anyOf"] || []), do: {"anyOf/#{n}", schema}

    maps =
      for key <- ["properties", "$defs"],
          {name, schema} <- schema[key] || %{},
          do: {"#{key}/#{name}", schema}

    items = for %{"items" => items} <- [schema], do: {"items", items}
    values = for %{"additionalProperties" => %{} = values} <- [schema], do: {"*", values}

    for {step, schema} <- lists ++ maps ++ items ++ values,
        fault <- node(schema, "#{place}/#{step}", provider, whole),
        do: fault
  end

  @doc "Whether a value of JSON fits a schema. Formats are not looked at."
  @spec fits?(map(), term()) :: boolean()
  def fits?(schema, value), do: fits?(schema, value, schema)

  defp fits?(schema, value, whole), do: Enum.all?(schema, &holds?(&1, value, schema, whole))

  defp holds?({"type", types}, value, _schema, _whole),
    do: Enum.any?(List.wrap(types), &kind?(&1, value))

  defp holds?({"enum", values}, value, _schema, _whole), do: Enum.any?(values, &(&1 == value))
  defp holds?({"const", constant}, value, _schema, _whole), do: constant == value

  defp holds?({"anyOf", schemas}, value, _schema, whole),
    do: Enum.any?(schemas, &fits?(&1, value, whole))

  defp holds?({"$ref", "#/$defs/" <> name}, value, _schema, whole),
    do: fits?(whole["$defs"][unescaped(name)], value, whole)

  defp holds?({"items", items}, value, _schema, whole) when is_list(value),
    do: Enum.all?(value, &fits?(items, &1, whole))

  defp holds?({"properties", properties}, value, _schema, whole) when is_map(value) do
    Enum.all?(properties, fn {name, schema} ->
      not is_map_key(value, name) or fits?(schema, value[name], whole)
    end)
  end

  defp holds?({"required", names}, value, _schema, _whole) when is_map(value),
    do: Enum.all?(names, &is_map_key(value, &1))

  defp holds?({"additionalProperties", false}, value, schema, _whole) when is_map(value),
    do: Map.keys(value) -- Map.keys(schema["properties"] || %{}) == []

  defp holds?({"additionalProperties", %{} = values}, value, _schema, whole) when is_map(value),
    do: Enum.all?(value, fn {_name, value} -> fits?(values, value, whole) end)

  defp holds?({"minimum", bound}, value, _, _) when is_number(value), do: value >= bound
  defp holds?({"maximum", bound}, value, _, _) when is_number(value), do: value <= bound
  defp holds?({"exclusiveMinimum", bound}, value, _, _) when is_number(value), do: value > bound
  defp holds?({"exclusiveMaximum", bound}, value, _, _) when is_number(value), do: value < bound

  defp holds?({"multipleOf", unit}, value, _, _) when is_integer(value) and is_integer(unit),
    do: rem(value, unit) == 0

  defp holds?({"pattern", pattern}, value, _, _) when is_binary(value),
    do: value =~ Regex.compile!(pattern)

  defp holds?({"minLength", count}, value, _, _) when is_binary(value),
    do: length(String.codepoints(value)) >= count

  defp holds?({"maxLength", count}, value, _, _) when is_binary(value),
    do: length(String.codepoints(value)) <= count

  defp holds?({"minItems", count}, value, _, _) when is_list(value), do: length(value) >= count
  defp holds?({"maxItems", count}, value, _, _) when is_list(value), do: length(value) <= count

  defp holds?({"uniqueItems", true}, value, _, _) when is_list(value),
    do: Enum.uniq(value) == value

  defp holds?(_other, _value, _schema, _whole), do: true

  defp kind?("string", value), do: is_binary(value)
  defp kind?("integer", value), do: is_integer(value)
  defp kind?("number", value), do: is_number(value)
  defp kind?("boolean", value), do: is_boolean(value)
  defp kind?("null", value), do: value == nil
  defp kind?("array", value), do: is_list(value)
  defp kind?("object", value), do: is_map(value)
end

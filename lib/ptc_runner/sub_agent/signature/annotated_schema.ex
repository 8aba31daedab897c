defmodule PtcRunner.SubAgent.Signature.AnnotatedSchema do
  @moduledoc false
  # JSON Schema with annotations (enumerations and descriptions), and the strict form that
  # providers of structured output require. Also the conversion back.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.{Annotations, JsonSchema, UnknownType}

  @scalars %{
    string: "string",
    keyword: "string",
    datetime: "string",
    int: "integer",
    float: "number",
    bool: "boolean"
  }

  @doc "The schema of a type; `strict?`: every property is required, optional ones are nullable."
  @spec of_type(term(), boolean(), Annotations.t()) :: map()
  def of_type(type, strict?, annotations),
    do: type |> schema("", strict?, annotations) |> described("", annotations)

  defp schema({:optional, type}, path, strict?, notes), do: schema(type, path, strict?, notes)

  defp schema({:list, type}, path, strict?, notes),
    do: %{"type" => "array", "items" => schema(type, path, strict?, notes)}

  defp schema({kind, fields}, path, strict?, notes) when kind in [:map, :closed_map] do
    properties =
      Map.new(fields, fn {name, type} ->
        path = Annotations.join(path, name)
        property = schema(type, path, strict?, notes)
        {name, property |> nullable(strict? and optional?(type)) |> described(path, notes)}
      end)

    %{
      "type" => "object",
      "properties" => properties,
      "required" => for({name, type} <- fields, strict? or not optional?(type), do: name),
      "additionalProperties" => false
    }
  end

  defp schema(type, path, true, _notes) when type in [:any, :map] do
    place = if path == "", do: "the value", else: path

    raise ArgumentError,
          "strict: true needs declared fields, and #{Shown.name(place)} is #{inspect(type)}"
  end

  defp schema(type, _path, false, _notes) when type in [:any, :map], do: %{"type" => "object"}

  defp schema(type, path, _strict?, notes) when is_map_key(@scalars, type) do
    schema = %{"type" => Map.fetch!(@scalars, type)}

    case notes.enums do
      %{^path => values} -> Map.put(schema, "enum", values)
      %{} -> schema
    end
  end

  defp schema(type, _path, _strict?, _notes), do: UnknownType.raise!(type)

  defp optional?(type), do: match?({:optional, _}, type)

  defp nullable(schema, false), do: schema

  defp nullable(%{"type" => type, "enum" => values} = schema, true),
    do: %{schema | "type" => [type, "null"], "enum" => values ++ [nil]}

  defp nullable(%{"type" => type} = schema, true), do: %{schema | "type" => [type, "null"]}

  defp described(schema, path, notes) do
    case notes.descriptions do
      %{^path => text} -> Map.put(schema, "description", text)
      %{} -> schema
    end
  end

  @doc "The type of a schema, and the options that reproduce the schema."
  @spec to_type(term()) :: {:ok, term(), keyword()} | {:error, String.t()}
  def to_type(schema) do
    {plain, _null?, found} = plain(schema, "")

    with {:ok, type} <- JsonSchema.to_type(plain) do
      enums = for {:enum, path, values} <- found, into: %{}, do: {path, values}
      descriptions = for {:description, path, text} <- found, into: %{}, do: {path, text}
      {:ok, type, enums: enums, descriptions: descriptions}
    end
  end

  # Returns a schema without enumerations and null, whether it had null, and the annotations found.
  defp plain(%{"type" => [_ | _] = types} = schema, path) do
    case types -- ["null"] do
      [type] when length(types) == 2 ->
        {schema, _null?, found} = plain(%{schema | "type" => type}, path)
        {schema, true, found}

      _other ->
        {schema, false, []}
    end
  end

  defp plain(%{"enum" => [_ | _] = values} = schema, path) do
    {schema, null?, found} = schema |> Map.delete("enum") |> typed(values) |> plain(path)
    {schema, null? or nil in values, [{:enum, path, values -- [nil]} | found]}
  end

  defp plain(%{"type" => "array", "items" => %{} = items} = schema, path) do
    {items, _null?, found} = plain(items, path)
    {%{schema | "items" => items}, false, description(schema, path) ++ found}
  end

  defp plain(%{"type" => "object", "properties" => %{} = properties} = schema, path) do
    plain =
      for {name, property} <- properties, is_binary(name) do
        {property, null?, found} = plain(property, Annotations.join(path, name))
        {name, property, null?, found}
      end

    nullable = for {name, _property, true, _found} <- plain, do: name
    found = for {_name, _property, _null?, found} <- plain, do: found
    plain = for {name, property, _null?, _found} <- plain, into: properties, do: {name, property}

    schema =
      schema
      |> Map.put("properties", plain)
      |> Map.replace_lazy("required", &without(&1, nullable))

    {schema, false, description(schema, path) ++ List.flatten(found)}
  end

  defp plain(%{} = schema, path), do: {schema, false, description(schema, path)}
  defp plain(other, _path), do: {other, false, []}

  defp without(required, nullable) when is_list(required), do: required -- nullable
  defp without(required, _nullable), do: required

  defp description(%{"description" => text}, path) when is_binary(text),
    do: [{:description, path, text}]

  defp description(_schema, _path), do: []

  # An enumeration without a type gets the type of its values.
  defp typed(%{"type" => _} = schema, _values), do: schema

  defp typed(schema, values) do
    case (values -- [nil]) |> Enum.map(&JsonSchema.name_of/1) |> Enum.uniq() do
      [type] when type != nil -> Map.put(schema, "type", type)
      _mixed -> schema
    end
  end
end

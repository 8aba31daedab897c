defmodule PtcRunner.SubAgent.Signature.AnnotatedSchema do
  @moduledoc false
  # From JSON Schema to a type and its annotations (enumerations and descriptions).

  alias PtcRunner.SubAgent.Signature.{Annotations, JsonSchema}

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

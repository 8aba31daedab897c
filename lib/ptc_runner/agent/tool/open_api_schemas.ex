defmodule PtcRunner.Agent.Tool.OpenApiSchemas do
  @moduledoc false
  # The schemas of a document, for requests and for responses: a field that is `readOnly` is no part of a request, and
  # one that is `writeOnly` no part of a response.

  @schemas "#/components/schemas/"

  @typep components :: %{String.t() => term()}
  @type t :: %{input: components(), output: components(), refs: %{String.t() => [String.t()]}}

  @doc "The schemas of a document, read once for all its operations."
  @spec of(map()) :: t()
  def of(document) do
    schemas =
      case document do
        %{"components" => %{"schemas" => %{} = schemas}} -> schemas
        _none -> %{}
      end

    %{
      input: without(schemas, "readOnly"),
      output: without(schemas, "writeOnly"),
      refs: Map.new(schemas, fn {name, schema} -> {name, refs(schema)} end)
    }
  end

  @doc """
  A schema with the components that it refers to.

      iex> alias PtcRunner.Agent.Tool.OpenApiSchemas
      iex> pet = %{"properties" => %{"id" => %{"readOnly" => true}, "name" => %{}}, "required" => ["id", "name"]}
      iex> schemas = OpenApiSchemas.of(%{"components" => %{"schemas" => %{"Pet" => pet, "Other" => %{}}}})
      iex> OpenApiSchemas.input(%{"$ref" => "#/components/schemas/Pet"}, schemas)["components"]
      %{"schemas" => %{"Pet" => %{"properties" => %{"name" => %{}}, "required" => ["name"]}}}

  """
  @spec input(term(), t()) :: map()
  def input(schema, schemas),
    do: schema |> without("readOnly") |> rooted(schemas.input, schemas.refs)

  @doc "The same for a response."
  @spec output(term(), t()) :: map()
  def output(schema, schemas),
    do: schema |> without("writeOnly") |> rooted(schemas.output, schemas.refs)

  # References are resolved from the root. Below "$defs", what is not validated in them is found.
  defp rooted(schema, components, refs) do
    used = reached(refs(schema), refs, MapSet.new())
    found = Map.take(components, MapSet.to_list(used))
    schema = if is_map(schema), do: schema, else: %{"allOf" => [schema]}

    if found == %{},
      do: schema,
      else: Map.merge(schema, %{"components" => %{"schemas" => found}, "$defs" => found})
  end

  defp reached([], _refs, seen), do: seen

  defp reached([name | rest], refs, seen) do
    if name in seen or not is_map_key(refs, name),
      do: reached(rest, refs, seen),
      else: reached(Enum.reverse(refs[name], rest), refs, MapSet.put(seen, name))
  end

  # The names of the schemas that a schema refers to.
  defp refs(schema), do: refs(schema, [])

  defp refs(map, found) when is_map(map) do
    found =
      case map do
        %{"$ref" => @schemas <> name} -> [named(name) | found]
        _no -> found
      end

    Enum.reduce(map, found, fn {_key, value}, found -> refs(value, found) end)
  end

  defp refs(list, found) when is_list(list), do: Enum.reduce(list, found, &refs/2)
  defp refs(_other, found), do: found

  # A reference may lead further, into a schema.
  defp named(name) do
    name
    |> String.split("/")
    |> hd()
    |> URI.decode()
    |> String.replace("~1", "/")
    |> String.replace("~0", "~")
  rescue
    ArgumentError -> name
  end

  defp without(%{"properties" => %{} = properties} = schema, mark) do
    left =
      for {name, part} <- properties,
          not marked?(part, mark),
          into: %{},
          do: {name, without(part, mark)}

    others =
      for {key, value} <- Map.delete(schema, "properties"),
          into: %{},
          do: {key, without(value, mark)}

    schema = Map.put(others, "properties", left)

    case schema do
      %{"required" => required} when is_list(required) ->
        gone =
          for name <- required, is_map_key(properties, name), not is_map_key(left, name), do: name

        %{schema | "required" => required -- gone}

      _none ->
        schema
    end
  end

  defp without(map, mark) when is_map(map),
    do: Map.new(map, fn {key, value} -> {key, without(value, mark)} end)

  defp without(list, mark) when is_list(list), do: Enum.map(list, &without(&1, mark))
  defp without(other, _mark), do: other

  defp marked?(part, mark), do: is_map(part) and part[mark] == true
end

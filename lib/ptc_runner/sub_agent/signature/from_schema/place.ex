defmodule PtcRunner.SubAgent.Signature.FromSchema.Place do
  @moduledoc false
  # Places in a JSON Schema: a schema, its JSON Pointer, and the URI against which its references are resolved. Also
  # where a reference leads.

  alias PtcRunner.Shown

  @type t :: {schema :: term(), pointer :: [String.t()], base :: String.t()}

  # The keywords under which schemas stand.
  @one ~w(additionalProperties additionalItems items contains not if then else propertyNames unevaluatedItems
          unevaluatedProperties contentSchema)
  @lists ~w(allOf anyOf oneOf prefixItems items)
  @maps ~w(properties patternProperties $defs definitions dependentSchemas)

  # More parts of a pointer than a text shows.
  @shown 1_000

  @doc "The place of a whole schema."
  @spec root(term()) :: t()
  def root(schema), do: based({schema, [], ""})

  @doc "A place inside another one; the pointer has its last part first."
  @spec in_place(t(), term(), [String.t()]) :: t()
  def in_place({_schema, pointer, base}, schema, tokens),
    do: based({schema, Enum.reverse(tokens, pointer), base})

  defp based({%{"$id" => id} = schema, pointer, base}) when is_binary(id),
    do: {schema, pointer, merged(base, id)}

  defp based(place), do: place

  defp merged("", uri), do: uri
  defp merged(_base, "urn:" <> _ = uri), do: uri
  defp merged("urn:" <> _ = base, "#" <> _ = fragment), do: base <> fragment

  defp merged(base, uri) do
    base |> URI.merge(uri) |> URI.to_string()
  rescue
    ArgumentError -> uri
  end

  @doc """
  The pointer as text.

      iex> PtcRunner.SubAgent.Signature.FromSchema.Place.text(["a/b", "properties"])
      "#/properties/a~1b"

  """
  @spec text([String.t()]) :: String.t()
  def text(pointer) do
    pointer
    |> Enum.reverse()
    |> Enum.take(@shown)
    |> Enum.map_join(&("/" <> (&1 |> String.replace("~", "~0") |> String.replace("/", "~1"))))
    |> then(&("#" <> &1))
    |> Shown.name()
  end

  @doc "What a schema has: references, and names for them that are no pointers."
  @spec scan(term()) :: %{refs?: boolean(), named?: boolean()}
  def scan(schema), do: scan(schema, %{refs?: false, named?: false})

  defp scan(list, found) when is_list(list), do: scan_list(list, found)

  defp scan(map, found) when is_map(map) and not is_struct(map) do
    found =
      if is_map_key(map, "$ref") or is_map_key(map, "$dynamicRef"),
        do: %{found | refs?: true},
        else: found

    found =
      if is_map_key(map, "$id") or is_map_key(map, "$anchor") or
           is_map_key(map, "$dynamicAnchor"),
         do: %{found | named?: true},
         else: found

    :maps.fold(fn _key, value, found -> scan(value, found) end, found, map)
  end

  defp scan(_other, found), do: found

  defp scan_list([first | rest], found), do: scan_list(rest, scan(first, found))
  defp scan_list(_end, found), do: found

  @doc "The places with an `$id` or an anchor, by their URIs."
  @spec index(t()) :: %{String.t() => t()}
  def index(root), do: index(root, %{"" => root, elem(root, 2) => root})

  defp index({schema, _pointer, base} = place, found) when is_map(schema) do
    found = if is_binary(schema["$id"]), do: Map.put_new(found, bare(base), place), else: found

    found =
      for key <- ["$anchor", "$dynamicAnchor"],
          name = schema[key],
          is_binary(name),
          reduce: found do
        found -> Map.put_new(found, bare(base) <> "#" <> name, place)
      end

    found = Enum.reduce(@one, found, &one(schema, &1, place, &2))
    found = Enum.reduce(@lists, found, &list(schema, &1, place, &2))
    Enum.reduce(@maps, found, &map(schema, &1, place, &2))
  end

  defp index(_place, found), do: found

  defp one(schema, key, place, found) do
    case schema do
      %{^key => %{} = inside} -> place |> in_place(inside, [key]) |> index(found)
      _other -> found
    end
  end

  defp list(schema, key, place, found) do
    case schema do
      %{^key => [_ | _] = parts} ->
        for {part, at} <- parts |> proper() |> Enum.with_index(), reduce: found do
          found -> place |> in_place(part, [key, "#{at}"]) |> index(found)
        end

      _other ->
        found
    end
  end

  defp map(schema, key, place, found) do
    case schema do
      %{^key => %{} = parts} ->
        for {name, part} <- parts, is_binary(name), reduce: found do
          found -> place |> in_place(part, [key, name]) |> index(found)
        end

      _other ->
        found
    end
  end

  defp proper(list), do: if(List.improper?(list), do: [], else: list)
  defp bare(uri), do: uri |> String.split("#", parts: 2) |> hd()

  @doc """
  Where a reference leads: `:elsewhere` if that is not this schema, `:nowhere` if there is nothing.

      iex> alias PtcRunner.SubAgent.Signature.FromSchema.Place
      iex> root = Place.root(%{"$defs" => %{"a/b" => %{"type" => "null"}}})
      iex> Place.follow("#/$defs/a~1b", root, root, nil)
      {:ok, {%{"type" => "null"}, ["a/b", "$defs"], ""}}
      iex> {Place.follow("#/$defs/c", root, root, nil), Place.follow("https://example.org/a", root, root, nil)}
      {:nowhere, :elsewhere}

  """
  @spec follow(String.t(), t(), t(), map() | nil) :: {:ok, t()} | :elsewhere | :nowhere
  def follow("#" <> fragment, _place, root, nil), do: within(root, fragment, %{})
  def follow(_uri, _place, _root, nil), do: :elsewhere

  def follow(ref, {_schema, _pointer, base}, root, index) do
    uri = merged(base, ref)
    {resource, fragment} = divided(uri)

    case index do
      %{^resource => place} -> within(place, fragment, index)
      _other when resource == "" -> within(root, fragment, index)
      _other -> :elsewhere
    end
  end

  defp divided(uri) do
    case String.split(uri, "#", parts: 2) do
      [resource, fragment] -> {resource, fragment}
      [resource] -> {resource, ""}
    end
  end

  defp within(place, fragment, index) do
    case URI.decode(fragment) do
      "" -> {:ok, place}
      "/" <> pointer -> pointer |> String.split("/") |> Enum.map(&unescaped/1) |> walk(place)
      anchor -> anchored(place, anchor, index)
    end
  rescue
    # A per cent sign without two digits.
    ArgumentError -> :nowhere
  end

  defp anchored({_schema, _pointer, base}, anchor, index) do
    case index do
      %{} = index when is_map_key(index, base <> "#" <> anchor) ->
        {:ok, Map.fetch!(index, base <> "#" <> anchor)}

      _none ->
        :nowhere
    end
  end

  defp unescaped(token), do: token |> String.replace("~1", "/") |> String.replace("~0", "~")

  defp walk([], place), do: {:ok, place}

  defp walk([token | tokens], {map, _pointer, _base} = place)
       when is_map(map) and is_map_key(map, token),
       do: walk(tokens, in_place(place, Map.fetch!(map, token), [token]))

  defp walk([token | tokens], {[_ | _] = list, _pointer, _base} = place) do
    with {index, ""} when index >= 0 <- Integer.parse(token),
         {:ok, inside} <- list |> proper() |> Enum.fetch(index) do
      walk(tokens, in_place(place, inside, [token]))
    else
      _other -> :nowhere
    end
  end

  defp walk(_tokens, _place), do: :nowhere
end

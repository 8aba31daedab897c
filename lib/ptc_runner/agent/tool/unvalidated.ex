defmodule PtcRunner.Agent.Tool.Unvalidated do
  @moduledoc false
  # The keywords of a JSON Schema that `PtcRunner.Agent.ToolSchema` ignores although they demand something, by place.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.Annotations

  @keywords ~w(minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern format
               default minItems maxItems uniqueItems minProperties maxProperties minContains maxContains
               contentEncoding contentMediaType contentSchema)

  # Schemas that are read at most, and how deep: deeper places have no type either.
  @schemas 10_000
  @deepest 100

  @doc """
  A sentence for each place with such keywords.

      iex> PtcRunner.Agent.Tool.Unvalidated.of(%{"properties" => %{"page" => %{"type" => "integer", "minimum" => 1, "maximum" => 9}}})
      ["page is not validated by maximum, minimum"]

  """
  @spec of(term()) :: [String.t()]
  def of(schema), do: walk([{schema, "", 0}], @schemas, [])

  defp walk([], _left, found), do: Enum.reverse(found)

  defp walk(_rest, 0, found),
    do: Enum.reverse(["the schema has more than #{@schemas} parts, which are not listed" | found])

  defp walk([{schema, path, depth} | rest], left, found)
       when is_map(schema) and depth < @deepest do
    rest = inside(schema, path, depth + 1, rest)

    case for {key, _value} <- schema, key in @keywords, do: key do
      [] -> walk(rest, left - 1, found)
      keys -> walk(rest, left - 1, [said(path, Enum.sort(keys)) | found])
    end
  end

  defp walk([_other | rest], left, found), do: walk(rest, left - 1, found)

  defp said(path, keys) do
    place = if path == "", do: "the value", else: Shown.name(path)
    "#{place} is not validated by #{Enum.join(keys, ", ")}"
  end

  defp inside(schema, path, depth, rest) do
    rest = properties(schema, path, depth, rest)
    rest = named(schema, "$defs", depth, rest)
    rest = named(schema, "definitions", depth, rest)
    rest = if is_map_key(schema, "items"), do: [{schema["items"], path, depth} | rest], else: rest

    for key <- ["anyOf", "oneOf", "allOf"],
        parts = schema[key],
        part <- proper(parts),
        reduce: rest do
      rest -> [{part, path, depth} | rest]
    end
  end

  defp properties(%{"properties" => %{} = properties}, path, depth, rest) do
    for {name, property} <- Enum.sort_by(properties, &elem(&1, 0), :desc), reduce: rest do
      rest -> [{property, Annotations.join(path, name), depth} | rest]
    end
  end

  defp properties(_schema, _path, _depth, rest), do: rest

  defp named(schema, key, depth, rest) do
    case schema do
      %{^key => %{} = schemas} ->
        for {name, part} <- schemas, reduce: rest do
          rest -> [{part, "##{name}", depth} | rest]
        end

      _no ->
        rest
    end
  end

  defp proper(list) when is_list(list), do: list
  defp proper(_other), do: []
end

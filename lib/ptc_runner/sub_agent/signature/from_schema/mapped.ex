defmodule PtcRunner.SubAgent.Signature.FromSchema.Mapped do
  @moduledoc false
  # OpenAPI's `discriminator`: a field whose value says which one of several schemas an object has.

  @doc """
  One of the schemas below `oneOf` or `anyOf`, with the value of the field that a reference to it demands: the names that the mapping
  has for it, otherwise the name of the schema.

      iex> alias PtcRunner.SubAgent.Signature.FromSchema.Mapped
      iex> card = %{"$ref" => "#/components/schemas/Card"}
      iex> kind = %{"discriminator" => %{"propertyName" => "kind", "mapping" => %{"card" => "Card"}}}
      iex> Mapped.demanded(card, kind)["allOf"]
      [%{"$ref" => "#/components/schemas/Card"}, %{"properties" => %{"kind" => %{"enum" => ["card"]}}, "required" => ["kind"]}]
      iex> Mapped.demanded(card, %{})
      %{"$ref" => "#/components/schemas/Card"}

  """
  @spec demanded(term(), map()) :: term()
  def demanded(%{"$ref" => ref} = part, %{"discriminator" => %{"propertyName" => field} = said})
      when is_binary(ref) and is_binary(field) do
    values = values(ref, Map.get(said, "mapping"))
    demand = %{"properties" => %{field => %{"enum" => values}}, "required" => [field]}
    %{"allOf" => [part, demand]}
  end

  def demanded(part, _schema), do: part

  # A mapping leads to a reference, or to the name of a schema.
  defp values(ref, mapping) do
    name = ref |> String.split("/") |> List.last()
    mapping = if is_map(mapping) and not is_struct(mapping), do: mapping, else: %{}

    case for {value, to} <- mapping, is_binary(value), to in [ref, name], do: value do
      [] -> [name]
      values -> Enum.sort(values)
    end
  end
end

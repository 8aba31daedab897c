defmodule PtcRunner.SubAgent.Signature.Schema.Parts do
  @moduledoc false
  # Parts of a schema while it is made: objects, null, descriptions.

  alias PtcRunner.SubAgent.Signature.Schema.Provider

  # What a description will have, until the schema is finished: the application's own text, and rules in words.
  @said :said

  @doc """
  A schema of an object.

      iex> alias PtcRunner.SubAgent.Signature.Schema.{Parts, Provider}
      iex> Parts.object([{"n", %{"type" => "integer"}}], ["n"], Provider.of(:plain, false))
      %{
        "type" => "object",
        "properties" => %{"n" => %{"type" => "integer"}},
        "required" => ["n"],
        "additionalProperties" => false
      }

  """
  @spec object([{String.t(), map()}], [String.t()], Provider.t()) :: map()
  def object(properties, required, provider) do
    object = %{
      "type" => "object",
      "properties" => Map.new(properties),
      "required" => required,
      "additionalProperties" => false
    }

    # The others have no keyword for the order.
    if provider.name == :gemini and properties != [] do
      names = for {name, _schema} <- properties, do: name
      Map.put(object, "propertyOrdering", Enum.uniq(names))
    else
      object
    end
  end

  @doc """
  A schema that also takes null, if asked for.

      iex> PtcRunner.SubAgent.Signature.Schema.Parts.nullable(%{"type" => "string", "enum" => ["a"]}, true)
      %{"type" => ["string", "null"], "enum" => ["a", nil]}

  """
  @spec nullable(map(), boolean()) :: map()
  def nullable(schema, false), do: schema

  def nullable(%{"const" => value} = schema, true),
    do: schema |> Map.delete("const") |> Map.put("enum", [value]) |> nullable(true)

  def nullable(%{"type" => type, "enum" => values} = schema, true),
    do: %{schema | "type" => [type, "null"], "enum" => Enum.uniq(values ++ [nil])}

  def nullable(%{"enum" => values} = schema, true),
    do: %{schema | "enum" => Enum.uniq(values ++ [nil])}

  def nullable(%{"type" => type} = schema, true), do: %{schema | "type" => [type, "null"]}

  def nullable(%{"anyOf" => schemas} = schema, true),
    do: %{schema | "anyOf" => schemas ++ [%{"type" => "null"}]}

  def nullable(%{"$ref" => ref} = schema, true) do
    schema
    |> Map.delete("$ref")
    |> Map.put("anyOf", [%{"$ref" => ref}, %{"type" => "null"}])
  end

  # Takes null already.
  def nullable(schema, true), do: schema

  @doc "An enumeration of one value as a constant, where the provider has that word."
  @spec constant(map(), Provider.t()) :: map()
  def constant(%{"enum" => [value]} = schema, provider) do
    if "const" in provider.keywords,
      do: schema |> Map.delete("enum") |> Map.put("const", value),
      else: schema
  end

  def constant(schema, _provider), do: schema

  @doc "Adds to what the description will say. A later text of the application replaces an earlier one."
  @spec say(map(), String.t() | nil, [String.t()]) :: map()
  def say(schema, nil, []), do: schema

  def say(schema, text, words) do
    {own, said} = Map.get(schema, @said, {nil, []})
    Map.put(schema, @said, {text || own, said ++ words})
  end

  @doc """
  The finished schema, with its description.

      iex> alias PtcRunner.SubAgent.Signature.Schema.{Parts, Provider}
      iex> schema = Parts.say(%{"type" => "number"}, "In euros.", ["at least 0", "a multiple of 0.5"])
      iex> Parts.finished(schema, Provider.of(:gemini, false))
      %{"type" => "number", "description" => "In euros. Rules: at least 0; a multiple of 0.5"}

      iex> alias PtcRunner.SubAgent.Signature.Schema.{Parts, Provider}
      iex> schema = Parts.say(%{"$ref" => "#/$defs/Tree"}, "the left one", [])
      iex> Parts.finished(schema, Provider.of(:gemini, false))
      %{"anyOf" => [%{"$ref" => "#/$defs/Tree"}], "description" => "the left one"}

  """
  @spec finished(map(), Provider.t()) :: map()
  def finished(%{@said => said} = schema, provider) do
    {own, words} = said

    schema
    |> Map.delete(@said)
    |> alone(provider)
    |> Map.put("description", text(own, words))
  end

  def finished(schema, _provider), do: schema

  defp alone(%{"$ref" => _} = schema, %{refs: :alone}), do: %{"anyOf" => [schema]}
  defp alone(schema, _provider), do: schema

  defp text(own, []), do: own
  defp text(nil, words), do: "Rules: " <> Enum.join(words, "; ")
  defp text(own, words), do: String.trim_trailing(own, ".") <> ". " <> text(nil, words)
end

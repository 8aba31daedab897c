defmodule PtcRunner.SubAgent.Signature.Schema do
  @moduledoc false
  # Types to JSON Schema, as a provider takes it. A type without rules and without options is converted natively.

  alias PtcRunner.{Options, Shown}
  alias PtcRunner.SubAgent.Signature.{Annotations, JsonSchema}
  alias PtcRunner.SubAgent.Signature.Schema.{Builder, Found, Provider}

  @options %{
    strict: :boolean,
    for: {:one_of, Provider.names()},
    enums: :any,
    descriptions: :any
  }

  @doc "The schema of a type; `wrap?`: a list and, for a provider, whatever is no object is a property of an object."
  @spec of_type(term(), keyword(), String.t(), boolean()) :: map()
  def of_type(type, [], _function, wrap?) do
    case {if(wrap?, do: key(type, :plain)), JsonSchema.native(type)} do
      {nil, {:ok, schema}} -> schema
      {key, {:ok, schema}} -> wrapped(schema, key)
      {_key, :ruled} -> built(type, [], wrap?)
    end
  end

  def of_type(type, opts, function, wrap?) do
    Options.check!(opts, @options, function)
    JsonSchema.native(type)
    built(type, opts, wrap?)
  end

  defp wrapped(schema, key) do
    %{
      "type" => "object",
      "properties" => %{key => schema},
      "required" => [key],
      "additionalProperties" => false
    }
  end

  defp built(type, opts, wrap?) do
    {schema, found, provider} = build(type, opts, wrap?)

    case Found.problems(found, provider) do
      [] -> rooted(schema, found, provider)
      problems -> refuse!(problems, provider)
    end
  end

  defp build(type, opts, wrap?) do
    provider = Provider.of(Keyword.get(opts, :for, :plain), Keyword.get(opts, :strict, false))
    key = if wrap?, do: key(type, provider.name)
    {schema, found} = Builder.build(type, key, provider, Annotations.of!(opts, type))
    {schema, found, provider}
  end

  @doc "What the provider is told in words only, and what it cannot be told; see `Signature.unenforced/2`."
  @spec unenforced(term(), keyword(), String.t()) :: [map()]
  def unenforced(type, opts, function) do
    Options.check!(opts, @options, function)
    JsonSchema.native(type)
    {_schema, found, provider} = build(type, opts, true)

    for(
      {path, words} <- Enum.reverse(found.notes),
      do: %{path: path, rule: words, told: :description}
    ) ++
      for {path, text, _what} <- Found.problems(found, provider),
          do: %{path: path, rule: text, told: :not_at_all}
  end

  # The key under which a type is a property of the whole schema; nil if it is an object itself.
  defp key({:list, _type}, _name), do: "items"

  defp key({:where, :any, rules}, name),
    do: if(is_list(rules) and rules[:enum] != nil, do: key(:string, name))

  defp key({:where, type, _rules}, name), do: key(type, name)

  defp key({:defs, names, {:ref, ref}}, name) when is_map_key(names, ref) do
    {type, names} = Map.pop!(names, ref)
    key({:defs, names, type}, name)
  end

  defp key({:defs, _names, type}, name), do: key(type, name)
  defp key({:struct, _module, _type}, _name), do: nil
  defp key({kind, _fields}, _name) when kind in [:map, :closed_map, :map_of, :ref], do: nil
  defp key(type, _name) when type in [:map, :any], do: nil
  defp key(_type, :plain), do: nil
  defp key(_type, _provider), do: "value"

  # The definitions stand at the root. A provider gets an object there, not a reference to one.
  defp rooted(%{"$ref" => _} = schema, found, %{refs: :alone}) do
    [{:root, name, _path, _optional?}] = for {:root, _, _, _} = edge <- found.edges, do: edge
    described = Map.delete(schema, "$ref")
    schema = found.definitions |> Map.fetch!(name) |> Map.merge(described)
    defined(schema, Found.used(found, name))
  end

  defp rooted(schema, found, %{refs: :alone}), do: defined(schema, Found.used(found, :root))
  defp rooted(schema, found, _provider), do: defined(schema, found.definitions)

  defp defined(schema, none) when none == %{}, do: schema
  defp defined(schema, definitions), do: Map.put(schema, "$defs", definitions)

  @spec refuse!([{String.t(), String.t(), String.t()}], Provider.t()) :: no_return()
  defp refuse!([{path, _text, what} | _], %{name: :plain}) do
    raise ArgumentError, "strict: true needs declared fields, and #{place(path)} is #{what}"
  end

  defp refuse!(problems, provider) do
    texts = Shown.few(problems, fn {path, text, _what} -> "#{place(path)}: #{text}" end)

    raise ArgumentError,
          "for: #{inspect(provider.name)} has no form of this type (#{texts}). " <>
            "See the guide \"Results that providers enforce\""
  end

  defp place(""), do: "the value"
  defp place(path), do: Shown.name(path)
end

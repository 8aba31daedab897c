defmodule PtcRunner.SubAgent.Signature.FromSchema.Sound do
  @moduledoc false
  # A schema that comes from elsewhere, without what is no schema, and as it was meant.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.FromSchema.Keywords

  @maps ~w(properties)
  @lists ~w(allOf anyOf oneOf prefixItems)
  @ones ~w(not items additionalProperties additionalItems)
  @structured ["description" | @maps ++ @lists ++ @ones]

  @typedoc "What is left out: the place below the schema, which ends with a keyword, and why."
  @type lost :: [{[String.t()], String.t()}]

  @doc """
  A schema as it was meant: a type that is missing is that of its keywords, and an enumeration beside a list whose values are no lists is that of its items.

      iex> PtcRunner.SubAgent.Signature.FromSchema.Sound.meant(%{"type" => "array", "items" => %{"type" => "string"}, "enum" => ["a", "b"]})
      %{"type" => "array", "items" => %{"type" => "string", "enum" => ["a", "b"]}}

      iex> PtcRunner.SubAgent.Signature.FromSchema.Sound.meant(%{"required" => ["a"]})
      %{"required" => ["a"], "type" => "object"}

  Fields that are marked are left out; a request has no field that is `readOnly`.

      iex> schema = %{"type" => "object", "required" => ["id", "n"], "properties" => %{"id" => %{"readOnly" => true}, "n" => %{}}}
      iex> PtcRunner.SubAgent.Signature.FromSchema.Sound.meant(schema, "readOnly")
      %{"type" => "object", "required" => ["n"], "properties" => %{"n" => %{}}}

  """
  @spec meant(map(), String.t() | nil) :: map()
  def meant(schema, without \\ nil), do: schema |> typed() |> listed() |> unmarked(without)

  defp unmarked(schema, nil), do: schema

  defp unmarked(%{"properties" => %{} = properties} = schema, mark) do
    case for {name, %{^mark => true}} <- properties, do: name do
      [] ->
        schema

      gone ->
        schema = %{schema | "properties" => Map.drop(properties, gone)}
        required = Map.get(schema, "required")

        if is_list(required) and not List.improper?(required),
          do: %{schema | "required" => required -- gone},
          else: schema
    end
  end

  defp unmarked(schema, _mark), do: schema

  @doc "Whether the schemas in a schema are schemas, and its keys are texts. The other keywords are looked at when they are read."
  @spec shaped?(map()) :: boolean()
  def shaped?(schema), do: Enum.all?(schema, fn {key, value} -> shaped?(key, value) end)

  defp shaped?(key, _value) when not is_binary(key), do: false
  defp shaped?(key, value) when key in @structured, do: part(key, value) == :ok
  defp shaped?(_key, _value), do: true

  @doc """
  The schema without what is no schema, and what is left out.

      iex> schema = %{"properties" => %{"a" => 5, "b" => true}, "minLength" => "3", 7 => 1}
      iex> PtcRunner.SubAgent.Signature.FromSchema.Sound.of(schema)
      {%{"properties" => %{"a" => true, "b" => true}},
       [{["7"], "its keys must be strings"}, {["minLength"], ~s("minLength" must be an integer from 0 on, got "3")},
        {["properties", "a", "schema"], "it is no schema: 5"}]}

  """
  @spec of(map()) :: {map(), lost()}
  def of(schema) do
    {kept, lost} =
      Enum.reduce(schema, {schema, []}, fn {key, value}, {kept, lost} ->
        case part(key, value) do
          :ok -> {kept, lost}
          {:drop, why} -> {Map.delete(kept, key), [{[shown(key)], why} | lost]}
          {:put, value, more} -> {Map.put(kept, key, value), more ++ lost}
        end
      end)

    {kept, Enum.sort(lost)}
  end

  defp shown(key) when is_binary(key), do: key
  defp shown(key), do: Shown.text(key, 100)

  defp part(key, _value) when not is_binary(key), do: {:drop, "its keys must be strings"}

  defp part(key, %{} = parts) when key in @maps and not is_struct(parts) do
    case for {name, part} <- parts, not (is_binary(name) and schema?(part)), do: {name, part} do
      [] ->
        :ok

      wrong ->
        others = Map.new(wrong, fn {name, _part} -> {name, true} end)
        parts = parts |> Map.merge(others) |> Map.filter(fn {name, _} -> is_binary(name) end)
        {:put, parts, for({name, part} <- wrong, do: {[key, shown(name), "schema"], none(part)})}
    end
  end

  defp part(key, [_ | _] = parts) when key in @lists or key == "items" do
    cond do
      List.improper?(parts) ->
        {:drop, none(parts)}

      Enum.all?(parts, &schema?/1) ->
        :ok

      true ->
        lost =
          for {part, at} <- Enum.with_index(parts),
              not schema?(part),
              do: {[key, "#{at}", "schema"], none(part)}

        {:put, Enum.map(parts, &if(schema?(&1), do: &1, else: true)), lost}
    end
  end

  defp part("items", []), do: :ok

  defp part(key, value) when key in @ones,
    do: if(schema?(value), do: :ok, else: {:drop, none(value)})

  defp part(key, value) when key in @lists or key in @maps, do: {:drop, none(value)}
  defp part("$ref", _value), do: :ok

  defp part("description", text),
    do: if(is_binary(text) and String.valid?(text), do: :ok, else: {:drop, "it is no text"})

  # The others are read for themselves, as of a value of any kind.
  defp part(key, value) do
    alone = %{key => value}
    Keywords.read(alone, {alone, [], ""}, false)
    :ok
  catch
    {:no_schema, _pointer, why} -> {:drop, why}
  end

  defp schema?(schema), do: is_boolean(schema) or (is_map(schema) and not is_struct(schema))
  defp none(other), do: "it is no schema: #{Shown.text(other, 100)}"

  # A schema may leave out its type.
  defp typed(%{"type" => _} = schema), do: schema

  defp typed(schema) do
    cond do
      is_map_key(schema, "properties") or is_map_key(schema, "required") ->
        Map.put(schema, "type", "object")

      is_map_key(schema, "items") ->
        Map.put(schema, "type", "array")

      true ->
        schema
    end
  end

  # No list is one of these values: they are those of its items.
  defp listed(%{"type" => "array", "enum" => [_ | _] = values} = schema) do
    case Map.get(schema, "items", true) do
      true ->
        enumerated(schema, %{}, values)

      items when is_map(items) and not is_map_key(items, "enum") ->
        enumerated(schema, items, values)

      _items ->
        schema
    end
  end

  defp listed(schema), do: schema

  defp enumerated(schema, items, values) do
    if Enum.any?(values, &(is_list(&1) or is_nil(&1))),
      do: schema,
      else: schema |> Map.delete("enum") |> Map.put("items", Map.put(items, "enum", values))
  end
end

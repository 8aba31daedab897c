defmodule PtcRunner.SubAgent.Signature.JsonSchema do
  @moduledoc false
  # Types to JSON Schema (native) and back. The conversion back is Elixir, because it consists mostly of
  # error messages, and schemas are small.

  alias PtcRunner.{Native, Quanta, Shown}
  alias PtcRunner.SubAgent.Signature.UnknownType
  require Quanta

  @scalars %{"string" => :string, "integer" => :int, "number" => :float, "boolean" => :bool}
  @scalar_keys ["type", "description"]
  @array_keys ["items" | @scalar_keys]
  @object_keys ["properties", "required", "additionalProperties" | @scalar_keys]

  @doc """
  The type of a scalar in JSON Schema; nil for other names.

      iex> PtcRunner.SubAgent.Signature.JsonSchema.scalar("number")
      :float

  """
  @spec scalar(term()) :: atom() | nil
  def scalar(name), do: @scalars[name]

  @doc """
  The name in JSON Schema of a value's type; nil if it is none of the scalars.

      iex> Enum.map(["a", true, 1, 1.5, nil], &PtcRunner.SubAgent.Signature.JsonSchema.name_of/1)
      ["string", "boolean", "integer", "number", nil]

  """
  @spec name_of(term()) :: String.t() | nil
  def name_of(value) when is_binary(value), do: "string"
  def name_of(value) when is_boolean(value), do: "boolean"
  def name_of(value) when is_integer(value), do: "integer"
  def name_of(value) when is_float(value), do: "number"
  def name_of(_value), do: nil

  @doc "The schema of a type without rules. Raises for what is no type."
  @spec native(term()) :: {:ok, map()} | :ruled
  def native(type) do
    case Quanta.run!(Native.signature_schema(type)) do
      {:ok, schema} -> {:ok, schema}
      # The type itself is nil, or it has rules or names.
      {:unknown, nil} when type != nil -> :ruled
      {:unknown, type} -> UnknownType.raise!(type)
    end
  end

  @doc "The type of a schema."
  @spec to_type(term()) :: {:ok, term()} | {:error, String.t()}
  def to_type(%{"type" => name} = schema) when is_map_key(@scalars, name) do
    with :ok <- keys(schema, @scalar_keys), do: {:ok, Map.fetch!(@scalars, name)}
  end

  def to_type(%{"type" => "array"} = schema) do
    with :ok <- keys(schema, @array_keys),
         {:ok, items} <- items(schema),
         {:ok, type} <- to_type(items),
         do: {:ok, {:list, type}}
  end

  def to_type(%{"type" => "object"} = schema) do
    with :ok <- keys(schema, @object_keys),
         {:ok, kind} <- kind(schema),
         {:ok, properties} <- properties(schema),
         {:ok, required} <- required(schema, properties || %{}),
         do: object(kind, properties, required)
  end

  def to_type(%{"type" => name}) when is_binary(name),
    do: {:error, "unsupported type: #{Shown.text(name, 256)}"}

  def to_type(%{}), do: {:error, "schema must have a \"type\" key"}
  def to_type(other), do: {:error, "schema must be a JSON object, got #{Shown.text(other)}"}

  defp keys(schema, allowed) do
    case for key <- Map.keys(schema), key not in allowed, do: key_text(key) do
      [] -> :ok
      keys -> {:error, "unsupported JSON Schema key(s): " <> Shown.few(Enum.sort(keys), & &1)}
    end
  end

  defp key_text(key) when is_binary(key) or is_atom(key), do: to_string(key)
  defp key_text(key), do: Shown.text(key, 256)

  defp items(%{"items" => items}) when is_map(items), do: {:ok, items}
  defp items(%{"items" => _}), do: {:error, "array \"items\" must be a JSON object"}
  defp items(_schema), do: {:error, "array type requires an \"items\" key"}

  defp kind(schema) do
    case Map.get(schema, "additionalProperties", true) do
      true ->
        {:ok, :map}

      false ->
        {:ok, :closed_map}

      other ->
        {:error, "\"additionalProperties\" must be true or false, got #{Shown.text(other)}"}
    end
  end

  defp properties(%{"properties" => properties}) when is_map(properties), do: {:ok, properties}

  defp properties(%{"properties" => _}),
    do: {:error, "object \"properties\" must be a JSON object"}

  defp properties(_schema), do: {:ok, nil}

  defp required(schema, properties) do
    required = Map.get(schema, "required", [])

    if is_list(required) and List.improper?(required) == false,
      do: required(required, properties, MapSet.new()),
      else: {:error, "\"required\" must be an array of strings"}
  end

  defp required([], _properties, seen), do: {:ok, seen}

  defp required([name | rest], properties, seen)
       when is_binary(name) and is_map_key(properties, name),
       do: required(rest, properties, MapSet.put(seen, name))

  defp required([name | _], _properties, _seen) when is_binary(name),
    do: {:error, "\"required\" entry #{Shown.text(name, 256)} is not a declared property"}

  defp required([other | _], _properties, _seen),
    do: {:error, "\"required\" entries must be strings, got #{Shown.text(other)}"}

  defp object(:map, nil, _required), do: {:ok, :map}
  defp object(:closed_map, nil, _required), do: {:ok, {:closed_map, []}}

  defp object(kind, properties, required) do
    properties
    |> Enum.sort_by(&elem(&1, 0))
    |> Enum.reduce_while([], fn {name, schema}, fields ->
      case to_type(schema) do
        {:ok, type} -> {:cont, [field(name, type, required) | fields]}
        {:error, reason} -> {:halt, {:error, within(name, reason)}}
      end
    end)
    |> case do
      {:error, reason} -> {:error, reason}
      fields -> {:ok, {kind, Enum.reverse(fields)}}
    end
  end

  # For a deep schema, the innermost names are shown.
  defp within(_name, reason) when byte_size(reason) > 3_500, do: reason
  defp within(name, reason), do: "property #{Shown.text(name, 256)}: #{reason}"

  defp field(name, type, required) do
    if MapSet.member?(required, name), do: {name, type}, else: {name, {:optional, type}}
  end
end

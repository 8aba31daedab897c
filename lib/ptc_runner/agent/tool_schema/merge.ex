defmodule PtcRunner.Agent.ToolSchema.Merge do
  @moduledoc false
  # Several schemas of one place as one, and several types of one place as one.

  # What is said about a schema where it is used wins over what is said where it is defined.
  alias PtcRunner.SubAgent.Signature.{Base, JsonSchema}

  @own ~w(description title default)

  @doc """
  A schema with what stands beside the reference to it.

      iex> PtcRunner.Agent.ToolSchema.Merge.over(%{"type" => "string", "description" => "a"}, %{"description" => "b"})
      %{"description" => "b", "type" => "string"}

  """
  @spec over(map(), map()) :: map()
  def over(target, beside) do
    case both(target, Map.drop(beside, @own)) do
      {:ok, schema} -> Map.merge(schema, Map.take(beside, @own))
      # They contradict each other, so nothing fits; the definition counts.
      :error -> target
    end
  end

  @doc """
  A schema that demands what both demand; `:error` if that cannot be said.

      iex> PtcRunner.Agent.ToolSchema.Merge.both(%{"required" => ["a"]}, %{"required" => ["b"], "type" => "object"})
      {:ok, %{"required" => ["a", "b"], "type" => "object"}}

      iex> PtcRunner.Agent.ToolSchema.Merge.both(%{"type" => "string"}, %{"type" => "object"})
      :error

  """
  @spec both(map(), map()) :: {:ok, map()} | :error
  def both(a, b) when map_size(a) < map_size(b) and not is_map_key(a, "required"), do: merge(b, a)
  def both(a, b), do: merge(a, b)

  defp merge(a, b) do
    Enum.reduce_while(b, {:ok, a}, fn {key, value}, {:ok, a} ->
      case a do
        %{^key => other} ->
          case joined(key, other, value) do
            {:ok, value} -> {:cont, {:ok, Map.put(a, key, value)}}
            :error -> {:halt, :error}
          end

        %{} ->
          {:cont, {:ok, Map.put(a, key, value)}}
      end
    end)
  end

  defp joined(_key, same, same), do: {:ok, same}

  defp joined("properties", a, b) when is_map(a) and is_map(b) do
    {:ok, Map.merge(a, b, fn _name, a, b -> if a == b, do: a, else: %{"allOf" => [a, b]} end)}
  end

  defp joined("required", a, b) when is_list(a) and is_list(b) do
    if List.improper?(a) or List.improper?(b), do: :error, else: {:ok, Enum.uniq(a ++ b)}
  end

  defp joined("type", "number", "integer"), do: {:ok, "integer"}
  defp joined("type", "integer", "number"), do: {:ok, "integer"}
  defp joined("additionalProperties", a, b) when false in [a, b], do: {:ok, false}

  # Keywords that demand something, in two forms.
  defp joined(key, _a, _b)
       when key in ~w(type enum const items anyOf oneOf allOf $ref not additionalProperties),
       do: :error

  defp joined(_annotation, a, _b), do: {:ok, a}

  @doc "The number of keys of a schema and its properties."
  @spec size(map()) :: non_neg_integer()
  def size(%{"properties" => properties} = schema) when is_map(properties),
    do: map_size(schema) + map_size(properties)

  def size(schema), do: map_size(schema)

  @doc """
  The one type of a place with these alternatives: the same one, one joined from objects, or none.

      iex> PtcRunner.Agent.ToolSchema.Merge.types([:int, :float])
      {:same, :float}

      iex> PtcRunner.Agent.ToolSchema.Merge.types([{:map, [{"a", :int}]}, {:closed_map, [{"a", :int}, {"b", :int}]}])
      {:joined, {:map, [{"a", :int}, {"b", {:optional, :int}}]}}

  """
  @spec types([term()]) :: {:same | :joined, term()} | :none
  def types([:any]), do: {:same, :any}
  def types([type]), do: {:same, type}

  def types(types) do
    cond do
      Enum.all?(types, &(&1 in [:int, :float])) ->
        {:same, :float}

      Enum.all?(types, &match?({kind, _} when kind in [:map, :closed_map], &1)) ->
        {:joined, objects(types)}

      true ->
        :none
    end
  end

  # A field is required if every alternative requires it.
  defp objects(types) do
    count = length(types)

    fields =
      types
      |> Enum.flat_map(fn {_kind, fields} -> fields end)
      |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))
      |> Enum.map(fn {name, types} -> {name, field(types, count)} end)
      |> Enum.sort()

    {:map, fields}
  end

  defp field(types, count) do
    optional? = length(types) < count or Enum.any?(types, &match?({:optional, _}, &1))

    type =
      with :none <- types |> Enum.map(&required/1) |> Enum.uniq() |> joined(),
           :none <- types |> Enum.map(&Base.bare(required(&1))) |> Enum.uniq() |> joined(),
           do: :any

    if optional?, do: {:optional, type}, else: type
  end

  defp joined(types) do
    with {_how, type} <- types(types), do: type
  end

  defp required({:optional, type}), do: type
  defp required(type), do: type

  @doc """
  The scalar type that all values have, or `:any`.

      iex> Enum.map([["a"], [1, 2.5], [true, "x"]], &PtcRunner.Agent.ToolSchema.Merge.type_of_values/1)
      [:string, :float, :any]

  """
  @spec type_of_values([term()]) :: term()
  def type_of_values(values) do
    case values |> Enum.map(&type_of/1) |> Enum.uniq() |> types() do
      {:same, type} -> type
      _several -> :any
    end
  end

  defp type_of(value), do: value |> JsonSchema.name_of() |> JsonSchema.scalar() || :any
end

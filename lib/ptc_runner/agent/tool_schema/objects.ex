defmodule PtcRunner.Agent.ToolSchema.Objects do
  @moduledoc false
  # Objects in a tool's schema: their fields, which of them may be missing, and which others there may be.

  alias PtcRunner.Agent.ToolSchema
  alias PtcRunner.Agent.ToolSchema.Rules
  import PtcRunner.Agent.ToolSchema.Notes
  alias PtcRunner.SubAgent.Signature.Annotations

  @doc "The type of an object."
  @spec object(map(), String.t(), non_neg_integer(), map()) :: {{term(), boolean()}, map()}
  def object(schema, path, depth, state) do
    {properties, state} = properties(schema, path, state)
    {required, state} = required(schema, path, state)

    {fields, state} =
      properties
      |> Enum.sort_by(&elem(&1, 0))
      |> Enum.map_reduce(state, fn {name, property}, state ->
        path = Annotations.join(path, name)
        {{type, null?}, state} = ToolSchema.convert(property, path, depth + 1, state)
        missing? = not MapSet.member?(required, name)
        {type, state} = with_default(type, property, missing?, path, state)
        {{name, if(null? or missing?, do: {:optional, type}, else: type)}, state}
      end)

    # Required names may be declared nowhere.
    others = for name <- required, not is_map_key(properties, name), do: {name, :any}
    {kind, state} = kind(schema, path, state)
    {_map, state} = ruled(:map, schema, path, state)
    {type, state} = values(kind(kind, Enum.sort(fields ++ others)), schema, path, depth, state)
    {{type, false}, state}
  end

  # A map of any keys, whose values have a type.
  defp values({:map, :values}, schema, path, depth, state) do
    # Notes have no path to these values.
    inner = %{state | rules: :result}
    values = schema["additionalProperties"]

    {{type, null?}, inner} =
      ToolSchema.convert(values, Annotations.join(path, "*"), depth + 1, inner)

    state = %{
      inner
      | rules: state.rules,
        enums: state.enums,
        descriptions: state.descriptions
    }

    {{:map_of, if(null?, do: {:optional, type}, else: type)}, state}
  end

  defp values(type, _schema, _path, _depth, state), do: {type, state}

  # What the schema of a result says of missing fields is not filled in.
  defp with_default(type, %{"default" => value}, missing?, path, %{rules: :arguments} = state)
       when value != nil do
    values =
      case state.enums do
        [{^path, values} | _] -> values
        _none -> nil
      end

    case if(missing?, do: Rules.default(type, value, values), else: :error) do
      {:ok, type} -> {type, state}
      :error -> {type, warned("not all of it", "default", path, state)}
    end
  end

  defp with_default(type, _property, _missing?, _path, state), do: {type, state}

  defp kind(:values, []), do: {:map, :values}
  defp kind(:values, fields), do: {:map, fields}
  defp kind(:map, []), do: :map
  defp kind(kind, fields), do: {kind, fields}

  defp properties(schema, path, state) do
    case Map.get(schema, "properties", %{}) do
      properties when is_map(properties) -> {properties, state}
      _other -> {%{}, warned("its fields", "properties", path, state)}
    end
  end

  defp required(schema, path, state) do
    required = Map.get(schema, "required", [])

    if is_list(required) and not List.improper?(required) and Enum.all?(required, &is_binary/1),
      do: {MapSet.new(required), state},
      else: {MapSet.new(), warned("which fields there are", "required", path, state)}
  end

  defp kind(%{"patternProperties" => _}, _path, state), do: {:map, state}

  defp kind(schema, path, state) do
    case Map.get(schema, "additionalProperties", true) do
      false ->
        {:closed_map, state}

      open when open == true or open == %{} ->
        {:map, state}

      %{}
      when state.rules != nil and not is_map_key(schema, "required") and
             not is_map_key(schema, "properties") ->
        {:values, state}

      _schema ->
        {:map, warned("its other fields", "additionalProperties", path, state)}
    end
  end
end

defmodule PtcRunner.Schema.JsonSchema2 do
  @moduledoc false
  # JSON schemas of programs of edition 2. Each object is closed or has values of one type, and each property has a
  # type. For the structured outputs of providers, the schema has only the keywords that all of them know.

  alias PtcRunner.Schema.Table

  @null %{"type" => "null"}
  @string %{"type" => "string"}
  @number %{"type" => "number"}
  @integer %{"type" => "integer"}
  @boolean %{"type" => "boolean"}
  @node %{"$ref" => "#/$defs/node"}
  @value %{"$ref" => "#/$defs/value"}
  @json %{"$ref" => "#/$defs/json"}
  @operation %{"$ref" => "#/$defs/operation"}

  # Their values may be null anyway.
  @with_null [@value, @json]

  @typedoc """
  How a program writes an optional field that it does not use: it leaves the field out (or writes null), or it always
  writes null.
  """
  @type optional :: :omitted | :null

  @doc "The schema of all programs."
  @spec full([Table.operation()]) :: map()
  def full(operations) do
    operations
    |> document(:omitted, &Map.put(@string, "const", &1))
    |> update_in(["$defs", "operation", "anyOf"], fn forms -> Enum.map(forms, &with_input/1) end)
    |> Map.merge(%{
      "$schema" => "https://json-schema.org/draft/2020-12/schema",
      "title" => "PTC-JSON program, edition 2"
    })
  end

  # The key that sets the current value of an operation. Models have no need of it.
  defp with_input(form), do: put_in(form["properties"]["__input"], @value)

  @doc "The schema for structured outputs."
  @spec for_llm([Table.operation()], optional()) :: map()
  def for_llm(operations, optional),
    do: document(operations, optional, &Map.put(@string, "enum", [&1]))

  defp document(operations, optional, named) do
    operations = Enum.sort_by(operations, & &1.name)

    %{
      "type" => "object",
      "properties" => %{"program" => @node},
      "required" => ["program"],
      "additionalProperties" => false,
      "$defs" => %{
        "operation" => any(Enum.flat_map(operations, &forms(&1, optional, named))),
        "object" => implicit_object(),
        "node" => any([@operation, %{"$ref" => "#/$defs/object"}]),
        "value" => any([@node, list(@value), @string, @number, @boolean, @null]),
        "json" => any([map_of(@json), list(@json), @string, @number, @boolean, @null])
      }
    }
  end

  # With a string under "op" it would be an operation.
  defp implicit_object do
    no_name = any([map_of(@value), list(@value), @number, @boolean, @null])
    Map.put(map_of(@value), "properties", %{"op" => no_name})
  end

  # Null is a value of some fields: where null stands for an absent field, the operation has a form without them.
  defp forms(operation, :omitted, named), do: [form(operation, operation.fields, :omitted, named)]

  defp forms(operation, :null, named) do
    case Enum.reject(operation.fields, &(&1.presence == :nullable)) do
      fields when fields == operation.fields ->
        [form(operation, fields, :null, named)]

      without ->
        for fields <- [without, operation.fields], do: form(operation, fields, :null, named)
    end
  end

  defp form(operation, fields, optional, named) do
    required = for field <- fields, optional == :null or needed?(field), do: field.name

    fields
    |> Map.new(&{&1.name, property(&1, optional)})
    |> Map.put("op", named.(operation.name))
    |> closed(["op" | required])
    |> Map.put("description", operation.description)
  end

  defp needed?(%{presence: presence}), do: presence in [:required, :not_null]

  defp property(field, optional) do
    type = type(field, optional)

    if needed?(field) or type in @with_null,
      do: type,
      else: nullable(type)
  end

  defp nullable(%{"anyOf" => types}), do: any(types ++ [@null])
  defp nullable(type), do: any([type, @null])

  defp type(%{choices: [_ | _] = choices}, _optional), do: Map.put(@string, "enum", choices)
  defp type(%{kind: :order}, _optional), do: order()
  defp type(%{kind: :operand}, _optional), do: any([@node, @number])
  defp type(%{type: type}, optional), do: type(type, optional)
  defp type(:any, _optional), do: @json
  defp type(:string, _optional), do: @string
  defp type(:boolean, _optional), do: @boolean
  defp type(:map, _optional), do: map_of(@json)
  defp type(:non_neg_integer, _optional), do: @integer
  defp type(:pos_integer, _optional), do: @integer
  defp type(:percent, _optional), do: @number
  defp type(:expr, _optional), do: @node
  defp type(:template, _optional), do: @value
  defp type(:text, _optional), do: any([@string, @node])

  defp type(:cases, _optional),
    do: list(closed(%{"when" => @node, "then" => @value}, ["then", "when"]))

  defp type(:sort_keys, optional) do
    key = %{"field" => nullable(@string), "expr" => nullable(@node), "order" => nullable(order())}
    list(closed(key, if(optional == :null, do: Enum.sort(Map.keys(key)), else: [])))
  end

  defp type({:list, type}, optional), do: list(type(type, optional))
  defp type({:list_or_node, type}, optional), do: any([list(type(type, optional)), @node])
  defp type({:map, type}, optional), do: map_of(type(type, optional))

  defp order, do: Map.put(@string, "enum", ["asc", "desc"])
  defp list(item), do: %{"type" => "array", "items" => item}
  defp map_of(value), do: %{"type" => "object", "additionalProperties" => value}
  defp any(types), do: %{"anyOf" => types}

  defp closed(properties, required) do
    %{
      "type" => "object",
      "properties" => properties,
      "required" => required,
      "additionalProperties" => false
    }
  end
end

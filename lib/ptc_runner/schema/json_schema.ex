defmodule PtcRunner.Schema.JsonSchema do
  @moduledoc false
  # JSON schemas of programs. They differ only in the schema of a nested operation: a reference, or, for
  # models that cannot follow a reference, a choice of operations that ends
  # below the second level.

  alias PtcRunner.Schema.Table

  @reference %{"$ref" => "#/$defs/operation"}

  # Any object with the name of an operation.
  @some_operation %{
    "type" => "object",
    "properties" => %{"op" => %{"type" => "string"}},
    "required" => ["op"]
  }

  # The operations that models nest most often.
  @nested ~w(count eq filter gt gte keys literal load lt lte map sum typeof)

  @doc "The full schema, recursive through a reference."
  @spec full() :: map()
  def full do
    %{
      "$schema" => "http://json-schema.org/draft-07/schema#",
      "title" => "PTC DSL Program",
      "type" => "object",
      "$defs" => %{"operation" => %{"oneOf" => schemas(operations(), @reference)}},
      "properties" => %{"program" => Map.put(@reference, "description", "The program to run.")},
      "required" => ["program"],
      "additionalProperties" => false
    }
  end

  @doc "The schema without references, two levels deep."
  @spec for_llm() :: map()
  def for_llm do
    operations = operations()
    nested = Enum.filter(operations, &(&1.name in @nested))
    inner = %{"anyOf" => schemas(nested, @some_operation)}

    %{
      "title" => "PTC Program",
      "type" => "object",
      "properties" => %{
        "program" => %{
          "description" => "One operation; most programs are a pipe of several.",
          "anyOf" => schemas(operations, inner)
        }
      },
      "required" => ["program"],
      "additionalProperties" => false
    }
  end

  defp operations, do: Enum.sort_by(Table.operations(1), & &1.name)

  defp schemas(operations, expr), do: Enum.map(operations, &schema(&1, expr))

  defp schema(operation, expr) do
    fields = Map.new(operation.fields, &{&1.name, type(&1.type, expr)})

    %{
      "type" => "object",
      "description" => operation.description,
      "properties" => Map.put(fields, "op", %{"const" => operation.name}),
      "required" => ["op" | Table.required(operation)],
      "additionalProperties" => false
    }
  end

  defp type(:any, _expr), do: %{}
  defp type(:string, _expr), do: %{"type" => "string"}
  defp type(:map, _expr), do: %{"type" => "object"}
  defp type(:non_neg_integer, _expr), do: %{"type" => "integer", "minimum" => 0}
  defp type(:expr, expr), do: expr
  defp type({:list, type}, expr), do: %{"type" => "array", "items" => type(type, expr)}
end

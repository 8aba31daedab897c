defmodule PtcRunner.Schema.Prompt do
  @moduledoc false
  # The description of the language for the system prompt of a model: the operations and their fields
  # from the table, the rest in prose. The tests run its examples.

  alias PtcRunner.Schema.Table

  @intro """
  PTC-JSON: write one JSON object {"program": NODE} and nothing else.
  A NODE is an object; "op" names its operation and the other keys are the fields of that operation.
  """

  # The fields that contain operations, in the best order for readers. Fields of new operations
  # follow these.
  @nodes_first ~w(steps where expr conditions condition then else in left right part whole objects lists)

  @rules """
  a bare number will do in arithmetic. In comparisons, filter_in and literal "value" is plain data, \
  but comparisons and filter_in also take a NODE there.

  ## Current value
  pipe hands the result of each step to the next one; filter, reject and map hand each item to "where" or "expr". \
  Operations that name no source work on this current value; {"op":"var","name":"__input"} returns it.
  load reads the data you were given, var reads let names and memory. Names of let are visible in "in" only.
  A NODE without "op" is an object: values that have an "op" are evaluated, all others are taken as they are.

  ## Memory
  If the program returns an object, its keys are kept in memory, where later programs read them with var. \
  If the object has the key "result", only that value is the answer, and only the other keys are kept. \
  Any other kind of result is the answer and changes no memory.

  ## Typical mistakes
  - Beginning a pipe with an operation that needs a current value. Begin with load, var, literal or call.
  - Writing "x" or ["a"] where a NODE belongs. Use {"op":"load","name":"x"} or {"op":"literal","value":["a"]}.
  - sum, avg, min and max need a list of objects and the name of a field; count needs just a list.
  - contains and in ask whether the field holds the value. To keep items whose field is one of several values, use filter_in.
  - A missing field is null, which is greater than any number: gt and gte let it pass.
  - pct is part / whole * 100 already.
  - The args of call are plain data, NODEs in them are not evaluated.
  """

  @examples [
    {"Count filtered items",
     ~s({"program":{"op":"pipe","steps":[{"op":"load","name":"orders"},) <>
       ~s({"op":"filter","where":{"op":"gt","field":"total","value":100}},{"op":"count"}]}})},
    {"Percentage using pct (part/whole*100)",
     ~s({"program":{"op":"let","name":"tickets","value":{"op":"load","name":"tickets"},"in":) <>
       ~s({"op":"pct","part":{"op":"pipe","steps":[{"op":"var","name":"tickets"},) <>
       ~s({"op":"filter","where":{"op":"eq","field":"status","value":"open"}},{"op":"count"}]},) <>
       ~s("whole":{"op":"pipe","steps":[{"op":"var","name":"tickets"},{"op":"count"}]}}}})},
    {"Cross-table filter: sum expenses for engineering employees",
     ~s({"program":{"op":"let","name":"ids","value":{"op":"pipe","steps":[) <>
       ~s({"op":"load","name":"employees"},) <>
       ~s({"op":"filter","where":{"op":"eq","field":"department","value":"engineering"}},) <>
       ~s({"op":"map","expr":{"op":"get","field":"id"}}]},"in":{"op":"pipe","steps":[) <>
       ~s({"op":"load","name":"expenses"},) <>
       ~s({"op":"filter_in","field":"employee_id","value":{"op":"var","name":"ids"}},) <>
       ~s({"op":"sum","field":"amount"}]}}})}
  ]

  @doc "The text, with the first `count` of the examples."
  @spec text(non_neg_integer()) :: String.t()
  def text(count) when is_integer(count) and count >= 0 do
    String.trim("""
    #{@intro}
    ## Operations
    #{operations()}

    In parentheses stand the required fields. Optional: #{optional()}.
    Operands and bodies are NODEs (#{nodes()}); #{@rules}
    #{examples(Enum.take(@examples, count))}
    """)
  end

  # `Category: op, op(field,field), ...`, one line per category.
  defp operations do
    Table.operations(1)
    |> Enum.chunk_by(& &1.category)
    |> Enum.map_join("\n", fn [%{category: category} | _] = operations ->
      "#{category}: #{Enum.map_join(operations, ", ", &signature/1)}"
    end)
  end

  defp signature(%{name: name, fields: []}), do: name

  defp signature(%{name: name} = operation),
    do: "#{name}(#{Enum.join(Table.required(operation), ",")})"

  # `get takes "field" or "path" (a list of keys), and "default"`: fields with alternatives come first.
  defp optional do
    optional = for operation <- Table.operations(1), text = optional(operation), do: text
    [{_with, first, fields} | others] = Enum.sort_by(optional, fn {rank, _, _} -> rank end)
    others = for {_rank, name, fields} <- others, do: "#{name} #{fields}"
    Enum.join(["#{first} takes #{fields}" | others], "; ")
  end

  defp optional(%{name: name, fields: fields}) do
    alternatives = for %{presence: :alternative} = field <- fields, do: quoted(field)
    others = for %{presence: :optional} = field <- fields, do: quoted(field)

    case {Enum.join(alternatives, " or "), Enum.join(others, " and ")} do
      {"", ""} -> nil
      {"", others} -> {1, name, others}
      {alternatives, ""} -> {0, name, alternatives}
      {alternatives, others} -> {0, name, "#{alternatives}, and #{others}"}
    end
  end

  defp quoted(%{name: name, values: ""}), do: ~s("#{name}")
  defp quoted(%{name: name, values: values}), do: ~s["#{name}" (#{values})]

  # The fields that contain operations: by name, or, if other operations have plain data in a field of
  # that name, with their operations.
  defp nodes do
    fields =
      for %{name: name, fields: fields} <- Table.operations(1), field <- fields, do: {name, field}

    {nodes, plain} = Enum.split_with(fields, fn {_operation, field} -> Table.node?(field) end)
    plain = for {_operation, %{name: name}} <- plain, do: name

    {some, all} =
      nodes
      |> Enum.group_by(fn {_op, field} -> field.name end, fn {operation, _field} -> operation end)
      |> Enum.split_with(fn {name, _operations} -> name in plain end)

    names = Enum.uniq(for {_operation, %{name: name}} <- nodes, do: name)
    all = for {name, _operations} <- all, do: name

    all =
      Enum.filter(@nodes_first, &(&1 in all)) ++ Enum.filter(names -- @nodes_first, &(&1 in all))

    some = for {name, operations} <- some, do: "the #{name} of #{Enum.join(operations, " and ")}"
    Enum.join(all ++ some, ", ")
  end

  defp examples([]), do: ""

  defp examples(examples) do
    "Examples:\n\n" <>
      Enum.map_join(examples, "\n\n", fn {title, program} -> "#{title}:\n#{program}" end)
  end
end

defmodule PtcRunner.Test.Oracle.Fields do
  @moduledoc false
  # The operations of both editions with their fields, in the order of the checks.

  @comparisons ~w(eq neq gt gte lt lte contains in)
  @aggregates ~w(sum avg min max min_by max_by)

  @edition_1 %{
               "literal" => [{"value", :any}],
               "load" => [{"name", :string}],
               "var" => [{"name", :string}],
               "let" => [{"in", :node}, {"name", :string}, {"value", :node}],
               "if" => [{"condition", :node}, {"else", :node}, {"then", :node}],
               "and" => [{"conditions", :nodes}],
               "or" => [{"conditions", :nodes}],
               "not" => [{"condition", :node}],
               "merge" => [{"objects", :nodes}],
               "concat" => [{"lists", :nodes}],
               "zip" => [{"lists", :nodes}],
               "pipe" => [{"steps", :nodes}],
               "object" => [{"fields", :map}],
               "filter" => [{"where", :node}],
               "reject" => [{"where", :node}],
               "map" => [{"expr", :node}],
               "filter_in" => [{"field", :string}, {"value", :any}],
               "select" => [{"fields", :strings}],
               "add" => [{"left", :operand}, {"right", :operand}],
               "sub" => [{"left", :operand}, {"right", :operand}],
               "mul" => [{"left", :operand}, {"right", :operand}],
               "div" => [{"left", :operand}, {"right", :operand}],
               "pct" => [{"part", :operand}, {"whole", :operand}],
               "round" => [{"precision", {:optional, :any}}, {"value", :operand}],
               "get" => [{"default", :any}, {"field", :string}, {"path", :strings}],
               "keys" => [],
               "typeof" => [],
               "call" => [{"args", {:optional, :map}}, {"tool", :string}],
               "sort_by" => [{"field", :string}, {"order", :any}],
               "first" => [],
               "last" => [],
               "nth" => [{"index", :natural}],
               "take" => [{"count", :natural}],
               "drop" => [{"count", :natural}],
               "distinct" => [],
               "count" => []
             }
             |> Map.merge(Map.new(@comparisons, &{&1, [{"field", :string}, {"value", :any}]}))
             |> Map.merge(Map.new(@aggregates, &{&1, [{"field", :string}]}))

  @field {"field", {:optional, :string}}
  @as {"as", {:optional, :string}}
  @left {"left", {:optional, :template}}
  @value {"value", {:optional, :template}}
  @expr {"expr", {:optional, :node}}
  @unit {"unit", :unit}

  # Old operations whose fields are others in edition 2.
  @changed %{
             "let" => [{"in", :template}, {"name", :string}, {"value", :template}],
             "if" => [{"condition", :node}, {"else", :template}, {"then", :template}],
             "merge" => [{"objects", :templates}],
             "concat" => [{"lists", :templates}],
             "zip" => [{"lists", :templates}],
             "object" => [{"fields", :template_fields}],
             "filter" => [@as, {"where", :node}],
             "reject" => [@as, {"where", :node}],
             "map" => [@as, {"expr", :node}],
             "filter_in" => [{"field", :string}, {"value", :template}],
             "get" => [
               {"default", {:optional, :any}},
               @field,
               {"from", {:optional, :template}},
               {"key", {:optional, :template}},
               {"path", {:optional, :steps}}
             ],
             "call" => [
               {"args", {:optional, :template_fields}},
               {"on_error", {:given, :template}},
               {"tool", :string}
             ],
             "sort_by" => [
               {"by", {:optional, :keys}},
               @expr,
               @field,
               {"order", {:optional, :order}}
             ],
             "distinct" => [@expr, @field],
             "count" => [{"where", {:optional, :node}}]
           }
           |> Map.merge(Map.new(@comparisons, &{&1, [@field, @left, {"value", :template}]}))
           |> Map.merge(Map.new(@aggregates, &{&1, [@expr, @field]}))

  @added %{
           "it" => [],
           "list" => [{"items", :templates}],
           "coalesce" => [{"values", :templates}],
           "switch" => [{"cases", :cases}, {"else", {:optional, :template}}],
           "some" => [@as, {"where", :node}],
           "every" => [@as, {"where", :node}],
           "find" => [@as, {"where", :node}],
           "flat_map" => [@as, {"expr", :node}],
           "flatten" => [],
           "reverse" => [],
           "chunk" => [{"size", :positive}],
           "fold" => [@as, {"expr", :node}, {"init", :template}],
           "range" => [{"from", :template}, {"to", :template}],
           "set" => [{"fields", :template_fields}],
           "unset" => [{"fields", :strings}],
           "rename" => [{"fields", :new_names}],
           "entries" => [],
           "from_entries" => [],
           "index_by" => [@expr, @field],
           "group_by" => [
             @as,
             {"each", {:optional, :template_fields}},
             @expr,
             @field,
             {"fields", {:optional, :strings}}
           ],
           "join" => [
             @as,
             {"kind", {:optional, :kind}},
             {"left", {:optional, :string}},
             {"on", {:optional, :string}},
             {"right", {:optional, :string}},
             {"with", :template}
           ],
           "text" => [{"parts", :parts}, {"separator", {:optional, :string}}],
           "split" => [{"by", :needle}, @field, @value],
           "replace" => [@field, {"find", :needle}, @value, {"with", :replacement}],
           "starts_with" => [@field, @left, {"value", :template}],
           "ends_with" => [@field, @left, {"value", :template}],
           "matches" => [@field, @left, {"pattern", :pattern}],
           "to_text" => [{"decimals", {:optional, :places}}, @field, @value],
           "extract" => [{"all", {:optional, :boolean}}, @field, {"pattern", :pattern}, @value],
           "mod" => [{"left", :operand}, {"right", :operand}],
           "median" => [@expr, @field],
           "percentile" => [@expr, @field, {"p", :percent}],
           "date_diff" => [{"from", :template}, {"to", :template}, @unit],
           "date_add" => [{"amount", :template}, @field, @unit, @value],
           "date_part" => [@field, {"part", :part}, @value],
           "now" => []
         }
         |> Map.merge(Map.new(~w(upper lower trim length to_number), &{&1, [@field, @value]}))
         |> Map.merge(
           Map.new(~w(abs floor ceil), &{&1, [@field, {"value", {:optional, :operand}}]})
         )

  @edition_2 @edition_1 |> Map.merge(@changed) |> Map.merge(@added)

  # The fields of old operations that edition 1 does not have.
  @new Map.new(@changed, fn {op, fields} ->
         old = for {name, _type} <- @edition_1[op], do: name
         {op, Enum.reject(fields, fn {name, _type} -> name in old end)}
       end)

  @doc "The operations of an edition with their fields."
  @spec operations(1 | 2) :: %{String.t() => [{String.t(), term()}]}
  def operations(1), do: @edition_1
  def operations(2), do: @edition_2

  @doc "Whether an operation has come with edition 2."
  @spec added?(term()) :: boolean()
  def added?(op), do: is_map_key(@added, op)

  @doc "The fields of an old operation that have come with edition 2."
  @spec new(String.t()) :: [{String.t(), term()}]
  def new(op), do: Map.get(@new, op, [])

  @doc "The node without its optional fields that are nil, which counts as absent in edition 2."
  @spec given(map()) :: map()
  def given(%{"op" => op} = node) do
    for {name, {:optional, _type}} <- Map.get(@edition_2, op, []),
        Map.get(node, name, :absent) == nil,
        reduce: node do
      node -> Map.delete(node, name)
    end
  end
end

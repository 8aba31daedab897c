defmodule PtcRunner.Agent.ToolSchema do
  @moduledoc false
  # From the JSON Schema of a tool to the type of its arguments. `Signature.from_json_schema/2` refuses what a type
  # cannot express; this conversion keeps what it can, and never gives up the whole:
  #
  #   title, format, default, minimum, pattern …   ignored, or rules of the type, if these are asked for
  #   enum, const                                  the values, as an annotation
  #   anyOf, oneOf, allOf, $ref                     resolved where one type remains
  #   all else                                     that place is :any, or open, and a warning names it
  #
  # The work is linear in the schema. What references repeat is bounded by a budget.

  alias PtcRunner.Agent.ToolSchema.{Merge, Objects, Pointer, Rules}
  import PtcRunner.Agent.ToolSchema.Notes
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.{Annotations, JsonSchema}

  # These demand something that a type cannot say. Their place keeps its type.
  @scalars ~w(string integer number boolean)

  @unkept ~w(not if then else patternProperties propertyNames dependentRequired dependentSchemas
             dependencies contains unevaluatedProperties unevaluatedItems $dynamicRef $recursiveRef)

  # Maximum nesting of the type.
  @deepest 100
  # Maximum number of schemas that are merged into one.
  @parts 100
  # Maximum number of warnings that are listed.
  @warnings 20

  @type t :: %{
          type: term(),
          null?: boolean(),
          notes: Annotations.t(),
          warnings: [String.t()]
        }

  # What stands at a place: the type, whether it may be null, and, while a schema is read, the state: the root, the
  # references that are being followed, the budget, and what was found.
  @typep place :: {type :: term(), null? :: boolean()}

  @doc """
  The type of a schema, its enumerations and descriptions by path, and what is not validated.

      iex> schema = %{"$schema" => "https://json-schema.org/draft/2020-12/schema", "type" => "object", "required" => ["path"],
      ...>   "properties" => %{"path" => %{"type" => "string", "title" => "Path", "pattern" => "^/"},
      ...>     "mode" => %{"anyOf" => [%{"const" => "r"}, %{"const" => "w"}, %{"type" => "null"}]},
      ...>     "at" => %{"anyOf" => [%{"type" => "string"}, %{"type" => "integer"}]}}}
      iex> read = PtcRunner.Agent.ToolSchema.read(schema)
      iex> read.type
      {:map, [{"at", {:optional, :any}}, {"mode", {:optional, :string}}, {"path", :string}]}
      iex> {read.notes.enums, read.warnings}
      {%{"mode" => ["r", "w"]}, ["at is not validated: anyOf"]}

  With `rules:` the types have rules, and unions of scalars and lists. Those of `:arguments` have defaults, which are filled in;
  the enumerations of a `:result` are rules, too.

      iex> schema = %{"type" => "object", "required" => ["id"],
      ...>   "properties" => %{"id" => %{"type" => ["string", "integer"], "minLength" => 1},
      ...>     "page" => %{"type" => "integer", "minimum" => 1, "default" => 1}}}
      iex> PtcRunner.Agent.ToolSchema.read(schema, rules: :arguments).type
      {:map, [{"id", {:one_of, [{:where, :string, [min_length: 1]}, :int], nil}},
        {"page", {:optional, {:where, :int, [min: 1, default: 1]}}}]}

  """
  @spec read(term(), rules: :arguments | :result) :: t()
  def read(schema, opts \\ []) do
    state = %{
      root: schema,
      rules: opts[:rules],
      # Pointers to the schemas around this place.
      around: [[]],
      enums: [],
      descriptions: [],
      warnings: [],
      budget: Pointer.budget()
    }

    {{type, null?}, state} = convert(schema, "", 0, state)

    %{
      type: type,
      null?: null?,
      notes: %{enums: Map.new(state.enums), descriptions: Map.new(state.descriptions)},
      warnings: state.warnings |> Enum.reverse() |> listed()
    }
  end

  defp listed(warnings),
    do: Shown.first(warnings, @warnings, &"#{&1} more places are not validated")

  @doc "What stands at a place."
  @spec convert(term(), String.t(), non_neg_integer(), map()) :: {place(), map()}
  def convert(true, _path, _depth, state), do: {{:any, false}, state}
  def convert(_schema, path, @deepest, state), do: any("its nesting", path, state)

  def convert(schema, path, depth, state) when is_map(schema) do
    around = state.around

    case Pointer.spend(state, 1 + map_size(schema)) do
      {:ok, state} ->
        {place, state} = resolved(schema, path, depth, state)
        {place, %{state | around: around}}

      :error ->
        any("too many references", path, state)
    end
  end

  def convert(other, path, _depth, state),
    do: any("the schema #{Shown.text(other, 100)}", path, state)

  # References and combinations first, so that one schema without them remains.
  defp resolved(%{"$ref" => ref} = schema, path, depth, state) do
    case Pointer.follow(ref, state) do
      {:ok, target, state} when is_map(target) ->
        target
        |> Merge.over(Map.delete(schema, "$ref"))
        |> then(&resolved(&1, path, depth, state))

      {:ok, target, state} ->
        convert(target, path, depth, state)

      {:error, why} ->
        any("$ref (#{why})", path, described(schema, path, state))
    end
  end

  defp resolved(%{"allOf" => [_ | _] = parts} = schema, path, depth, state) do
    parts = if length_of(parts) <= @parts, do: proper(parts), else: []

    case merged(parts, Map.delete(schema, "allOf"), state) do
      {:ok, schema, state} -> resolved(schema, path, depth, state)
      :error -> any("allOf", path, described(schema, path, state))
    end
  end

  defp resolved(%{"anyOf" => [_ | _]} = schema, path, depth, state),
    do: alternatives("anyOf", schema, path, depth, state)

  defp resolved(%{"oneOf" => [_ | _]} = schema, path, depth, state),
    do: alternatives("oneOf", schema, path, depth, state)

  defp resolved(%{"const" => value} = schema, path, depth, state),
    do: schema |> Map.delete("const") |> Map.put("enum", [value]) |> resolved(path, depth, state)

  defp resolved(schema, path, depth, state) do
    {{type, null?}, state} = typed(schema, path, depth, described(schema, path, state))
    {{type, null? or schema["nullable"] == true}, unkept(schema, path, state)}
  end

  defp length_of(list), do: list |> proper() |> length()
  defp proper(list), do: if(List.improper?(list), do: [], else: list)

  defp merged([], _schema, _state), do: :error

  defp merged(parts, schema, state) do
    Enum.reduce_while(parts, {:ok, schema, state}, fn part, {:ok, schema, state} ->
      with {:ok, part, state} <- target(part, state),
           {:ok, state} <- Pointer.spend(state, Merge.size(schema)),
           {:ok, schema} <- Merge.both(part, schema) do
        {:cont, {:ok, schema, state}}
      else
        _no -> {:halt, :error}
      end
    end)
  end

  defp target(%{"$ref" => ref} = schema, state) do
    with {:ok, target, state} when is_map(target) <- Pointer.follow(ref, state),
         do: target |> Merge.over(Map.delete(schema, "$ref")) |> target(state)
  end

  defp target(schema, state) when is_map(schema), do: {:ok, schema, state}
  defp target(true, state), do: {:ok, %{}, state}
  defp target(_other, _state), do: :error

  # Null among the alternatives makes the place optional. Of the others one type must remain.
  defp alternatives(key, schema, path, depth, state) do
    {alternatives, base} = Map.pop!(schema, key)
    {nulls, others} = alternatives |> proper() |> Enum.split_with(&null?/1)
    null? = nulls != [] or schema["nullable"] == true

    {{type, more?}, state} =
      case {others, base} do
        {[], _base} ->
          any(key, path, described(base, path, state))

        # A rule about an object that has its own type: the type stays.
        {_others, base} when is_map_key(base, "type") or is_map_key(base, "properties") ->
          state = if others == [true], do: state, else: warned("not all of it", key, path, state)
          resolved(base, path, depth, state)

        {[one], base} when is_map(one) ->
          one |> Merge.over(base) |> then(&resolved(&1, path, depth, state))

        {others, base} ->
          one_type(key, others, path, depth, described(base, path, state))
      end

    {{type, more? or null?}, state}
  end

  defp null?(%{"type" => "null"}), do: true
  defp null?(%{"const" => nil}), do: true
  defp null?(%{"enum" => [nil]}), do: true
  defp null?(_schema), do: false

  defp one_type(key, others, path, depth, state) do
    values = Enum.map(others, &values/1)

    if Enum.all?(values),
      do: enumerated(%{}, Enum.concat(values), path, depth, state),
      else: common(key, others, path, depth, state)
  end

  defp values(%{"const" => value}), do: [value]
  defp values(%{"enum" => [_ | _] = values}), do: proper(values)
  defp values(_schema), do: nil

  # Each alternative is read for itself; what it says about the values of fields counts only if it is the same type.
  defp common(key, others, path, depth, state) do
    {read, ended} =
      Enum.map_reduce(others, state, fn other, state ->
        inner = %{
          state
          | enums: [],
            descriptions: [],
            warnings: [],
            rules: state.rules && :result
        }

        {place, inner} = convert(other, path, depth + 1, inner)
        {{place, inner}, %{state | budget: inner.budget}}
      end)

    null? = Enum.any?(read, fn {{_type, null?}, _inner} -> null? end)

    case read
         |> Enum.map(fn {{type, _null?}, _inner} -> type end)
         |> Enum.uniq()
         |> alternatives(state.rules) do
      {:same, type} ->
        # Enumerations of several alternatives would have to be joined.
        state = %{
          ended
          | warnings: Enum.flat_map(read, fn {_, inner} -> inner.warnings end) ++ state.warnings
        }

        state =
          if Enum.any?(read, fn {_, inner} -> inner.enums != [] end),
            do: warned("not all of it", key, path, state),
            else: state

        {{type, null?}, state}

      {:union, types} ->
        warnings = Enum.flat_map(read, fn {_, inner} -> inner.warnings end) ++ ended.warnings
        {{types, null?}, %{ended | warnings: warnings}}

      {:joined, type} ->
        {{type, null?}, warned("not all of it", key, path, ended)}

      :none ->
        {{_any, _null?}, state} = any(key, path, ended)
        {{:any, null?}, state}
    end
  end

  defp alternatives(types, nil), do: Merge.types(types)

  # Types with different rules are a union, not one type.
  defp alternatives(types, _rules) do
    with :none <- Merge.types(types) do
      case Rules.union(types) do
        {:ok, type} -> {:union, type}
        :error -> :none
      end
    end
  end

  defp typed(%{"enum" => [_ | _] = values} = schema, path, depth, state),
    do: enumerated(Map.delete(schema, "enum"), proper(values), path, depth, state)

  defp typed(%{"enum" => _}, path, _depth, state), do: any("enum", path, state)

  defp typed(%{"type" => [_ | _] = types} = schema, path, depth, state) do
    case types |> proper() |> Enum.uniq() |> Enum.split_with(&(&1 == "null")) do
      {nulls, [type]} ->
        {{type, null?}, state} = typed(%{schema | "type" => type}, path, depth, state)
        {{type, null? or nulls != []}, state}

      {nulls, [a, b]} when a in ["integer", "number"] and b in ["integer", "number"] ->
        {{number(:float, state), nulls != []}, state}

      {nulls, several} ->
        {type, state} = several(several, schema, path, depth, state)
        {{type, nulls != []}, state}
    end
  end

  defp typed(%{"type" => type} = schema, path, _depth, state) when type in @scalars do
    {ruled, state} = ruled(JsonSchema.scalar(type), schema, path, state)
    {{if(type == "number", do: number(ruled, state), else: ruled), false}, state}
  end

  defp typed(%{"type" => "array"} = schema, path, depth, state),
    do: array(schema, path, depth, state)

  defp typed(%{"type" => "object"} = schema, path, depth, state),
    do: Objects.object(schema, path, depth, state)

  defp typed(%{"type" => _other}, path, _depth, state), do: any("type", path, state)

  # A schema may leave out its type.
  defp typed(%{"properties" => _} = schema, path, depth, state),
    do: Objects.object(schema, path, depth, state)

  defp typed(%{"required" => _} = schema, path, depth, state),
    do: Objects.object(schema, path, depth, state)

  defp typed(%{"items" => _} = schema, path, depth, state), do: array(schema, path, depth, state)

  defp typed(schema, path, _depth, state) do
    {type, state} = ruled(:any, schema, path, state)
    {{type, false}, state}
  end

  # A number of a schema may be an integer, and arrives as one.
  defp number({:where, :float, rules}, %{rules: :arguments}),
    do: {:where, :float, rules ++ [whole: true]}

  defp number(:float, %{rules: :arguments}), do: {:where, :float, [whole: true]}
  defp number(type, _state), do: type

  defp several(types, schema, path, depth, %{rules: rules} = state) when rules != nil do
    {read, ended} =
      Enum.map_reduce(types, state, fn type, state ->
        {{type, _null?}, state} = typed(%{schema | "type" => type}, path, depth, state)
        {type, state}
      end)

    case Rules.union(read) do
      {:ok, type} -> {type, ended}
      :error -> several([], schema, path, depth, %{state | rules: nil})
    end
  end

  defp several(_types, _schema, path, _depth, state) do
    {{type, _null?}, state} = any("type", path, state)
    {type, state}
  end

  # The values decide alone where no scalar type is given.
  defp enumerated(schema, values, path, depth, state) do
    {nulls, values} = Enum.split_with(values, &is_nil/1)

    case Pointer.spend(state, length(values)) do
      {:ok, state} when values != [] ->
        {{type, null?}, state} =
          case {schema, Merge.type_of_values(values)} do
            {%{"type" => type}, _type} when type in ["array", "object"] -> {{:any, false}, state}
            {%{"type" => _type}, _} -> typed(schema, path, depth, state)
            {_schema, type} -> {{type, false}, state}
          end

        null? = null? or nulls != []

        if state.rules == :result,
          do: {{Rules.listed(type, values), null?}, state},
          else: {{type, null?}, %{state | enums: [{path, values} | state.enums]}}

      {:ok, state} ->
        any("enum", path, state)

      :error ->
        any("too many references", path, state)
    end
  end

  defp array(%{"prefixItems" => [_ | _]}, path, _depth, state),
    do: {{{:list, :any}, false}, warned("its items", "prefixItems", path, state)}

  defp array(%{"items" => items}, path, _depth, state) when is_list(items),
    do: {{{:list, :any}, false}, warned("its items", "items", path, state)}

  defp array(schema, path, depth, state) do
    {{type, null?}, state} = convert(Map.get(schema, "items", true), path, depth + 1, state)
    type = {:list, if(null?, do: {:optional, type}, else: type)}
    {type, state} = ruled(type, schema, path, state)
    {{type, false}, state}
  end

  defp unkept(schema, path, state) do
    Enum.reduce(@unkept, state, fn key, state ->
      if is_map_key(schema, key), do: warned("not all of it", key, path, state), else: state
    end)
  end
end

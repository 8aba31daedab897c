defmodule PtcRunner.SubAgent.Signature.FromSchema.Alternative do
  @moduledoc false
  # What a JSON Schema demands of a value, by the kinds of JSON: a schema is a list of alternatives, of which a value has
  # to meet one. In an alternative each kind is refused (false, nil) or has its own demands. The parts of arrays and
  # objects are lists of places, all of which a part has to meet; an empty list takes everything.

  alias PtcRunner.SubAgent.Signature.FromSchema.Place

  @kinds [:null, :boolean, :number, :string, :array, :object]

  @type places :: [Place.t()]
  @type t :: %{
          null: boolean(),
          boolean: boolean(),
          number: map() | nil,
          string: map() | nil,
          array: %{prefix: [places()], items: places(), rules: map()} | nil,
          object:
            %{fields: map(), required: MapSet.t(), others: places(), open: nil | :unsaid | :said}
            | nil,
          enum: [term()] | nil,
          note: String.t() | nil
        }

  @any_array %{prefix: [], items: [], rules: %{}}
  # `open`: whether something is said of other fields; nil where nothing is said of fields at all.
  @any_object %{fields: %{}, required: MapSet.new(), others: [], open: nil}
  @any %{
    null: true,
    boolean: true,
    number: %{},
    string: %{},
    array: @any_array,
    object: @any_object,
    enum: nil,
    note: nil
  }
  @none %{
    null: false,
    boolean: false,
    number: nil,
    string: nil,
    array: nil,
    object: nil,
    enum: nil,
    note: nil
  }

  @doc "The alternative that takes everything."
  @spec any() :: t()
  def any, do: @any

  @doc "Whether an alternative takes everything, of a kind or at all."
  @spec any?(atom(), term()) :: boolean()
  def any?(:array, array), do: array == @any_array

  def any?(:object, object),
    do: object != nil and object.others == [] and object.fields == %{} and required(object) == []

  def any?(kind, value) when kind in [:number, :string], do: value == %{}
  def any?(_kind, value), do: value

  @doc "The names that an object requires, and that are no fields."
  @spec required(map()) :: [String.t()]
  def required(object), do: MapSet.to_list(object.required)

  @doc """
  The alternative that takes all values of these kinds.

      iex> alias PtcRunner.SubAgent.Signature.FromSchema.Alternative
      iex> Alternative.kinds(Alternative.of_kinds([:null, :integer]))
      [:null, :number]

  """
  @spec of_kinds([atom()]) :: t()
  def of_kinds(kinds) do
    Enum.reduce(kinds, @none, fn
      :integer, %{number: nil} = made -> %{made | number: %{int: true}}
      :integer, made -> made
      kind, made -> Map.put(made, kind, Map.fetch!(@any, kind))
    end)
  end

  @doc "The kinds that an alternative takes."
  @spec kinds(t()) :: [atom()]
  def kinds(alternative),
    do: for(kind <- @kinds, Map.fetch!(alternative, kind) not in [nil, false], do: kind)

  @doc """
  The kind of a JSON value.

      iex> Enum.map([nil, true, 1, 1.5, "a", [], %{}], &PtcRunner.SubAgent.Signature.FromSchema.Alternative.kind/1)
      [:null, :boolean, :number, :number, :string, :array, :object]

  """
  @spec kind(term()) :: atom()
  def kind(nil), do: :null
  def kind(value) when is_boolean(value), do: :boolean
  def kind(value) when is_number(value), do: :number
  def kind(value) when is_binary(value), do: :string
  def kind(value) when is_list(value), do: :array
  def kind(_value), do: :object

  @doc """
  What both demand, and the keywords of which only the one of `a` could be kept.

      iex> alias PtcRunner.SubAgent.Signature.FromSchema.Alternative
      iex> a = %{Alternative.of_kinds([:string]) | string: %{pattern: "^a", min_length: 2}}
      iex> b = %{Alternative.any() | string: %{pattern: "b$", min_length: 3}}
      iex> {both, lost} = Alternative.meet(a, b)
      iex> {both.string, lost}
      {%{pattern: "^a", min_length: 3}, ["pattern"]}

  """
  @spec meet(t(), t()) :: {t(), [String.t()]}
  def meet(a, b) when a == @any, do: {b, []}
  def meet(a, b) when b == @any, do: {a, []}

  def meet(a, b) do
    {number, lost} = both(a.number, b.number, &numbers/2)
    {string, more} = both(a.string, b.string, &strings/2)
    {array, _none} = both(a.array, b.array, &{arrays(&1, &2), []})
    {object, _none} = both(a.object, b.object, &{objects(&1, &2), []})

    {%{
       null: a.null and b.null,
       boolean: a.boolean and b.boolean,
       number: number,
       string: string,
       array: array,
       object: object,
       enum: values(a.enum, b.enum),
       note: a.note || b.note
     }, lost ++ more}
  end

  defp both(nil, _b, _meet), do: {nil, []}
  defp both(_a, nil, _meet), do: {nil, []}
  defp both(same, same, _meet), do: {same, []}
  defp both(a, b, meet), do: meet.(a, b)

  defp values(nil, values), do: values
  defp values(values, nil), do: values

  defp values(a, b) do
    wanted = MapSet.new(b, &equal/1)
    Enum.filter(a, &MapSet.member?(wanted, equal(&1)))
  end

  # One value for all that are equal in JSON: 1 is 1.0.
  defp equal(value) when is_float(value),
    do: if(trunc(value) == value, do: trunc(value), else: value)

  defp equal([first | rest]), do: [equal(first) | equal(rest)]

  defp equal(value) when is_map(value) and not is_struct(value),
    do: Map.new(value, fn {key, value} -> {key, equal(value)} end)

  defp equal(value), do: value

  defp numbers(a, b), do: rules(a, b)
  defp strings(a, b), do: rules(a, b)

  defp rules(a, b) do
    Enum.reduce(b, {a, []}, fn {rule, value}, {a, lost} ->
      case a do
        %{^rule => other} ->
          case joined(rule, other, value) do
            {:ok, value} -> {Map.put(a, rule, value), lost}
            {:lost, keyword} -> {a, [keyword | lost]}
          end

        %{} ->
          {Map.put(a, rule, value), lost}
      end
    end)
  end

  defp joined(_rule, same, same), do: {:ok, same}

  defp joined(rule, a, b) when rule in [:min, :exclusive_min, :min_length, :min_items],
    do: {:ok, max(a, b)}

  defp joined(rule, a, b) when rule in [:max, :exclusive_max, :max_length, :max_items],
    do: {:ok, min(a, b)}

  defp joined(:multiple_of, a, b) when is_integer(a) and is_integer(b),
    do: {:ok, div(a * b, Integer.gcd(a, b))}

  defp joined(:multiple_of, _a, _b), do: {:lost, "multipleOf"}
  defp joined(rule, _a, _b), do: {:lost, Atom.to_string(rule)}

  defp arrays(a, b) do
    {rules, []} = rules(a.rules, b.rules)
    %{prefix: prefixes(a.prefix, b.prefix, a, b), items: a.items ++ b.items, rules: rules}
  end

  defp prefixes([], [], _a, _b), do: []
  defp prefixes([x | xs], [y | ys], a, b), do: [x ++ y | prefixes(xs, ys, a, b)]
  defp prefixes([x | xs], [], a, b), do: [x ++ b.items | prefixes(xs, [], a, b)]
  defp prefixes([], [y | ys], a, b), do: [a.items ++ y | prefixes([], ys, a, b)]

  # A field that only one of them names is one of the others for the other.
  defp objects(a, b) do
    fields =
      case {a.fields, b.fields, a.others, b.others} do
        {none, fields, [], _others} when none == %{} ->
          fields

        {fields, none, _others, []} when none == %{} ->
          fields

        {left, right, [], []} ->
          Map.merge(left, right, fn _name, at, places -> at ++ places end)

        {left, right, _, _} ->
          left = Map.new(left, fn {name, at} -> {name, field(name, at, right, b.others)} end)
          Map.merge(Map.new(right, fn {name, at} -> {name, a.others ++ at} end), left)
      end

    %{
      fields: fields,
      required: MapSet.union(a.required, b.required),
      others: a.others ++ b.others,
      open: Enum.find([:said, :unsaid], &(&1 in [a.open, b.open]))
    }
  end

  defp field(name, places, fields, others), do: places ++ Map.get(fields, name, others)

  @doc """
  Whether no value meets both; false also if that is not known.

      iex> alias PtcRunner.SubAgent.Signature.FromSchema.Alternative
      iex> Alternative.disjoint?(Alternative.of_kinds([:string]), Alternative.of_kinds([:null, :number]))
      true

  """
  @spec disjoint?(t(), t()) :: boolean()
  def disjoint?(%{enum: [_ | _] = values}, %{enum: [_ | _] = others}),
    do: values(values, others) == []

  def disjoint?(%{enum: [_ | _] = values}, other), do: not Enum.any?(values, &may?(&1, other))

  def disjoint?(other, %{enum: [_ | _]} = listed), do: disjoint?(listed, other)

  def disjoint?(a, b), do: Enum.all?(@kinds, &apart?(&1, Map.fetch!(a, &1), Map.fetch!(b, &1)))

  # Whether a value may meet an alternative without an enumeration.
  defp may?(value, other) do
    case Map.fetch!(other, kind(value)) do
      none when none in [nil, false] -> false
      %{int: true} when is_float(value) -> trunc(value) == value
      %{} = rules when is_number(value) -> within?(value, rules)
      _other -> true
    end
  end

  defp within?(value, rules) do
    Enum.all?(rules, fn
      {:min, least} -> value >= least
      {:max, most} -> value <= most
      {:exclusive_min, least} -> value > least
      {:exclusive_max, most} -> value < most
      _other -> true
    end)
  end

  defp apart?(_kind, a, b) when a in [nil, false] or b in [nil, false], do: true
  defp apart?(:number, a, b), do: below?(a, b) or below?(b, a)
  defp apart?(:string, a, b), do: shorter?(a, b, :max_length, :min_length)

  defp apart?(:array, a, b), do: shorter?(a.rules, b.rules, :max_items, :min_items)

  defp apart?(:object, a, b) do
    Enum.any?(a.required, fn name ->
      MapSet.member?(b.required, name) and
        unlike?(Map.get(a.fields, name, []), Map.get(b.fields, name, []))
    end) or absent?(a, b) or absent?(b, a)
  end

  defp apart?(_kind, _a, _b), do: false

  defp below?(a, b) do
    case {a, b} do
      {%{max: most}, %{min: least}} when most < least -> true
      {%{max: most}, %{exclusive_min: least}} when most <= least -> true
      {%{exclusive_max: most}, %{min: least}} when most <= least -> true
      {%{exclusive_max: most}, %{exclusive_min: least}} when most <= least -> true
      _other -> false
    end
  end

  defp shorter?(a, b, most, least), do: under?(a[most], b[least]) or under?(b[most], a[least])
  defp under?(most, least), do: most != nil and least != nil and most < least

  # What one requires, the other has no place for.
  defp absent?(a, b) do
    false?(b.others) and Enum.any?(a.required, &(not is_map_key(b.fields, &1)))
  end

  defp false?(places), do: Enum.any?(places, &match?({false, _pointer, _base}, &1))

  defp unlike?(a, b) do
    case {listed(a), listed(b)} do
      {[_ | _] = left, [_ | _] = right} ->
        values(left, right) == []

      _other ->
        named(a) != [] and named(b) != [] and Enum.all?(named(a), &(&1 not in named(b)))
    end
  end

  defp listed(places) do
    Enum.find_value(places, [], fn
      {%{"const" => value}, _pointer, _base} ->
        [value]

      {%{"enum" => [_ | _] = values}, _pointer, _base} ->
        if not List.improper?(values), do: values

      _other ->
        nil
    end)
  end

  # An integer is also a number.
  defp named(places) do
    Enum.find_value(places, [], fn
      {%{"type" => "integer"}, _pointer, _base} -> ["number"]
      {%{"type" => type}, _pointer, _base} when is_binary(type) -> [type]
      _other -> nil
    end)
  end
end

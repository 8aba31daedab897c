defmodule PtcRunner.Agent.ToolSchema.Rules do
  @moduledoc false
  # The keywords of a tool's schema that become rules of its type, and those that do not.

  alias PtcRunner.SubAgent.Signature.FromSchema
  alias PtcRunner.SubAgent.Signature.FromSchema.Keywords

  @numbers ~w(minimum maximum exclusiveMinimum exclusiveMaximum multipleOf)
  @texts ~w(minLength maxLength pattern format)
  @lists ~w(minItems maxItems uniqueItems)
  @unkept ~w(minProperties maxProperties minContains maxContains contentEncoding contentMediaType contentSchema)
  @all @numbers ++ @texts ++ @lists ++ @unkept

  @doc """
  A type with the rules of its schema, and the keywords that are not kept.

      iex> alias PtcRunner.Agent.ToolSchema.Rules
      iex> Rules.of(:string, %{"type" => "string", "minLength" => 1, "format" => "hostname"})
      {{:where, :string, [min_length: 1]}, ["format"]}

      iex> PtcRunner.Agent.ToolSchema.Rules.of(:int, %{"type" => "integer"})
      {:int, []}

  """
  @spec of(term(), map()) :: {term(), [String.t()]}
  def of(type, schema) do
    case for {key, _value} <- schema, key in @all, do: key do
      [] -> {type, []}
      keys -> kept(type, Map.take(schema, keys), Enum.sort(keys))
    end
  end

  defp kept(type, schema, keys) do
    {kind, known} = kind(type)
    {own, others} = Enum.split_with(keys, &(&1 in known))
    # A keyword that concerns another kind of values demands nothing.
    others = for key <- others, key in @unkept, do: key
    {rules, lost} = rules(kind, Map.take(schema, own), own)
    {FromSchema.rules(type, Map.to_list(rules)), Enum.sort(lost ++ others)}
  end

  defp kind(type) when type in [:int, :float], do: {:number, @numbers}
  defp kind(:string), do: {:string, @texts}
  defp kind({:list, _type}), do: {:array, @lists}
  defp kind(:any), do: {:any, @numbers ++ @texts ++ @lists}
  defp kind(_other), do: {:none, []}

  # What is no value for a keyword is not kept; the others are read without it.
  defp rules(_kind, _schema, []), do: {%{}, []}

  defp rules(kind, schema, keys) do
    place = {schema, [], ""}
    {made, lost} = Keywords.read(schema, place, true)
    {rules(kind, made), for({keyword, _why} <- lost, do: keyword)}
  catch
    {:no_schema, _pointer, _text} -> one_by_one(kind, schema, keys)
  end

  defp one_by_one(_kind, _schema, [key]), do: {%{}, [key]}

  defp one_by_one(kind, schema, keys) do
    Enum.reduce(keys, {%{}, []}, fn key, {rules, lost} ->
      {more, none} = rules(kind, Map.take(schema, [key]), [key])
      {Map.merge(rules, more), none ++ lost}
    end)
  end

  defp rules(:number, made), do: made.number
  defp rules(:string, made), do: made.string
  defp rules(:array, made), do: made.array.rules

  defp rules(:any, made),
    do: made.number |> Map.merge(made.string) |> Map.merge(made.array.rules)

  @doc """
  A type with a default, which must be valid; `:error` if it is not.

      iex> PtcRunner.Agent.ToolSchema.Rules.default(:int, 3, nil)
      {:ok, {:where, :int, [default: 3]}}

      iex> PtcRunner.Agent.ToolSchema.Rules.default(:string, "c", ["a", "b"])
      :error

  """
  @spec default(term(), term(), [term()] | nil) :: {:ok, term()} | :error
  def default(type, value, values) do
    listed? = values == nil or Enum.any?(values, &(&1 == value))

    if listed? and FromSchema.valid?(value, type) == true,
      do: {:ok, FromSchema.rules(type, default: value)},
      else: :error
  end

  @doc """
  A type that takes only these values; nil if it takes no enumeration.

      iex> PtcRunner.Agent.ToolSchema.Rules.listed({:optional, :string}, ["a", "b"])
      {:optional, {:where, :string, [enum: ["a", "b"]]}}

  """
  @spec listed(term(), [term()]) :: term()
  def listed({:optional, type}, values), do: {:optional, listed(type, values)}
  def listed(type, values), do: FromSchema.rules(type, enum: values)

  @doc """
  The union of scalars and lists; `:error` for other types.

      iex> PtcRunner.Agent.ToolSchema.Rules.union([:string, {:list, :string}])
      {:ok, {:one_of, [:string, {:list, :string}], nil}}

  """
  @spec union([term()]) :: {:ok, term()} | :error
  def union(types) do
    if Enum.all?(types, &plain?/1),
      do: {:ok, {:one_of, types, nil}},
      else: :error
  end

  defp plain?({:where, type, _rules}), do: plain?(type)
  defp plain?({:list, _type}), do: true
  defp plain?(type), do: type in [:string, :int, :float, :bool]
end

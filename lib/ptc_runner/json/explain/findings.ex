defmodule PtcRunner.Json.Explain.Findings do
  @moduledoc false
  # Finds possible problems in an explanation: fields that no value had, filters that kept nothing, and conversions that gave only
  # null to a sum, a mean or the like.

  alias PtcRunner.Json.Explain
  alias PtcRunner.Json.Explain.{About, Format}
  alias PtcRunner.Schema.Table

  # Operations of these shapes keep some items, make other values of texts, and compute one value of all items.
  @filters ["filtered", "among"]
  @conversions ["converted"]
  @totals ["aggregate", "keyed_item"]

  @typedoc "How many values an operation was given for its role, how many of them were not null, and how many it made."
  @type values ::
          {given :: non_neg_integer(), some :: non_neg_integer(), made :: non_neg_integer()}

  @doc """
  The findings for operations, in the order of the program.
  """
  @spec of([map()]) :: [Explain.finding()]
  def of(operations) do
    nothing? = Enum.any?(operations, &nothing?(&1.op, &1.values))

    Enum.flat_map(operations, fn operation ->
      lost? = lost?(operation.op, operation.values) and (nothing? or operation.totalled?)

      if lost? do
        {given, _some, _made} = operation.values
        about(operation) ++ [not_converted(operation.path, operation.op, given)]
      else
        about(operation)
      end
    end)
  end

  @doc """
  The findings for one operation.

      iex> operation = %{path: ["program"], op: "sum", items_in: 2, items_out: nil, ended: 1,
      ...>   keys: [%{key: "totl", looked: 2, found: 0}]}
      iex> PtcRunner.Json.Explain.Findings.about(operation)
      [%{kind: :key_not_found, path: ["program"], message: "none of 2 had totl"}]

  """
  @spec about(map()) :: [Explain.finding()]
  def about(operation),
    do: filter(operation) ++ Enum.flat_map(operation.keys, &key(operation, &1))

  defp filter(%{op: op, items_in: items, items_out: 0, ended: ended, path: path})
       when is_integer(items) and items > 0 and ended > 0,
       do: if(filter?(op), do: [kept_nothing(path, items)], else: [])

  defp filter(_operation), do: []

  defp key(%{path: path}, %{key: key, looked: looked, found: 0}) when looked > 0,
    do: [not_found(path, key, looked)]

  defp key(_operation, _found), do: []

  @doc """
  Whether an operation has converted values, and none of them became one.

      iex> Enum.map([{3, 3, 0}, {3, 3, 1}, {3, 2, 0}], &PtcRunner.Json.Explain.Findings.lost?("to_number", &1))
      [true, false, false]

  """
  @spec lost?(String.t(), values()) :: boolean()
  def lost?(op, {given, given, 0}) when given > 0, do: shape(op) in @conversions
  def lost?(_op, _values), do: false

  @doc """
  Whether an operation has computed something of items whose keys were all null.

      iex> Enum.map([{3, 0, 0}, {3, 1, 0}, {0, 0, 0}], &PtcRunner.Json.Explain.Findings.nothing?("sum", &1))
      [true, false, false]

  """
  @spec nothing?(String.t(), values()) :: boolean()
  def nothing?(op, {given, 0, _made}) when given > 0, do: total?(op)
  def nothing?(_op, _values), do: false

  @doc "Whether an operation computes one value of all items."
  @spec total?(String.t()) :: boolean()
  def total?(op), do: shape(op) in @totals

  @doc """
  The finding that a conversion gave only null. In this finding and those below, the number is nil where it is not told: it may be a
  firewalled one.

      iex> for given <- [3, nil], do: PtcRunner.Json.Explain.Findings.not_converted(["program"], "to_number", given).message
      ["to_number gave null for each of 3 values", "to_number gave null for each value"]

  """
  @spec not_converted(Explain.path(), String.t(), pos_integer() | nil) :: Explain.finding()
  def not_converted(path, op, given) do
    message = "#{op} gave null for #{all(given)}"
    %{kind: :not_converted, path: path, message: message}
  end

  defp all(nil), do: "each value"
  defp all(1), do: "its only value"
  defp all(count), do: "each of #{Format.number(count)} values"

  @doc "Whether an operation keeps some of its items."
  @spec filter?(String.t()) :: boolean()
  def filter?(op), do: shape(op) in @filters

  defp shape(op), do: with({shape, _fields} <- Table.shape(op), do: shape)

  @doc "The finding that a filter kept nothing of so many items."
  @spec kept_nothing(Explain.path(), pos_integer() | nil) :: Explain.finding()
  def kept_nothing(path, items),
    do: %{kind: :kept_nothing, path: path, message: "kept nothing#{of_so_many(items)}"}

  @doc "The finding that none of so many values had a key, or what a path of keys leads to."
  @spec not_found(Explain.path(), term(), pos_integer() | nil) :: Explain.finding()
  def not_found(path, key, looked) do
    message = "none#{of_so_many(looked)} had #{field(key)}"
    %{kind: :key_not_found, path: path, message: message}
  end

  defp of_so_many(nil), do: ""
  defp of_so_many(number), do: " of #{Format.number(number)}"

  @doc "A key, or a path of keys, as text."
  @spec field(term()) :: String.t()
  def field(path) when is_list(path), do: Enum.map_join(path, ".", &About.name/1)
  def field(key), do: About.name(key)
end

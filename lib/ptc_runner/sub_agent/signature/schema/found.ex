defmodule PtcRunner.SubAgent.Signature.Schema.Found do
  @moduledoc false
  # What is found while a schema is made: definitions, numbers of parts, rules that only words tell, and problems.

  alias PtcRunner.SubAgent.Signature.Schema.{Cycles, Provider, Value}

  @typedoc "From one definition to another, at a path, and whether below a property that may be missing."
  @type edge :: {from :: :root | String.t(), to :: String.t(), String.t(), boolean()}

  @type t :: %{
          definitions: %{String.t() => map()},
          scopes: %{{map(), non_neg_integer()} => {non_neg_integer(), map()}},
          taken: %{String.t() => pos_integer()},
          edges: [edge()],
          counts: %{atom() => non_neg_integer()},
          notes: [{String.t(), String.t()}],
          problems: [{path :: String.t(), text :: String.t(), what :: String.t()}]
        }

  @doc "Nothing yet."
  @spec new() :: t()
  def new do
    %{
      definitions: %{},
      scopes: %{},
      taken: %{},
      edges: [],
      counts: %{},
      notes: [],
      problems: []
    }
  end

  @doc "Notes a rule that only words tell."
  @spec note(t(), String.t(), String.t()) :: t()
  def note(found, path, words), do: %{found | notes: [{path, words} | found.notes]}

  @doc "Notes what has no form."
  @spec problem(t(), String.t(), String.t(), String.t()) :: t()
  def problem(found, path, what, why \\ ""),
    do: %{found | problems: [{path, what <> why, what} | found.problems]}

  @doc "Adds the schema of a definition."
  @spec definition(t(), String.t(), map()) :: t()
  def definition(found, name, schema) do
    found = count(found, :characters, String.length(name))
    %{found | definitions: Map.put(found.definitions, name, schema)}
  end

  @doc "Adds a reference to a definition."
  @spec edge(t(), edge()) :: t()
  def edge(found, edge), do: %{found | edges: [edge | found.edges]}

  @doc "Counts parts of a kind."
  @spec count(t(), atom(), non_neg_integer()) :: t()
  def count(found, kind, more \\ 1),
    do: %{found | counts: Map.update(found.counts, kind, more, &(&1 + more))}

  @doc "Counts an object's fields and their depth."
  @spec object(t(), String.t(), pos_integer(), [{String.t(), term()}]) :: t()
  def object(found, _path, depth, fields) do
    characters = Enum.reduce(fields, 0, fn {name, _type}, sum -> sum + String.length(name) end)

    found
    |> count(:properties, length(fields))
    |> count(:characters, characters)
    |> most(:depth, depth)
  end

  # An enumeration of more values has a limit of its own.
  @long 250

  @doc "Counts the values of an enumeration."
  @spec enum(t(), [term()]) :: t()
  def enum(found, values) do
    texts = for value <- values, is_binary(value), do: String.length(value)
    characters = Enum.sum(texts)
    found = found |> count(:enum_values, length(values)) |> count(:characters, characters)
    if length(values) > @long, do: most(found, :enum_characters, characters), else: found
  end

  defp most(found, kind, number),
    do: %{found | counts: Map.update(found.counts, kind, number, &max(&1, number))}

  @words %{
    properties: "properties",
    depth: "objects in each other",
    enum_values: "values in enumerations",
    enum_characters: "characters in an enumeration of more than #{@long} texts",
    characters: "characters in names and enumerations",
    optional: "fields that may be missing",
    unions: "unions"
  }

  @doc "The problems, with those that only the whole schema shows."
  @spec problems(t(), Provider.t()) :: [
          {path :: String.t(), text :: String.t(), what :: String.t()}
        ]
  def problems(found, provider) do
    limits =
      for {kind, most} <- Enum.sort(provider.limits),
          (count = Map.get(found.counts, kind, 0)) > most,
          do: {"", "#{count} #{@words[kind]}, of which #{most} are allowed"}

    more = cycles(found.edges, provider.cycles) ++ limits
    Enum.reverse(found.problems) ++ for({path, text} <- more, do: {path, text, text})
  end

  defp cycles(_edges, :any), do: []

  defp cycles(edges, kind) do
    groups = edges |> pairs() |> Cycles.groups()

    for {from, to, path, optional?} <- Enum.reverse(edges),
        groups[from] == groups[to],
        kind == :none or not optional?,
        do: {path, "#{Value.text(from)} contains itself#{where(kind)}"}
  end

  defp where(:none), do: ""
  defp where(:optional), do: " in a field that is required"

  defp pairs(edges), do: for({from, to, _path, _optional?} <- edges, do: {from, to})

  @doc "The definitions that are used, with those that they use; `from`: the root, or the definition that it is."
  @spec used(t(), Cycles.name()) :: %{String.t() => map()}
  def used(found, from) do
    pairs = pairs(found.edges)
    start = for {^from, to} <- pairs, do: to
    Map.take(found.definitions, Cycles.reached(start, pairs))
  end
end

defmodule PtcRunner.Json.Run.Rounds.Gathered do
  @moduledoc false
  # The calls of rounds that are going to be made together, by their tool: a list of them is sent when it is as long as the tool takes, or
  # when no round can go on without one. The list that has the call of the earliest round goes first.

  alias PtcRunner.Json.{Batch, Keyed}

  # `tools`: by name, the length that a list may have, the number and the words of the calls, and the calls, the newest first.
  # `full`: the tools with a list that is long enough. `most_words`: of the arguments in one list; 0 for no limit.
  @enforce_keys [:most_words]
  defstruct [:most_words, tools: %{}, full: []]

  @typedoc "The round, what it waits with, the arguments for the tool, and their words."
  @type member ::
          {round :: non_neg_integer(), waits :: term(), Keyed.t() | term(), non_neg_integer()}

  @type t :: %__MODULE__{
          most_words: non_neg_integer(),
          tools: %{
            String.t() =>
              {pos_integer(), non_neg_integer(), non_neg_integer(), [member()],
               (term() -> term())}
          },
          full: [String.t()]
        }

  @doc """
  Adds a call of a tool that takes so many at once.

      iex> alias PtcRunner.Json.Run.Rounds.Gathered
      iex> gathered = Gathered.add(%Gathered{most_words: 0}, "find", 2, &Enum.sum/1, {0, :waits, 7, 1})
      iex> {gathered.full, Gathered.any?(gathered)}
      {[], true}
      iex> gathered = Gathered.add(gathered, "find", 2, &Enum.sum/1, {1, :waits, 8, 1})
      iex> {"find", _fun, [{0, :waits, _, _}, {1, :waits, _, _}], batch, gathered} = Gathered.take(gathered)
      iex> {batch.calls, Gathered.any?(gathered)}
      {[7, 8], false}

  """
  @spec add(t(), String.t(), pos_integer(), (term() -> term()), member()) :: t()
  def add(%__MODULE__{tools: tools} = gathered, name, most, fun, {_, _, _, words} = member) do
    {_, count, sum, members, _fun} = Map.get(tools, name, {most, 0, 0, [], fun})
    list = {most, count + 1, sum + words, [member | members], fun}
    noted(%{gathered | tools: Map.put(tools, name, list)}, name, list)
  end

  defp noted(%{full: full, most_words: most_words} = gathered, name, {most, count, words, _, _}) do
    if (count >= most or (most_words > 0 and words >= most_words)) and name not in full,
      do: %{gathered | full: [name | full]},
      else: gathered
  end

  @doc "Whether a call has been gathered."
  @spec any?(t()) :: boolean()
  def any?(%__MODULE__{tools: tools}), do: tools != %{}

  @doc "Whether a list is long enough."
  @spec full?(t()) :: boolean()
  def full?(%__MODULE__{full: full}), do: full != []

  @doc "The calls that go to their tool together: those of the earliest round, and of later ones."
  @spec take(t()) :: {String.t(), (term() -> term()), [member(), ...], Batch.t(), t()}
  def take(%__MODULE__{tools: tools, full: full, most_words: most_words} = gathered) do
    # The first rounds come first wherever they wait.
    {name, {most, _count, _words, members, fun}} = Enum.min_by(tools, &earliest/1)
    {taken, rest} = split(Enum.sort(members), most, most_words, [])
    gathered = %{gathered | tools: Map.delete(tools, name), full: List.delete(full, name)}
    batch = %Batch{calls: for({_round, _waits, args, _words} <- taken, do: args)}
    {name, fun, taken, batch, put(gathered, name, most, fun, rest)}
  end

  defp earliest({_name, {_most, _count, _words, members, _fun}}),
    do: members |> Enum.reduce(:none, fn {round, _, _, _}, least -> min(round, least) end)

  defp put(gathered, _name, _most, _fun, []), do: gathered

  defp put(%{tools: tools} = gathered, name, most, fun, members) do
    words = for {_, _, _, words} <- members, reduce: 0, do: (sum -> sum + words)
    list = {most, length(members), words, Enum.reverse(members), fun}
    noted(%{gathered | tools: Map.put(tools, name, list)}, name, list)
  end

  # At least one goes, and no more words than a list may have.
  defp split([{_, _, _, words} = member | rest], most, left, taken)
       when taken == [] or (most > 0 and (left == 0 or words < left)) do
    left = if left == 0, do: 0, else: max(left - words, 1)
    split(rest, most - 1, left, [member | taken])
  end

  defp split(rest, _most, _left, taken), do: {Enum.reverse(taken), rest}

  @doc "Drops the calls of the rounds after one."
  @spec drop_after(t(), integer()) :: t()
  def drop_after(%__MODULE__{tools: tools, most_words: most_words}, round) do
    for {name, {most, _count, _words, members, fun}} <- tools,
        reduce: %__MODULE__{most_words: most_words} do
      gathered ->
        put(gathered, name, most, fun, Enum.filter(members, &(elem(&1, 0) <= round)))
    end
  end
end

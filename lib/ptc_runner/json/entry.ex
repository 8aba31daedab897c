defmodule PtcRunner.Json.Entry do
  @moduledoc false
  # An entry of a journal: a call, and what came of it.
  #
  # The id of a call is its number among those of the run that come one after another; of a call in a loop whose rounds
  # overlap the number of that loop, the round and the number of the call in it. So ids do not depend on which tool
  # answers first.

  alias PtcRunner.Json.Kept
  alias PtcRunner.Shown

  @type id :: pos_integer() | {pos_integer(), non_neg_integer(), pos_integer()}

  @typedoc """
  The answer, with its words if they are known; the text of the tool's error, which the program may catch (of PTC-Lisp also as the
  ledger has it); the error with which the run ended.
  """
  @type outcome ::
          {:ok, term(), words :: non_neg_integer() | nil}
          | {:failed, String.t() | {said :: String.t(), noted :: String.t()}}
          | {:ended, {atom(), String.t() | non_neg_integer()}}

  @typedoc """
  What came of a call. `:sent`: the tool got these arguments, and not those of the program. `:cached`: the answer to an equal call,
  so the tool was not called.
  """
  @type came :: outcome() | {:sent, args :: term(), outcome()} | {:cached, outcome()}

  @typedoc """
  A call with the arguments that the program gives. `:started`: there is no answer. `:beyond`: the call was made in a round after
  one that failed, so it is not among those that count.
  """
  @type t ::
          {id(), tool :: String.t(), args :: term(),
           came() | {:beyond, came()} | :started | {:sent, args :: term(), :started}}

  @kinds %{
    "execution_error" => :execution_error,
    "refused" => :refused,
    "timeout" => :timeout,
    "memory_exceeded" => :memory_exceeded,
    "tool_call_limit_exceeded" => :tool_call_limit_exceeded
  }

  @kinds_of_ends Map.values(@kinds)

  @doc """
  An id as text, and back.

      iex> for id <- [3, {4, 0, 1}], do: PtcRunner.Json.Entry.text(id)
      ["3", "4.0.1"]

  """
  @spec text(id()) :: String.t()
  def text({fork, round, number}) do
    Integer.to_string(fork) <>
      "." <> Integer.to_string(round) <> "." <> Integer.to_string(number)
  end

  def text(number), do: Integer.to_string(number)

  @doc """
  The id of a text.

      iex> for text <- ["3", "4.0.1", "x", "4.1"], do: PtcRunner.Json.Entry.id(text)
      [{:ok, 3}, {:ok, {4, 0, 1}}, :error, :error]

  """
  @spec id(term()) :: {:ok, id()} | :error
  def id(text) when is_binary(text) and byte_size(text) < 64 do
    case numbers(text, nil, []) do
      [number] when number > 0 -> {:ok, number}
      [c, b, a] when a > 0 and c > 0 -> {:ok, {a, b, c}}
      _other -> :error
    end
  end

  def id(_other), do: :error

  # The numbers between the points, the last one first.
  defp numbers(<<digit, rest::binary>>, number, before) when digit in ?0..?9,
    do: numbers(rest, (number || 0) * 10 + digit - ?0, before)

  defp numbers(<<?., rest::binary>>, number, before) when number != nil,
    do: numbers(rest, nil, [number | before])

  defp numbers("", number, before) when number != nil, do: [number | before]
  defp numbers(_other, _number, _before), do: :error

  @doc "The entries of a journal, in the order in which the calls come if none overlap."
  @spec list([t()] | %{id() => t()}) :: [t()]
  def list(journal) when is_map(journal), do: journal |> Map.values() |> list()

  # Most are in this order already.
  def list(journal) do
    if ascending?(journal),
      do: journal,
      else: Enum.sort_by(journal, fn entry -> entry |> elem(0) |> key() end)
  end

  @doc """
  Whether one call comes before another one.

      iex> for {id, next} <- [{1, 2}, {{1, 0, 1}, {1, 1, 1}}, {{1, 5, 1}, 2}, {2, {1, 0, 1}}], do: PtcRunner.Json.Entry.before?(id, next)
      [true, true, true, false]

  """
  @spec before?(id(), id()) :: boolean()
  def before?(id, next) when is_tuple(id) and is_tuple(next), do: id < next
  def before?({fork, _round, _number}, next), do: fork < next
  def before?(id, {fork, _round, _number}), do: id < fork
  def before?(id, next), do: id < next

  # No two of them have the same id then.
  defp ascending?([{id, _, _, _} | [{next, _, _, _} | _] = rest]),
    do: before?(id, next) and ascending?(rest)

  defp ascending?(_none_or_one), do: true

  defp key({fork, round, number}), do: [fork, round, number]
  defp key(number), do: [number]

  @doc """
  An entry whose tool got other arguments than the program gives, if they are others.

      iex> PtcRunner.Json.Entry.sent(:started, %{"n" => 1}, %{"n" => 2})
      {:sent, %{"n" => 2}, :started}

      iex> PtcRunner.Json.Entry.sent(:started, %{"n" => 1}, %{"n" => 1})
      :started

  """
  @spec sent(outcome() | :started, args :: term(), sent :: term()) ::
          outcome() | :started | {:sent, term(), outcome() | :started}
  def sent(outcome, args, sent) when args === sent, do: outcome
  def sent(outcome, _args, sent), do: {:sent, sent, outcome}

  @doc "What a tool has answered, whatever it was sent."
  @spec answer(outcome() | {:sent, term(), outcome()}) :: outcome()
  def answer({:sent, _args, outcome}), do: outcome
  def answer(outcome), do: outcome

  @doc "Whether an entry has no answer."
  @spec started?(t()) :: boolean()
  def started?({_id, _tool, _args, outcome}),
    do: outcome == :started or match?({:sent, _args, :started}, outcome)

  @doc "Whether an entry does not count."
  @spec beyond?(t()) :: boolean()
  def beyond?({_id, _tool, _args, outcome}), do: match?({:beyond, _}, outcome)

  # More words than any heap has.
  @most_words 0x1_0000_0000_0000

  @doc "No answer has as many words."
  @spec most_words() :: pos_integer()
  def most_words, do: @most_words

  @doc """
  Whether a term is an entry that has been answered.

      iex> for outcome <- [{:ok, 1, 2}, {:ok, 1, -2}, {:cached, {:failed, "no"}}, :started],
      ...>   do: PtcRunner.Json.Entry.sound?({1, "x", %{}, outcome})
      [true, false, true, false]

  """
  @spec sound?(term()) :: boolean()
  def sound?({id, tool, _args, outcome}) when is_binary(tool),
    do: sound_id?(id) and sound_outcome?(outcome)

  def sound?(_other), do: false

  @doc "Whether a term is the id of a call."
  @spec sound_id?(term()) :: boolean()
  def sound_id?(number) when is_integer(number), do: number > 0

  def sound_id?({fork, round, number}),
    do:
      is_integer(fork) and is_integer(round) and is_integer(number) and fork > 0 and round >= 0 and
        number > 0

  def sound_id?(_other), do: false

  defp sound_outcome?({:beyond, came}), do: sound_came?(came)
  defp sound_outcome?(came), do: sound_came?(came)

  defp sound_came?({:sent, _args, outcome}), do: sound_answer?(outcome)
  defp sound_came?({:cached, outcome}), do: sound_answer?(outcome)
  defp sound_came?(outcome), do: sound_answer?(outcome)

  defp sound_answer?({:ok, _value, nil}), do: true

  defp sound_answer?({:ok, _value, words}),
    do: is_integer(words) and words >= 0 and words < @most_words

  defp sound_answer?({:failed, {said, noted}}), do: is_binary(said) and is_binary(noted)
  defp sound_answer?({:failed, text}), do: is_binary(text)

  defp sound_answer?({:ended, {kind, what}}),
    do:
      kind in @kinds_of_ends and
        (is_binary(what) or is_integer(what))

  defp sound_answer?(_other), do: false

  @doc """
  Whether entries are all that a run has had up to the last of them: none may be missing, because its tool would be called again. Where calls
  wait together or overlap, some rounds of the last loop may have no answer yet. Behind a call that waits, later ones of the same round may have been
  made without its answer. `waiting`: the ids of the calls that wait, or `:unknown`; then each call of the last loop may wait.

      iex> entry = &{&1, "x", %{}, {:ok, 1, nil}}
      iex> PtcRunner.Json.Entry.whole([entry.(1), entry.(3)], false)
      {:error, "The journal has no call 2, but later ones"}
      iex> PtcRunner.Json.Entry.whole([entry.({1, 0, 1}), entry.({1, 0, 1})], true)
      {:error, "The journal has the call 1.0.1 twice"}
      iex> PtcRunner.Json.Entry.whole([entry.({1, 0, 1}), entry.({1, 2, 1}), entry.(2)], true)
      :ok
      iex> for ids <- [[2], [1, {3, 0, 1}], [{1, 0, 1}, {1, 0, 3}]], do: PtcRunner.Json.Entry.whole(Enum.map(ids, entry), true)
      [
        error: "The journal has no call 1, but later ones",
        error: "The journal has no call 2, but later ones",
        error: "The journal has no call 1.0.2, but later ones"
      ]
      iex> for waiting <- [%{{1, 0, 2} => []}, %{{1, 0, 3} => []}, :unknown],
      ...>   do: PtcRunner.Json.Entry.whole(Enum.map([{1, 0, 1}, {1, 0, 4}, {1, 1, 1}], entry), true, waiting)
      [:ok, {:error, "The journal has no call 1.0.2, but later ones"}, :ok]
      iex> for ids <- [[{1, 0, 2}, 2], [1, 3]], do: PtcRunner.Json.Entry.whole(Enum.map(ids, entry), true, :unknown)
      [error: "The journal has no call 1.0.1, but later ones", error: "The journal has no call 2, but later ones"]

  Of rounds beyond one that has failed, calls may have waited for a person who is not asked any more:

      iex> beyond = fn id -> {id, "x", %{}, {:beyond, {:ok, 1, nil}}} end
      iex> PtcRunner.Json.Entry.whole([{{1, 1, 1}, "x", %{}, {:failed, "no"}}, beyond.({1, 2, 2})], true)
      :ok

  """
  @spec whole([t()], forks? :: boolean(), waiting :: %{id() => term()} | :unknown) ::
          :ok | {:error, String.t()}
  def whole(entries, forks?, waiting \\ %{})
  def whole(entries, false, _waiting), do: numbered(entries, 1)

  def whole(entries, true, waiting) do
    if in_order(entries) == :error, do: searched(entries, waiting), else: :ok
  end

  @doc """
  The last id of entries that are all that a run has had, in the order of the program: most journals are so, and are read only once.

      iex> ids = &Enum.map(&1, fn id -> {id, "x", %{}, {:ok, 1, nil}} end)
      iex> for list <- [[], [1, 2], [{1, 0, 1}, {1, 2, 1}, {1, 2, 2}, 2], [1, 3], [2, 1]],
      ...>   do: PtcRunner.Json.Entry.in_order(ids.(list))
      [{:ok, nil}, {:ok, 2}, {:ok, 2}, :error, :error]

  """
  @spec in_order([t()]) :: {:ok, id() | nil} | :error
  def in_order([{1, _, _, _} | rest]), do: next(rest, 1)
  def in_order([{{1, _, 1} = id, _, _, _} | rest]), do: next(rest, id)
  def in_order([]), do: {:ok, nil}
  def in_order(_other), do: :error

  defp next([{{loop, round, 1} = id, _, _, _} | rest], {loop, before, _}) when round > before,
    do: next(rest, id)

  defp next([{{loop, round, number} = id, _, _, _} | rest], {loop, round, before})
       when number == before + 1,
       do: next(rest, id)

  defp next([{id, _, _, _} | rest], last) do
    if begins?(id, number(last) + 1), do: next(rest, id), else: :error
  end

  defp next([], last), do: {:ok, last}

  defp begins?({next, _round, 1}, next), do: true
  defp begins?(id, next), do: id == next

  defp number({loop, _round, _number}), do: loop
  defp number(number), do: number

  defp searched(entries, waiting) do
    ids = Enum.map(entries, &elem(&1, 0))
    waiting = if waiting == :unknown, do: loop(List.last(ids)), else: waiting
    twice = if ascending?(entries), do: [], else: ids -- Enum.uniq(ids)

    case twice do
      [] -> following(for(entry <- entries, not beyond?(entry), do: elem(entry, 0)), 0, waiting)
      [id | _] -> {:error, "The journal has the call #{text(id)} twice"}
    end
  end

  # Behind a loop in which a call waits, nothing is called.
  defp loop({loop, _round, _number}), do: loop
  defp loop(_number), do: nil

  # In a loop each round has its own numbers. `waiting`: the calls that wait, or the loop in which each may.
  defp following([], _last, _waiting), do: :ok

  defp following([{fork, round, _} | _] = ids, last, waiting) when fork in [last, last + 1],
    do: in_round(ids, {fork, round, 1}, waiting)

  defp following([number | ids], last, waiting) when number == last + 1,
    do: following(ids, number, waiting)

  defp following(_gap, last, _waiting), do: missing(last + 1)

  defp in_round([next | ids], {fork, round, number} = next, waiting),
    do: in_round(ids, {fork, round, number + 1}, waiting)

  defp in_round([{fork, round, later} | _] = ids, {fork, round, number} = next, waiting) do
    if later > number and waits?(next, waiting),
      do: ids |> Enum.drop_while(&match?({^fork, ^round, _}, &1)) |> following(fork, waiting),
      else: missing(next)
  end

  defp in_round(ids, {fork, _round, _number}, waiting), do: following(ids, fork, waiting)

  defp waits?(id, waiting) when is_map(waiting), do: is_map_key(waiting, id)
  defp waits?({fork, _round, _number}, loop), do: fork == loop

  defp missing(id), do: {:error, "The journal has no call #{text(id)}, but later ones"}

  defp numbered([{number, _, _, _} | rest], number), do: numbered(rest, number + 1)
  defp numbered([], _number), do: :ok

  defp numbered([{id, _, _, _} | _rest], number) when is_integer(id) and id < number,
    do: {:error, "The journal has the call #{id} twice"}

  defp numbered(_gap, number), do: missing(number)

  @doc """
  An entry as a JSON value, or the kind of its part that cannot be kept.

      iex> PtcRunner.Json.Entry.encode({1, "rate", %{"to" => "USD"}, {:ok, 1.25, 2}})
      {:ok, %{"id" => "1", "tool" => "rate", "args" => %{"to" => "USD"}, "answer" => 1.25}}

  The arguments are those that the tool got; where the program gives others, these are `"asked"`.

      iex> PtcRunner.Json.Entry.encode({1, "pay", %{"n" => 1000}, {:sent, %{"n" => 100}, {:ok, "paid", 2}}})
      {:ok, %{"id" => "1", "tool" => "pay", "args" => %{"n" => 100}, "asked" => %{"n" => 1000}, "answer" => "paid"}}

  """
  @spec encode(t()) :: {:ok, map()} | {:error, String.t()}
  def encode({id, tool, args, outcome}) do
    with {:ok, args} <- Kept.encode(args),
         {:ok, came} <- came(outcome),
         do: {:ok, came |> called(args) |> Map.merge(%{"id" => text(id), "tool" => tool})}
  end

  defp called(%{"args" => _sent} = came, args), do: Map.put(came, "asked", args)
  defp called(came, args), do: Map.put(came, "args", args)

  defp came(:started), do: {:ok, %{"started" => true}}

  defp came({:ok, value, _words}),
    do: with({:ok, value} <- Kept.encode(value), do: {:ok, %{"answer" => value}})

  defp came({:failed, {said, noted}}), do: {:ok, %{"error" => noted, "said" => said}}
  defp came({:failed, text}), do: {:ok, %{"error" => text}}
  defp came({:ended, {kind, what}}), do: {:ok, %{"ended" => [Atom.to_string(kind), what]}}

  defp came({:sent, args, outcome}) do
    with {:ok, args} <- Kept.encode(args),
         {:ok, came} <- came(outcome),
         do: {:ok, Map.put(came, "args", args)}
  end

  defp came({:cached, outcome}),
    do: with({:ok, came} <- came(outcome), do: {:ok, Map.put(came, "cached", true)})

  defp came({:beyond, outcome}),
    do: with({:ok, came} <- came(outcome), do: {:ok, Map.put(came, "beyond", true)})

  @doc "An entry that can be kept, with the words of its answer, if they are known."
  @spec weighed(t()) :: map()
  def weighed({_id, _tool, _args, outcome} = entry) do
    {:ok, json} = encode(entry)

    case words(outcome) do
      nil -> json
      words -> Map.put(json, "words", words)
    end
  end

  defp words({:ok, _value, words}), do: words
  defp words({:sent, _args, came}), do: words(came)
  defp words({:beyond, came}), do: words(came)
  defp words(_other), do: nil

  @doc "The entry of such a JSON value, or what is wrong with it."
  @spec decode(term()) :: {:ok, t()} | {:error, String.t()}
  def decode(%{"id" => text, "tool" => tool, "args" => args} = json) when is_binary(tool) do
    with {:id, {:ok, id}} <- {:id, id(text)},
         {:ok, args} <- Kept.decode(args),
         {:ok, asked} <- asked(json, args),
         {:ok, outcome} <- outcome(json) do
      {:ok, {id, tool, asked, flagged(sent(outcome, asked, args), json)}}
    else
      {:id, :error} -> {:error, "no id of a call: #{Shown.text(text, 100)}"}
      error -> error
    end
  end

  def decode(other), do: {:error, "no entry of a journal: #{Shown.text(other, 200)}"}

  # The arguments that the program gave, if the tool got others.
  defp asked(%{"asked" => asked}, _args), do: Kept.decode(asked)
  defp asked(_json, args), do: {:ok, args}

  defp outcome(%{"answer" => value} = json) do
    words = json["words"]
    words = if is_integer(words) and words >= 0 and words < @most_words, do: words
    with {:ok, value} <- Kept.decode(value), do: {:ok, {:ok, value, words}}
  end

  defp outcome(%{"error" => noted, "said" => said}) when is_binary(noted) and is_binary(said),
    do: {:ok, {:failed, {said, noted}}}

  defp outcome(%{"error" => text}) when is_binary(text), do: {:ok, {:failed, text}}

  defp outcome(%{"ended" => [kind, what]})
       when is_map_key(@kinds, kind) and (is_binary(what) or is_integer(what)),
       do: {:ok, {:ended, {Map.fetch!(@kinds, kind), what}}}

  defp outcome(%{"started" => true}), do: {:ok, :started}
  defp outcome(other), do: {:error, "no answer of a call: #{Shown.text(other, 200)}"}

  defp flagged(:started, _json), do: :started
  defp flagged({:sent, _args, :started} = started, _json), do: started

  # An answer of the cache was sent to no tool.
  defp flagged({:sent, _args, outcome}, %{"cached" => true} = json), do: flagged(outcome, json)

  defp flagged(outcome, json) do
    outcome = if json["cached"] == true, do: {:cached, outcome}, else: outcome
    if json["beyond"] == true, do: {:beyond, outcome}, else: outcome
  end
end

defmodule PtcRunner.Json.Run.Rounds.Loop do
  @moduledoc false
  # What follows from all rounds of a loop whose rounds overlap.

  alias PtcRunner.Json.{Deadline, Tools}
  alias PtcRunner.Json.Run.Reply
  require Reply

  @doc """
  The value of a loop over this list, from those of its rounds, by their numbers.

      iex> PtcRunner.Json.Run.Rounds.Loop.value("reject", [:a, :b, :c], %{0 => true, 1 => nil, 2 => false})
      [:b, :c]

  """
  @spec value(String.t(), [term()], %{non_neg_integer() => term()}) :: [term()]
  def value(loop, list, values) when loop in ["filter", "reject"] do
    for {item, index} <- Enum.with_index(list),
        Map.fetch!(values, index) in [nil, false] == (loop == "reject"),
        do: item
  end

  def value(_loop, list, values),
    do: for({_, i} <- Enum.with_index(list), do: Map.fetch!(values, i))

  # The most rounds that are on their way because their calls are going to be made together.
  @most_ahead 20_000

  @doc """
  How many rounds are on their way at most, with these tools, of which so many run at a time.

      iex> PtcRunner.Json.Run.Rounds.Loop.ahead(%{}, 4)
      4

      iex> PtcRunner.Json.Run.Rounds.Loop.ahead(%{"find" => %{batch: 100}, "pay" => %{batch: nil}}, 1)
      200

  """
  @spec ahead(Tools.settings(), pos_integer()) :: pos_integer()
  def ahead(settings, most) do
    lists = for {_name, %{batch: most}} when most != nil <- settings, do: most
    if lists == [], do: most, else: min((most + 1) * Enum.max(lists), @most_ahead)
  end

  @doc """
  The answer of a call is the value of its round, of which nothing is left: what all such answers take is counted here. Returns the value with its words, or
  the error of the heap limit.
  """
  @spec last(map(), tuple(), term(), non_neg_integer(), non_neg_integer()) ::
          {{:ok, term(), non_neg_integer()} | {:error, :memory_exceeded}, map()}
  def last(rounds, Reply.last(built: built), value, words, max_heap) do
    all = rounds.words + words

    if max_heap > 0 and built + all > max_heap,
      do: {{:error, :memory_exceeded}, rounds},
      else: {{:ok, value, words}, %{rounds | words: all}}
  end

  @doc "The next time at which a call is late, or the run."
  @spec next_deadline(map()) :: Deadline.t()
  def next_deadline(%{control: nil, deadline: deadline}), do: deadline

  def next_deadline(%{waiting: waiting, deadline: deadline}) do
    Enum.reduce(waiting, deadline, fn {_round, {_call, _process, _span, {_running, until}}},
                                      next ->
      min(until, next)
    end)
  end
end

defmodule PtcRunner.Json.Move do
  @moduledoc false
  # Decides when a run moves to the process of its tools. After the move, a call is a function call, but the
  # terms that the rest of the run needs must be copied. Messages copy only arguments and answers.
  #
  # A run moves as soon as the messages that it has sent, and those that it is certain to send, cost
  # as much as the copy. So it never costs more than twice as much as the better choice,
  # whatever calls follow.

  alias PtcRunner.Native
  alias PtcRunner.Sandbox.{Guarded, Weight}

  # Cost of a call by message beyond a function call, in words weighed and copied.
  @words_per_call 256

  # Maximum words of a copy; the heap limit applies too. If the run is sent to a process that
  # already has tools' data, only a part of that is allowed: the message arrives before the process's limit
  # is raised.
  @most 4_000_000
  @part_of_limit 4

  # Words that the run itself uses between two garbage collections.
  @own 4_096

  @doc """
  The number of words by which the process's heap limit grows for a run that has moved and built this many
  words: live data is on a heap twice during a garbage collection.

      iex> PtcRunner.Json.Move.room(1_000, 0) > 2_000
      true

  """
  @spec room(non_neg_integer(), non_neg_integer()) :: non_neg_integer()
  def room(moved, built), do: 2 * (moved + built) + @own

  @doc """
  At the call number `count` of a run: `{:move, terms, words}` with the terms that the run takes along and the
  words of their copy, or `:stay`. It weighs at the first, second, fourth, … call: all these together cost as
  much as the last two.
  """
  @spec pack(reference(), tuple(), term(), Guarded.max_heap(), pos_integer()) ::
          {:move, tuple(), non_neg_integer()} | :stay
  def pack(state, terms, args, max_heap, count) when :erlang.band(count, count - 1) == 0 do
    case Native.pack(state, terms, args, count - 1, {@words_per_call, most(max_heap, count)}) do
      {terms, {:ok, words}, _limit} -> {:move, terms, words}
      {_terms, :too_much, _limit} -> :stay
      {terms, _not_known_yet, limit} -> weigh(terms, args, limit)
    end
  end

  def pack(_state, _terms, _args, _max_heap, _count), do: :stay

  defp weigh(terms, args, limit) do
    case Weight.of([terms | args], limit) do
      {:ok, words} -> {:move, terms, words}
      :too_much -> :stay
    end
  end

  defp most(0, _count), do: @most
  defp most(max_heap, 1), do: min(max_heap, @most)
  defp most(max_heap, _count), do: min(div(max_heap, @part_of_limit), @most)
end

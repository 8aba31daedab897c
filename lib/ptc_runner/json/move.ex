defmodule PtcRunner.Json.Move do
  @moduledoc false
  # When a run moves to the process of its tools. There a call is a function call, but what the rest
  # of the run needs must be copied. Asking by message copies only arguments and answers.
  #
  # A run moves as soon as the messages that it has sent, and those that it is certain to send, would
  # have cost as much as the copy. So it never costs more than twice what the better choice would have
  # cost, whatever is still to come.

  alias PtcRunner.Native
  alias PtcRunner.Sandbox.{Guarded, Weight}

  # What a call by message costs beyond a function call, in words weighed and copied.
  @words_per_call 256

  # A copy takes at most so many words, and no more than the heap limit. What comes as a message to a
  # process that has tools' data already may only be a part of that: it is there before its limit is
  # set.
  @most 4_000_000
  @part_of_limit 4

  # What the run itself takes between two collections.
  @own 4_096

  @doc """
  By how many words the limit of the process's heap grows for a run that has moved so many words and
  built so many: what lives stands on a heap twice while it is collected.

      iex> PtcRunner.Json.Move.room(1_000, 0) > 2_000
      true

  """
  @spec room(non_neg_integer(), non_neg_integer()) :: non_neg_integer()
  def room(moved, built), do: 2 * (moved + built) + @own

  @doc """
  At the `count`th call of a run: `{:move, terms, words}` with the terms that go along and what a copy
  of them takes, or `:stay`. It looks at the first, second, fourth, … call: all looks together cost as
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

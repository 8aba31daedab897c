defmodule PtcRunner.Json.Run.Turn do
  @moduledoc false
  # The ids of the calls of a run that goes through its loops in turn: a call of such a loop has the id that it would have if the rounds were
  # runs of their own, so that they can become these where one waits for a person.

  alias PtcRunner.Json.Entry
  alias PtcRunner.Json.Run.Reply

  @typedoc """
  The id of the next call that comes after the loop, or that of the loop, once it has called a tool; and the loop, with the round and the number
  of its last call; nil outside of a loop.
  """
  @type t ::
          {pos_integer(), nil | {loop :: Reply.t(), round :: integer(), non_neg_integer()}}

  @doc "A loop begins."
  @spec begin(t(), Reply.t()) :: t()
  def begin({id, before}, loop), do: {after_loop(id, before), {loop, -1, 0}}

  @doc "Loops that the run went through are over, because it is at another one."
  @spec over(t()) :: t()
  def over({id, before}), do: {after_loop(id, before), nil}

  @doc """
  The id of the next call, in this round of the loop, or in none.

      iex> alias PtcRunner.Json.Run.Turn
      iex> ids = fn at, rounds -> Enum.map_reduce(rounds, at, &Turn.next(&2, &1)) |> elem(0) end
      iex> ids.({1, nil}, [nil, nil])
      [1, 2]
      iex> ids.(Turn.begin({1, nil}, {:fork}), [0, 0, 2, nil])
      [{1, 0, 1}, {1, 0, 2}, {1, 2, 1}, 2]
      iex> ids.(Turn.begin({1, nil}, {:fork}), [nil])
      [1]

  """
  @spec next(t(), non_neg_integer() | nil) :: {Entry.id(), t()}
  def next({id, nil}, nil), do: {id, {id + 1, nil}}

  def next({id, before}, nil) do
    id = after_loop(id, before)
    {id, {id + 1, nil}}
  end

  def next({id, {loop, round, number}}, round), do: called(id, loop, round, number + 1)
  def next({id, {loop, _before, _number}}, round), do: called(id, loop, round, 1)

  defp called(id, loop, round, number),
    do: {{id, round, number}, {id, {loop, round, number}}}

  # A loop that has called no tool has no id.
  defp after_loop(id, nil), do: id
  defp after_loop(id, {_loop, -1, 0}), do: id
  defp after_loop(id, _loop), do: id + 1
end

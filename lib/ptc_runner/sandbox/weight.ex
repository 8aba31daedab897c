defmodule PtcRunner.Sandbox.Weight do
  @moduledoc false
  # What a copy of a term takes, found out before it is copied: sending a term to another process
  # copies each part as often as it is used, in one go that nothing can interrupt. A small term whose
  # parts are shared can so stand for one that no memory holds.

  alias PtcRunner.Native
  alias PtcRunner.Sandbox.Guarded

  # 32 GiB: what is larger is not copied, whatever the limit.
  @most 0x1_0000_0000

  @doc """
  The words of a copy of `term`, or `:too_much` if they are more than `max_heap` (0: no limit, which
  stands for 2^32 words).

  The walk ends where the limit is passed. It runs in slices and quanta, so a process that weighs can
  be killed.

      iex> PtcRunner.Sandbox.Weight.of(%{"n" => [1, 2]}, 0)
      {:ok, 13}

      iex> twice = Enum.reduce(1..60, [], fn _, x -> [x, x] end)
      iex> PtcRunner.Sandbox.Weight.of(twice, 1_000)
      :too_much

  """
  @spec of(term(), Guarded.max_heap()) :: {:ok, non_neg_integer()} | :too_much
  def of(term, max_heap) do
    limit = limit(max_heap)

    case Native.weigh_now([term], 0, limit) do
      words when is_integer(words) -> {:ok, words}
      other -> go_on(other, limit)
    end
  end

  @doc """
  The words that `of/2` allows.

      iex> PtcRunner.Sandbox.Weight.limit(1_000)
      1_000

  """
  @spec limit(Guarded.max_heap()) :: pos_integer()
  def limit(0), do: @most
  def limit(max_heap), do: max_heap

  defp go_on(words, _limit) when is_integer(words), do: {:ok, words}
  defp go_on(:too_much, _limit), do: :too_much

  defp go_on({:funs, funs, words}, limit),
    do: funs |> with_closed_over([]) |> Native.weigh_now(words, limit) |> go_on(limit)

  defp go_on({:more, pending, funs, words}, limit),
    do: funs |> with_closed_over(pending) |> Native.weigh_dirty(words, limit) |> go_on(limit)

  defp with_closed_over(funs, pending) do
    Enum.reduce(funs, pending, fn fun, pending ->
      {:env, terms} = :erlang.fun_info(fun, :env)
      [terms | pending]
    end)
  end
end

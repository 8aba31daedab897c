defmodule PtcRunner.Sandbox.Weight do
  @moduledoc false
  # Counts the words of a copy of a term before it is copied. Sending a term to another process
  # copies each part as often as it is used, and nothing can interrupt the copy. A small term with
  # shared parts can stand for one that does not fit into any memory.

  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.Native.{NativeRecord, Panic}
  alias PtcRunner.Sandbox.Guarded
  require Quanta

  # 32 GiB: larger terms are not copied, whatever the limit.
  @most 0x1_0000_0000
  @small 0x7FF_FFFF_FFFF_FFFF

  @doc """
  Whether the term takes no words of its own: a guard, for values that need no walk.

      iex> require PtcRunner.Sandbox.Weight
      iex> for term <- [nil, 1, [], 1.5], do: PtcRunner.Sandbox.Weight.is_immediate(term)
      [true, true, true, false]

  """
  defguard is_immediate(term)
           when is_atom(term) or term == [] or
                  (is_integer(term) and term >= -@small and term <= @small)

  @doc """
  Whether a run has built so few words that they hardly make the VM collect garbage.

      iex> import PtcRunner.Sandbox.Weight
      iex> for words <- [1_000, 1_001], do: is_little(words)
      [true, false]

  """
  defguard is_little(words) when words <= 1_000

  @doc """
  The words of a copy of `term`, or `:too_much` if they are more than `max_heap` (0: no limit, which
  stands for 2^32 words).

  The walk ends as soon as the limit is exceeded: a million words take some milliseconds. If the walk takes
  longer than one millisecond, it runs on a dirty scheduler, and ends if the weighing process is killed.

      iex> PtcRunner.Sandbox.Weight.of(%{"n" => [1, 2]}, 0)
      {:ok, 13}

      iex> twice = Enum.reduce(1..60, [], fn _, x -> [x, x] end)
      iex> PtcRunner.Sandbox.Weight.of(twice, 1_000)
      :too_much

  """
  @spec of(term(), Guarded.max_heap()) :: {:ok, non_neg_integer()} | :too_much
  # Small terms need no walk: they include most arguments, and many answers.
  def of(term, _max_heap) when is_immediate(term), do: {:ok, 0}
  def of(term, _max_heap) when term == %{}, do: {:ok, 3}
  def of(term, _max_heap) when is_float(term), do: {:ok, 2}
  # What most tools of PTC-Lisp answer. It is less than each limit.
  def of({tag, value}, _max_heap) when is_atom(tag) and is_immediate(value), do: {:ok, 3}

  def of(term, max_heap), do: weigh([term], 0, limit(max_heap))

  @doc """
  Like `of/2`, with the error of a run that exceeds its limit, or whose native library fails.

      iex> PtcRunner.Sandbox.Weight.within(Enum.to_list(1..1_000), 1_000)
      {:error, :memory_exceeded}

  """
  @spec within(term(), Guarded.max_heap()) ::
          {:ok, non_neg_integer()}
          | {:error, :memory_exceeded | {:execution_error, String.t()}}
  def within(term, max_heap) do
    with :too_much <- of(term, max_heap), do: {:error, :memory_exceeded}
  catch
    :error, reason -> Panic.error(reason, __STACKTRACE__)
  end

  @doc """
  The maximum number of words that `of/2` allows.

      iex> PtcRunner.Sandbox.Weight.limit(1_000)
      1_000

  """
  @spec limit(Guarded.max_heap()) :: pos_integer()
  def limit(0), do: @most
  def limit(max_heap), do: max_heap

  defp weigh(pending, words, limit) do
    with {:opaque, terms, words} <- Quanta.run(Native.weigh(pending, words, limit)),
         do: terms |> Enum.map(&parts/1) |> weigh(words, limit)
  end

  # The parts of a term that native code cannot read.
  defp parts(fun) when is_function(fun) do
    {:env, terms} = :erlang.fun_info(fun, :env)
    terms
  end

  defp parts(bits) when is_bitstring(bits), do: []

  # The definition of a native record has the names of its fields.
  defp parts(unknown), do: [NativeRecord.names(unknown) | NativeRecord.values(unknown)]
end

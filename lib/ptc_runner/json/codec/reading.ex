defmodule PtcRunner.Json.Codec.Reading do
  @moduledoc false
  # Reads a JSON text as terms within a limit of memory.
  #
  # Terms that are made natively stand beside the heap of their process until the VM collects garbage. Then it takes memory for them up to
  # five times: where they are, for those that will stay, and for all, each grown by a step. So a text whose terms may come near the limit is
  # measured first, which builds nothing. If they fit, the heap is made large enough for all of them, and they are built in it.

  alias PtcRunner.{Aligned, Native, Quanta}
  alias PtcRunner.Json.Deadline
  alias PtcRunner.Native.Types
  alias PtcRunner.Sandbox.Guarded
  require Quanta

  # A text of this many bytes for a word of the limit takes no more memory than the limit, however it is built.
  @words_per_byte 16
  # Terms may take so many times their words while they are built.
  @times 5
  # Terms of so few words are built in less time than the heap is made larger.
  @few 4_096

  @typedoc "Nested brackets, and the limits of time and words."
  @type limits ::
          {depth :: non_neg_integer() | :infinity, timeout(), max_heap :: non_neg_integer()}

  @doc """
  The value of a text, or the reply of the native function with the error.

      iex> alias PtcRunner.Json.Codec.Reading
      iex> Reading.read("[1, 2.5]", {:infinity, 1_000, 0})
      {:ok, [1, 2.5]}
      iex> Reading.read("[1,]", {:infinity, 1_000, 0})
      {:error, {:unexpected_token, 3}}
      iex> Reading.read("[" <> String.duplicate("1,", 10_000) <> "1]", {:infinity, 1_000, 1_000})
      {:error, :memory_exceeded}

  """
  @spec read(binary(), limits()) :: {:ok, term()} | {:error, tuple() | Types.limit()}
  def read(text, {depth, timeout, max_heap})
      when max_heap == 0 or byte_size(text) * @words_per_byte <= max_heap,
      do: build(Aligned.text(text), {depth, timeout, max_heap})

  def read(text, {depth, timeout, max_heap}) do
    deadline = Deadline.from_now(timeout)
    text = Aligned.text(text)

    with {:ok, {_words, held}} <- measure(text, {depth, timeout, max_heap}) do
      limits = {depth, Deadline.left(deadline), 0}

      if held > @few and held * @times > max_heap,
        do: with_room(held, fn -> build(text, limits) end),
        else: build(text, limits)
    end
  end

  @doc """
  What is wrong with a text that is no JSON; nil for one that is, or if that is not known in this time. Nothing is built.

      iex> alias PtcRunner.Json.Codec.Reading
      iex> for text <- ["[1, 2]", "[1,,2]", "[1] ]", "so [1]"], do: Reading.fault(text, 1_000)
      [nil, {:unexpected_token, 3}, {:unexpected_token, 4}, {:unexpected_token, 0}]

  """
  @spec fault(binary(), timeout()) :: tuple() | nil
  def fault(text, timeout) do
    case measure(Aligned.text(text), {:infinity, timeout, 0}) do
      {:error, detail} when is_tuple(detail) -> detail
      _valid_or_unknown -> nil
    end
  end

  defp measure(text, {depth, timeout, max_heap}),
    do: Quanta.finish(Quanta.native(Native.json_measure(text, depth, {timeout, max_heap})))

  defp build(text, {depth, timeout, max_heap}) do
    reply = Quanta.native(Native.json_decode(text, depth, {timeout, max_heap}))
    Quanta.finish(reply, byte_size(text))
  end

  # A heap that is larger than the new terms is not copied for them, and a process with a limit is not given more than it takes.
  defp with_room(words, fun) do
    {:total_heap_size, size} = Process.info(self(), :total_heap_size)

    if size > words or Guarded.limited?() do
      fun.()
    else
      least = Process.flag(:min_heap_size, size + words)

      try do
        :erlang.garbage_collect()
        fun.()
      after
        Process.flag(:min_heap_size, least)
      end
    end
  end
end

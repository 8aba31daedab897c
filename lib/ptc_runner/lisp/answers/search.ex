defmodule PtcRunner.Lisp.Answers.Search do
  @moduledoc false
  # Searches of regular expressions end at the deadline of their run.
  #
  # The matcher counts its steps anew at each place where a match may begin. So a search of a text may take as many times
  # `match_limit` steps as the text has bytes: seconds. The search of a longer text runs in a process of its own, which is
  # killed when the time is over. A short text is searched at once, because the process costs more than most searches.

  alias PtcRunner.Json.Deadline
  alias PtcRunner.Sandbox.Guarded

  # Bytes: at most some tens of milliseconds.
  @short 128

  # Words that the process needs beside what it builds.
  @room 2_000

  @typedoc "When the search ends, in milliseconds, and the words that it may build; 0 stands for no limit."
  @type limits :: {until :: integer() | :infinity, Guarded.max_heap()}

  @doc """
  What `fun` makes of the text, or `{:error, :timeout}`, or `{:error, :memory_exceeded}`.

      iex> alias PtcRunner.Lisp.Answers.Search
      iex> Search.within("abc", {:infinity, 0}, &{:ok, String.upcase(&1)})
      {:ok, "ABC"}
      iex> long = String.duplicate("a", 1_000)
      iex> Search.within(long, {System.monotonic_time(:millisecond), 0}, fn _ -> Process.sleep(:infinity) end)
      {:error, :timeout}

  """
  @spec within(String.t(), limits(), (String.t() -> found)) ::
          found | {:error, :timeout | :memory_exceeded}
        when found: {:ok, term()} | {:error, atom()}
  def within(text, {until, _max_heap}, fun) when byte_size(text) <= @short or until == :infinity,
    do: fun.(text)

  def within(text, {until, max_heap}, fun) do
    heap = if max_heap > 0, do: Guarded.sum(max_heap, @room), else: 0
    left = Deadline.left(until)

    case Guarded.call(heap, left, fun, text) do
      {:ok, found} -> found
      {:exit, reason} -> ended(Guarded.ended(reason, heap))
      :timeout -> {:error, :timeout}
    end
  end

  defp ended(:memory_exceeded), do: {:error, :memory_exceeded}
  defp ended({:execution_error, text}), do: raise("a search has ended: #{text}")
end

defmodule PtcRunner.Sandbox do
  @moduledoc """
  Evaluates a program's AST under a time and a heap limit.

  The evaluator of this library runs natively in the calling process. Its time and the words
  that it builds are counted; the caller's own data does not count. Only tools run in a process of
  their own. An evaluator given as `:eval_fn` runs in a separate, monitored process with `max_heap`
  as its `max_heap_size` (binaries outside of the heap do not count). That process has `$callers`
  set and does not outlive the caller.

  No message is left in the caller's mailbox: an answer that arrives after the timeout is dropped.
  """

  alias PtcRunner.Context
  alias PtcRunner.Json.{Interpreter, Limits, Runner}
  alias PtcRunner.Options
  alias PtcRunner.Sandbox.{Guarded, Weight}
  require Guarded

  @options %{timeout: :timeout, max_heap: :max_heap, eval_fn: {:function, 2}}

  @default_timeout Limits.default_timeout()
  @default_max_heap Limits.default_max_heap()
  @bytes_per_word 8

  @typedoc "Milliseconds of real time; bytes built by the native evaluator, or held by the process."
  @type metrics :: %{duration_ms: non_neg_integer(), memory_bytes: non_neg_integer()}

  @typedoc "Receives the AST and the context; the third element of its result is the memory."
  @type eval_fn :: (term(), Context.t() -> {:ok, term(), map()} | {:error, term()})

  @type option ::
          {:timeout, timeout()} | {:max_heap, non_neg_integer()} | {:eval_fn, eval_fn()}

  @doc """
  Evaluates `ast` in `context`. The AST is not validated first.

  Options:

    * `:timeout` - milliseconds or `:infinity`, by default #{@default_timeout}
    * `:max_heap` - words, 0 for no limit, by default #{@default_max_heap}
    * `:eval_fn` - the evaluator, by default `PtcRunner.Json.Interpreter.eval/2`

  Errors are those of the evaluator, `{:timeout, milliseconds}`, `{:memory_exceeded, bytes}` and
  `{:execution_error, "Process terminated: ..."}` for any other end of the process. The VM reports
  the same reason for a process that was killed and for one that exceeded its heap limit. If there is a
  limit, both are `:memory_exceeded`.

  Raises `ArgumentError` for unknown options, and for a timeout or a heap limit that
  the VM rejects, such as negative ones.

      iex> ast = %{"op" => "add", "left" => 40, "right" => 2}
      iex> {:ok, value, metrics, memory} = PtcRunner.Sandbox.execute(ast, PtcRunner.Context.new())
      iex> {value, Enum.sort(Map.keys(metrics)), memory}
      {42, [:duration_ms, :memory_bytes], %{}}

      iex> forever = fn _ast, _context -> Process.sleep(:infinity) end
      iex> PtcRunner.Sandbox.execute(%{}, PtcRunner.Context.new(), eval_fn: forever, timeout: 10)
      {:error, {:timeout, 10}}

  """
  @spec execute(term(), Context.t(), [option()]) ::
          {:ok, term(), metrics(), map()} | {:error, term()}
  def execute(ast, context, opts \\ []) do
    Options.check!(opts, @options, "PtcRunner.Sandbox.execute/3")
    timeout = Keyword.get(opts, :timeout, @default_timeout)
    max_heap = Keyword.get(opts, :max_heap, @default_max_heap)
    eval_fn = Keyword.get(opts, :eval_fn, &Interpreter.eval/2)
    began_at = System.monotonic_time()

    if eval_fn == (&Interpreter.eval/2) do
      with {:ok, value, words} <- Runner.execute(ast, context, timeout, max_heap) do
        {:ok, value, metrics(began_at, words * @bytes_per_word), context.memory}
      end
    else
      with {:ok, value, memory, bytes} <- guarded(eval_fn, ast, context, timeout, max_heap) do
        {:ok, value, metrics(began_at, bytes), memory}
      end
    end
  end

  defp metrics(began_at, bytes) do
    duration = System.monotonic_time() - began_at
    ms = System.convert_time_unit(duration, :native, :millisecond)
    %{duration_ms: ms, memory_bytes: bytes}
  end

  defp guarded(eval_fn, ast, context, timeout, max_heap) do
    ref = :erlang.alias([:reply])
    arg = {ref, eval_fn, ast, context, max_heap}
    {pid, monitor} = Guarded.start(max_heap, ref, &__MODULE__.evaluate/1, arg)

    Guarded.await do
      {^ref, :too_much, _bytes} ->
        Guarded.release(monitor)
        {:error, {:memory_exceeded, Weight.limit(max_heap) * @bytes_per_word}}

      {^ref, {:result, result}, bytes} ->
        Guarded.release(monitor)
        result(result, bytes)

      {^ref, ^monitor, :process, _pid, reason} ->
        {:error, ended(reason, max_heap)}
    after
      timeout ->
        Guarded.stop(pid, monitor)
        Guarded.drop(ref)
        {:error, {:timeout, timeout}}
    end
  end

  @doc false
  def evaluate(arg) do
    # The context may be more than the limit of this process.
    Guarded.settle()
    evaluated(arg)
  end

  defp evaluated({reply_to, eval_fn, ast, context, max_heap}) do
    result = eval_fn.(ast, context)

    # Sending copies the result, including its shared parts.
    answer = with {:ok, _words} <- Weight.of(result, max_heap), do: {:result, result}
    {:memory, bytes} = Process.info(self(), :memory)
    send(reply_to, {reply_to, answer, bytes})
  catch
    # Exits with these reasons, which only the monitor receives: otherwise the VM would log a crash.
    :error, reason -> exit({reason, __STACKTRACE__})
    :throw, value -> exit({{:nocatch, value}, __STACKTRACE__})
  end

  defp result({:ok, value, memory}, bytes), do: {:ok, value, memory, bytes}
  defp result({:error, reason}, _bytes), do: {:error, reason}

  defp result(other, _bytes) do
    text = Guarded.text(fn -> PtcRunner.Shown.text(other) end)
    {:error, {:execution_error, "Evaluator returned neither a result nor an error: #{text}"}}
  end

  defp ended(reason, max_heap) do
    case Guarded.ended(reason, max_heap) do
      :memory_exceeded -> {:memory_exceeded, max_heap * @bytes_per_word}
      error -> error
    end
  end
end

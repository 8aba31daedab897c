defmodule PtcRunner.Sandbox.Guarded do
  @moduledoc false
  # A process that runs foreign code for the calling process. The caller monitors it; it has a heap
  # limit, `$callers` and the Logger's metadata. It is killed when the caller ends, for whatever
  # reason, see `PtcRunner.Native.Reaper`.
  # Processes that the code itself starts are not guarded; their links work as usual.

  alias PtcRunner.{Native, Shown}
  alias PtcRunner.Native.{ErrorHandler, Panic}
  alias PtcRunner.Native.Telemetry.Ids

  # The largest timeout of a receive and the largest small integer.
  @max_timeout 0xFFFF_FFFF
  @max_words 0x7FF_FFFF_FFFF_FFFF

  # At least the reductions of one turn of a process.
  @turn 4_000

  @typedoc "Words of a heap; 0 stands for no limit."
  @type max_heap :: non_neg_integer()

  @doc """
  Rejects, in the calling process, a timeout that the VM rejects.

      iex> PtcRunner.Sandbox.Guarded.check_timeout!(1_000)
      :ok

      iex> PtcRunner.Sandbox.Guarded.check_timeout!(-1)
      ** (ArgumentError) timeout must be milliseconds from 0 to 4294967295 or :infinity, got: -1

  """
  @spec check_timeout!(timeout()) :: :ok
  def check_timeout!(value) do
    if timeout?(value) do
      :ok
    else
      raise ArgumentError,
            "timeout must be milliseconds from 0 to #{@max_timeout} or :infinity, " <>
              "got: #{Shown.text(value)}"
    end
  end

  @doc "Whether the VM accepts the term as a timeout."
  @spec timeout?(term()) :: boolean()
  def timeout?(:infinity), do: true
  def timeout?(ms), do: is_integer(ms) and ms >= 0 and ms <= @max_timeout

  @doc "The longest timeout, in milliseconds."
  @spec max_timeout() :: pos_integer()
  def max_timeout, do: @max_timeout

  @doc """
  Rejects, in the calling process, a heap limit that the VM rejects.

      iex> PtcRunner.Sandbox.Guarded.check_max_heap!(0)
      :ok

      iex> PtcRunner.Sandbox.Guarded.check_max_heap!(100)
      ** (ArgumentError) max_heap must be 0 (no limit) or at least 233 words, got: 100

  """
  @spec check_max_heap!(max_heap()) :: :ok
  def check_max_heap!(words) do
    if max_heap?(words) do
      :ok
    else
      raise ArgumentError,
            "max_heap must be 0 (no limit) or at least #{least_heap()} words, " <>
              "got: #{Shown.text(words)}"
    end
  end

  @doc "Whether the VM accepts the term as a heap limit; 0 stands for no limit."
  @spec max_heap?(term()) :: boolean()
  def max_heap?(0), do: true

  def max_heap?(words),
    do: is_integer(words) and words >= least_heap() and words <= @max_words

  @doc "The least number of words that a heap can be limited to."
  @spec least_heap() :: pos_integer()
  def least_heap do
    {:min_heap_size, least} = :erlang.system_info(:min_heap_size)
    least
  end

  @doc """
  Starts a process that calls `fun` with `arg`; returns its pid and its monitor. If `fun` returns `:killed`,
  processes that are linked to the process end with it. A remote function (`&Module.name/1`) costs least.

  The message of the monitor has `tag` in place of `:DOWN`. If the process replies under the
  same reference, one receive waits for this reference only, and the VM skips all older messages.
  """
  @spec start(max_heap(), reference(), (term() -> term()), term(), [
          {:min_heap_size, pos_integer()}
        ]) ::
          {pid(), reference()}
  def start(max_heap, tag, fun, arg, opts \\ []) do
    callers = Process.get(:"$callers") || []
    context = {:logger.get_process_metadata(), Ids.known()}

    :erlang.spawn_opt(__MODULE__, :init, [self(), callers, context, fun, arg], [
      {:monitor, [tag: tag]},
      {:max_heap_size, limit(max_heap)} | opts
    ])
  end

  @doc """
  Sets the heap limit of the calling process to `max_heap` and `more` words.
  """
  @spec allow(max_heap(), non_neg_integer()) :: :ok
  def allow(0, _more), do: :ok

  def allow(max_heap, more) do
    Process.flag(:max_heap_size, limit(sum(max_heap, more)))
    :ok
  end

  @doc """
  The sum of a limit and `more` words, but at most what the VM accepts.

      iex> PtcRunner.Sandbox.Guarded.sum(1_000, 24)
      1024

  """
  @spec sum(pos_integer(), non_neg_integer()) :: pos_integer()
  def sum(max_heap, more), do: min(max_heap + more, @max_words)

  defp limit(words), do: %{size: words, kill: true, error_logger: false}

  @doc false
  def init(caller, callers, context, fun, arg) do
    # This comes first, because the code that runs here may never return.
    case guard(caller) do
      :ok ->
        [caller | callers] |> run(context, fun, arg) |> ended()

      :none ->
        :erlang.spawn(__MODULE__, :watch, [caller, self()])
        [caller | callers] |> run(context, fun, arg) |> ended()

      :gone ->
        :ok
    end
  end

  # Outside of `run/4`, whose handlers make an exit cost more.
  defp ended(:killed), do: exit(:killed)
  defp ended(_result), do: :ok

  defp guard(caller) do
    Native.guard(caller)
  catch
    # The native module has been deleted.
    :error, :undef -> :none
  end

  # The VM logs what a process raises, with the arguments of the call. They are the terms of a run.
  defp run(callers, {metadata, ids}, fun, arg) do
    ErrorHandler.install()
    Process.put(:"$callers", callers)
    if metadata != :undefined, do: :logger.set_process_metadata(metadata)
    if ids != nil, do: Ids.put(ids)
    fun.(arg)
  catch
    :error, :nif_panicked -> exit({__MODULE__, Panic.caught()})
    :error, reason -> exit({reason, Enum.map(__STACKTRACE__, &without_args/1)})
  end

  defp without_args({module, function, args, place}) when is_list(args),
    do: {module, function, length(args), Keyword.take(place, [:file, :line])}

  defp without_args(call), do: call

  @doc """
  A `receive` of a process that may have a heap limit, in its own code or in that of its tools: see `settle/0`.

      require Guarded

      Guarded.await do
        {^ref, reply} -> reply
      after
        1_000 -> :timeout
      end

  """
  defmacro await(clauses) do
    quote do
      PtcRunner.Sandbox.Guarded.settle()
      receive(unquote(clauses))
    end
  end

  @doc """
  What `fun` returns for `arg` in such a process, within `timeout` milliseconds. No process and no message is left.

      iex> PtcRunner.Sandbox.Guarded.call(0, 60_000, &String.upcase/1, "a")
      {:ok, "A"}

      iex> PtcRunner.Sandbox.Guarded.call(0, 1, &Process.sleep/1, :infinity)
      :timeout

  """
  @spec call(max_heap(), timeout(), (term() -> value), term()) ::
          {:ok, value} | {:exit, reason :: term()} | :timeout
        when value: term()
  def call(max_heap, timeout, fun, arg) do
    ref = :erlang.alias([:reply])
    {pid, monitor} = start(max_heap, ref, &__MODULE__.reply/1, {ref, fun, arg})

    await do
      {^ref, value} ->
        leave(pid, monitor)
        {:ok, value}

      {^ref, ^monitor, :process, _pid, reason} ->
        :erlang.unalias(ref)
        forget(pid)
        {:exit, reason}
    after
      timeout ->
        stop(pid, monitor)
        drop(ref)
        :timeout
    end
  end

  @doc false
  def reply({reply_to, fun, arg}) do
    settle()
    send(reply_to, {reply_to, fun.(arg)})
  end

  @doc """
  Ends a process whose heap has been found to exceed its limit. It comes directly before each `receive`, see `await/1`, and
  before the functions of others are called.

  The VM marks such a process when it collects garbage. Until OTP 25.2 the process goes on until the end of its turn, which may be
  thousands of reductions later (OTP-18463, mended in later releases). If it reaches a `receive` before, it never ends and holds its
  scheduler for ever. If its turn ends within two `try` that it has entered meanwhile, the VM ends.

      iex> PtcRunner.Sandbox.Guarded.settle()
      :ok

  """
  @spec settle() :: :ok
  def settle, do: if(exiting?(), do: yield(), else: :ok)

  # The first call says what is known. As it returns, the VM collects garbage that has to be collected; it would in the receive. The
  # second call tells what was found. This `try` is left before the turn ends.
  defp exiting? do
    Native.exiting() or Native.exiting()
  catch
    # The native module has been deleted.
    :error, :undef -> false
  end

  @doc """
  Whether the calling process has a limit on its heap.

      iex> PtcRunner.Sandbox.Guarded.limited?()
      false

  """
  @spec limited?() :: boolean()
  def limited?, do: not match?({_, %{size: 0}}, Process.info(self(), :max_heap_size))

  # Ends this turn of the process, which is the last one.
  defp yield do
    :erlang.bump_reductions(@turn)
    settle()
  end

  @doc false
  def watch(caller, guarded) do
    caller_monitor = Process.monitor(caller)
    guarded_monitor = Process.monitor(guarded)

    receive do
      {:DOWN, ^caller_monitor, :process, _pid, _reason} -> Process.exit(guarded, :kill)
      {:DOWN, ^guarded_monitor, :process, _pid, _reason} -> :ok
    end
  end

  @doc """
  Removes a monitor, and its message if it has arrived. `Process.demonitor(monitor, [:flush])` has a `receive` of its own,
  see `settle/0`.

      iex> {_pid, monitor} = spawn_monitor(fn -> :ok end)
      iex> PtcRunner.Sandbox.Guarded.release(monitor)
      :ok

  """
  @spec release(reference()) :: :ok
  def release(monitor) do
    if :erlang.demonitor(monitor, [:info]) do
      :ok
    else
      await do
        {_tag, ^monitor, :process, _pid, _reason} -> :ok
      after
        0 -> :ok
      end
    end
  end

  @doc """
  Kills the process and removes its monitor. A message of the process may still arrive.
  """
  @spec stop(pid(), reference()) :: :ok
  def stop(pid, monitor) do
    # In this order: the monitor must not report the kill.
    release(monitor)
    Process.exit(pid, :kill)
    forget(pid)
  end

  @doc """
  Removes the monitor of a process that has sent its last message and ends by itself. To kill it costs more.
  """
  @spec leave(pid(), reference()) :: :ok
  def leave(pid, monitor) do
    release(monitor)
    forget(pid)
  end

  @doc """
  Call this for a process whose end the monitor has reported.
  """
  @spec forget(pid()) :: :ok
  def forget(pid) do
    Native.unguard(pid)
  catch
    # The native module has been deleted.
    :error, :undef -> :ok
  end

  @doc """
  The meaning of the exit reason that the monitor reports.

  The VM gives the same reason, `:killed`, if it ended the process for its heap size and if the
  process was killed by its own code or from outside, and leaves no other trace. If there is a limit,
  `:killed` counts as exceeding it.

      iex> PtcRunner.Sandbox.Guarded.ended(:killed, 1_000)
      :memory_exceeded

      iex> PtcRunner.Sandbox.Guarded.ended({:badarith, [{M, :f, 1, []}]}, 1_000)
      {:execution_error, "Process terminated: :badarith"}

  """
  @spec ended(term(), max_heap()) :: :memory_exceeded | {:execution_error, String.t()}
  def ended(:killed, max_heap) when max_heap > 0, do: :memory_exceeded

  # If the limit is exceeded while a native function returns, the VM may give this reason.
  def ended({:normal, []}, max_heap) when max_heap > 0, do: :memory_exceeded

  def ended({__MODULE__, text}, _max_heap), do: {:execution_error, text}

  def ended(reason, _max_heap) do
    {:execution_error,
     "Process terminated: " <> text(fn -> Shown.text(without_stack(reason)) end)}
  end

  defp without_stack({reason, [{module, function, _arity, location} | _]})
       when is_atom(module) and is_atom(function) and is_list(location),
       do: reason

  defp without_stack(reason), do: reason

  @doc """
  Drops the message of a process that was stopped, a tuple with this alias first; no other one can arrive.

      iex> ref = :erlang.alias([:reply])
      iex> send(ref, {ref, :too_late})
      iex> PtcRunner.Sandbox.Guarded.drop(ref)
      :ok

  """
  @spec drop(reference()) :: :ok
  def drop(ref) do
    :erlang.unalias(ref)

    await do
      message when is_tuple(message) and elem(message, 0) == ref -> :ok
    after
      0 -> :ok
    end
  end

  @doc """
  What a foreign function has raised, thrown or exited with.

      iex> PtcRunner.Sandbox.Guarded.failure(:error, :badarith, [])
      "raised: bad argument in arithmetic expression"

      iex> PtcRunner.Sandbox.Guarded.failure(:throw, 1, [])
      "threw: 1"

  """
  @spec failure(:error | :throw | :exit, term(), Exception.stacktrace()) :: String.t()
  def failure(:error, reason, trace),
    do: "raised: " <> text(fn -> Shown.exception(Exception.normalize(:error, reason, trace)) end)

  def failure(:throw, value, _trace), do: "threw: " <> text(fn -> Shown.text(value) end)
  def failure(:exit, reason, _trace), do: "exited: " <> text(fn -> Shown.text(reason) end)

  @doc """
  The text that `fun` makes of a foreign term: its `Inspect` or `Exception` code may fail.

      iex> PtcRunner.Sandbox.Guarded.text(fn -> throw(:bad_inspect) end)
      "(a term that cannot be shown)"

  """
  @spec text((... -> String.t())) :: String.t()
  def text(fun) do
    case fun.() do
      text when is_binary(text) -> text
      _other -> "(a term that cannot be shown)"
    end
  catch
    _kind, _reason -> "(a term that cannot be shown)"
  end
end

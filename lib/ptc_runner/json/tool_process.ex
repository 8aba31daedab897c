defmodule PtcRunner.Json.ToolProcess do
  @moduledoc false
  # The caller's side of the process in which a run calls its tools: one process for each run, started at
  # the first call, that runs one tool after another. Its heap is limited, each call has a
  # timeout, and it ends with the run or with the caller.
  #
  # Only this process is killed. Processes that a tool started continue unless they are linked to it.
  #
  # No message of this module is left in the caller's mailbox: an answer arrives through an alias that ends
  # with the call, and monitors are flushed. Messages that tools send to the caller stay.

  alias PtcRunner.Json.{Move, MovedRun, ToolWorker}
  alias PtcRunner.Sandbox.Guarded

  @enforce_keys [:max_heap]
  defstruct [:max_heap, :pid, :monitor, :tag, words: 0, known: %{}]

  @typedoc """
  A run's tool process. `pid` is nil before the process starts, `tag` is the tag for the next request,
  `words` is the weight of the last value, and `known` has the names whose functions
  the process has.
  """
  @opaque t :: %__MODULE__{
            max_heap: Guarded.max_heap(),
            pid: pid() | nil,
            monitor: reference() | nil,
            tag: reference() | nil,
            words: non_neg_integer(),
            known: %{String.t() => []}
          }

  @type error :: {:tool_failed | :execution_error, String.t()} | :timeout | :memory_exceeded

  @doc """
  Prepares calls under a heap limit in words (0: none); starts no process.

  Raises `ArgumentError` for a limit that the VM rejects.
  """
  @spec new(Guarded.max_heap()) :: t()
  def new(max_heap) do
    Guarded.check_max_heap!(max_heap)
    %__MODULE__{max_heap: max_heap}
  end

  @doc """
  Calls the tool `fun` with `args`, and waits for at most `timeout` milliseconds.

  The first call of each `name` sends the function to the process; later calls send only the name.
  `words/1` returns the words of the value. After an error other than `:tool_failed` the process has
  ended, or must be stopped.

      iex> tools = PtcRunner.Json.ToolProcess.new(0)
      iex> {result, tools} = PtcRunner.Json.ToolProcess.call(tools, "id", & &1, %{"n" => 1}, 1_000)
      iex> PtcRunner.Json.ToolProcess.stop(tools)
      iex> result
      {:ok, %{"n" => 1}}

  """
  @spec call(t(), String.t(), (term() -> term()), term(), timeout()) ::
          {{:ok, term()} | {:error, error()}, t()}
  def call(t, _name, _fun, _args, timeout) when is_integer(timeout) and timeout <= 0 do
    stop(t)
    {{:error, :timeout}, forget(t)}
  end

  # The first request is passed at the start of the process, which saves a message.
  def call(%__MODULE__{pid: nil} = t, name, fun, args, timeout) do
    ref = :erlang.alias([:reply])
    request = [ref, t.max_heap, name, fun, args]
    {pid, monitor} = Guarded.start(t.max_heap, ref, ToolWorker, :start, request)
    t = %{t | pid: pid, monitor: monitor, known: %{name => []}}

    Guarded.settle()

    receive do
      {^ref, result, tag} -> answered(t, result, tag)
      {^ref, ^monitor, :process, _pid, reason} -> ended(t, reason)
    after
      timeout -> give_up(t, ref)
    end
  end

  def call(%__MODULE__{known: known} = t, name, _fun, args, timeout)
      when is_map_key(known, name),
      do: request(t, name, nil, args, timeout)

  def call(%__MODULE__{known: known} = t, name, fun, args, timeout),
    do: request(%{t | known: Map.put(known, name, [])}, name, fun, args, timeout)

  @doc """
  Calls one tool in a process of its own, which ends with the call; returns the value and its words.

      iex> PtcRunner.Json.ToolProcess.once(0, "id", & &1, 7, 1_000)
      {:ok, {7, 0}}

  """
  @spec once(Guarded.max_heap(), String.t(), (term() -> term()), term(), timeout()) ::
          {:ok, {term(), non_neg_integer()}} | {:error, error()}
  def once(_max_heap, _name, _fun, _args, timeout) when is_integer(timeout) and timeout <= 0,
    do: {:error, :timeout}

  def once(max_heap, name, fun, args, timeout) do
    ref = make_ref()
    request = [self(), ref, max_heap, name, fun, args]
    {pid, monitor} = Guarded.start(max_heap, ref, ToolWorker, :once, request)

    Guarded.settle()

    receive do
      {^ref, result, :done} ->
        Guarded.leave(pid, monitor)
        with {:ok, value, words} <- result, do: {:ok, {value, words}}

      {^ref, ^monitor, :process, _pid, reason} ->
        Guarded.forget(pid)
        {:error, Guarded.ended(reason, max_heap)}
    after
      timeout ->
        stop_sender(pid, monitor, ref)
        {:error, :timeout}
    end
  end

  @doc """
  Moves a run to the process, at a call of the tool `fun`, and waits for its result for at most
  `timeout` milliseconds. `find` returns the functions of other tools that the run calls, or an error.

  `moved` is the words of a copy of the terms. The caller must stop the process afterwards.
  """
  @spec move(t(), run, call, find, timeout()) ::
          {MovedRun.result() | {:error, error()}, t()}
        when run: {reference(), tuple(), non_neg_integer()},
             call: {String.t(), (term() -> term()), term()},
             find: (term() -> {:ok, (term() -> term())} | {:error, error()})
  def move(t, _run, _call, _find, timeout) when is_integer(timeout) and timeout <= 0 do
    stop(t)
    {{:error, :timeout}, forget(t)}
  end

  def move(%__MODULE__{pid: nil} = t, {state, terms, moved}, {name, fun, args}, find, timeout) do
    ref = make_ref()
    heap = heap(t.max_heap, moved)
    move = {state, terms, moved, name, fun, args}
    {pid, monitor} = Guarded.start(heap, ref, MovedRun, :start, [{self(), ref}, t.max_heap, move])
    t = %{t | pid: pid, monitor: monitor}

    Guarded.settle()

    receive do
      {^ref, {:need, name, left}, tag} -> supply(t, name, find, left, tag)
      {^ref, result, :done} -> {result, left(t)}
      {^ref, ^monitor, :process, _pid, reason} -> ended(t, reason)
    after
      timeout ->
        stop_sender(pid, monitor, ref)
        {{:error, :timeout}, forget(t)}
    end
  end

  def move(%__MODULE__{known: known} = t, {state, terms, moved}, {name, fun, args}, find, left) do
    fun = if is_map_key(known, name), do: nil, else: fun
    tell(t, {state, terms, moved, name, fun, args}, find, left, t.tag)
  end

  defp heap(0, _moved), do: 0
  defp heap(max_heap, moved), do: Guarded.sum(max_heap, Move.room(moved, 0))

  defp supply(t, name, find, left, tag) do
    case find.(name) do
      {:ok, fun} -> tell(t, fun, find, left, tag)
      error -> {error, t}
    end
  end

  defp tell(t, what, find, timeout, tag) do
    ask(t, &{tag, &1, what}, timeout, fn
      {:need, name, left}, tag -> supply(t, name, find, left, tag)
      result, :done -> {result, left(t)}
    end)
  end

  @doc """
  The words of a copy of the last value.

      iex> tools = PtcRunner.Json.ToolProcess.new(0)
      iex> {{:ok, _value}, tools} = PtcRunner.Json.ToolProcess.call(tools, "id", & &1, [1, 2], 1_000)
      iex> PtcRunner.Json.ToolProcess.stop(tools)
      iex> PtcRunner.Json.ToolProcess.words(tools)
      4

  """
  @spec words(t()) :: non_neg_integer()
  def words(%__MODULE__{words: words}), do: words

  @doc "Stops the process, if there is one. Call it at every end of the run."
  @spec stop(t()) :: :ok
  def stop(%__MODULE__{pid: nil}), do: :ok
  def stop(%__MODULE__{pid: pid, monitor: monitor}), do: Guarded.stop(pid, monitor)

  defp request(t, name, fun, args, timeout),
    do:
      ask(t, &{t.tag, &1, name, fun, args}, timeout, fn result, tag ->
        answered(t, result, tag)
      end)

  # A monitor that is made for this call lets the VM skip all older messages of the caller.
  defp ask(t, message, timeout, reply) do
    ref = :erlang.monitor(:process, t.pid, alias: :reply_demonitor)
    send(t.pid, message.(ref))

    Guarded.settle()

    receive do
      {^ref, result, tag} -> reply.(result, tag)
      {:DOWN, ^ref, :process, _pid, reason} -> ended(t, end_reason(t, reason))
    after
      timeout ->
        Process.demonitor(ref, [:flush])
        give_up(t, ref)
    end
  end

  defp answered(t, {:ok, value, words}, tag), do: {{:ok, value}, %{t | tag: tag, words: words}}
  defp answered(t, error, tag), do: {error, %{t | tag: tag}}

  # A link may have ended the process between two calls: only the first monitor has the reason.
  defp end_reason(%{monitor: monitor}, :noproc) do
    Guarded.settle()

    receive do
      {_tag, ^monitor, :process, _pid, reason} -> reason
    end
  end

  defp end_reason(%{monitor: monitor}, reason) do
    Process.demonitor(monitor, [:flush])
    reason
  end

  defp ended(t, reason) do
    Guarded.forget(t.pid)
    {{:error, Guarded.ended(reason, t.max_heap)}, forget(t)}
  end

  # After the alias has ended, no further answer can arrive.
  defp give_up(t, ref) do
    Guarded.stop(t.pid, t.monitor)
    :erlang.unalias(ref)
    drop(ref)
    {{:error, :timeout}, forget(t)}
  end

  # The process has no alias to send to, so only its death ensures that no message follows.
  defp stop_sender(pid, monitor, ref) do
    Guarded.stop(pid, monitor)
    Process.alive?(pid)
    drop(ref)
  end

  defp drop(ref) do
    Guarded.settle()

    receive do
      {^ref, _result, _tag} -> :ok
    after
      0 -> :ok
    end
  end

  # The process has sent the result of the run and ends.
  defp left(t) do
    Guarded.leave(t.pid, t.monitor)
    forget(t)
  end

  defp forget(t), do: %{t | pid: nil, monitor: nil, tag: nil, known: %{}}
end

defmodule PtcRunner.Json.ToolProcess do
  @moduledoc false
  # The caller's side of the process in which a run calls its tools: one process for each run, started at
  # the first call, that runs one tool after another. Its heap is limited, each call has a
  # timeout, and it ends with the run or with the caller.
  #
  # Only this process is killed. Processes that a tool started continue unless they are linked to it.
  #
  # No message of this module is left in the caller's mailbox: nothing follows the death of the process or the end of
  # an alias, and monitors are flushed. Messages that tools send to the caller stay.

  alias PtcRunner.Json.{Budget, ToolWorker}
  alias PtcRunner.Json.Run.{Moved, Reply}
  alias PtcRunner.Native
  alias PtcRunner.Sandbox.Guarded
  require Guarded
  require Reply

  # Words that the run itself uses between two garbage collections.
  @own 4_096

  # The first heap of a process that starts with a run; the least limit of such a process, in words.
  @room_for_calls [min_heap_size: 4_000]
  @little 100_000

  # Of the arguments of several calls as native/ptc_vm/src/ahead.rs has it, and the same for their answers.
  @most_together 8_192
  @part_of_limit 16

  @enforce_keys [:max_heap]
  defstruct [:max_heap, :pid, :monitor, :tag, known: %{}, budget?: false]

  @typedoc """
  A run's tool process. `pid` is nil before the process starts and after its end, `tag` is the tag for the next request,
  `known` has the names whose functions the process has, and `budget?` says whether it has what counts the calls.
  """
  @opaque t :: %__MODULE__{
            max_heap: Guarded.max_heap(),
            pid: pid() | nil,
            monitor: reference() | nil,
            tag: reference() | nil,
            known: %{String.t() => []},
            budget?: boolean()
          }

  @type error :: {:tool_failed | :execution_error, String.t()} | :timeout | :memory_exceeded

  @typedoc "The functions of other tools that a run calls, by their names."
  @type find :: (String.t() -> {:ok, (term() -> term())} | {:error, term()})

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
  Calls the tool `fun` with `args`, and waits for at most `timeout` milliseconds. Returns the value and the words of its copy.

  The first call of each `name` sends the function to the process; later calls send only the name.
  After an error other than `:tool_failed` the process has ended, or must be stopped. With `:done`, the process ends with
  this call. With `:in_place`, a long JSON text is answered as it is.

      iex> tools = PtcRunner.Json.ToolProcess.new(0)
      iex> {result, tools} = PtcRunner.Json.ToolProcess.call(tools, "id", & &1, %{"n" => [1, 2]}, 1_000)
      iex> PtcRunner.Json.ToolProcess.stop(tools)
      iex> result
      {:ok, %{"n" => [1, 2]}, 13}

  """
  @spec call(t(), String.t(), (term() -> term()), term(), timeout(), :next | :in_place | :done) ::
          {{:ok, term(), non_neg_integer()} | {:error, error()}, t()}
  def call(t, name, fun, args, timeout, then \\ :next),
    do: request(t, {name, fun, args, then}, timeout, nil)

  @doc """
  Calls a tool in a process of its own that ends with this call, under a heap limit in words (0: none).

      iex> PtcRunner.Json.ToolProcess.once(0, "id", & &1, %{"n" => [1, 2]}, 1_000)
      {:ok, %{"n" => [1, 2]}, 13}

  """
  @spec once(Guarded.max_heap(), String.t(), (term() -> term()), term(), timeout()) ::
          {:ok, term(), non_neg_integer()} | {:error, error()}
  def once(_max_heap, _name, _fun, _args, timeout) when is_integer(timeout) and timeout <= 0,
    do: {:error, :timeout}

  def once(max_heap, name, fun, args, timeout) do
    ref = make_ref()
    start = {{self(), ref}, max_heap, {name, fun, args, :done}}
    {pid, monitor} = Guarded.start(max_heap, ref, &ToolWorker.start/1, start)

    Guarded.await do
      {^ref, result, :done} ->
        Guarded.leave(pid, monitor)
        result

      {^ref, ^monitor, :process, _pid, reason} ->
        Guarded.forget(pid)
        {:error, Guarded.ended(reason, max_heap)}
    after
      timeout -> late(pid, monitor, ref)
    end
  end

  @doc """
  Calls a tool of PTC-Lisp with each of these arguments, in one request, and waits for at most `timeout` milliseconds for all of them. Returns
  what came of each call that was begun, with the time when it was known: a value with its words, or another result. Further calls are not made
  behind one that has failed, behind a large answer, nor when the answers have more than `room` words. After an error that is no answer of the tool
  the last one is `{:error, reason}`.

      iex> alias PtcRunner.Json.ToolProcess
      iex> fun = PtcRunner.Lisp.ToolAnswer.of(&(6 / &1))
      iex> {answers, tools} = ToolProcess.call_each(ToolProcess.new(0), "t", fun, [3, 2, 0, 1], 1_000, 0)
      iex> ToolProcess.stop(tools)
      iex> [{2.0, 5, _at}, {3.0, 5, _later}, {{:ok, {:failed, _said, noted}, _words}, _last}] = answers
      iex> noted
      "bad argument in arithmetic expression"

  """
  @spec call_each(
          t(),
          String.t(),
          (term() -> term()),
          [term(), ...],
          timeout(),
          non_neg_integer()
        ) ::
          {PtcRunner.Lisp.Together.answers(), t()}
  def call_each(t, name, fun, all, timeout, room) do
    units = :erlang.convert_time_unit(1, :second, :native)
    kept = Native.keep_answers(System.monotonic_time(), units)

    case request(t, {name, fun, all, {:each, kept, room}}, timeout, nil) do
      {{:each, {{:ok, {:value, value}, words}, at}}, t} ->
        {kept_before(kept, [{value, words, at}]), t}

      {{:each, last}, t} ->
        {kept_before(kept, [last]), t}

      {error, t} ->
        {kept_before(kept, [error]), t}
    end
  end

  # The answers that were kept, and then the last one, or an error.
  defp kept_before(kept, last) do
    case Native.kept_answers(kept) do
      {false, answers} -> answers ++ last
      {true, answers} -> answers ++ kept_before(kept, last)
    end
  end

  @doc """
  Calls a tool with each of these arguments, in one request, and waits for at most `timeout` milliseconds for all of them. `limits`: what counts the calls, and
  the words that the answers may have; the process gets the former once. Returns the values with their words, of the first calls if they have too many; or the same with the
  answer behind them that is no value. With `anew?`, the process does not keep the function.

      iex> alias PtcRunner.Json.ToolProcess
      iex> {answers, tools} = ToolProcess.call_all(ToolProcess.new(0), {"t", &(6 / &1), [3, 2]}, 1_000, {nil, 0}, false)
      iex> {stopped, tools} = ToolProcess.call_all(tools, {"t", &(6 / &1), [1, 0]}, 1_000, {nil, 0}, false)
      iex> ToolProcess.stop(tools)
      iex> {answers, stopped}
      {{:all, [2.0, 3.0], 4},
       {:stopped, [6.0], 2, {:error, {:tool_failed, "Tool 't' raised: bad argument in arithmetic expression"}}}}

  """
  @spec call_all(
          t(),
          {String.t(), (term() -> term()), [term(), ...]},
          timeout(),
          {Budget.t() | nil, non_neg_integer()},
          boolean()
        ) :: {ToolWorker.answers() | {:error, term()}, t()}
  def call_all(%__MODULE__{} = t, {name, fun, all}, timeout, {budget, room}, anew?) do
    t = if anew?, do: %{t | known: %{}}, else: t
    budget = if budget != nil and t.budget?, do: :known, else: budget
    {result, t} = request(t, {name, fun, all, {:all, budget, room}}, timeout, nil)
    known = if anew?, do: %{}, else: t.known
    {result, %{t | known: known, budget?: budget != nil and t.pid != nil}}
  end

  @doc """
  Moves a run to the process, at a call of the tool `fun`, and waits for its result for at most
  `timeout` milliseconds. The caller must stop the process afterwards.
  """
  @spec move(t(), Moved.t(), (term() -> term()), find(), timeout()) ::
          {{:ok, term(), non_neg_integer()} | {:error, term()}, t()}
  def move(t, %Moved{call: Reply.moved_call(tool: name)} = moved, fun, find, timeout) do
    t = if moved.anew?, do: %{t | known: %{}}, else: t
    request(t, {name, fun, nil, moved}, timeout, find)
  end

  defp request(t, _request, timeout, _find) when is_integer(timeout) and timeout <= 0 do
    stop(t)
    {{:error, :timeout}, forgotten()}
  end

  defp request(%__MODULE__{pid: nil} = t, {name, fun, args, :done}, timeout, _find),
    do: {once(t.max_heap, name, fun, args, timeout), forgotten()}

  # The first request is passed at the start of the process, which saves a message.
  defp request(%__MODULE__{pid: nil} = t, {name, _fun, _args, then} = request, timeout, find) do
    ref = make_ref()
    start = {{self(), ref}, t.max_heap, request}
    heap = heap(t.max_heap, then)
    {pid, monitor} = Guarded.start(heap, ref, &ToolWorker.start/1, start, room_for(heap, then))

    Guarded.await do
      {^ref, result, :done} ->
        Guarded.leave(pid, monitor)
        {result, forgotten()}

      {^ref, result, tag} ->
        replied(%{t | pid: pid, monitor: monitor, known: %{name => []}}, result, tag, find)

      {^ref, ^monitor, :process, _pid, reason} ->
        ended(%{t | pid: pid}, reason)
    after
      timeout -> {late(pid, monitor, ref), forgotten()}
    end
  end

  defp request(%__MODULE__{known: known} = t, {name, _, _, _} = request, timeout, find)
       when is_map_key(known, name),
       do: ask(t, put_elem(request, 1, nil), timeout, find)

  defp request(%__MODULE__{known: known} = t, {name, _, _, _} = request, timeout, find),
    do: ask(%{t | known: Map.put(known, name, [])}, request, timeout, find)

  # A monitor that is made for each request lets the VM skip all older messages of the caller, but it is what a request costs
  # most. Where there are none, the monitor of the process's start serves.
  defp ask(t, what, timeout, find) do
    if :erlang.process_info(self(), :message_queue_len) == {:message_queue_len, 0},
      do: ask_alone(t, what, timeout, find),
      else: ask_monitored(t, what, timeout, find)
  end

  defp ask_alone(%{pid: pid, monitor: monitor} = t, what, timeout, find) do
    ref = make_ref()
    send(pid, {t.tag, {self(), ref}, what})

    Guarded.await do
      {^ref, result, tag} ->
        replied(t, result, tag, find)

      {_tag, ^monitor, :process, _pid, reason} ->
        ended(t, reason)
    after
      timeout -> {late(pid, monitor, ref), forgotten()}
    end
  end

  defp ask_monitored(t, what, timeout, find) do
    ref = :erlang.monitor(:process, t.pid, alias: :reply_demonitor)
    send(t.pid, {t.tag, {ref, ref}, what})

    Guarded.await do
      {^ref, result, tag} -> replied(t, result, tag, find)
      {:DOWN, ^ref, :process, _pid, reason} -> ended(t, end_reason(t, reason))
    after
      timeout ->
        Guarded.release(ref)
        Guarded.stop(t.pid, t.monitor)
        # After the alias has ended, no further answer can arrive.
        :erlang.unalias(ref)
        drop(ref)
        {{:error, :timeout}, forgotten()}
    end
  end

  # There is no alias that could end, so only the death of the process ensures that no message follows.
  defp late(pid, monitor, ref) do
    Guarded.stop(pid, monitor)
    Process.alive?(pid)
    drop(ref)
    {:error, :timeout}
  end

  # The process has sent its last message, and ends.
  defp replied(t, result, :done, _find) do
    Guarded.leave(t.pid, t.monitor)
    {result, forgotten()}
  end

  defp replied(t, {:need, name, left}, tag, find) do
    case find.(name) do
      {:ok, fun} -> ask(%{t | tag: tag}, fun, left, find)
      error -> {error, t}
    end
  end

  defp replied(t, result, tag, _find), do: {result, %{t | tag: tag}}

  # The heap of a process that starts with a run.
  defp heap(max_heap, %Moved{words: words}) when max_heap > 0,
    do: Guarded.sum(max_heap, room(words, 0))

  defp heap(max_heap, {:all, _budget, _room}) when max_heap > 0,
    do: Guarded.sum(max_heap, room_for_calls(max_heap))

  defp heap(max_heap, _then), do: max_heap

  @doc """
  The words by which the heap limit grows for the arguments and answers of several calls, see `most_together/1`.

      iex> PtcRunner.Json.ToolProcess.room_for_calls(16_000)
      8096

  """
  @spec room_for_calls(Guarded.max_heap()) :: non_neg_integer()
  def room_for_calls(max_heap), do: room(most_together(max_heap), most_together(max_heap))

  @doc """
  The words that the arguments, and the answers, of several calls may have.

      iex> PtcRunner.Json.ToolProcess.most_together(16_000)
      1000

  """
  @spec most_together(Guarded.max_heap()) :: pos_integer()
  def most_together(0), do: @most_together
  def most_together(max_heap), do: min(@most_together, div(max_heap, @part_of_limit))

  # It begins with room for the garbage of some calls, if that is little beside its limit.
  defp room_for(heap, %Moved{}) when heap == 0 or heap > @little,
    do: @room_for_calls

  defp room_for(_heap, _then), do: []

  @doc """
  The words by which the process's heap limit grows for a run that has moved and built this many
  words: live data is on a heap twice during a garbage collection.

      iex> PtcRunner.Json.ToolProcess.room(1_000, 0) > 2_000
      true

  """
  @spec room(non_neg_integer(), non_neg_integer()) :: non_neg_integer()
  def room(moved, built), do: 2 * (moved + built) + @own

  @doc """
  The heap limit of each of several processes that share one.

      iex> PtcRunner.Json.ToolProcess.share(1_000_000, 4)
      250000

  """
  @spec share(Guarded.max_heap(), pos_integer()) :: Guarded.max_heap()
  def share(0, _processes), do: 0
  def share(max_heap, processes), do: max(div(max_heap, processes), Guarded.least_heap())

  @doc "Stops the process, if there is one. Call it at every end of the run."
  @spec stop(t()) :: :ok
  def stop(%__MODULE__{pid: nil}), do: :ok
  def stop(%__MODULE__{pid: pid, monitor: monitor}), do: Guarded.stop(pid, monitor)

  # A link may have ended the process between two calls: only the first monitor has the reason.
  defp end_reason(%{monitor: monitor}, :noproc) do
    Guarded.await do
      {_tag, ^monitor, :process, _pid, reason} -> reason
    end
  end

  defp end_reason(%{monitor: monitor}, reason) do
    Guarded.release(monitor)
    reason
  end

  defp ended(t, reason) do
    Guarded.forget(t.pid)
    {{:error, Guarded.ended(reason, t.max_heap)}, forgotten()}
  end

  # A process that has ended.
  defp forgotten, do: %__MODULE__{max_heap: 0}

  defp drop(ref) do
    Guarded.await do
      {^ref, _result, _tag} -> :ok
    after
      0 -> :ok
    end
  end
end

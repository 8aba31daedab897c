defmodule PtcRunner.Json.MovedRun do
  @moduledoc false
  # A run that has moved to the process of its tools. Native calls and plain function calls of tools alternate
  # until there is a result; only the result is sent back. `PtcRunner.Json.ToolProcess`
  # is the caller's side.

  alias PtcRunner.Firewall.Faults
  alias PtcRunner.Json.{Move, ToolWorker}
  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.Native.{Panic, Telemetry}
  alias PtcRunner.Sandbox.{Guarded, Weight}
  require Telemetry

  # The process's heap limit grows when the run has built this part of its limit.
  @part_of_limit 32

  # The weight of a list longer than this is estimated from its first items.
  @long_list 64
  @items_weighed 16

  @typedoc """
  A run at a call: the reference to its plain data, its terms, the words of their copy, and the tool's name,
  function and arguments.
  """
  @type move ::
          {reference(), tuple(), non_neg_integer(), String.t(), (term() -> term()), term()}

  @type result :: {:ok, term(), non_neg_integer()} | {:error, term()}

  @typedoc "The receiver of the result: an alias, or a process and a reference."
  @type reply_to :: reference() | {pid(), reference()}

  @doc """
  Resumes a run as the process's first work; does not return.

  It sends `{reference, result, :done}`. If the process does not have the function of a tool, it sends
  `{reference, {:need, name, milliseconds_left}, tag}`, and the answer is `{tag, alias, fun}`.
  """
  @spec start(reply_to(), Guarded.max_heap(), move()) :: no_return()
  def start(reply_to, max_heap, {_state, _terms, _moved, name, fun, _args} = move),
    do: go_on(reply_to, max_heap, move, %{name => fun})

  @doc """
  Like `start/3`, in a process that already has `funs`, including the function of the call.
  """
  @spec go_on(reply_to(), Guarded.max_heap(), move(), %{String.t() => (term() -> term())}) ::
          no_return()
  def go_on(reply_to, max_heap, {state, terms, moved, name, fun, args}, funs) do
    Guarded.allow(max_heap, Move.room(moved, 0))
    {reply_to, result} = call(state, terms, name, fun, args, {reply_to, max_heap, moved, 0, funs})
    tell(reply_to, result, :done)
    # Processes that tools have linked to this one end with it.
    exit(:killed)
  end

  defp call(state, terms, name, fun, args, run) do
    with {:ok, value} <- ToolWorker.run(name, fun, args),
         {:ok, words, run} <- weigh(value, run) do
      words = words + ToolWorker.charged()

      fn -> Native.resume(state, terms, {:moved, value, words}) end
      |> Panic.instead()
      |> step(run)
    else
      :too_much -> finish({:error, :memory_exceeded}, run)
      error -> finish(error, run)
    end
  end

  # An answer is not copied, so it need not be weighed exactly; a walk over all of it
  # would take as long as a copy. The weight of a long list is estimated from its length and first items.
  # The VM's limit on this heap applies in any case.
  defp weigh([_ | _] = value, {reply_to, max_heap, moved, allowed, funs} = run) do
    case proper_length(value) do
      length when length > @long_list ->
        with {:ok, some} <- value |> Enum.take(@items_weighed) |> Weight.of(max_heap) do
          run = {reply_to, max_heap, moved, allowed, Map.put(funs, :guessed, true)}
          {:ok, div(some * length, @items_weighed), run}
        end

      _short_or_improper ->
        weigh_all(value, run)
    end
  end

  defp weigh(value, run), do: weigh_all(value, run)

  defp proper_length(list) do
    length(list)
  rescue
    ArgumentError -> 0
  end

  defp weigh_all(value, {_reply_to, max_heap, _moved, _allowed, _funs} = run) do
    weigh = fn -> Weight.of(value, max_heap) end
    with {:ok, words} <- Panic.instead(weigh), do: {:ok, words, run}
  end

  # The waiting process measures the time: it kills this process at the deadline.
  defp step({:called, state, terms, name, args, words}, run) do
    {_reply_to, _max_heap, _moved, _allowed, funs} = run = allow(words, run)

    case funs do
      %{^name => fun} -> call(state, terms, name, fun, args, run)
      _not_yet -> ask(state, terms, name, args, run)
    end
  end

  defp step({next, _state, _terms} = left, run) when next in [:more, :long] do
    Telemetry.on?() && Telemetry.suspended()
    fn -> Quanta.go_on(left) end |> Panic.instead() |> step(run)
  end

  defp step({:error, reason} = error, run) when reason in [:timeout, :memory_exceeded],
    do: finish(error, run)

  defp step({:error, fault}, run), do: finish({:error, Faults.worded(fault)}, run)
  defp step({:ok, _value, _words} = done, run), do: finish(done, run)

  # The terms that the run has built take twice their size on this heap during a garbage collection. Tools have
  # their limit in addition, as they would if the run had not moved.
  defp allow(words, {reply_to, max_heap, moved, allowed, funs})
       when words > allowed + div(max_heap, @part_of_limit) do
    Guarded.allow(max_heap, Move.room(moved, words))
    {reply_to, max_heap, moved, words, funs}
  end

  defp allow(_words, run), do: run

  # The tag is made in the function that waits for it, which lets the VM skip older messages.
  defp ask(state, terms, name, args, {reply_to, max_heap, moved, allowed, funs}) do
    tag = make_ref()
    tell(reply_to, {:need, name, Native.time_left(state)}, tag)
    Guarded.settle()

    receive do
      {^tag, reply_to, fun} ->
        run = {reply_to, max_heap, moved, allowed, Map.put(funs, name, fun)}
        call(state, terms, name, fun, args, run)
    end
  end

  # The estimate may be too low, and the result is going to be copied.
  defp finish({:ok, value, _words} = done, {reply_to, max_heap, _moved, _allowed, funs})
       when is_map_key(funs, :guessed) do
    {:total_heap_size, here} = :erlang.process_info(self(), :total_heap_size)

    case Weight.of(value, if(max_heap == 0, do: 0, else: max_heap + here)) do
      {:ok, _words} -> {reply_to, done}
      :too_much -> {reply_to, {:error, :memory_exceeded}}
    end
  end

  defp finish(result, {reply_to, _max_heap, _moved, _allowed, _funs}), do: {reply_to, result}

  defp tell({caller, ref}, what, tag), do: send(caller, {ref, what, tag})
  defp tell(ref, what, tag), do: send(ref, {ref, what, tag})
end

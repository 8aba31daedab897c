defmodule PtcRunner.Json.MovedRun do
  @moduledoc false
  # A run that has moved to the process of its tools. Native calls and plain function calls of tools alternate
  # until there is a result; only the result is sent back. `PtcRunner.Json.ToolProcess`
  # is the caller's side.

  alias PtcRunner.Firewall.Faults
  alias PtcRunner.Json.{Budget, Driver, Text, Texts, ToolProcess, ToolWorker}
  alias PtcRunner.Native
  alias PtcRunner.Sandbox.{Guarded, Weight}
  require Guarded
  require Weight

  # The process's heap limit grows when the run has built this part of its limit.
  @part_of_limit 32

  # As long as the longest text that a run refuses because it reads others in place (native/ptc_run/src/texts/indexes.rs).
  @most_refused 100_000

  # The weight of a list longer than this is estimated from its first items.
  @long_list 64
  @items_weighed 16

  @doc """
  Goes on with a run at its call, until the process ends: see `ToolWorker.leave/2`. `moved`: the words of its copy; `funs`: the functions of the tools
  that the process has, including that of the call.

  It sends `{reference, result, :done}`. If the process does not have the function of a tool, it sends
  `{reference, {:need, name, milliseconds_left}, tag}`, and the answer is `{tag, reply_to, fun}`.
  """
  @spec start(ToolWorker.reply_to(), Guarded.max_heap(), Driver.reply(), non_neg_integer(), %{
          String.t() => (term() -> term())
        }) :: :killed
  def start(reply_to, max_heap, call, moved, funs) do
    # In the place of the time: how many calls may be made.
    budget = elem(call, 5)
    funs = if budget, do: Map.put(funs, :budget, budget), else: funs

    {result, run} =
      Driver.drive(call, &call/2, {reply_to, max_heap, moved, enough(max_heap, 0), funs})

    ToolWorker.leave(elem(run, 0), ended(result, run))
  end

  # The run does not read in place what the tool has answered. It is not asked again for texts that are not longer.
  defp call({:decode, _state, _terms, {name, text}}, {reply_to, max_heap, moved, enough, funs}) do
    funs = Map.put(funs, :refused, min(byte_size(text), @most_refused))
    run = {reply_to, max_heap, moved, enough, funs}
    name |> ToolWorker.decoded(Texts.answer(%Text{binary: text})) |> answered(name, run)
  end

  # The waiting process measures the time: it kills this process at the deadline.
  defp call({:call, state, _terms, name, args, _left, words}, run) do
    {_reply_to, _max_heap, _moved, _enough, funs} = run = allow(words, run)

    case funs do
      %{budget: budget} -> counted(budget, name, args, state, run)
      %{^name => fun} -> called(name, fun, args, run)
      _not_yet -> ask(name, state, args, run)
    end
  end

  defp counted(budget, name, args, state, {_, _, _, _, funs} = run) do
    with :ok <- Budget.take(budget, name) do
      case funs do
        %{^name => fun} -> called(name, fun, args, run)
        _not_yet -> ask(name, state, args, run)
      end
    else
      error -> {error, run}
    end
  end

  defp called(name, fun, args, run),
    do: name |> ToolWorker.answer(fun, args) |> answered(name, run)

  defp answered(answer, name, run) do
    case answer do
      {:ok, %Text{binary: binary} = text} ->
        case elem(run, 4) do
          %{refused: refused} when byte_size(binary) <= refused ->
            name |> ToolWorker.decoded(Texts.answer(text)) |> answered(name, run)

          _asked ->
            {:ok, {:text_moved, Texts.lent(name, text), ToolWorker.charged()}, run}
        end

      {:ok, value} when Weight.is_immediate(value) ->
        {:ok, {:moved, value, ToolWorker.charged()}, run}

      {:ok, value} ->
        weighed(value, run)

      {:error, {:tool_failed, text}} ->
        {:failed, :failed_moved, text, run}
    end
  end

  defp weighed(value, run) do
    case weigh(value, run) do
      {:ok, words, run} -> {:ok, {:moved, value, words + ToolWorker.charged()}, run}
      error -> {error, run}
    end
  end

  # The terms that the run has built take twice their size on this heap during a garbage collection. Tools have
  # their limit in addition, as they would if the run had not moved.
  defp allow(words, {_reply_to, _max_heap, _moved, enough, _funs} = run) when words <= enough,
    do: run

  defp allow(words, {reply_to, max_heap, moved, _enough, funs}) do
    Guarded.allow(max_heap, ToolProcess.room(moved, words))
    {reply_to, max_heap, moved, enough(max_heap, words), funs}
  end

  # The words that the run may build before the heap limit grows again. An atom is more than any number.
  defp enough(0, _words), do: :infinity
  defp enough(max_heap, words), do: words + div(max_heap, @part_of_limit)

  # The tag is made in the function that waits for it, which lets the VM skip older messages.
  defp ask(name, state, args, {reply_to, max_heap, moved, enough, funs}) do
    tag = make_ref()
    ToolWorker.tell(reply_to, {:need, name, Native.time_left(state)}, tag)

    Guarded.await do
      {^tag, reply_to, fun} ->
        called(name, fun, args, {reply_to, max_heap, moved, enough, Map.put(funs, name, fun)})
    end
  end

  # An answer is not copied, so it need not be weighed exactly; a walk over all of it
  # would take as long as a copy. The weight of a long list is estimated from its length and first items.
  # The VM's limit on this heap applies in any case.
  defp weigh(value, {reply_to, max_heap, moved, enough, funs} = run) do
    case length_of(value) do
      length when length > @long_list ->
        with {:ok, some} <- value |> Enum.take(@items_weighed) |> Weight.within(max_heap) do
          run = {reply_to, max_heap, moved, enough, Map.put(funs, :guessed, true)}
          {:ok, div(some * length, @items_weighed), run}
        end

      _short_or_no_list ->
        with {:ok, words} <- Weight.within(value, max_heap), do: {:ok, words, run}
    end
  end

  defp length_of([_ | _] = list) do
    length(list)
  rescue
    # It is improper.
    ArgumentError -> 0
  end

  defp length_of(_value), do: 0

  # The estimate may be too low, and the result is going to be copied.
  defp ended({:ok, value, _words} = done, {_reply_to, max_heap, _moved, _allowed, funs})
       when is_map_key(funs, :guessed) do
    {:total_heap_size, here} = :erlang.process_info(self(), :total_heap_size)
    most = if max_heap == 0, do: 0, else: max_heap + here
    with {:ok, _words} <- Weight.within(value, most), do: done
  end

  defp ended({:error, fault}, _run) when is_tuple(fault), do: {:error, Faults.worded(fault)}
  defp ended(result, _run), do: result
end

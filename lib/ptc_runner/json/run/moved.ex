defmodule PtcRunner.Json.Run.Moved do
  @moduledoc false
  # Drives a run that has moved to the process of its tools. Native calls and plain function calls of tools alternate
  # until there is a result; only the result is sent back. `PtcRunner.Json.ToolProcess`
  # is the caller's side.

  alias PtcRunner.Firewall.Faults
  alias PtcRunner.Json.{Budget, Run, Text, Texts, ToolProcess, ToolWorker}
  alias PtcRunner.Json.Run.{Driver, Reply}
  alias PtcRunner.Native
  alias PtcRunner.Sandbox.{Guarded, Weight}
  require Guarded
  require Reply
  require Weight

  @behaviour Driver

  # What is sent to the process: the call at which the run moves, as one of a run that has moved; the words of its copy; what counts its
  # calls; and whether the process forgets the functions that it has, because the run gives others.
  #
  # In the process: `reply_to`, who waits for the run; `functions`, those of its tools, by name; `enough`, the words that it may build until
  # the heap limit of the process grows; `refused`, the bytes up to which it does not read answers in place; `guessed?`: whether
  # the words of an answer were estimated.
  @enforce_keys [:call, :words]
  defstruct [:call, :words, budget: nil, anew?: false] ++
              [reply_to: nil, functions: %{}, enough: :infinity, refused: -1, guessed?: false]

  @type t :: %__MODULE__{
          call: Reply.t() | nil,
          words: non_neg_integer(),
          budget: Budget.t() | nil,
          anew?: boolean(),
          reply_to: ToolWorker.reply_to() | nil,
          functions: %{String.t() => (term() -> term())},
          enough: non_neg_integer() | :infinity,
          refused: integer(),
          guessed?: boolean()
        }

  # The process's heap limit grows when the run has built this part of its limit.
  @part_of_limit 32

  # As long as the longest text that a run refuses because it reads others in place (native/ptc_run/src/texts/indexes.rs).
  @most_refused 100_000

  # The weight of a list longer than this is estimated from its first items.
  @long_list 64
  @items_weighed 16

  @doc """
  Goes on with a run at its call, until the process ends: see `ToolWorker.leave/2`. `functions`: those of the tools
  that the process has, including that of the call.

  It sends `{reference, result, :done}`. If the process does not have the function of a tool, it sends
  `{reference, {:need, name, milliseconds_left}, tag}`, and the answer is `{tag, reply_to, fun}`.
  """
  @spec start(ToolWorker.reply_to(), Guarded.max_heap(), t(), %{
          String.t() => (term() -> term())
        }) :: :killed
  def start(reply_to, max_heap, %__MODULE__{call: call, budget: budget} = moved, functions) do
    moved = %{
      moved
      | call: nil,
        reply_to: reply_to,
        functions: functions,
        enough: enough(max_heap, 0)
    }

    ToolWorker.read_in_place()
    # An update takes less time than a new map, most of whose values are constants.
    run = %{%Run{} | strategy: moved, max_heap: max_heap, budget: budget}
    {result, %Run{strategy: moved}} = Driver.drive(call, run)
    ToolWorker.leave(moved.reply_to, ended(result, moved, max_heap))
  end

  @impl true
  def request(Reply.moved_call(state: state, tool: name, args: args, built: built), run),
    do: one(name, args, state, allow(built, run))

  def request(Reply.moved_calls(tool: name, args: all, built: built) = calls, run) do
    case run.strategy.functions do
      %{^name => fun} ->
        budget = Budget.of_tool(run.budget, name)
        several(all, {fun, budget}, {[], 0}, calls, allow(built, run))

      # The function is asked for at the first of them.
      _not_yet ->
        one(name, hd(all), Reply.state(calls), allow(built, run))
    end
  end

  # The run does not read in place what the tool has answered. It is not asked again for texts that are not longer.
  def request(Reply.decode(tool: name, text: text), run) do
    moved = %{run.strategy | refused: min(byte_size(text), @most_refused)}
    run = %{run | strategy: moved}
    name |> ToolWorker.decoded(Texts.answer(%Text{binary: text})) |> answered(name, run)
  end

  defp one(name, args, state, run) do
    with :ok <- Budget.take(run.budget, name, args) do
      case run.strategy.functions do
        %{^name => fun} -> called(name, fun, args, run)
        _not_yet -> ask(name, state, args, run)
      end
    else
      error -> {:ended, error, run}
    end
  end

  # Calls for rounds that follow one another, until the run may have built too much, or an answer is no value. Such an answer is given to the run
  # when it waits for that call.
  defp several([args | rest], tool, {answers, words}, calls, %Run{max_heap: max_heap} = run) do
    Reply.moved_calls(tool: name, built: built) = calls
    {fun, budget} = tool

    with :ok <- Budget.take(budget, name, args) do
      answer = ToolWorker.call(name, fun, args)

      case value(answer, run) do
        {:ok, value, more, run} ->
          {answers, words} = {[value | answers], words + more}

          if rest == [] or (max_heap > 0 and built + words > max_heap),
            do: {:resume, {:moved_all, :lists.reverse(answers), words}, run},
            else: several(rest, tool, {answers, words}, calls, allow(built + words, run))

        :other when answers == [] ->
          answered(answer, name, run)

        :other ->
          calls
          |> Driver.resume({:moved_all, :lists.reverse(answers), words})
          |> Driver.waiting()
          |> answer_to(answer, name, run)
      end
    else
      error -> {:ended, error, run}
    end
  end

  # A value with its words.
  defp value({:ok, value}, run) when Weight.is_immediate(value),
    do: {:ok, value, ToolWorker.charged(), run}

  defp value({:ok, %Text{}}, _run), do: :other

  defp value({:ok, value}, run) do
    case weigh(value, run) do
      {:ok, words, run} -> {:ok, value, words + ToolWorker.charged(), run}
      _too_much -> :other
    end
  end

  defp value(_error, _run), do: :other

  defp answer_to(reply, _answer, _name, run) when elem(reply, 0) in [:ok, :error],
    do: {:resumed, reply, run}

  defp answer_to(reply, answer, name, run),
    do: answer |> answered(name, run) |> Driver.later(reply)

  defp called(name, fun, args, run),
    do: name |> ToolWorker.call(fun, args) |> answered(name, run)

  defp answered({:ok, value}, _name, run) when Weight.is_immediate(value),
    do: {:resume, {:moved, value, ToolWorker.charged()}, run}

  defp answered({:ok, %Text{binary: binary} = text}, name, %Run{strategy: moved} = run) do
    if byte_size(binary) <= moved.refused,
      do: name |> ToolWorker.decoded(Texts.answer(text)) |> answered(name, run),
      else: {:resume, {:text_moved, Texts.lent(name, text), ToolWorker.charged()}, run}
  end

  defp answered({:ok, value}, _name, run) do
    case weigh(value, run) do
      {:ok, words, run} -> {:resume, {:moved, value, words + ToolWorker.charged()}, run}
      error -> {:ended, error, run}
    end
  end

  defp answered({:error, {:tool_failed, text}}, _name, run),
    do: {:failed, :failed_moved, text, run}

  # The terms that the run has built take twice their size on this heap during a garbage collection. Tools have
  # their limit in addition, as they would if the run had not moved.
  defp allow(built, %Run{strategy: %{enough: enough}} = run) when built <= enough, do: run

  defp allow(built, %Run{max_heap: max_heap, strategy: moved} = run) do
    Guarded.allow(max_heap, ToolProcess.room(moved.words, built))
    %{run | strategy: %{moved | enough: enough(max_heap, built)}}
  end

  # The words that the run may build before the heap limit grows again. `:infinity` compares greater than every integer.
  defp enough(0, _built), do: :infinity
  defp enough(max_heap, built), do: built + div(max_heap, @part_of_limit)

  # The tag is made in the function that waits for it, which lets the VM skip older messages.
  defp ask(name, state, args, run) do
    tag = make_ref()
    %Run{strategy: moved} = run
    ToolWorker.tell(moved.reply_to, {:need, name, Native.time_left(state)}, tag)

    Guarded.await do
      {^tag, reply_to, fun} ->
        functions = Map.put(moved.functions, name, fun)
        moved = %{moved | reply_to: reply_to, functions: functions}
        called(name, fun, args, %{run | strategy: moved})
    end
  end

  # An answer is not copied, so it need not be weighed exactly; a walk over all of it
  # would take as long as a copy. The weight of a long list is estimated from its length and first items.
  # The VM's limit on this heap applies in any case.
  defp weigh(value, %Run{max_heap: max_heap} = run) do
    case length_of(value) do
      length when length > @long_list ->
        with {:ok, some} <- value |> Enum.take(@items_weighed) |> Weight.within(max_heap),
             do: {:ok, div(some * length, @items_weighed), guessed(run)}

      _short_or_no_list ->
        with {:ok, words} <- Weight.within(value, max_heap), do: {:ok, words, run}
    end
  end

  defp guessed(%Run{strategy: moved} = run), do: %{run | strategy: %{moved | guessed?: true}}

  defp length_of([_ | _] = list) do
    length(list)
  rescue
    # It is improper.
    ArgumentError -> 0
  end

  defp length_of(_value), do: 0

  # The estimate may be too low, and the result is going to be copied.
  defp ended({:ok, value, _words} = done, %{guessed?: true}, max_heap) do
    {:total_heap_size, here} = :erlang.process_info(self(), :total_heap_size)
    most = if max_heap == 0, do: 0, else: max_heap + here
    with {:ok, _words} <- Weight.within(value, most), do: done
  end

  defp ended({:error, fault}, _moved, _max_heap) when is_tuple(fault),
    do: {:error, Faults.worded(fault)}

  defp ended(result, _moved, _max_heap), do: result
end

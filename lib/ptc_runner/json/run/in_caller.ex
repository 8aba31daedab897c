defmodule PtcRunner.Json.Run.InCaller do
  @moduledoc false
  # Drives a run in its caller, until it moves to the process of its tools, which is when that costs less than messages.

  alias PtcRunner.Json.{Budget, Run, Text, Texts, ToolProcess, Tools, ToolWorker}
  alias PtcRunner.Json.Run.{Driver, Moved, Reply, Rounds}
  alias PtcRunner.Native
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Sandbox.{Guarded, Weight}
  require Reply
  require Telemetry

  @behaviour Driver

  defstruct []

  @impl true
  def request(Reply.moves(words: {:at_most, most}, terms: terms, args: args) = call, run) do
    case Weight.within([terms | args], most) do
      {:ok, words} -> move(call, words, run)
      {:error, _too_much} -> stay(call, run)
    end
  end

  def request(Reply.moves(words: words) = call, run), do: move(call, words, run)

  # Only the calls of some loops go to their tools together.
  def request(Reply.fork(tools: names) = loop, %Run{most: 1, settings: settings} = run) do
    if Tools.batch?(names, settings),
      do: rounds(loop, run),
      else: {:resume, {:in_turn, nil, 0}, run}
  end

  def request(Reply.fork() = loop, run), do: rounds(loop, run)

  def request(Reply.decode(tool: name) = request, run),
    do: request |> decoded(run.max_heap) |> answered(request, name, run)

  def request(Reply.last(tool: name, args: args, left: left, weight: weight) = call, run),
    do: call(call, name, args, {left, weight, :done}, run)

  def request(Reply.call(tool: name, args: args, left: left, weight: weight) = call, run),
    do: call(call, name, args, {left, weight, :in_place}, run)

  def request(Reply.calls(tool: name) = calls, run) do
    case wrapped(run, name) do
      {:ok, fun} -> several(calls, fun, run)
      error -> {:ended, error, run}
    end
  end

  # Calls for rounds that follow one another. An answer that is no value is given to the run when it waits for that call.
  defp several(calls, fun, %Run{process: process, max_heap: max_heap} = run) do
    Reply.calls(tool: name, args: all, left: left, built: built) = calls
    limits = {run.budget, max(max_heap - built, 0)}

    {result, process} =
      ToolProcess.call_all(process, {name, fun, all}, left, limits, Telemetry.tools?())

    run = %{run | process: process}

    case result do
      {:all, values, words} ->
        {:resume, {:answers, values, words}, run}

      {:stopped, [], _no_words, answer} ->
        answered(answer, calls, name, run)

      {:stopped, values, words, answer} ->
        reply = calls |> Driver.resume({:answers, values, words}) |> Driver.waiting()

        if elem(reply, 0) in [:ok, :error],
          do: {:resumed, reply, run},
          else: answer |> answered(reply, name, run) |> Driver.later(reply)

      {:error, reason} = error ->
        Telemetry.ended(reason)
        {:ended, error, run}
    end
  end

  # The processes of the rounds need the whole heap limit.
  defp rounds(loop, run) do
    ToolProcess.stop(run.process)
    run = %{run | process: ToolProcess.new(run.max_heap)}

    case Rounds.run(loop, run) do
      {:ok, value, words} -> {:resume, {:joined, value, words}, run}
      error -> {:ended, error, run}
    end
  end

  defp stay(Reply.moves(tool: name, args: args, left: left) = call, run),
    do: call(call, name, args, {left, nil, :in_place}, run)

  defp call(call, name, args, {left, weight, then}, %Run{process: process} = run) do
    {result, process} =
      with {:ok, fun} <- tool(run, name, args),
           {:ok, _words} <- weigh(args, weight, run.max_heap) do
        if Telemetry.on?(),
          do:
            Telemetry.tool(name, fn -> ToolProcess.call(process, name, fun, args, left, then) end),
          else: ToolProcess.call(process, name, fun, args, left, then)
      else
        error -> {error, process}
      end

    answered(result, call, name, %{run | process: process})
  end

  @doc "What a run goes on with after a call that is no part of a loop whose rounds overlap. `name`: the tool."
  @spec answered({:ok, term(), non_neg_integer()} | {:error, term()}, Reply.t(), term(), Run.t()) ::
          Driver.step()
  def answered({:ok, _value, _words} = answer, Reply.last(built: built), _name, run),
    do: {:ended, whole(answer, built, run.max_heap), run}

  def answered({:ok, %Text{} = text, words}, _call, name, run),
    do: {:resume, {:text, Texts.lent(name, text), words}, run}

  # The tool's answer stays in the run, so its words count.
  def answered({:ok, value, words}, _call, _name, run),
    do: {:resume, {:answer, value, words}, run}

  def answered({:error, _reason} = error, Reply.last(), _name, run), do: {:ended, error, run}

  def answered({:error, {:tool_failed, text}}, _call, _name, run),
    do: {:failed, :failed, text, run}

  def answered(error, _call, _name, run), do: {:ended, error, run}

  @doc """
  What a run ends with whose value is this answer: what it has built includes the answer.

      iex> PtcRunner.Json.Run.InCaller.whole({:ok, [1], 2}, 5, 1_000)
      {:ok, [1], 7}

  """
  @spec whole(
          {:ok, term(), non_neg_integer()} | {:error, term()},
          non_neg_integer(),
          Guarded.max_heap()
        ) :: {:ok, term(), non_neg_integer()} | {:error, term()}
  def whole({:ok, value, words}, built, max_heap) do
    if max_heap > 0 and built + words > max_heap,
      do: {:error, :memory_exceeded},
      else: {:ok, value, built + words}
  end

  def whole(error, _built, _max_heap), do: error

  @doc "What the text of a request stands for, which the run does not read in place."
  @spec decoded(Reply.t(), Guarded.max_heap()) ::
          {:ok, term(), non_neg_integer()} | {:error, term()}
  def decoded(Reply.decode(state: state, tool: name, text: text), max_heap),
    do: decoded(name, text, state, max_heap)

  @doc "What a text stands for that a tool has answered; `state`: that of the run, which has the time."
  @spec decoded(term(), binary(), term(), Guarded.max_heap()) ::
          {:ok, term(), non_neg_integer()} | {:error, term()}
  def decoded(name, text, state, max_heap) do
    with {:ok, value} <-
           ToolWorker.decoded(name, Texts.answer(text, Native.time_left(state), max_heap)),
         {:ok, words} <- Weight.within(value, max_heap),
         do: {:ok, value, words}
  end

  @doc """
  The words of arguments, which are copied to the tool's process, if they are not too many. Those of small ones are known.

      iex> PtcRunner.Json.Run.InCaller.weigh(%{}, 3, 1_000)
      {:ok, 3}

  """
  @spec weigh(term(), non_neg_integer() | nil, Guarded.max_heap()) ::
          {:ok, non_neg_integer()} | {:error, term()}
  def weigh(_args, weight, max_heap)
      when is_integer(weight) and (weight <= max_heap or max_heap == 0),
      do: {:ok, weight}

  def weigh(args, _weight, max_heap), do: Weight.within(args, max_heap)

  defp move(call, words, %Run{process: process} = run) do
    Reply.moves(state: state, terms: terms, tool: name, args: args, left: left) = call

    with {:ok, fun} <- wrapped(run, name) do
      # The process may have functions that are not wrapped.
      moving = %Moved{
        call: Reply.moved_call(state: state, terms: terms, tool: name, args: args),
        words: words,
        budget: run.budget,
        anew?: Telemetry.tools?()
      }

      {result, process} = ToolProcess.move(process, moving, fun, &wrapped(run, &1), left)
      # The value was copied, and may be large whatever the run has built.
      Guarded.settle()
      with {:error, reason} <- result, do: Telemetry.ended(reason)
      {:ended, result, %{run | process: process}}
    else
      error -> {:ended, error, run}
    end
  end

  # The tool, wrapped for calls in another process, which counts them.
  defp wrapped(%Run{tools: tools}, name) do
    with {:ok, fun} <- known(tools, name),
         do: {:ok, if(Telemetry.on?(), do: Telemetry.told(name, fun), else: fun)}
  end

  @doc "The tool that a run calls, counted; or why it cannot be called."
  @spec tool(Run.t(), term(), args :: term()) :: {:ok, (term() -> term())} | {:error, term()}
  def tool(%Run{tools: tools, budget: nil}, name, _args), do: known(tools, name)

  def tool(%Run{tools: tools, budget: budget}, name, args) do
    with {:ok, fun} <- known(tools, name),
         :ok <- Budget.take(budget, name, args),
         do: {:ok, fun}
  end

  defp known(tools, name) when is_binary(name) and is_map_key(tools, name),
    do: {:ok, :erlang.map_get(name, tools)}

  defp known(tools, name), do: {:error, {:unknown_tool, name, tools}}
end

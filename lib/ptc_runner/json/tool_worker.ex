defmodule PtcRunner.Json.ToolWorker do
  @moduledoc false
  # The loop inside the process of `PtcRunner.Json.ToolProcess`: receives a request,
  # runs one tool and replies with a value or with the text of an error.
  #
  # A request carries the tag that was sent with the previous answer. The tag is made in the function
  # that waits for it, which lets the VM skip older messages. So messages that tools leave in this mailbox
  # do not make later calls slower.

  alias PtcRunner.Json.MovedRun
  alias PtcRunner.Native.Panic
  alias PtcRunner.Sandbox.{Guarded, Weight}
  alias PtcRunner.Shown

  # The key of the words that the running tool has been charged for.
  @charged {__MODULE__, :charged}

  @type result :: {:ok, term()} | {:error, {:tool_failed, String.t()}}

  @typedoc "The receiver of an answer: an alias, or an alias and the round that the answer is for."
  @type reply_to :: reference() | {reference(), non_neg_integer()}

  @doc """
  Runs the first tool, replies to `reply_to`, and serves requests until the process is killed.

  A value is sent with the words of its copy. If they are more than `max_heap` (0: no limit), the
  answer is `{:error, :memory_exceeded}`: sending copies the value, including its shared parts.
  """
  @spec start(reply_to(), Guarded.max_heap(), String.t(), (term() -> term()), term()) ::
          no_return()
  def start(reply_to, max_heap, name, fun, args),
    do: serve(reply_to, name, fun, args, %{name => fun}, max_heap)

  @doc """
  Runs one tool, sends `{ref, result, :done}` to `caller`, and ends.
  """
  @spec once(pid(), reference(), Guarded.max_heap(), String.t(), (term() -> term()), term()) ::
          no_return()
  def once(caller, ref, max_heap, name, fun, args) do
    result = name |> run(fun, args) |> weighed(max_heap)
    send(caller, {ref, result, :done})
    # Processes that the tool has linked to this one end with it.
    exit(:killed)
  end

  defp serve(reply_to, name, fun, args, funs, max_heap) do
    result = name |> run(fun, args) |> weighed(max_heap)
    tag = make_ref()
    tell(reply_to, result, tag)
    Guarded.settle()

    receive do
      {^tag, reply_to, name, nil, args} ->
        serve(reply_to, name, Map.fetch!(funs, name), args, funs, max_heap)

      {^tag, reply_to, name, fun, args} ->
        serve(reply_to, name, fun, args, Map.put(funs, name, fun), max_heap)

      {^tag, reply_to, {state, terms, moved, name, nil, args}} ->
        move = {state, terms, moved, name, Map.fetch!(funs, name), args}
        MovedRun.go_on(reply_to, max_heap, move, funs)

      {^tag, reply_to, {_state, _terms, _moved, name, fun, _args} = move} ->
        MovedRun.go_on(reply_to, max_heap, move, Map.put(funs, name, fun))
    end
  end

  defp tell({ref, round}, result, tag), do: send(ref, {ref, round, result, tag})
  defp tell(ref, result, tag), do: send(ref, {ref, result, tag})

  defp weighed({:ok, value}, max_heap) do
    case Panic.instead(fn -> Weight.of(value, max_heap) end) do
      {:ok, words} -> {:ok, value, words + charged()}
      :too_much -> {:error, :memory_exceeded}
      {:error, _fault} = error -> error
    end
  end

  defp weighed(error, _max_heap) do
    charged()
    error
  end

  @doc """
  Counts so many words as built by the run, besides those of the answer: for what a tool's wrapper keeps elsewhere.
  """
  @spec charge(non_neg_integer()) :: :ok
  def charge(words) do
    Process.put(@charged, words + Process.get(@charged, 0))
    :ok
  end

  @doc "The words that `charge/1` has counted since the last call of this function."
  @spec charged() :: non_neg_integer()
  def charged, do: Process.delete(@charged) || 0

  @doc """
  Runs one tool in the calling process.

      iex> PtcRunner.Json.ToolWorker.run("double", &(&1 * 2), 21)
      {:ok, 42}

      iex> PtcRunner.Json.ToolWorker.run("find", fn _ -> {:error, :none} end, %{})
      {:error, {:tool_failed, "Tool 'find' error: :none"}}

  """
  @spec run(String.t(), (term() -> term()), term()) :: result()
  def run(name, fun, args) do
    try do
      fun.(args)
    catch
      kind, reason -> failure(name, kind, reason, __STACKTRACE__)
    else
      {:error, reason} -> failed(name, "error", fn -> Shown.text(reason) end)
      value -> {:ok, value}
    end
  end

  @doc """
  The error of a tool that raised, threw or exited.

      iex> PtcRunner.Json.ToolWorker.failure("find", :throw, %{"_pin" => 1}, [])
      {:error, {:tool_failed, ~S(Tool 'find' threw: %{"_pin" => …})}}

  """
  @spec failure(String.t(), :error | :throw | :exit, term(), Exception.stacktrace()) :: result()
  def failure(name, :error, reason, trace) do
    failed(name, "raised", fn ->
      Shown.exception(Exception.normalize(:error, reason, trace))
    end)
  end

  def failure(name, :throw, value, _trace),
    do: failed(name, "threw", fn -> Shown.text(value) end)

  def failure(name, :exit, reason, _trace),
    do: failed(name, "exited", fn -> Shown.text(reason) end)

  defp failed(name, verb, text) do
    {:error, {:tool_failed, "Tool '#{Shown.name(name)}' #{verb}: #{Guarded.text(text)}"}}
  end
end

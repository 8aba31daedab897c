defmodule PtcRunner.Json.ToolWorker do
  @moduledoc false
  # The loop inside the process of `PtcRunner.Json.ToolProcess`: receives a request,
  # runs one tool and replies with a value or with the text of an error.
  #
  # A request carries the tag that was sent with the previous answer. The tag is made in the function
  # that waits for it, which lets the VM skip older messages. So messages that tools leave in this mailbox
  # do not make later calls slower.

  alias PtcRunner.Json.Run.Moved
  alias PtcRunner.Json.{Batch, Budget, Keyed, Text, Texts, ToolProcess}
  alias PtcRunner.Native
  alias PtcRunner.Sandbox.{Guarded, Weight}
  alias PtcRunner.Shown
  require Guarded
  require Weight

  # The key of the words that the running tool has been charged for.
  @charged :ptc_runner_words_charged
  # The key of whether an answer of the running tool may be a text.
  @in_place :ptc_runner_in_place
  # The key of what counts the calls of the run.
  @budget :ptc_runner_budget
  # A larger answer is sent, and not kept: a copy of so many words takes little time.
  @most_kept 16_384

  # Behind an answer of more words a run of PTC-JSON moves, so that further ones are not copied.
  @large 256

  @type result :: {:ok, term()} | {:error, {:tool_failed, String.t()}}

  @typedoc "A process or an alias, the reference in its messages, and the round that an answer is for, if there are rounds."
  @type reply_to ::
          {pid() | reference(), reference()}
          | {pid() | reference(), reference(), round :: non_neg_integer()}

  @typedoc """
  A call of a tool, and what comes then: the next request, the end of the process, or the run that
  goes on there; then the arguments are those of the run's call. A function that the process has is nil. With `:in_place`, the next request follows, and a long JSON text is answered as it is.
  """
  @type request ::
          {String.t(), (term() -> term()) | nil, args :: term(),
           :next
           | :in_place
           | :done
           | {:each, reference(), non_neg_integer()}
           | {:all, Budget.t() | :known | nil, non_neg_integer()}
           | Moved.t()}

  @typedoc "The values of several calls with their words; and the answer behind them that is no value, or that is a text."
  @type answers ::
          {:all, [term()], non_neg_integer()}
          | {:stopped, [term()], non_neg_integer(), answer :: term()}

  @doc """
  Serves the first request, replies to `reply_to`, and serves others until the process is killed or has served
  the last one; see `leave/2`.

  A value is sent with the words of its copy. If they are more than `max_heap` (0: no limit), the
  answer is `{:error, :memory_exceeded}`: sending copies the value, including its shared parts.
  """
  @spec start({reply_to(), Guarded.max_heap(), request()}) :: :killed
  def start({reply_to, max_heap, {name, fun, args, :done}}),
    do: leave(reply_to, name |> run(fun, args) |> weighed(max_heap))

  def start({reply_to, max_heap, {name, fun, _args, %Moved{} = moved}}),
    do: Moved.start(reply_to, max_heap, moved, %{name => fun})

  def start({reply_to, max_heap, {name, fun, _args, _then} = request}),
    do: serve(reply_to, max_heap, request, fun, %{name => fun})

  defp serve(reply_to, max_heap, {name, _, args, then}, fun, funs)
       when then in [:next, :in_place] do
    await(reply_to, max_heap, served(then, name, fun, args, max_heap), funs)
  end

  defp serve(reply_to, max_heap, {name, _, args, :done}, fun, _funs),
    do: leave(reply_to, name |> run(fun, args) |> weighed(max_heap))

  defp serve(reply_to, max_heap, {name, _, _args, %Moved{} = moved}, fun, funs) do
    # A process that starts with the run has this limit already.
    Guarded.allow(max_heap, ToolProcess.room(moved.words, 0))
    Moved.start(reply_to, max_heap, moved, if(moved.anew?, do: %{name => fun}, else: funs))
  end

  # Several calls, one after another. The next request is served behind the last one.
  defp serve(reply_to, max_heap, {name, _, all, {:each, kept, room}}, fun, funs) do
    last = each(all, name, fun, max_heap, kept, room)
    await(reply_to, max_heap, {:each, last}, funs)
  end

  # Calls for several rounds of a loop of PTC-JSON. Their answers are lost with this process.
  defp serve(reply_to, max_heap, {name, _, all, {:all, budget, room}}, fun, funs) do
    Guarded.allow(max_heap, ToolProcess.room_for_calls(max_heap))
    Process.put(@in_place, true)
    most = ToolProcess.most_together(max_heap)
    most = if max_heap == 0, do: most, else: min(room, most)
    tool = {name, fun, budget |> kept() |> Budget.of_tool(name)}
    result = values(all, tool, {max_heap, most}, [], 0)
    Process.delete(@in_place)
    await(reply_to, max_heap, result, funs)
  end

  # Sends a result, and serves the next request.
  defp await(reply_to, max_heap, result, funs) do
    tag = make_ref()
    tell(reply_to, result, tag)

    Guarded.await do
      {^tag, reply_to, {name, nil, _args, _then} = request} ->
        serve(reply_to, max_heap, request, Map.fetch!(funs, name), funs)

      {^tag, reply_to, {name, fun, _args, _then} = request} ->
        serve(reply_to, max_heap, request, fun, Map.put(funs, name, fun))
    end
  end

  # What came of the last of several calls of a tool whose answers `PtcRunner.Lisp.ToolAnswer` has told apart. Behind one that is no value, behind
  # a large one, and behind too many words, no further call is made. Each other answer is kept outside of this process, which may be killed in the
  # next call.
  defp each([args | rest], name, fun, max_heap, kept, room) do
    case name |> run(fun, args) |> weighed(max_heap) do
      {:ok, {:value, value}, words}
      when rest != [] and words <= @most_kept and (max_heap == 0 or words <= room) ->
        Native.keep_answer(kept, value, words)
        each(rest, name, fun, max_heap, kept, room - words)

      last ->
        {last, Native.kept_time(kept)}
    end
  end

  # What counts the calls of the run, which is sent once.
  defp kept(nil), do: nil
  defp kept(:known), do: Process.get(@budget)

  defp kept(budget) do
    Process.put(@budget, budget)
    budget
  end

  # The values of calls, until one is large, they have too many words, or one is no value. A run that then has not all answers moves.
  defp values([args | rest], {name, fun, budget} = tool, limits, values, words) do
    with :ok <- Budget.take(budget, name, args) do
      case name |> called(fun, args) |> value(limits) do
        {:ok, value, more} when rest == [] or more > @large or words + more > elem(limits, 1) ->
          {:all, :lists.reverse(values, [value]), words + more}

        {:ok, value, more} ->
          values(rest, tool, limits, [value | values], words + more)

        {:text, answer} ->
          {:stopped, :lists.reverse(values), words, answer}

        error ->
          {:stopped, :lists.reverse(values), words, error}
      end
    end
  end

  defp value({:ok, value}, _limits) when Weight.is_immediate(value), do: {:ok, value, charged()}

  defp value({:ok, %Text{}} = text, {max_heap, _most}), do: {:text, weighed(text, max_heap)}
  defp value(answer, {max_heap, _most}), do: weighed(answer, max_heap)

  defp served(:next, name, fun, %Batch{} = batch, max_heap),
    do: name |> all(fun, batch) |> all_weighed(max_heap)

  defp served(:next, name, fun, args, max_heap), do: name |> run(fun, args) |> weighed(max_heap)

  defp served(_in_place, name, fun, args, max_heap),
    do: name |> answer(fun, args) |> weighed(max_heap)

  @doc "Sends the last result. Its value is the process's: processes that tools have linked to this one end with it."
  @spec leave(reply_to(), term()) :: :killed
  def leave(reply_to, result) do
    tell(reply_to, result, :done)
    :killed
  end

  @doc "Sends a result, with the tag of the next request."
  @spec tell(reply_to(), term(), reference() | :done) :: term()
  def tell({to, ref}, result, tag), do: send(to, {ref, result, tag})
  def tell({to, ref, round}, result, tag), do: send(to, {ref, round, result, tag})

  # What the record keeps of all calls counts for the first answer that is a value.
  defp all_weighed(answers, max_heap), do: all_weighed(answers, max_heap, charged(), [])

  defp all_weighed([{:ok, value} | answers], left, charged, weighed)
       when Weight.is_immediate(value),
       do: all_weighed(answers, left, 0, [{:ok, value, charged} | weighed])

  defp all_weighed([{:ok, value} | answers], left, charged, weighed) do
    case Weight.within(value, left) do
      {:ok, words} ->
        left = if left == 0, do: 0, else: max(left - words, 1)
        all_weighed(answers, left, 0, [{:ok, value, words + charged} | weighed])

      error ->
        error
    end
  end

  defp all_weighed([error | answers], left, charged, weighed),
    do: all_weighed(answers, left, charged, [error | weighed])

  defp all_weighed([], _left, _charged, weighed), do: {:all, Enum.reverse(weighed)}

  defp weighed({:ok, value}, max_heap) do
    with {:ok, words} <- Weight.within(value, max_heap), do: {:ok, value, words + charged()}
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
    name |> called(fun, args) |> whole(name)
  end

  @doc """
  Calls a tool for several calls at once, in the calling process; returns what `run/3` does for each.

      iex> alias PtcRunner.Json.{Batch, ToolWorker}
      iex> find = Batch.function(fn list -> Enum.map(list, &if(&1 > 1, do: {:error, :none}, else: &1)) end)
      iex> ToolWorker.all("find", find, %Batch{calls: [1, 2]})
      [ok: 1, error: {:tool_failed, "Tool 'find' error: :none"}]

  """
  @spec all(String.t(), (Batch.t() -> [term()]), Batch.t()) :: [result()]
  def all(name, fun, %Batch{calls: calls} = batch) do
    Guarded.settle()

    try do
      fun.(batch)
    catch
      kind, reason ->
        failure = failure(name, kind, reason, __STACKTRACE__)
        Enum.map(calls, fn _call -> failure end)
    else
      answers -> for answer <- answers, do: answer |> answered(name) |> whole(name)
    end
  end

  defp whole({:ok, %Text{} = text}, name), do: decoded(name, Texts.answer(text))
  defp whole(result, _name), do: result

  @doc """
  Runs one tool in the calling process; a long JSON text is not decoded.

      iex> long = PtcRunner.Json.text("1" <> String.duplicate(" ", 5_000))
      iex> PtcRunner.Json.ToolWorker.answer("t", fn _ -> long end, %{}) == {:ok, long}
      true

  """
  @spec answer(String.t(), (term() -> term()), term()) :: result()
  def answer(name, fun, args) do
    Process.put(@in_place, true)
    answer = called(name, fun, args)
    Process.delete(@in_place)
    answer
  end

  @doc "From here on, the runs whose tools are called in this process read long JSON texts in place: see `call/3`."
  @spec read_in_place() :: :ok
  def read_in_place do
    Process.put(@in_place, true)
    :ok
  end

  @doc """
  Runs one tool in a process that reads long JSON texts in place.

      iex> PtcRunner.Json.ToolWorker.call("double", &(&1 * 2), 21)
      {:ok, 42}

  """
  @spec call(String.t(), (term() -> term()), term()) :: result()
  def call(name, fun, args), do: called(name, fun, args)

  @doc """
  Whether the run of the tool that is called in this process reads a long JSON text in place.

      iex> alias PtcRunner.Json.ToolWorker
      iex> asks = fn _ -> ToolWorker.in_place?() end
      iex> {ToolWorker.run("t", asks, %{}), ToolWorker.answer("t", asks, %{})}
      {{:ok, false}, {:ok, true}}

  """
  @spec in_place?() :: boolean()
  def in_place?, do: Process.get(@in_place, false)

  defp called(name, fun, %Keyed{args: args, call: call}),
    do: Keyed.within(call, fn -> called(name, fun, args) end)

  defp called(name, fun, args) do
    # The arguments may be more than the limit of this process.
    Guarded.settle()

    try do
      fun.(args)
    catch
      kind, reason -> failure(name, kind, reason, __STACKTRACE__)
    else
      answer -> answered(answer, name)
    end
  end

  @compile {:inline, answered: 2}
  defp answered({:error, reason}, name), do: failed(name, "error", fn -> Shown.text(reason) end)

  defp answered(%Text{} = text, name),
    do: if(Texts.long?(text), do: {:ok, text}, else: decoded(name, Texts.answer(text)))

  defp answered(value, _name), do: {:ok, value}

  @doc """
  The answer of a tool that is a text, or any other value, given what `Texts.answer/1` says that it stands for.

      iex> PtcRunner.Json.ToolWorker.decoded("find", {:error, "it is no JSON"})
      {:error, {:tool_failed, "Tool 'find' error: it is no JSON"}}

  """
  @spec decoded(String.t(), term()) :: result() | {:error, :timeout | :memory_exceeded}
  def decoded(_name, {:error, limit}) when is_atom(limit), do: {:error, limit}
  def decoded(name, {:error, why}), do: failed(name, "error", fn -> why end)
  def decoded(_name, value), do: {:ok, value}

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

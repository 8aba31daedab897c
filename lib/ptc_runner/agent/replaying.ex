defmodule PtcRunner.Agent.Replaying do
  @moduledoc false
  # Runs and loops of an agent with the answers of a journal: see `PtcRunner.Agent.replay/3`.

  alias PtcRunner.Agent.Source
  alias PtcRunner.Json.{Entry, Journal, Paused}
  alias PtcRunner.Json.Control.{Told, Words}
  alias PtcRunner.Json.Paused.Stored
  alias PtcRunner.Lisp.Program
  alias PtcRunner.Shown

  # A journal says what these would.
  @of_journal [:on_call, :on_journal, :max_tool_calls, :pause_ttl, :approve]

  # What a run says of how it ran, if the caller does not.
  @of_run [:memory, :edition, :strict, :max_depth, :timeout, :max_heap]

  @typedoc "A journal of `PtcRunner.Json.record/2`, or a run that has been recovered."
  @type journal :: map() | Paused.t()

  @typedoc "The key under which the process has the journals that are left."
  @type t :: {module(), reference()}

  @doc "The journals of the runs of a loop, in their order; or what is wrong."
  @spec journals(term()) :: {:ok, [journal()]} | {:error, String.t()}
  def journals(%Paused{} = paused), do: {:ok, [paused]}
  def journals(%{"journal" => _version} = recorded), do: {:ok, [recorded]}

  def journals([_ | _] = events) do
    with false <- List.improper?(events),
         [_ | _] = runs <- events |> Stored.runs() |> whole([]) do
      each(runs, [])
    else
      _none -> no_journal(events)
    end
  end

  def journals(other), do: no_journal(other)

  defp no_journal(other), do: {:error, "no journal of a run: #{Shown.text(other, 200)}"}

  # A run that was resumed has what it had before. One that met a limit before its first call may have been started twice.
  defp whole([{start, _since} = run | rest], [{before, made} | done]) do
    again? =
      start["resumed"] == true or
        (made == [] and Enum.all?(["program", "memory"], &(before[&1] == start[&1])))

    whole(rest, if(again?, do: [run | done], else: [run, {before, made} | done]))
  end

  defp whole([run | rest], []), do: whole(rest, [run])
  defp whole([], done), do: Enum.reverse(done)

  defp each([run | rest], done) do
    with {:ok, paused} <- Stored.of_run(run), do: each(rest, [paused | done])
  end

  defp each([], done), do: {:ok, Enum.reverse(done)}

  @doc "Calls a function with the options of a run or a loop that has these journals."
  @spec within([journal()], keyword(), (keyword() -> result)) :: result when result: term()
  def within(journals, opts, fun) do
    key = {__MODULE__, make_ref()}
    Process.put(key, journals)

    try do
      fun.([{:replays, key} | Keyword.drop(opts, @of_journal)])
    after
      Process.delete(key)
    end
  end

  @doc "The options of a run that has this journal: those that are given, and how it ran."
  @spec options(journal(), keyword()) :: keyword()
  def options(%Paused{} = paused, opts) do
    kept = paused |> Map.take(@of_run) |> Map.reject(fn {_name, value} -> value == nil end)
    Keyword.merge(Map.to_list(kept), opts)
  end

  def options(_recorded, opts), do: opts

  @doc """
  Calls a function with the answers for the next run, as parts of its control, and with the time of its start. They are those of the next
  journal, if that is of this program and memory: a run without calls may have none. Answers that are left are an error.
  """
  @spec run(t(), {PtcRunner.Json.program(), memory :: map()}, (Told.call() -> term()), fun) ::
          tuple()
        when fun: (map(), String.t() | nil -> tuple())
  def run(key, {program, memory}, watch, fun) do
    with {:ok, answers, now} <- next(key, program, memory) do
      count = :counters.new(1, [])

      watch = fn call ->
        if call.decision == :replay, do: :counters.add(count, 1, 1)
        watch.(call)
      end

      answers |> Map.put(:watch, watch) |> fun.(now) |> ended(answers, :counters.get(count, 1))
    end
  end

  defp next(key, program, memory) do
    case Process.get(key) do
      [journal | rest] ->
        if of?(journal, program, memory) do
          Process.put(key, rest)
          control(journal, program)
        else
          none()
        end

      [] ->
        none()
    end
  end

  defp none, do: {:ok, %{journal: [], replay?: true, forks?: false}, nil}

  defp of?(%Paused{lisp: lisp} = paused, program, memory) when lisp != nil,
    do: paused.memory === memory and paused.program === source(program)

  defp of?(%Paused{} = paused, program, memory),
    do: paused.memory === memory and Source.same?(paused.program, source(program))

  defp of?(_recorded, _program, _memory), do: true

  defp source(%{source: source}), do: source
  defp source(source), do: source

  defp control(journal, program) do
    with {:ok, control, opts} <- of_language(journal, program) do
      answers = Map.take(control, [:journal, :forks?, :key_run])
      {:ok, Map.put(answers, :replay?, true), opts[:now]}
    end
  end

  defp of_language(journal, %Program{}), do: Journal.lisp_control(journal)
  defp of_language(journal, program), do: Journal.control(journal, program, [])

  defp ended({:error, _fault} = error, _answers, _count), do: error

  defp ended(result, %{journal: journal}, count) do
    left = journal |> Entry.list() |> Enum.reject(&Entry.beyond?/1) |> Enum.drop(count)
    with :ok <- Words.left(%{journal: left}), do: result
  end
end

defmodule PtcRunner.Lisp.GoingOn do
  @moduledoc false
  # Runs of PTC-Lisp that go on after a pause, that are recorded, and that a journal answers: as those of PTC-JSON, with a step at their end.

  alias PtcRunner.Json
  alias PtcRunner.Json.{Control, Journal, Paused, Resuming}
  alias PtcRunner.Json.Control.Words
  alias PtcRunner.Lisp.{Evaluation, Given, Program}
  alias PtcRunner.Step

  # A journal says what these would.
  @of_journal [:on_call, :on_journal, :max_tool_calls, :tools]

  # The options of a run that goes on which `PtcRunner.Json.Resuming` looks for.
  @asked [:on_call, :on_journal, :tool_context, :max_tool_calls, :pause_ttl, :timeout, :max_heap] ++
           [:within, :unknown, :tool_concurrency]

  @doc "See `PtcRunner.Lisp.resume/3`."
  @spec resume(Paused.t(), term(), keyword()) :: Evaluation.result()
  def resume(paused, decisions, opts) do
    given = Given.read(opts)

    with {:ok, program, given} <- prepared(paused, decisions, given, opts),
         do: Evaluation.run(program, given),
         else: ({:error, {reason, text}} -> {:error, Step.error(reason, text, memory(paused))})
  end

  @doc """
  The program of a paused run, and what it goes on with; or why it does not go on. `opts` are the options that were given.
  """
  @spec prepared(Paused.t(), term(), Given.t(), keyword()) ::
          {:ok, String.t(), Given.t()} | {:error, {atom(), String.t()}}
  def prepared(%Paused{lisp: nil}, _decisions, _given, _opts),
    do:
      {:error,
       {:execution_error,
        "The paused run is one of PTC-JSON: PtcRunner.Json.resume/3 goes on with it"}}

  def prepared(%Paused{} = paused, decisions, given, opts) do
    json = %Json.Given{
      limits: {given.timeout, given.max_heap, 1},
      most: given.tool_concurrency,
      control: Given.control(given)
    }

    with {:ok, paused, json} <-
           Resuming.given(paused, decisions, json, Keyword.take(opts, @asked)),
         {:ok, given} <- Given.with_kept(given, paused.lisp) do
      {timeout, max_heap, _reading} = json.limits
      given = %{given | tool_concurrency: json.most}
      {:ok, paused.program, going_on(given, paused.memory, {timeout, max_heap}, json.control)}
    else
      {:error, text} when is_binary(text) -> {:error, {:execution_error, text}}
      error -> error
    end
  end

  defp going_on(given, memory, {timeout, max_heap}, control) do
    %{
      given
      | memory: memory,
        timeout: timeout,
        max_heap: max_heap,
        now: nil,
        own: Control.parts(control)
    }
  end

  defp memory(%Paused{memory: memory}) when is_map(memory), do: memory
  defp memory(_other), do: %{}

  @doc "See `PtcRunner.Lisp.record/2`."
  @spec record(String.t() | Program.t(), keyword()) :: {Evaluation.result(), map()}
  def record(program, opts) do
    given = Given.read(opts)
    {result, control} = Evaluation.controlled(program, with_own(given, %{record?: true}))
    {result, Journal.of_lisp(control)}
  end

  @doc "See `PtcRunner.Lisp.replay/3`."
  @spec replay(String.t() | Program.t(), term(), keyword()) :: Evaluation.result()
  def replay(program, journal, opts) do
    given = Given.read(opts)

    with {:ok, control, defaults} <- Journal.lisp_control(journal) do
      given = Given.read(Keyword.merge(defaults, Keyword.drop(opts, @of_journal)))
      own = control |> Control.parts() |> Map.delete(:lisp)
      {result, control} = Evaluation.controlled(program, with_own(given, own))
      whole(result, control)
    else
      {:error, {reason, text}} -> {:error, Step.error(reason, text, given.memory)}
    end
  end

  defp with_own(given, own), do: %{given | own: Map.merge(given.own, own)}

  # A program that could not be compiled has no control at its end.
  defp whole(result, nil), do: result

  defp whole({_how, step} = result, control) do
    case Words.left(control) do
      :ok ->
        result

      {:error, {reason, text}} ->
        error = Step.error(reason, text, step.memory)
        {:error, %{error | prints: step.prints, tool_calls: step.tool_calls, usage: step.usage}}
    end
  end
end

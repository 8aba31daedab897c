defmodule PtcRunner.Json.Resuming do
  @moduledoc false
  # Goes on with a paused run: it runs anew, and the calls that were answered before get their answers from the journal.

  alias PtcRunner.Json.{Evaluation, Given, Message, Paused, Runner}

  @function "PtcRunner.Json.resume/3"

  # What the options of the run that goes on say about calls.
  @asked [:max_tool_calls, :on_call, :on_journal, :pause_ttl, :watch, :budget, :settings]

  @doc "See `PtcRunner.Json.resume/3`."
  @spec resume(Paused.t(), term(), keyword()) :: PtcRunner.Json.result()
  def resume(paused, decisions, opts) do
    given = Given.read(opts, @function)

    with {:ok, given} <- of_paused(paused, decisions, given, opts[:edition]),
         do: paused.program |> Evaluation.run(given) |> Evaluation.result(paused.program, given)
  end

  @doc "The same for `PtcRunner.Agent`: see `PtcRunner.Json.Evaluation.value/3`."
  @spec value(Paused.t(), term(), keyword(), Evaluation.runner()) ::
          {:ok, term()} | {:error, Message.fault()} | {:paused, Paused.t()}
  def value(paused, decisions, opts, run \\ &Runner.run/6) do
    given = Given.read(opts, @function, :own)

    with {:ok, given} <- of_paused(paused, decisions, given, nil),
         do:
           paused.program |> Evaluation.run(given, run) |> Evaluation.value(paused.program, given)
  end

  # The program is read as before, with the memory and the time of before.
  defp of_paused(paused, decisions, {limits, context, _memory, tools, how}, edition) do
    with {:ok, limits, control} <- Paused.control(paused, decisions, limits, edition) do
      {most, _now, asked} = Given.parts(how)
      control = Map.merge(control, Map.take(asked, @asked))
      {:ok, {limits, context, paused.memory, tools, {most, nil, control}}}
    end
  end
end

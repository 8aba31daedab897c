defmodule PtcRunner.Json.Recording do
  @moduledoc false
  # Runs that are recorded, and runs with the answers of a journal.

  alias PtcRunner.Json.{Entry, Evaluation, Given, Journal, Runner}
  alias PtcRunner.Json.Control.Words

  # A journal says what these would.
  @of_journal [:on_call, :on_journal, :max_tool_calls, :tools]

  @doc "See `PtcRunner.Json.record/2`."
  @spec record(PtcRunner.Json.program(), keyword()) :: {PtcRunner.Json.result(), map()}
  def record(program, opts) do
    {limits, context, memory, tools, how} = Given.read(opts, "PtcRunner.Json.record/2")
    {most, now, control} = Given.parts(how)
    how = {most, now, %{control | record?: true}}
    {result, control} = controlled(program, {limits, context, memory, tools, how})
    {result, Journal.new(control, program, limits)}
  end

  @doc "See `PtcRunner.Json.replay/3`."
  @spec replay(PtcRunner.Json.program(), term(), keyword()) :: PtcRunner.Json.result()
  def replay(program, journal, opts) do
    Given.read(opts, "PtcRunner.Json.replay/3")

    with {:ok, control, defaults} <- Journal.control(journal, program, opts) do
      opts = Keyword.merge(defaults, Keyword.drop(opts, @of_journal))
      {limits, context, memory, _, how} = Given.read(opts, "PtcRunner.Json.replay/3")
      {_most, now, asked} = Given.parts(how)
      # What errors show, and which marks the memory gets.
      control = %{control | firewall: asked.firewall}
      {result, control} = controlled(program, {limits, context, memory, %{}, {1, now, control}})
      with :ok <- left(control, result), do: result
    end
  end

  # A program that could not be compiled has no control at its end.
  defp left(nil, _result), do: :ok

  # Rounds behind one that failed may have made calls.
  defp left(control, {:error, _reason}) do
    last = for {{fork, _, _}, _, _, _} <- Entry.list(control.journal), do: fork
    last = Enum.max(last, fn -> nil end)
    journal = Entry.list(control.journal)
    Words.left(%{control | journal: Enum.reject(journal, &match?({{^last, _, _}, _, _, _}, &1))})
  end

  defp left(control, _result), do: Words.left(control)

  # The result, and the control at the end of the run. The run passes it through the process.
  defp controlled(program, given) do
    key = {__MODULE__, make_ref()}

    run = fn program, context, memory, tools, limits, how ->
      {result, control} = Runner.allowed(program, context, memory, tools, limits, how)
      Process.put(key, control)
      result
    end

    given = Evaluation.planned(program, given)
    result = program |> Evaluation.run(given, run) |> Evaluation.result(program, given)
    {result, Process.delete(key)}
  end
end

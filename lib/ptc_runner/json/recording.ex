defmodule PtcRunner.Json.Recording do
  @moduledoc false
  # Runs that are recorded, and runs with the answers of a journal.

  alias PtcRunner.Json.{Control, Entry, Evaluation, Given, Journal, Runner}
  alias PtcRunner.Json.Control.Words

  # A journal says what these would.
  @of_journal [:on_call, :on_journal, :max_tool_calls, :tools]

  @doc "See `PtcRunner.Json.record/2`."
  @spec record(PtcRunner.Json.program(), keyword()) :: {PtcRunner.Json.result(), map()}
  def record(program, opts) do
    given = Given.read(opts, "PtcRunner.Json.record/2")
    control = given |> Given.control() |> Control.with_rules(record?: true)
    {result, control} = controlled(program, %{given | control: control})
    {result, Journal.new(control, program, given.limits)}
  end

  @doc "See `PtcRunner.Json.replay/3`."
  @spec replay(PtcRunner.Json.program(), term(), keyword()) :: PtcRunner.Json.result()
  def replay(program, journal, opts) do
    Given.read(opts, "PtcRunner.Json.replay/3")

    with {:ok, control, defaults} <- Journal.control(journal, program, opts) do
      opts = Keyword.merge(defaults, Keyword.drop(opts, @of_journal))
      given = Given.read(opts, "PtcRunner.Json.replay/3")
      # What errors show, and which marks the memory gets.
      firewall = Given.control(given).rules.firewall
      control = Control.with_rules(control, firewall: firewall)
      given = %{given | tools: %{}, most: 1, control: control}
      {result, control} = controlled(program, given)
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

    run = fn run ->
      {result, control} = Runner.controlled(run)
      Process.put(key, control)
      result
    end

    given = Evaluation.planned(program, given)
    result = program |> Evaluation.run(given, run) |> Evaluation.result(program, given)
    {result, Process.delete(key)}
  end
end

defmodule PtcRunner.Test.Failures do
  @moduledoc """
  Prints the failed tests once more at the end of the suite, after everything else: where only the end of the
  output is kept, the reason is in it. Of a long failure the first lines are repeated.

  It is an ExUnit formatter: the failures themselves are printed where they happen.
  """

  use GenServer

  @table :ptc_failures
  @lines 25

  @doc "Starts to collect. The calling process must live until the end of the suite."
  @spec start() :: :ok
  def start do
    :ets.new(@table, [:ordered_set, :named_table, :public])
    :ok
  end

  @doc "Prints what has failed, with file, line and the beginning of the failure."
  @spec report() :: :ok
  def report do
    case :ets.tab2list(@table) do
      [] -> :ok
      failed -> IO.puts("\nFailed:\n\n" <> Enum.map_join(failed, "\n", &elem(&1, 0)))
    end
  end

  @impl GenServer
  def init(_options), do: {:ok, %{}}

  @impl GenServer
  def handle_cast({:test_finished, %{state: {:failed, failures}} = test}, state) do
    test |> ExUnit.Formatter.format_test_failure(failures, number(), 120, &plain/2) |> failed()
    {:noreply, state}
  end

  # The tests of a module whose `setup_all` failed are not run.
  def handle_cast({:module_finished, %{state: {:failed, failures}} = module}, state) do
    module
    |> ExUnit.Formatter.format_test_all_failure(failures, number(), 120, &plain/2)
    |> failed()

    {:noreply, state}
  end

  def handle_cast(_event, state), do: {:noreply, state}

  defp number, do: :ets.info(@table, :size) + 1

  defp plain(_part, text), do: text

  defp failed(text) do
    lines = text |> String.split("\n") |> Enum.take(@lines)
    :ets.insert(@table, {Enum.map_join(lines, "\n", &String.slice(&1, 0, 200))})
  end
end

defmodule PtcRunner.Test.Failures do
  @moduledoc """
  Prints the names of the failed tests once more at the end of the suite, after everything else.

  It is an ExUnit formatter: the failures themselves are printed where they happen.
  """

  use GenServer

  @table :ptc_failures

  @doc "Starts to collect. The calling process must live until the end of the suite."
  @spec start() :: :ok
  def start do
    :ets.new(@table, [:ordered_set, :named_table, :public])
    :ok
  end

  @doc "Prints what has failed, with file and line."
  @spec report() :: :ok
  def report do
    case :ets.tab2list(@table) do
      [] -> :ok
      failed -> IO.puts("\nFailed:\n  " <> Enum.map_join(failed, "\n  ", &elem(&1, 0)))
    end
  end

  @impl GenServer
  def init(_options), do: {:ok, %{}}

  @impl GenServer
  def handle_cast({:test_finished, %{state: {:failed, _failures}} = test}, state) do
    failed("#{Path.relative_to_cwd(test.tags.file)}:#{test.tags.line}  #{test.name}")
    {:noreply, state}
  end

  # The tests of a module whose `setup_all` failed are not run.
  def handle_cast({:module_finished, %{state: {:failed, _failures}} = module}, state) do
    failed("#{Path.relative_to_cwd(module.file)}  setup_all of #{inspect(module.name)}")
    {:noreply, state}
  end

  def handle_cast(_event, state), do: {:noreply, state}

  defp failed(line), do: :ets.insert(@table, {line})
end

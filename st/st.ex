defmodule SuiteTimes do
  use GenServer
  def init(_), do: {:ok, %{t0: now(), rows: [], starts: %{}, cpu: cpu_loop(self())}}
  defp now, do: System.monotonic_time(:millisecond)
  defp cpu_loop(me), do: spawn_link(fn -> loop(me) end)
  defp loop(me) do
    [l | _] = File.read!("/proc/stat") |> String.split("\n")
    [_ | n] = String.split(l)
    n = Enum.map(n, &String.to_integer/1)
    {rt, _} = :erlang.statistics(:runtime)
    GenServer.cast(me, {:cpu, Enum.at(n, 3) + Enum.at(n, 4), Enum.sum(Enum.take(n, 8)), rt})
    Process.sleep(1000)
    loop(me)
  end
  def handle_cast({:cpu, idle, all, rt}, s), do: {:noreply, %{s | rows: [{:cpu, now() - s.t0, idle, all, rt} | s.rows]}}
  def handle_cast({:module_finished, m}, s), do: {:noreply, %{s | rows: [{:modend, now() - s.t0, m.name} | s.rows]}}
  def handle_cast({:module_started, m}, s), do: {:noreply, %{s | rows: [{:modstart, now() - s.t0, m.name} | s.rows]}}
  def handle_cast({:test_finished, t}, s), do: {:noreply, %{s | rows: [{:test, now() - s.t0, t.module, t.name, t.time, t.tags[:async]} | s.rows]}}
  def handle_cast({:suite_finished, times}, s) do
    rows = Enum.reverse([{:suite, now() - s.t0, times} | s.rows])
    File.write!(System.get_env("ST_OUT", "/tmp/st.out"), :erlang.term_to_binary(rows))
    {:noreply, s}
  end
  def handle_cast(_, s), do: {:noreply, s}
end

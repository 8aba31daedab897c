defmodule PtcRunner.Json.ToolProcessTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json.{ToolProcess, ToolWorker}
  alias PtcRunner.Test.Room

  doctest ToolProcess
  doctest PtcRunner.Json.Run.Driver
  doctest PtcRunner.Json.Run.InCaller
  doctest PtcRunner.Json.Run.Reply
  doctest PtcRunner.Json.Run.Turn
  doctest ToolWorker

  defmodule Unspeakable do
    defexception [:how]

    def message(%{how: :raise}), do: raise("no message")
    def message(%{how: :throw}), do: throw(:no_message)
    def message(%{how: :garbage}), do: :not_a_string
  end

  defmodule Uninspectable do
    defstruct []

    defimpl Inspect do
      def inspect(_struct, _opts), do: exit(:no_inspect)
    end
  end

  # Runs one tool in a process of its own.
  defp call(fun, args \\ %{}, opts \\ []) do
    tools = ToolProcess.new(Keyword.get(opts, :max_heap, 1_250_000))
    timeout = Keyword.get(opts, :timeout, 60_000)
    {result, tools} = ToolProcess.call(tools, "t", fun, args, timeout)
    ToolProcess.stop(tools)
    value(result)
  end

  defp value({:ok, value, _words}), do: {:ok, value}
  defp value(error), do: error

  # Runs the tools of a list one after the other; gives the results.
  defp calls(funs, opts \\ []) do
    tools = ToolProcess.new(Keyword.get(opts, :max_heap, 0))

    {results, tools} =
      Enum.map_reduce(funs, tools, fn {name, fun}, tools ->
        {result, tools} = ToolProcess.call(tools, name, fun, %{}, 60_000)
        {value(result), tools}
      end)

    ToolProcess.stop(tools)
    results
  end

  defp failed(text), do: {:error, {:tool_failed, text}}
  defp error(text), do: {:error, {:execution_error, text}}

  defp messages do
    {:messages, messages} = Process.info(self(), :messages)
    messages
  end

  defp assert_dies(pid) do
    monitor = Process.monitor(pid)
    assert_receive {:DOWN, ^monitor, :process, ^pid, _reason}
  end

  describe "new/1" do
    test "starts nothing" do
      before = Process.info(self(), [:links, :monitors])
      tools = ToolProcess.new(1_000)
      assert Process.info(self(), [:links, :monitors]) == before
      assert :ok = ToolProcess.stop(tools)
    end

    test "refuses the limits that the VM refuses, at the edge" do
      {:min_heap_size, least} = :erlang.system_info(:min_heap_size)

      for max_heap <- [1, least - 1, -1, 1.0, :infinity, nil, 0x800_0000_0000_0000] do
        assert_raise ArgumentError, fn -> ToolProcess.new(max_heap) end
      end

      for max_heap <- [0, 1_000_000, 0x7FF_FFFF_FFFF_FFFF] do
        assert {:ok, 1} = call(fn _ -> 1 end, %{}, max_heap: max_heap)
      end

      assert %ToolProcess{} = ToolProcess.new(least)
    end
  end

  describe "what a tool returns" do
    test "is the value, whatever it is" do
      for value <- [nil, 1, :error, {:ok, 1}, {:error, 1, 2}, %{"a" => [1.0]}, ~D[2024-01-31]] do
        assert call(fn _ -> value end) === {:ok, value}
      end
    end

    test "may depend on the arguments" do
      assert call(& &1, %{"id" => 1}) == {:ok, %{"id" => 1}}
    end

    test "is an error for an error tuple" do
      assert call(fn _ -> {:error, :none} end) == failed("Tool 't' error: :none")
      assert call(fn _ -> {:error, "text"} end) == failed(~s(Tool 't' error: "text"))
    end
  end

  describe "a tool that fails" do
    test "by raising" do
      assert call(fn _ -> raise "boom" end) == failed("Tool 't' raised: boom")
    end

    test "by an error of the VM" do
      assert call(fn %{"a" => a} -> 1 / a end, %{"a" => 0}) ==
               failed("Tool 't' raised: bad argument in arithmetic expression")

      assert call(fn _ -> :erlang.error(:odd) end) ==
               failed("Tool 't' raised: Erlang error: :odd")

      assert {:error, {:tool_failed, "Tool 't' raised: function :no_module.f/0 is undef" <> _}} =
               call(fn _ -> apply(:no_module, :f, []) end)
    end

    test "by throwing or exiting" do
      assert call(fn _ -> throw({:a, 1}) end) == failed("Tool 't' threw: {:a, 1}")
      assert call(fn _ -> exit(:normal) end) == failed("Tool 't' exited: :normal")
      assert call(fn _ -> exit(:killed) end) == failed("Tool 't' exited: :killed")
    end

    test "with terms that cannot be shown" do
      hidden = "(a term that cannot be shown)"

      assert call(fn _ -> raise Unspeakable, how: :throw end) ==
               failed("Tool 't' raised: " <> hidden)

      assert call(fn _ -> throw(%Uninspectable{}) end) == failed("Tool 't' threw: " <> hidden)
      assert call(fn _ -> exit(%Uninspectable{}) end) == failed("Tool 't' exited: " <> hidden)
      assert call(fn _ -> {:error, %Uninspectable{}} end) == failed("Tool 't' error: " <> hidden)

      for how <- [:raise, :garbage] do
        assert {:error, {:tool_failed, "Tool 't' raised: got " <> _}} =
                 call(fn _ -> raise Unspeakable, how: how end)
      end
    end

    test "does not end the process" do
      same = fn _ -> self() end
      boom = fn _ -> raise "boom" end

      assert [{:ok, pid}, {:error, _}, {:ok, pid}] =
               calls([{"a", same}, {"b", boom}, {"a", same}])
    end
  end

  describe "the process" do
    test "is one for all calls, which it runs in order" do
      test = self()
      note = fn n -> fn _ -> send(test, {n, self()}) end end
      calls(for n <- 1..50, do: {"note #{n}", note.(n)})
      assert [{1, pid} | _] = messages()
      assert messages() == for(n <- 1..50, do: {n, pid})
      refute pid == self()
    end

    test "keeps the function of a name" do
      assert calls([{"a", fn _ -> 1 end}, {"b", fn _ -> 2 end}, {"a", fn _ -> 3 end}]) ==
               [{:ok, 1}, {:ok, 2}, {:ok, 1}]
    end

    test "knows who called" do
      callers = fn _ -> Process.get(:"$callers") end
      test = self()
      assert call(callers) == {:ok, [test]}
      task = Task.async(fn -> {self(), call(callers)} end)
      assert {pid, {:ok, [pid, ^test]}} = Task.await(task, 60_000)
    end

    test "passes on the mailbox of the tools, and later calls do not go through it" do
      litter = fn _ -> for n <- 1..100, do: send(self(), n) end
      sum = fn _ -> Enum.reduce(1..100, 0, fn n, sum -> receive(do: (^n -> sum + n)) end) end
      assert [_, {:ok, 5050}] = calls([{"litter", litter}, {"sum", sum}])
    end

    test "runs ten thousand calls" do
      tools = ToolProcess.new(1_250_000)

      {sum, tools} =
        Enum.reduce(1..10_000, {0, tools}, fn n, {sum, tools} ->
          {{:ok, value, 0}, tools} = ToolProcess.call(tools, "double", &(&1 * 2), n, 60_000)
          {sum + value, tools}
        end)

      ToolProcess.stop(tools)
      assert sum == 10_000 * 10_001
      assert messages() == []
    end

    test "is gone after stop, and nothing else was started" do
      before = Process.info(self(), [:links, :monitors])
      tools = ToolProcess.new(0)
      {{:ok, pid, 0}, tools} = ToolProcess.call(tools, "pid", fn _ -> self() end, %{}, 60_000)
      assert Process.alive?(pid)
      assert Process.info(pid, :monitored_by) == {:monitored_by, [self()]}
      assert :ok = ToolProcess.stop(tools)
      refute Process.alive?(pid)
      assert Process.info(self(), [:links, :monitors]) == before
      assert messages() == []
    end
  end

  describe "a timeout" do
    test "ends the process" do
      test = self()

      hang = fn _ ->
        send(test, {:pid, self()})
        Process.sleep(:infinity)
      end

      Room.growing(20, fn timeout ->
        assert call(hang, %{}, timeout: timeout) == {:error, :timeout}
        assert_received {:pid, pid}
        refute Process.alive?(pid)
        assert messages() == []
      end)
    end

    test "ends a tool that is busy or traps exits" do
      busy = fn _ ->
        Process.flag(:trap_exit, true)
        Enum.each(Stream.cycle([1]), & &1)
      end

      assert call(busy, %{}, timeout: 20) == {:error, :timeout}
    end

    test "holds for each call" do
      tools = ToolProcess.new(0)
      {{:ok, _, _}, tools} = ToolProcess.call(tools, "fast", & &1, 1, 60_000)
      slow = fn _ -> Process.sleep(:infinity) end
      {{:error, :timeout}, tools} = ToolProcess.call(tools, "slow", slow, 1, 20)
      assert :ok = ToolProcess.stop(tools)
      assert messages() == []
    end

    test "of nothing runs nothing" do
      test = self()
      assert call(fn _ -> send(test, :ran) end, %{}, timeout: 0) == {:error, :timeout}
      assert call(fn _ -> send(test, :ran) end, %{}, timeout: -1) == {:error, :timeout}
      refute_receive :ran, 20
    end

    test "may be infinite" do
      assert call(fn _ -> 1 end, %{}, timeout: :infinity) == {:ok, 1}
    end

    test "drops an answer that comes at the same moment" do
      results =
        for first? <- [true, false], _ <- 1..100 do
          tools = ToolProcess.new(0)
          fast = fn _ -> :erlang.bump_reductions(1) end
          nap = fn _ -> Process.sleep(1) end

          tools =
            if first?, do: elem(ToolProcess.call(tools, "f", fast, 1, 60_000), 1), else: tools

          {result, tools} = ToolProcess.call(tools, "nap", nap, 1, 1)
          ToolProcess.stop(tools)
          result
        end

      Process.sleep(20)
      assert messages() == []
      assert Enum.all?(results, &(&1 in [{:error, :timeout}, {:ok, :ok, 0}]))
    end
  end

  describe "an end of the process" do
    test "for its heap" do
      eat = fn _ -> Enum.to_list(1..1_000_000) end
      assert call(eat, %{}, max_heap: 20_000) == {:error, :memory_exceeded}
      assert {:ok, [1 | _]} = call(eat, %{}, max_heap: 0)
      assert messages() == []
    end

    test "by its own hand cannot be told from that, unless there is no limit" do
      kill = fn _ -> Process.exit(self(), :kill) end
      assert call(kill, %{}, max_heap: 20_000) == {:error, :memory_exceeded}
      assert call(kill, %{}, max_heap: 0) == error("Process terminated: :killed")
    end

    test "with its link" do
      die = fn reason ->
        spawn_link(fn -> exit(reason) end)
        Process.sleep(:infinity)
      end

      assert call(die, :boom) == error("Process terminated: :boom")
      with_stack = {:boom, [{M, :f, 1, [file: ~c"m.ex", line: 1]}]}
      assert call(die, with_stack) == error("Process terminated: :boom")
      assert call(die, {:shutdown, [1, 2]}) == error("Process terminated: {:shutdown, [1, 2]}")
      assert call(die, {:a, []}) == error("Process terminated: {:a, []}")
      assert call(die, :noproc) == error("Process terminated: :noproc")

      assert call(fn _ -> Process.exit(self(), :normal) end) ==
               error("Process terminated: :normal")

      assert messages() == []
    end

    test "between two calls is reported by the second" do
      tools = ToolProcess.new(0)
      start = fn _ -> {self(), spawn_link(fn -> receive(do: (reason -> exit(reason))) end)} end
      {{:ok, {pid, linked}, 3}, tools} = ToolProcess.call(tools, "start", start, %{}, 60_000)
      send(linked, :too_bad)
      assert_dies(pid)
      {result, tools} = ToolProcess.call(tools, "next", & &1, %{}, 60_000)
      assert result == error("Process terminated: :too_bad")
      assert :ok = ToolProcess.stop(tools)
      assert messages() == []
    end
  end

  describe "the caller's mailbox" do
    test "keeps what others and tools send" do
      test = self()
      send(test, :before)
      send(test, {:DOWN, make_ref(), :process, self(), :foreign})
      calls(for n <- 1..3, do: {"t#{n}", fn _ -> send(test, {:from_tool, n}) end})

      assert [:before, {:DOWN, _, :process, _, :foreign}, {:from_tool, 1}, {:from_tool, 2}, _] =
               messages()
    end
  end

  describe "the death of the caller" do
    # Starts a caller that calls `fun`, which must send its pid to the test.
    defp caller_of(fun, timeout \\ :infinity) do
      caller =
        spawn(fn ->
          {{:ok, _, _}, _tools} = ToolProcess.call(ToolProcess.new(0), "t", fun, %{}, timeout)
          Process.sleep(:infinity)
        end)

      assert_receive {:tool, pid}
      {caller, pid}
    end

    test "ends a tool that hangs" do
      test = self()

      for trap? <- [false, true], reason <- [:kill, :boom] do
        {caller, pid} =
          caller_of(fn _ ->
            Process.flag(:trap_exit, trap?)
            send(test, {:tool, self()})
            Process.sleep(:infinity)
          end)

        monitor = Process.monitor(pid)
        Process.exit(caller, reason)
        assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}
      end
    end

    test "ends a process that waits for the next call" do
      test = self()
      {caller, pid} = caller_of(fn _ -> send(test, {:tool, self()}) end)
      Process.exit(caller, :kill)
      assert_dies(pid)
    end

    test "at any moment leaves nothing behind" do
      hang = fn _ -> Process.sleep(:infinity) end
      call = fn -> ToolProcess.call(ToolProcess.new(0), "t", hang, %{}, :infinity) end

      callers =
        for n <- 1..200, into: MapSet.new() do
          caller = spawn(call)
          for _ <- 1..rem(n, 20)//1, do: :erlang.yield()
          Process.exit(caller, :kill)
          caller
        end

      Process.sleep(20)
      assert gone?(callers, 3_000)
    end

    # Whether there is no process left that works for one of the callers. A process that is exiting may not answer for a while, so each
    # look has its own process.
    defp gone?(callers, tries) do
      look = Task.async(fn -> left(callers) end)

      cond do
        (Task.yield(look, 2_000) || Task.shutdown(look, :brutal_kill)) == {:ok, []} ->
          true

        tries == 0 ->
          false

        true ->
          Process.sleep(20)
          gone?(callers, tries - 1)
      end
    end

    defp left(callers) do
      for pid <- Process.list(),
          {:dictionary, dictionary} <- [Process.info(pid, :dictionary)],
          {:"$callers", [caller | _]} <- dictionary,
          caller in callers,
          do: pid
    end
  end
end

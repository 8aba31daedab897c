defmodule PtcRunner.Json.SharedAnswersTest do
  use ExUnit.Case, async: true

  alias PtcRunner.{Context, Json, Sandbox}
  alias PtcRunner.Json.{Interpreter, ToolProcess}
  alias PtcRunner.Test.{Room, Shared}

  @call ~s({"program": {"op": "call", "tool": "t"}})
  @exceeded {:error, {:memory_exceeded, 10_000_000}}

  describe "a tool's answer of 2^40 parts" do
    test "is more than a run may have, at once" do
      for make <- [
            fn -> Shared.map(1, 40) end,
            fn -> Shared.times([], 40, &[&1, &1]) end,
            fn -> Shared.times({1}, 40, &{&1, &1}) end,
            fn -> %{"deep" => [{:ok, Shared.map(1, 40)}]} end
          ] do
        tools = %{"t" => fn _ -> make.() end}
        run = fn -> Json.run(@call, tools: tools, timeout: 30_000) end
        {ms, result} = Room.least_ms(10_000, run)
        assert result == @exceeded
        assert ms < 10_000
      end
    end

    test "is refused as a literal too, which a message does not copy" do
      key = {__MODULE__, :literal}
      :persistent_term.put(key, Shared.map(1, 40))
      tools = %{"t" => fn _ -> :persistent_term.get(key) end}
      assert Json.run(@call, tools: tools, timeout: 30_000) == @exceeded
      tools = %{"t" => fn _ -> [1, %{"in" => :persistent_term.get(key)}] end}
      assert Json.run(@call, tools: tools, timeout: 30_000) == @exceeded
    end

    test "ends an unlimited heap too" do
      tools = %{"t" => fn _ -> Shared.map(1, 60) end}

      assert Json.run(@call, tools: tools, max_heap: 0, timeout: 300) in [
               {:error, {:timeout, 300}},
               {:error, {:memory_exceeded, 8 * 0x1_0000_0000}}
             ]
    end

    test "in a fun that closes over it" do
      tools = %{
        "t" => fn _ ->
          shared = Shared.map(1, 40)
          fn -> shared end
        end
      }

      assert Json.run(@call, tools: tools, timeout: 30_000) == @exceeded
    end

    test "is left where it is by an evaluation in the calling process" do
      tools = %{"t" => fn _ -> Shared.map(1, 40) end}
      context = Context.new(%{}, %{}, tools)
      node = %{"op" => "call", "tool" => "t"}
      assert {:ok, %{"a" => part, "b" => part}, %{}} = Interpreter.eval(node, context)

      assert Sandbox.execute(node, context, timeout: 30_000, max_heap: 1_250_000) == @exceeded
    end

    test "leaves no process behind" do
      tools = ToolProcess.new(100_000)
      make = fn _ -> Shared.map(1, 40) end
      {result, tools} = ToolProcess.call(tools, "t", make, %{}, 30_000)
      assert result == {:error, :memory_exceeded}
      assert ToolProcess.stop(tools) == :ok
      monitor = Process.monitor(tools.pid)
      assert_receive {:DOWN, ^monitor, :process, _pid, _reason}
    end
  end

  test "arguments of 2^40 parts are not sent" do
    node = %{"op" => "call", "tool" => "t", "args" => Shared.map(1, 40)}
    tools = %{"t" => fn _ -> 1 end}
    run = fn -> Json.run(%{"program" => node}, tools: tools, timeout: 30_000) end
    assert {:error, {kind, _}} = run.()
    assert kind in [:memory_exceeded, :timeout, :validation_error]
  end

  test "an evaluator's result of 2^40 parts is not sent" do
    eval = fn _ast, context -> {:ok, Shared.map(1, 40), context.memory} end
    opts = [eval_fn: eval, timeout: 30_000, max_heap: 1_250_000]
    assert Sandbox.execute(%{}, Context.new(), opts) == @exceeded
    eval = fn _ast, _context -> {:error, Shared.map(1, 40)} end
    opts = Keyword.put(opts, :eval_fn, eval)
    assert Sandbox.execute(%{}, Context.new(), opts) == @exceeded
  end

  test "what fits counts as before" do
    list = Enum.to_list(1..1_000)
    tools = %{"t" => fn _ -> list end}
    context = Context.new(%{}, %{}, tools)
    call = %{"op" => "call", "tool" => "t"}
    assert {:ok, ^list, metrics, %{}} = Sandbox.execute(call, context, timeout: 60_000)
    assert metrics.memory_bytes >= 8 * :erts_debug.flat_size(list)
  end
end

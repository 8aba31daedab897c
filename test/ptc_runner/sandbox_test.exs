defmodule PtcRunner.SandboxTest do
  use ExUnit.Case, async: true

  alias PtcRunner.{Context, Sandbox}
  alias PtcRunner.Json.Interpreter
  alias PtcRunner.Sandbox.Guarded
  alias PtcRunner.Test.Room

  doctest Sandbox
  doctest Guarded

  # The default is a second, which a busy machine may pause for.
  @opts [timeout: 60_000]

  defp execute(eval_fn, opts \\ []),
    do: Sandbox.execute(%{"op" => "count"}, Context.new(), [eval_fn: eval_fn] ++ opts ++ @opts)

  defp messages do
    {:messages, messages} = Process.info(self(), :messages)
    messages
  end

  defp assert_metrics(%{duration_ms: ms, memory_bytes: bytes} = metrics) do
    assert map_size(metrics) == 2
    assert is_integer(ms) and ms >= 0
    assert is_integer(bytes) and bytes >= 0
  end

  # A program that builds a list of 2^n elements.
  defp doubled(n) do
    twice = %{"op" => "var", "name" => "__input"}
    step = %{"op" => "concat", "lists" => [twice, twice]}
    start = %{"op" => "literal", "value" => [1]}
    %{"op" => "pipe", "steps" => [start | List.duplicate(step, n)]}
  end

  describe "the native evaluator" do
    test "gives the value, metrics and the memory it was given" do
      context = Context.new(%{}, %{"a" => 1})
      ast = %{"op" => "var", "name" => "a"}
      assert {:ok, 1, metrics, %{"a" => 1}} = Sandbox.execute(ast, context, @opts)
      assert_metrics(metrics)
    end

    test "does not validate first" do
      assert Sandbox.execute("not a map", Context.new()) ==
               {:error, {:execution_error, ~s(Node must be a map, got "not a map")}}
    end

    test "counts what it builds" do
      {:ok, list, metrics, _memory} = Sandbox.execute(doubled(10), Context.new(), @opts)
      assert length(list) == 1024
      assert metrics.memory_bytes >= 2 * 1024 * 8
    end

    test "holds the heap limit" do
      assert Sandbox.execute(doubled(17), Context.new(), [max_heap: 10_000] ++ @opts) ==
               {:error, {:memory_exceeded, 80_000}}
    end

    test "is meant by its name, too" do
      assert Sandbox.execute(doubled(17), Context.new(),
               max_heap: 10_000,
               timeout: 60_000,
               eval_fn: &Interpreter.eval/2
             ) == {:error, {:memory_exceeded, 80_000}}
    end
  end

  describe "an evaluator of one's own" do
    test "gets the AST and the context, in another process" do
      assert {:ok, {ast, context, pid}, metrics, :memory} =
               execute(fn ast, context -> {:ok, {ast, context, self()}, :memory} end)

      assert ast == %{"op" => "count"}
      assert context == Context.new()
      refute pid == self()
      assert_metrics(metrics)
      assert metrics.memory_bytes > 0
      assert messages() == []
    end

    test "may fail in any way" do
      assert execute(fn _, _ -> {:error, :any} end) == {:error, :any}

      assert execute(fn _, _ -> :neither end) ==
               {:error,
                {:execution_error, "Evaluator returned neither a result nor an error: :neither"}}
    end

    test "knows who called" do
      test = self()
      assert {:ok, [^test], _, _} = execute(fn _, _ -> {:ok, Process.get(:"$callers"), %{}} end)
    end

    test "is stopped at the timeout" do
      test = self()

      hang = fn _, _ ->
        send(test, {:pid, self()})
        Process.sleep(:infinity)
      end

      Room.growing(20, fn timeout ->
        assert execute(hang, timeout: timeout) == {:error, {:timeout, timeout}}
        assert_received {:pid, pid}
        refute Process.alive?(pid)
        assert messages() == []
      end)
    end

    test "leaves no late answer" do
      for _ <- 1..50 do
        nap = fn _, _ -> {:ok, Process.sleep(1), %{}} end
        assert elem(execute(nap, timeout: 1), 0) in [:ok, :error]
      end

      Process.sleep(20)
      assert messages() == []
    end

    test "is stopped at the heap limit" do
      eat = fn _, _ -> {:ok, Enum.to_list(1..1_000_000), %{}} end
      assert execute(eat, max_heap: 20_000) == {:error, {:memory_exceeded, 160_000}}
      assert {:ok, [1 | _], _, _} = execute(eat, max_heap: 0)
    end

    test "may end its process" do
      ended = fn text -> {:error, {:execution_error, "Process terminated: " <> text}} end
      assert execute(fn _, _ -> exit(:boom) end) == ended.(":boom")
      assert execute(fn _, _ -> exit(:normal) end) == ended.(":normal")
      assert execute(fn _, _ -> throw(1) end) == ended.("{:nocatch, 1}")
      assert execute(fn _, _ -> raise "no" end) == ended.(~s(%RuntimeError{message: "no"}))
      assert execute(fn _, _ -> :erlang.error(:odd) end) == ended.(":odd")
      assert execute(fn _, _ -> exit({:a, [{M, :f, 1, []}]}) end) == ended.(":a")
      assert execute(fn _, _ -> exit({:a, [1]}) end) == ended.("{:a, [1]}")
      assert execute(fn _, _ -> Process.exit(self(), :kill) end, max_heap: 0) == ended.(":killed")
      assert messages() == []
    end

    test "does not outlive the caller" do
      test = self()

      caller =
        spawn(fn ->
          execute(
            fn _, _ ->
              send(test, {:pid, self()})
              Process.sleep(:infinity)
            end,
            timeout: :infinity
          )
        end)

      assert_receive {:pid, pid}
      monitor = Process.monitor(pid)
      Process.exit(caller, :kill)
      assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}
    end
  end

  test "the caller's other messages stay" do
    send(self(), {:result, 1, %{}})
    send(self(), {:DOWN, make_ref(), :process, self(), :foreign})
    assert {:ok, 2, _, _} = execute(fn _, _ -> {:ok, 2, %{}} end)

    assert {:ok, 1, _, _} =
             Sandbox.execute(%{"op" => "literal", "value" => 1}, Context.new(), @opts)

    assert [{:result, 1, %{}}, {:DOWN, _, :process, _, :foreign}] = messages()
  end

  test "limits that the VM refuses raise in the caller, for every evaluator" do
    evaluators = [&Interpreter.eval/2, fn _, context -> {:ok, 1, context.memory} end]

    for eval_fn <- evaluators do
      for timeout <- [-1, 1.0, nil, 0x1_0000_0000] do
        assert_raise ArgumentError, fn -> execute(eval_fn, timeout: timeout) end
      end

      for max_heap <- [1, 232, -1, 1.0, nil] do
        assert_raise ArgumentError, fn -> execute(eval_fn, max_heap: max_heap) end
      end
    end
  end
end

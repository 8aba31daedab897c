defmodule PtcRunner.Lisp.PromisesTest do
  # What docs/security.md promises of runs of PTC-Lisp, and no other test has: what stays behind, what ends with its caller, what a
  # program can reach.
  use ExUnit.Case, async: true

  alias PtcRunner.Lisp
  alias PtcRunner.Test.{Room, Watch}

  @endless "(loop [n 0] (recur (inc n)))"
  @tools_of_all %{"t" => &Function.identity/1}

  defp tools(fun), do: %{"t" => fun}

  test "no process and no message stays behind, however a run ends" do
    runs = [
      {"(tool/t {})", []},
      {"(tool/t {}) (inc nil)", []},
      {"(pmap #(tool/t {:n %}) (range 20))", []},
      {"(tool/t {}) " <> @endless, [timeout: 30]},
      {"(tool/t {}) (loop [v [1]] (recur (conj v v)))", [max_heap: 20_000]},
      {"(tool/t {}) (fail 1)", []},
      {"(tool/t {:n 1})", [tools: tools(fn _ -> Process.sleep(:infinity) end), timeout: 30]},
      {"(tool/t {:n 1})", [tools: tools(fn _ -> Process.exit(self(), :kill) end)]}
    ]

    for {program, opts} <- runs do
      {left, started} =
        Watch.started(fn ->
          Lisp.run(program, Keyword.merge([tools: @tools_of_all], opts))
          Process.info(self(), :messages)
        end)

      assert {program, left} == {program, {:messages, []}}
      assert {program, Watch.survivors(started)} == {program, []}
    end
  end

  test "a run ends with its caller, and so does its tool" do
    me = self()

    hangs = fn _args ->
      send(me, {:tool, self()})
      Process.sleep(:infinity)
    end

    for program <- [@endless, "(tool/t {})", "(pmap #(tool/t {:n %}) [1])"] do
      caller =
        spawn(fn ->
          send(me, :started)
          Lisp.run(program, tools: tools(hangs), timeout: :infinity, max_heap: 0)
        end)

      assert_receive :started
      tool = if program != @endless, do: assert_receive({:tool, _pid}) |> elem(1)
      Process.exit(caller, :kill)
      assert Watch.survivors([caller | List.wrap(tool)]) == []
    end
  end

  test "a tool that hangs is killed at the deadline" do
    me = self()

    hangs = fn _args ->
      send(me, {:tool, self()})
      Process.sleep(:infinity)
    end

    Room.growing(50, fn timeout ->
      assert {:error, step} = Lisp.run("(tool/t {})", tools: tools(hangs), timeout: timeout)
      assert step.fail.reason == :timeout
      assert_received {:tool, pid}
      assert Watch.survivors([pid]) == []
    end)
  end

  test "a program reaches its context, its memory and its tools, and no name of the host" do
    for name <-
          ["System/getenv", "File/read", "slurp", "eval", "read-string", "require", "System/halt"] ++
            [
              "Elixir.System/halt",
              ":erlang/halt",
              "java.lang.Runtime/getRuntime",
              "spit",
              "deref"
            ] do
      for program <- ["(#{name} 1)", "(map #{name} [1])", "(do #{name})"] do
        case Lisp.run(program) do
          {:error, step} -> assert step.fail.reason in [:unbound_var, :invalid_form, :parse_error]
          # `:erlang` is a keyword, and `/halt` a name behind it.
          {:ok, step} -> flunk("#{program} gives #{inspect(step.return)}")
        end
      end
    end
  end

  test "a value that is shared is as large as its copy where it leaves the run: its walk ends at a limit" do
    shared = "(loop [a [:key] n 0] (if (< n 60) (recur [a a] (inc n)) a))"

    for program <- [shared, "(def kept #{shared}) 1", "(tool/t {:a #{shared}}) 1"] do
      assert {:error, step} = Lisp.run(program, tools: @tools_of_all, timeout: 50)
      assert step.fail.reason in [:memory_exceeded, :timeout]
    end
  end
end

defmodule PtcRunner.Agent.CallsTest do
  # What is recorded of tool calls, and what the model is told about calls of a program that failed.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Test.Room

  @again "These calls have already been made, and their effects have happened. Do not make them again"
  @unsure "These calls failed or did not finish, and may have had an effect."

  defp call(tool, args \\ %{}), do: %{"op" => "call", "tool" => tool, "args" => args}
  defp steps(steps), do: %{"program" => %{"op" => "pipe", "steps" => steps}}
  defp literal(value), do: %{"op" => "literal", "value" => value}

  defp each(count, expr),
    do: steps([literal(Enum.to_list(1..count)), %{"op" => "map", "expr" => expr}])

  defp tools(test \\ self()) do
    %{
      "refund" =>
        {fn %{"id" => id} ->
           send(test, {:refunded, id})
           %{"receipt" => "r-#{id}"}
         end, "(id :int, amount :float) -> {receipt :string}"},
      "fail" => {fn _ -> {:error, "no such city"} end, "(city :string) -> :any"},
      "raise" => fn _ -> raise "boom" end,
      "hang" => fn _ -> Process.sleep(:infinity) end,
      "eat" => fn _ -> Enum.to_list(1..10_000_000) end,
      "kill" => fn _ -> Process.exit(self(), :kill) end,
      "wrong" => {fn _ -> "x" end, "() -> :int"}
    }
  end

  @refund %{"id" => "7", "amount" => 5}

  doctest PtcRunner.Agent.Made

  describe "an error has the calls that were made" do
    for {name, last, opts, kind} <- [
          {"a failing later step", %{"op" => "sum", "field" => "x"}, [], :execution_error},
          {"a tool that fails", {"fail", %{"city" => "Rom"}}, [], :execution_error},
          {"a tool that raises", {"raise", %{}}, [], :execution_error},
          {"a tool whose result is wrong", {"wrong", %{}}, [], :execution_error},
          {"an unknown tool", {"refnd", %{}}, [], :execution_error},
          {"refused arguments", {"refund", %{"id" => "x"}}, [], :execution_error},
          {"a timeout", {"hang", %{}}, [], :timeout},
          {"too much memory", {"eat", %{}}, [max_heap: 100_000], :memory_exceeded},
          {"a killed process", {"kill", %{}}, [max_heap: 100_000], :memory_exceeded}
        ],
        concurrency <- [1, 4] do
      test "#{name}, #{concurrency} at a time" do
        last =
          case unquote(Macro.escape(last)) do
            {tool, args} -> call(tool, args)
            node -> node
          end

        program = steps([call("refund", @refund), last])

        Room.growing(500, fn timeout ->
          opts = [timeout: timeout, tool_concurrency: unquote(concurrency)] ++ unquote(opts)
          run = &Agent.run(program, tools(), &1)
          assert {:error, {unquote(kind), _}, feedback, info} = run.([info: true] ++ opts)
          assert [%{name: "refund", status: :ok, args: %{"id" => 7}} | _] = info.tool_calls
          assert feedback =~ @again
          assert feedback =~ ~s[- refund({"amount":5.0,"id":7}) -> {"receipt":"r-7"}]
          assert feedback =~ "Write the whole program again"
          assert {:error, {unquote(kind), _}, ^feedback} = run.(opts)
        end)
      end
    end

    test "an invalid result" do
      program = steps([call("refund", @refund), literal("done")])

      assert {:error, {:invalid_result, _}, feedback, info} =
               Agent.run(program, tools(), returns: ":int", info: true)

      assert feedback =~ @again and feedback =~ "r-7"
      assert [%{name: "refund"}] = info.tool_calls
    end

    test "many calls, one after another and at the same time, the run moved or not" do
      for concurrency <- [1, 8], count <- [3, 50] do
        program = each(count, %{"a" => call("refund", @refund), "b" => call("hang")})

        Room.growing(200, fn timeout ->
          opts = [info: true, timeout: timeout, tool_concurrency: concurrency]

          assert {:error, {:timeout, ^timeout}, feedback, info} =
                   Agent.run(program, tools(), opts)

          done = for %{name: "refund", status: :ok} = call <- info.tool_calls, do: call
          open = for %{name: "hang", status: :unfinished} = call <- info.tool_calls, do: call
          assert length(done) == min(concurrency, count) and length(open) == length(done)
          assert Enum.all?(open, &(&1.result == nil and &1.ok? == false))

          assert feedback =~ @again and feedback =~ @unsure and
                   feedback =~ "- hang({}) did not finish"
        end)
      end
    end
  end

  test "what failed, and what was not called at all" do
    {:error, _, feedback, info} = Agent.run(%{"program" => call("raise")}, tools(), info: true)
    assert [%{status: :error, ok?: false, result: "raised: boom"}] = info.tool_calls

    assert feedback =~
             @unsure <> " Make them again only if that does no harm:\n- raise({}): raised: boom"

    refute feedback =~ @again

    {:error, _, feedback, info} =
      Agent.run(%{"program" => call("refund", %{"id" => "x"})}, tools(), info: true)

    assert [%{status: :refused, args: %{"id" => "x"}}] = info.tool_calls
    refute feedback =~ @again or feedback =~ @unsure
    refute_received {:refunded, _}

    for {tool, text} <- [{"throw", "threw: :x"}, {"exit", "exited: :x"}] do
      tools = %{"throw" => fn _ -> throw(:x) end, "exit" => fn _ -> exit(:x) end}
      {:error, _, _, info} = Agent.run(%{"program" => call(tool)}, tools, info: true)
      assert [%{status: :error, result: ^text}] = info.tool_calls
    end
  end

  test "values of firewalled fields are concealed, in arguments and answers" do
    tools = %{"t" => fn args -> Map.put(args, "_pin", "s3cret") end}
    args = %{"_token" => "s3cret", "id" => 1}
    program = steps([call("t", args), %{"op" => "sum", "field" => "x"}])
    {:error, _, feedback} = Agent.run(program, tools)
    assert feedback =~ "- t("
    refute feedback =~ "s3cret"
  end

  describe "the record" do
    test "is bounded by the number of calls, and says what is dropped" do
      program = each(50, call("refund", @refund))
      assert {:ok, _, info} = Agent.run(program, tools(), recorded_calls: 3)
      assert length(info.tool_calls) == 3
      assert info.dropped_calls == %{"refund" => 47}
      assert "refund: 47 calls were made that are not recorded" in info.warnings

      assert {:ok, _, %{tool_calls: [], dropped_calls: %{"refund" => 50}}} =
               Agent.run(program, tools(), recorded_calls: 0)

      failing =
        put_in(
          program,
          ["program", "steps"],
          program["program"]["steps"] ++ [literal(1), call("raise")]
        )

      assert {:error, _, feedback} = Agent.run(failing, tools(), recorded_calls: 3)
      assert feedback =~ "- and 48 more calls: raise 1, refund 47"
      assert {:ok, _, %{tool_calls: calls, dropped_calls: none}} = Agent.run(program, tools())
      assert length(calls) == 50 and none == %{}
    end

    test "is bounded by bytes: arguments are shortened first" do
      text = String.duplicate("x", 40_000)
      program = each(100, call("id", %{"text" => text, "n" => 1}))
      tools = %{"id" => fn _ -> 1 end}
      assert {:ok, _, info} = Agent.run(program, tools, recorded_bytes: 100_000)

      assert [%{args: %{"text" => ^text}}, _, %{args: short, shortened: ["text"]} | _] =
               info.tool_calls

      assert short["n"] == 1 and byte_size(short["text"]) < 400
      assert :erlang.external_size(info) < 200_000

      assert length(info.tool_calls) < 100 and
               info.dropped_calls["id"] == 100 - length(info.tool_calls)
    end

    test "counts against the heap of the run" do
      program = each(200, call("id", %{"v" => Enum.to_list(1..500)}))
      opts = [max_heap: 60_000, timeout: 10_000]
      tools = %{"id" => fn _ -> 1 end}
      assert {:error, {:memory_exceeded, 480_000}, _} = Agent.run(program, tools, opts)
      assert {:ok, _, _} = Agent.run(program, tools, [recorded_bytes: 0] ++ opts)
    end

    test "keeps the arguments that the tool got, and those that the program gave only if they differ" do
      tools = %{"t" => {fn _ -> 1 end, "(n :int, day :string?) -> :int"}}
      same = %{"program" => call("t", %{"n" => 1})}
      {:ok, _, %{tool_calls: [call]}} = Agent.run(same, tools)
      assert call.args == %{"n" => 1}
      refute is_map_key(call, :raw_args)

      other = %{"program" => call("t", %{"n" => "1", "other" => 2})}
      {:ok, _, %{tool_calls: [call]}} = Agent.run(other, tools)
      assert {call.args, call.raw_args} == {%{"n" => 1}, %{"n" => "1", "other" => 2}}
    end

    test "warnings of a call are bounded" do
      tools = %{"t" => {fn _ -> 1 end, "(rows [:int]) -> :int"}}
      rows = for i <- 1..100, do: "#{i}"
      {:ok, _, info} = Agent.run(%{"program" => call("t", %{"rows" => rows})}, tools)
      assert [%{warnings: warnings}] = info.tool_calls
      assert length(warnings) == 21 and List.last(warnings) == "… 80 more"
    end
  end

  test "feedback about calls is bounded" do
    text = String.duplicate("é", 300)
    program = each(300, call("id", %{"text" => text}))

    program =
      put_in(
        program,
        ["program", "steps"],
        program["program"]["steps"] ++ [literal(1), call("raise")]
      )

    {:error, _, feedback} = Agent.run(program, Map.put(tools(), "id", & &1))
    assert byte_size(feedback) < 16_500 and String.valid?(feedback)
    assert feedback =~ ~r/- and \d+ more calls: id \d+\n/
  end

  describe "in a loop" do
    defp answers(texts) do
      {:ok, pid} = Elixir.Agent.start_link(fn -> texts end)

      fn messages ->
        case Elixir.Agent.get_and_update(pid, fn [text | rest] -> {text, rest} end) do
          fun when is_function(fun) -> fun.(messages)
          text -> text
        end
      end
    end

    defp text(program), do: PtcRunner.Json.Codec.encode!(program)

    test "the failing turn has the calls, and the next one knows of them" do
      for last <- [call("hang"), call("eat"), call("raise"), literal("x")], n <- [1, 4] do
        test = self()
        first = text(steps([call("refund", @refund), last]))

        second = fn messages ->
          send(test, {:told, List.last(messages).content})
          text(%{"program" => literal(1)})
        end

        task = [task: "x", tools: tools(), returns: ":int", check: false]

        Room.growing(200, fn timeout ->
          opts = [timeout: timeout, max_heap: 100_000, tool_concurrency: n]
          assert {:ok, step} = Agent.loop(answers([first, second]), task, opts)
          assert_received {:told, told}
          assert told =~ @again and told =~ "refund" and told =~ "r-7"

          assert [%{success?: false, tool_calls: [%{name: "refund", status: :ok} | _]}, _] =
                   step.turns

          assert hd(step.tool_calls).name == "refund"
          assert {:ok, _json} = PtcRunner.Json.Codec.encode(step)
        end)
      end
    end

    test "a model function that raises, throws, exits or hangs ends it, with the calls of before" do
      for {bad, message} <- [
            {fn _ -> raise "no network" end, "the model function raised: no network"},
            {fn _ -> throw(:x) end, "the model function threw: :x"},
            {fn _ -> exit(:x) end, "the model function exited: :x"},
            {fn _ -> Process.exit(self(), :kill) end, "the model function exited: :killed"},
            {fn _ -> Process.sleep(:infinity) end,
             "the model function did not answer within TIMEOUT ms"}
          ] do
        first = text(steps([call("refund", @refund), call("raise")]))

        Room.growing(200, fn timeout ->
          assert {:error, step} =
                   Agent.loop(answers([first, bad]), [task: "x", tools: tools()],
                     model_timeout: timeout
                   )

          assert step.fail.reason == :model_error
          assert step.fail.message == String.replace(message, "TIMEOUT", "#{timeout}")

          assert [%{name: "refund", status: :ok}, %{name: "raise", status: :error}] =
                   step.tool_calls

          assert length(step.turns) == 1
        end)
      end

      assert {:error, %{fail: %{reason: :model_error, message: "the model function raised: x"}}} =
               Agent.loop(fn _ -> raise "x" end, task: "x")
    end

    test "a reply of no known form ends it too, once tools have been called" do
      for bad <- [:nothing, {:ok, 7}, {:retry, -1}, {:ok, "x", 7}, %{"content" => [1]}] do
        first = text(steps([call("refund", @refund), call("raise")]))
        task = [task: "x", tools: tools()]
        assert {:error, step} = Agent.loop(answers([first, fn _ -> bad end]), task)
        assert %{reason: :model_error, message: message} = step.fail
        assert message =~ "the model"
        assert [%{name: "refund", status: :ok} | _] = step.tool_calls
        assert_raise ArgumentError, fn -> Agent.loop(fn _ -> bad end, task) end
      end
    end

    test "a program that looks at something has made its calls, too" do
      test = self()
      look = text(%{"program" => %{"look" => call("refund", @refund)}})

      second = fn messages ->
        send(test, {:told, List.last(messages).content})
        text(%{"program" => literal(1)})
      end

      assert {:ok, step} = Agent.loop(answers([look, second]), task: "x", tools: tools())
      assert [%{name: "refund"}] = step.tool_calls
      assert_received {:told, told}

      assert told ==
               ~s(You looked at: {"receipt":"r-7"}\n) <>
                 "These calls have been made, and their effects have happened. Make them again only if " <>
                 ~s(that does no harm:\n- refund({"amount":5.0,"id":7}\) -> {"receipt":"r-7"}\n) <>
                 "You have 4 turns left."
    end

    test "a model function with a timeout leaves no process and no message" do
      test = self()

      ask = fn _ ->
        send(test, {:in, self()})
        Process.sleep(:infinity)
      end

      Room.growing(20, fn timeout ->
        assert {:error, _step} = Agent.loop(ask, [task: "x"], model_timeout: timeout)
        assert_received {:in, pid}
        refute Process.alive?(pid)
      end)

      ask = fn _ -> text(%{"program" => literal(Process.get(:"$callers") == [test])}) end
      assert {:ok, %{return: true}} = Agent.loop(ask, [task: "x"], model_timeout: 60_000)
      assert {:messages, []} = Process.info(self(), :messages)
      assert Process.info(self(), :monitors) == {:monitors, []}
    end
  end
end

defmodule PtcRunner.Agent.CallsMemoryTest do
  # Not async: the memory of the whole VM is measured.
  use ExUnit.Case, async: false

  # Their arguments together are more than what the memory may grow by; with PTC_CASES there are more of them.
  @calls if PtcRunner.Test.Environment.many?(), do: 10_000, else: 2_500

  test "the record of #{@calls} calls with 40 KB of arguments each is small, whatever the arguments are" do
    wide = Map.new(1..3_000, &{"key #{&1}", &1})
    deep = Enum.reduce(1..1_000, 1, fn _, x -> [x] end)
    shared = Enum.reduce(1..12, "x", fn _, x -> [x, x] end)

    for value <- [String.duplicate("x", 40_000), wide, deep, shared, Enum.to_list(1..8_000)] do
      call = %{"op" => "call", "tool" => "id", "args" => %{"v" => value}}
      numbers = %{"op" => "literal", "value" => Enum.to_list(1..@calls)}
      program = %{"op" => "pipe", "steps" => [numbers, %{"op" => "map", "expr" => call}]}
      opts = [timeout: 60_000, max_heap: 5_000_000, max_tool_calls: :infinity]
      before = :erlang.memory(:total)
      tools = %{"id" => fn _ -> 1 end}
      assert {:ok, _, info} = PtcRunner.Agent.run(%{"program" => program}, tools, opts)
      assert :erlang.memory(:total) - before < 60_000_000
      assert :erlang.external_size(info.tool_calls) < 2_000_000
      assert length(info.tool_calls) + Map.get(info.dropped_calls, "id", 0) == @calls
    end
  end
end

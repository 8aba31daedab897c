defmodule PtcRunner.Lisp.PlanTest do
  # What a program of PTC-Lisp will do, and runs within an approved plan.
  use ExUnit.Case, async: true

  alias PtcRunner.Json.{Paused, Plan}
  alias PtcRunner.Lisp
  alias PtcRunner.Test.{Calling, Environment, LispCalling}

  doctest PtcRunner.Lisp.Planning

  defp plan(program, opts \\ []) do
    assert {:ok, plan} = Lisp.plan(program, opts)
    plan
  end

  defp calls(program), do: for(tool <- plan(program).tools, do: {tool.name, tool.calls})

  test "how often: once where it stands once, else only the run knows" do
    for {program, expected} <- [
          {"(tool/a)", [{"a", "≤ 1"}]},
          {"(if data/x (tool/a) (do (tool/a) (tool/b)))", [{"a", "≤ 2"}, {"b", "≤ 1"}]},
          {"(let [x (tool/a)] (try (tool/b {:x x}) (catch e (tool/c))))",
           [{"a", "≤ 1"}, {"b", "≤ 1"}, {"c", "≤ 1"}]},
          {"(for [x (tool/a) y (tool/b)] (tool/c))",
           [{"a", "≤ 1"}, {"b", "unknown"}, {"c", "unknown"}]},
          {"(loop [x (tool/a)] (when x (recur (tool/b))))", [{"a", "≤ 1"}, {"b", "unknown"}]},
          {"(defn f [] (tool/a)) 1", [{"a", "unknown"}]},
          {"(map #(tool/a {:x %}) (tool/b))", [{"a", "unknown"}, {"b", "≤ 1"}]},
          {"(map tool/a [{}])", [{"a", "unknown"}]},
          {"(-> {} (tool/a) (->> (tool/b :x)))", [{"a", "≤ 1"}, {"b", "≤ 1"}]},
          {"(+ 1 2)", []}
        ] do
      assert calls(program) == expected, program
    end
  end

  test "constants stand in it; what is computed, or not known by name, is unknown" do
    args = fn program -> hd(plan(program).tools).arguments end

    assert args.(~S|(tool/a {:to "Ada" :n 1 "m-n" 2.5 :k nil :x (inc 1) :w :word})|) ==
             %{
               "to" => [],
               "n" => [],
               "m_n" => [],
               "k" => [],
               "x" => ["unknown"],
               "w" => ["unknown"]
             }

    assert args.("(tool/a :to 1)") == %{"to" => []}
    assert args.("(tool/a data/x)") == %{"*" => ["unknown"]}
    assert args.("(tool/a {(str 1) 2})") == %{"*" => ["unknown"]}
    assert args.("(tool/a {:a-b 1 :a_b 2})") == %{"*" => ["unknown"]}
    assert args.("(tool/a {:x 1}) (tool/a {:x data/y})") == %{"x" => ["unknown"]}
    text = to_string(plan(~S|(tool/a {:to "Ada"}) (tool/a {:to "Bob"})|))
    assert text =~ ~S(to: "Ada" or "Bob")
  end

  test "what it reads, what tools say, and a budget" do
    tools = %{"pay" => {& &1, effect: :read, max_calls: 3, signature: "(to :string) -> :any"}}
    defined = "(defn pay [x] (tool/pay {:to x :from data/me})) (def other 1)"
    {:ok, first} = Lisp.run(defined, tools: tools)
    plan = plan("(pay (str data/you other))", memory: first.memory, tools: tools)
    assert [%{name: "pay", effect: :read, calls: "≤ 3", most: 3}] = plan.tools
    assert {plan.reads, plan.memory} == {["me", "you"], ["memory.other", "memory.pay"]}

    assert plan("(tool/pay)", max_tool_calls: 0).tools |> hd() |> Map.fetch!(:calls) ==
             "≤ 1, no more than 0"

    assert map_size(plan.digest.tools) == 1
    assert {:ok, ^plan} = plan |> Plan.to_map() |> Plan.from_map()

    # The functions of the memory are a part of the program.
    {:ok, changed} = Lisp.run("(defn pay [x] (tool/pay {:to \"Eve\"}))", tools: tools)
    memory = Map.merge(first.memory, changed.memory)

    assert {:error, step} =
             Lisp.run("(pay (str data/you other))", memory: memory, tools: tools, within: plan)

    assert step.fail.reason == :refused
  end

  test "what is no program, or names what is not there" do
    assert {:error, %{reason: :parse_error}} = Lisp.plan("(tool/a")
    assert {:error, %{reason: :unbound_var}} = Lisp.plan("(tool/a x)")
    assert {:error, %{reason: :unknown_tool}} = Lisp.plan("(tool/a)", tools: %{})
    assert {:error, %{reason: :invalid_tool}} = Lisp.plan("(tool/a)", tools: %{"a" => 5})
    assert_raise ArgumentError, ~r/a program of PtcRunner.Lisp is/, fn -> Lisp.plan(5) end
  end

  describe "within a plan" do
    @pay ~S|(when data/late (tool/pay {:to "Ada" :sum 5}))|

    test "another program may do less, and no more" do
      tools = %{"pay" => fn _ -> "paid" end, "other" => fn _ -> 1 end}
      approved = plan(@pay, tools: tools)
      run = &Lisp.run(&1, tools: tools, context: %{"late" => true}, within: &2)
      assert {:ok, %{return: "paid"}} = run.(@pay, approved)

      assert {:ok, %{return: "paid"}} =
               run.(~S|(tool/pay {"sum" 5 :to "Ada"})|, Plan.to_map(approved))

      assert {:ok, %{return: 1}} = run.("1", approved)

      for {program, text} <- [
            {~S|(tool/pay {:to "Eve" :sum 5})|,
             ~S(the argument to of 'pay' is "Eve", and the plan has "Ada")},
            {~S|(tool/pay {:to "Ada" :sum (+ 2 3)})|, "the argument sum of 'pay' is computed"},
            {"#{@pay} #{@pay}", "it calls 'pay' up to 2 times, and the plan has at most 1 call"},
            {"(tool/other)", "it calls 'other', which the plan does not have"},
            {"(doseq [i [1]] #{@pay})", "it calls 'pay', and the plan cannot say how often"}
          ] do
        assert {:error, %{fail: %{reason: :refused, message: message}} = step} =
                 run.(program, approved)

        assert message =~ "The program is not within the plan: "
        assert message =~ text
        assert step.tool_calls == []
      end
    end

    test "numbers and conditions are looked at before each call, and no try catches a refusal" do
      program = ~S|(mapv (fn [i] (try (tool/pay {:sum i}) (catch e :caught))) data/sums)|
      tools = %{"pay" => & &1["sum"]}

      approved =
        program
        |> plan(tools: tools)
        |> Plan.approve(at_most: %{"pay" => 2}, where: &(&1["sum"] < 10))

      run = &Lisp.run(program, tools: tools, context: %{"sums" => &1}, within: approved)
      assert {:ok, %{return: [1, 2]}} = run.([1, 2])
      assert {:error, step} = run.([1, 20])
      assert step.fail.message =~ "the condition does not hold"
      assert {:error, step} = run.([1, 2, 3])
      assert step.fail.message =~ "it has at most 2 calls"
      assert length(step.tool_calls) == 2
    end

    test "a paused run is within its plan too, and unknown: :ask asks a person" do
      program = "(mapv (fn [i] (tool/pay {:sum i})) [1 2])"
      tools = %{"pay" => {& &1["sum"], approve: true}}
      approved = program |> plan(tools: tools) |> Plan.approve(at_most: %{"pay" => 1})
      assert {:paused, paused} = Lisp.run(program, tools: tools, within: approved)
      assert {:ok, paused} = paused |> Paused.to_map() |> Paused.from_map()

      assert {:error, %{fail: %{reason: :refused}} = step} =
               Lisp.resume(paused, :approve, tools: tools)

      assert [%{result: 1}] = step.tool_calls

      tools = %{"pay" => & &1["sum"]}
      other = plan("(mapv (fn [i] (tool/pay {:sum i})) [3])", tools: tools)

      assert {:error, %{fail: %{reason: :refused}}} =
               Lisp.run(program, tools: tools, within: other)

      opts = [tools: tools, within: Plan.approve(other, at_most: %{"pay" => 2})]
      assert {:error, %{fail: %{reason: :refused}}} = Lisp.run(program, opts)
    end
  end

  @tag timeout: 300_000
  test "random programs: each call is in the plan, which a run of the same program never leaves" do
    seed = Environment.seed()
    memory = LispCalling.memory()
    me = self()
    tools = Calling.tools(fn name, args -> send(me, {:called, name, args}) end)

    opts = [
      context: Calling.context(),
      memory: memory,
      now: "2024-02-29T10:30:00Z",
      timeout: 20_000
    ]

    for n <- 1..Environment.cases(150) do
      program = LispCalling.program(seed, n)
      assert {:ok, plan} = Lisp.plan(program, [{:tools, tools} | opts])
      plain = Lisp.run(program, [{:tools, tools} | opts])
      most = Map.new(plan.tools, &{&1.name, &1.most || :infinity})
      names = for {:called, name, args} <- received(), do: {name, args}

      for {name, calls} <- Enum.group_by(names, &elem(&1, 0)) do
        assert length(calls) <= most[name], "PTC_SEED=#{seed}, case #{n}: #{program}"
      end

      {how, step} = Lisp.run(program, [{:tools, tools}, {:within, plan} | opts])

      assert {how, step.return, step.fail} ==
               {elem(plain, 0), elem(plain, 1).return, elem(plain, 1).fail}

      received()
    end
  end

  defp received do
    receive do
      {:called, _, _} = called -> [called | received()]
    after
      0 -> []
    end
  end
end

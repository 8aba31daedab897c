defmodule PtcRunner.Json.WithinTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Codec, Paused, Plan}

  doctest Plan
  doctest PtcRunner.Json.Plan.Digest
  doctest PtcRunner.Json.Plan.Pattern, import: true
  doctest PtcRunner.Json.Plan.Recipes
  doctest PtcRunner.Json.Within
  doctest PtcRunner.Json.Within.Counts
  doctest PtcRunner.Json.Within.Memory
  doctest PtcRunner.Json.Budget
  doctest PtcRunner.Json.Plan.Formula

  defp call(tool, args), do: %{"op" => "call", "tool" => tool, "args" => args}
  defp load(name), do: %{"op" => "load", "name" => name}
  defp get(field), do: %{"op" => "get", "field" => field}
  defp pipe(steps), do: %{"op" => "pipe", "steps" => steps}
  defp map(list, body), do: pipe([load(list), %{"op" => "map", "expr" => body}])

  defp tools(names \\ ["pay", "mail", "find"]) do
    me = self()

    Map.new(names, fn name ->
      {name, fn args -> send(me, {:called, name, args}) && [%{"iban" => "EVIL"}] end}
    end)
  end

  defp plan(program, opts \\ []) do
    {:ok, plan} = Json.plan(%{"program" => program}, opts)
    plan
  end

  defp run(program, opts), do: Json.run(%{"program" => program}, [tools: tools()] ++ opts)

  defp calls(all \\ []) do
    receive do
      {:called, tool, args} -> calls([{tool, args} | all])
    after
      0 -> Enum.reverse(all)
    end
  end

  # The text of a refusal, before any call.
  defp refused(program, opts) do
    assert {:error, {:refused, text}} = run(program, opts)
    assert calls() == []
    text
  end

  describe "a plan" do
    test "has constants, also in parts, in branches and in lists of the program" do
      args = %{
        "to" => "Ada",
        "note" => %{"lang" => "en", "name" => load("name")},
        "text" => %{"op" => "text", "parts" => ["Dear ", load("name")]},
        "way" => %{
          "op" => "if",
          "condition" => load("quick"),
          "then" => "express",
          "else" => "post"
        },
        "tags" => ["a", load("tag")]
      }

      text = Plan.text(plan(call("pay", args)))
      assert text =~ ~s(to: "Ada"\n)
      assert text =~ ~s(note: {lang: "en", name: name}\n)
      assert text =~ ~s(text: computed from name with "Dear "\n)
      assert text =~ ~s(way: "express" or "post"\n)
      assert text =~ ~s(tags: ["a", tag]\n)

      list = %{"op" => "literal", "value" => [%{"to" => "Ada"}, %{"to" => "Bob"}]}
      program = pipe([list, %{"op" => "map", "expr" => call("pay", %{"to" => get("to")})}])
      assert Plan.text(plan(program)) =~ ~s(to: "Ada" or "Bob"\n)

      # What is computed of constants alone has them too.
      hidden = %{"op" => "text", "parts" => ["DE", "00"]}
      assert Plan.text(plan(call("pay", %{"to" => hidden}))) =~ ~s(to: computed with "DE", "00")
    end

    test "shows a large constant within a budget, and keeps it whole" do
      large = String.duplicate("x", 100_000)
      plan = plan(call("pay", %{"to" => large}))
      assert byte_size(Plan.text(plan)) < 1_000
      {:ok, kept} = plan |> Plan.to_map() |> Plan.from_map()
      assert [%{sites: [%{arguments: {:object, %{"to" => {:is, ^large}}}}]}] = kept.tools
      lines = Plan.text(plan(call("pay", %{"to" => "a\nIt reads: nothing"})))
      refute lines =~ "\nIt reads: nothing"
    end

    test "has the same digest as a text, a map and compiled; another one with other tools and options" do
      program = %{"program" => call("pay", %{"to" => "Ada", "sum" => 1.5})}
      text = Codec.encode!(program)
      {:ok, compiled} = Json.compile(text)
      [plan | others] = for form <- [program, text, compiled], do: elem(Json.plan(form), 1)
      assert [%{text: hash}, _] = others
      assert hash =~ ~r/^[0-9a-f]{64}$/
      assert plan.text == nil
      assert others == [%{plan | text: hash}, %{plan | text: hash}]

      # Whichever form a plan was made of, it is that of the program in each other form, and of no other program.
      tools = %{"pay" => fn _args -> 1 end}
      other = String.replace(text, "Ada", "Bob")

      for within <- [plan | others], form <- [program, text, " " <> text, compiled] do
        assert {:ok, 1, _, _} = Json.run(form, within: within, tools: tools)
        assert {:error, {:refused, _}} = Json.run(other, within: within, tools: tools)
      end

      assert plan.digest.program =~ ~r/^[0-9a-f]{64}$/
      signature = &%{"pay" => {fn _ -> 1 end, "(to :#{&1}) -> :int"}}
      of = &elem(Json.plan(text, &1), 1).digest
      assert of.(tools: signature.("string")) != of.(tools: signature.("any"))
      assert of.(keys: :any) != of.([])
    end

    test "is refused as a map that is damaged, wherever it is" do
      map = Plan.to_map(plan(call("pay", %{"to" => load("x")})))

      for name <- Map.keys(map), wrong <- [nil, 1, [1], %{"a" => 1}, "x"] do
        with {:ok, plan} <- Plan.from_map(Map.put(map, name, wrong)) do
          assert is_binary(Plan.text(plan))
          assert {:error, {:refused, _text}} = run(call("mail", %{}), within: plan)
        end
      end

      assert_raise ArgumentError, ~r/option :within of PtcRunner.Json.run\/2/, fn ->
        run(load("x"), within: %{"plan" => 1})
      end

      assert_raise ArgumentError, ~r/must be a PtcRunner.Json.Plan/, fn ->
        run(load("x"), within: 1)
      end
    end
  end

  describe "before the first call" do
    test "another constant, another part of it, another source" do
      program =
        call("pay", %{"to" => %{"iban" => "DE1", "name" => load("name")}, "sum" => load("rent")})

      plan = plan(program)
      assert {:ok, _, _, _} = run(program, within: plan)
      assert [{"pay", _}] = calls()

      assert refused(put_in(program, ["args", "to", "iban"], "DE2"), within: plan) ==
               ~s(The program is not within the plan: the argument to of 'pay' is {iban: "DE2", name: name}, and the plan has {iban: "DE1", name: name})

      assert refused(put_in(program, ["args", "sum"], load("savings")), within: plan) =~
               "the argument sum of 'pay' is savings, and the plan has rent"

      assert refused(put_in(program, ["args", "sum"], 9_999), within: plan) =~
               "is 9999, and the plan has rent"

      assert refused(put_in(program, ["args", "more"], 1), within: plan) =~
               "the argument more of 'pay' is 1, and the plan has no such argument"

      branch = %{"op" => "if", "condition" => load("x"), "then" => load("rent"), "else" => 9_999}
      assert refused(put_in(program, ["args", "sum"], branch), within: plan) =~ "9999 or rent"
      default = %{"op" => "coalesce", "values" => [load("rent"), 9_999]}
      assert refused(put_in(program, ["args", "sum"], default), within: plan) =~ "9999"
      computed = %{"op" => "add", "left" => load("rent"), "right" => 1}

      assert refused(put_in(program, ["args", "sum"], computed), within: plan) =~
               "computed with 1"
    end

    test "a constant through names, templates and steps is a constant" do
      approved = plan(call("pay", %{"to" => "Ada"}))
      literal = %{"op" => "literal", "value" => "Ada"}

      bound = %{
        "op" => "let",
        "name" => "n",
        "value" => literal,
        "in" => call("pay", %{"to" => %{"op" => "var", "name" => "n"}})
      }

      piped = pipe([literal, call("pay", %{"to" => %{"op" => "it"}})])
      object = pipe([%{"to" => "Ada"}, call("pay", %{"to" => get("to")})])

      for program <- [bound, piped, object] do
        assert {:ok, _, _, _} = run(program, within: approved)
        assert [{"pay", %{"to" => "Ada"}}] = calls()
        changed = program |> Codec.encode!() |> String.replace("Ada", "Bob") |> Codec.decode!()
        assert refused(changed, within: approved) =~ ~s(is "Bob", and the plan has "Ada")
      end
    end

    test "more calls, other tools, tools that there are not" do
      program = pipe([call("find", %{}), call("pay", %{"to" => "Ada"})])
      plan = plan(program)

      assert refused(pipe([program, call("pay", %{"to" => "Ada"})]), within: plan) =~
               "it calls 'pay' up to 2 times, and the plan has at most 1 call"

      assert refused(pipe([program, call("mail", %{})]), within: plan) =~
               "it calls 'mail', which the plan does not have"

      assert {:error, {:refused, text}} =
               Json.run(%{"program" => program}, tools: tools(["find"]), within: plan)

      assert text =~ "it calls 'pay', and there is no such tool"
      assert calls() == []
      # A program with fewer calls is within.
      assert {:ok, _, _, _} = run(call("pay", %{"to" => "Ada"}), within: plan)
    end

    test "each item of another list, and numbers that the data decide" do
      approved = plan(map("orders", call("pay", %{"id" => get("id")})))
      rows = for id <- 1..3, do: %{"id" => id}
      context = %{"orders" => rows, "all" => rows}

      assert {:ok, _, _, _} =
               run(map("orders", call("pay", %{"id" => get("id")})),
                 within: approved,
                 context: context
               )

      assert length(calls()) == 3

      assert refused(map("all", call("pay", %{"id" => get("id")})),
               within: approved,
               context: context
             ) =~ "'pay'"

      filtered =
        pipe([
          load("orders"),
          %{"op" => "take", "count" => 2},
          %{"op" => "map", "expr" => call("pay", %{"id" => get("id")})}
        ])

      assert {:ok, _, _, _} = run(filtered, within: approved, context: context)
      assert length(calls()) == 2

      both =
        pipe([
          map("orders", call("pay", %{"id" => get("id")})),
          map("orders", call("pay", %{"id" => get("id")}))
        ])

      assert refused(both, within: approved, context: context) =~ "'pay'"

      # A plan that was made with the data has their numbers.
      with_data =
        plan(map("orders", call("pay", %{"id" => get("id")})), context: %{"orders" => tl(rows)})

      assert refused(map("orders", call("pay", %{"id" => get("id")})),
               within: with_data,
               context: context
             ) =~ "at least 3 times, and the plan has at most 2 calls"
    end

    test "a tool whose signature or effect has changed" do
      program = %{"program" => call("pay", %{"to" => "Ada"})}
      form = &%{"pay" => {fn _ -> 1 end, signature: "(to :#{&1}) -> :int", effect: &2}}
      {:ok, plan} = Json.plan(program, tools: form.("string", :read))
      assert {:ok, 1, _, _} = Json.run(program, tools: form.("string", :read), within: plan)

      assert {:error, {:refused, text}} =
               Json.run(program, tools: form.("any", :read), within: plan)

      assert text =~ "the signature of 'pay' is not what it was when the plan was made"

      # The program itself is what was approved; another one is compared with what its tools say now.
      other = %{"program" => pipe([load("x"), call("pay", %{"to" => "Ada"})])}

      assert {:error, {:refused, text}} =
               Json.run(other, tools: form.("string", :write), within: plan)

      assert text =~ "'pay' writes, and only read when the plan was made"
    end

    test "what a plan cannot say is refused, or asked" do
      words =
        pipe([
          %{"op" => "split", "value" => load("text"), "by" => " "},
          %{"op" => "map", "expr" => call("mail", %{"to" => %{"op" => "it"}})}
        ])

      plan = plan(words)
      assert hd(plan.tools).calls == "unknown"
      opts = [within: plan, context: %{"text" => "a b"}]
      # The program itself does what the plan says.
      assert {:ok, _, _, _} = run(words, opts)
      assert length(calls()) == 2
      other = pipe([load("x"), words])
      assert refused(other, opts) =~ "the plan cannot say how often"
      assert {:paused, paused} = run(other, [unknown: :ask] ++ opts)

      assert [~S(mail with %{"to" => "a"}), ~S(mail with %{"to" => "b"})] ==
               for(call <- paused.calls, do: call.text)

      assert calls() == []

      assert {:ok, _, _, _} =
               run(other, Keyword.put(opts, :within, Plan.approve(plan, at_most: %{"mail" => 2})))
    end
  end

  describe "while it runs" do
    test "a number that was approved, in each way to run; on_error does not catch it" do
      program =
        map("ids", %{
          "op" => "call",
          "tool" => "pay",
          "args" => %{"id" => %{"op" => "it"}},
          "on_error" => 0
        })

      filtered =
        put_in(program, ["steps"], [
          load("ids"),
          %{"op" => "filter", "where" => %{"op" => "gt", "left" => %{"op" => "it"}, "value" => 0}}
          | tl(program["steps"])
        ])

      plan = Plan.approve(plan(filtered), at_most: %{"pay" => 2})

      for opts <- [
            [],
            [on_call: fn _ -> :run end],
            [tool_concurrency: 4],
            [on_journal: fn _ -> :ok end]
          ] do
        assert {:ok, _, _, _} =
                 run(filtered, [within: plan, context: %{"ids" => [1, -1, 2, -3]}] ++ opts)

        assert length(calls()) == 2

        assert {:error, {:refused, text}} =
                 run(filtered, [within: plan, context: %{"ids" => [1, 2, 3, 4]}] ++ opts)

        assert text =~
                 ~r/^The call of 'pay' with %\{"id" => \d\} is not within the plan: it has at most 2 calls$/

        assert length(calls()) <= 2
      end
    end

    test "a condition, also one that fails" do
      program = map("ids", call("pay", %{"id" => %{"op" => "it"}}))

      plan =
        Plan.approve(plan(program), where: fn %{"id" => id} when is_integer(id) -> id < 10 end)

      assert Plan.text(plan) =~ "only where a condition of the application holds"
      assert {:error, {:refused, text}} = run(program, within: plan, context: %{"ids" => [1, 10]})
      assert text =~ "the condition does not hold"
      assert {:error, {:refused, text}} = run(program, within: plan, context: %{"ids" => ["x"]})
      assert text =~ "the condition raised: no function clause matching"
      {:ok, kept} = plan |> Plan.to_map() |> Plan.from_map()
      assert {:error, {:refused, text}} = run(program, within: kept, context: %{"ids" => [1]})
      assert text =~ "its condition was not given again"

      assert {:ok, _, _, _} =
               run(program,
                 within: Plan.approve(kept, where: fn _ -> true end),
                 context: %{"ids" => [1]}
               )
    end

    test "calls take from nested patterns so that no order exceeds a number" do
      program =
        pipe([
          call("pay", %{"to" => load("who"), "n" => 1}),
          call("pay", %{"to" => "Ada", "n" => 1})
        ])

      plan = Plan.approve(plan(program), where: fn _ -> true end)
      assert {:ok, _, _, _} = run(program, within: plan, context: %{"who" => "Ada"})

      mixed =
        pipe([
          call("pay", %{"to" => load("who"), "n" => 1}),
          call("pay", %{"to" => "Ada", "n" => load("n")})
        ])

      plan = Plan.approve(plan(mixed), where: fn _ -> true end)
      assert {:ok, _, _, _} = run(mixed, within: plan, context: %{"who" => "Ada", "n" => 1})
      assert {:ok, _, _, _} = run(mixed, within: plan, context: %{"who" => "Ada", "n" => 7})
    end
  end

  describe "a paused run" do
    test "keeps its plan, as a term, as a map and sealed" do
      program =
        pipe([call("pay", %{"to" => "Ada"}), map("ids", call("mail", %{"id" => %{"op" => "it"}}))])

      plan = Plan.approve(plan(program), at_most: %{"mail" => 2})
      tools = Map.update!(tools(), "pay", &{&1, approve: true})
      opts = [tools: tools, context: %{"ids" => [1, 2]}, within: plan]
      assert {:paused, paused} = Json.run(%{"program" => program}, opts)
      assert [%{"plan" => 1}] = paused.within

      {:ok, stored} =
        paused |> Paused.to_map() |> Codec.encode!() |> Codec.decode!() |> Paused.from_map()

      for one <- [paused, stored] do
        assert {:ok, _, _, _} = Json.resume(one, :approve, Keyword.delete(opts, :within))
        assert length(calls()) == 3
        narrow = Plan.approve(plan, at_most: %{"mail" => 1})

        assert {:error, {:refused, _}} =
                 Json.resume(one, :approve, Keyword.put(opts, :within, narrow))

        assert calls() == []
        changed = %{one | program: %{"program" => call("mail", %{"id" => 5})}}

        assert {:error, {:refused, _}} =
                 Json.resume(changed, :approve, Keyword.delete(opts, :within))

        assert calls() == []
      end
    end

    test "a refusal is in the record of a run, and its replay ends with it" do
      program = %{"program" => map("ids", call("pay", %{"id" => %{"op" => "it"}}))}
      plan = Plan.approve(plan(program["program"]), where: &(&1["id"] < 2))
      context = %{"ids" => [1, 2, 3]}
      {result, journal} = Json.record(program, tools: tools(), context: context, within: plan)
      assert {:error, {:refused, _}} = result

      assert Json.replay(program, journal |> Codec.encode!() |> Codec.decode!(), context: context) ==
               result

      assert Json.replay(program, journal, context: context, within: plan) == result
    end
  end

  test "an error that is read by a model says what it is" do
    {:error, error} =
      run(call("pay", %{"to" => "Bob"}), within: plan(call("pay", %{"to" => "Ada"})))

    assert Json.format_error(error) ==
             ~s(RefusedError: The program is not within the plan: the argument to of 'pay' is "Bob", and the plan has "Ada")
  end

  test "wrong options of approve/2" do
    plan = plan(call("pay", %{}))

    for opts <- [
          [tools: ["mail"]],
          [tools: "pay"],
          [at_most: %{"pay" => -1}],
          [at_most: 1],
          [where: 1],
          [where: %{"pay" => 1}],
          [upto: 1]
        ],
        do: assert_raise(ArgumentError, fn -> Plan.approve(plan, opts) end)
  end

  test "a constant with the other sign is another one, also of zero" do
    tools = %{"t" => fn %{"n" => n} -> n end}
    call = fn n -> %{"program" => %{"op" => "call", "tool" => "t", "args" => %{"n" => n}}} end
    each = &%{"op" => "pipe", "steps" => [%{"op" => "literal", "value" => &1}, &2]}

    it = %{
      "op" => "map",
      "expr" => %{"op" => "call", "tool" => "t", "args" => %{"n" => %{"op" => "it"}}}
    }

    loop = &%{"program" => each.(&1, it)}
    zero = 0.0
    other = zero * -1

    for {make, one, two} <- [
          {call, zero, other},
          {call, other, zero},
          {call, %{"a" => [zero]}, %{"a" => [other]}},
          {loop, [zero, 1.0], [other, 1.0]},
          {loop, [zero, 1.0], [zero, other, 1.0]}
        ] do
      {:ok, plan} = Json.plan(make.(one), tools: tools)

      {:ok, stored} =
        plan
        |> Json.Plan.to_map()
        |> Json.Codec.encode!()
        |> Json.Codec.decode!()
        |> Json.Plan.from_map()

      for plan <- [plan, stored] do
        assert {:ok, _, _, _} = Json.run(make.(one), tools: tools, within: plan)
        assert {:error, {:refused, _}} = Json.run(make.(two), tools: tools, within: plan)
      end
    end

    # Within its own plan, a program may have both.
    {:ok, both} = Json.plan(loop.([zero, other]), tools: tools)
    assert {:ok, [_, _], _, _} = Json.run(loop.([zero, other]), tools: tools, within: both)
  end

  # Who approves a plan reads the constants, wherever the program has put them.
  test "constants of what is taken apart, of items and of folds stand in the text" do
    pay = &%{"op" => "call", "tool" => "pay", "args" => %{"to" => &1}}
    it = %{"op" => "it"}
    split = %{"op" => "split", "value" => %{"op" => "literal", "value" => "Ada,Bob"}, "by" => ","}
    fold = &%{"op" => "fold", "init" => &1, "expr" => &2}
    held = %{"op" => "var", "name" => "acc"}
    items = %{"op" => "list", "items" => [pay.(held), "Eve"]}
    last = &%{"op" => "pipe", "steps" => [&1, %{"op" => "last"}]}

    for {node, shown} <- [
          {pay.(%{"op" => "pipe", "steps" => [split, %{"op" => "last"}]}), ~s("Ada,Bob")},
          {%{"op" => "pipe", "steps" => [split, %{"op" => "map", "expr" => pay.(it)}]},
           ~s("Ada,Bob")},
          {%{
             "op" => "pipe",
             "steps" => [
               split,
               %{"op" => "map", "expr" => pay.(%{"op" => "text", "parts" => ["Dr. ", it]})}
             ]
           }, ~s("Dr. ", "Ada,Bob")},
          {%{
             "op" => "pipe",
             "steps" => [%{"op" => "load", "name" => "rows"}, fold.("Ada", last.(items))]
           }, ~s("Ada", "Eve")}
        ] do
      {:ok, plan} = Json.plan(%{"program" => node})
      to = plan |> to_string() |> String.split("\n") |> Enum.find(&(&1 =~ "    to: "))
      assert to =~ shown, "#{to} has no #{shown}"
    end
  end
end

defmodule PtcRunner.Agent.CatalogueTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Agent.{Catalogue, Tool}
  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.Room

  doctest Catalogue

  defp tools(count) do
    subjects = ~w(invoice order customer ticket refund shipment contract payment reminder address)
    verbs = ~w(create read update delete list archive restore export approve assign)

    tools =
      for n <- 1..count do
        verb = Enum.at(verbs, rem(n, 10))
        subject = Enum.at(subjects, rem(div(n, 10), 10))

        %Tool{
          name: "#{verb}_#{subject}_#{n}",
          fun: fn args -> {:ok, {n, args} |> elem(0)} end,
          signature: "(id :int, _pin :string?) -> :int",
          description: "Call to #{verb} one #{subject} of department #{n}"
        }
      end

    secret = %Tool{
      name: "rateOfDay",
      fun: fn _ -> {:ok, 1.25} end,
      signature: "(currency :string) -> :float",
      description: "Today's exchange rate"
    }

    [secret | tools]
  end

  defp program(node), do: Codec.encode!(%{"program" => node})
  defp call(tool, args), do: %{"op" => "call", "tool" => tool, "args" => args}
  defp look(node), do: program(%{"op" => "object", "fields" => %{"look" => node}})

  defp model(answers) do
    this = self()
    {:ok, agent} = Elixir.Agent.start_link(fn -> answers end)

    fn messages ->
      send(this, {:messages, messages})

      Elixir.Agent.get_and_update(agent, fn [answer | rest] ->
        {answer, if(rest == [], do: [answer], else: rest)}
      end)
    end
  end

  test "a thousand tools take at most 1 KB of the prompt" do
    tools = tools(1_000)
    with_tools = Agent.prompt(tools: tools, task: "t", max_turns: 5, language: :none)
    without = Agent.prompt(task: "t", max_turns: 5, language: :none)
    assert byte_size(with_tools) - byte_size(without) <= 1_024 + 2
    assert with_tools =~ "There are 1001 tools"
    assert byte_size(Catalogue.section(Tool.list!(tools))) <= 1_024

    long = for n <- 1..500, do: %Tool{name: String.duplicate("ä", 300) <> "#{n}", fun: & &1}
    assert byte_size(Catalogue.section(long)) <= 1_024
  end

  test "the option, and when it is automatic" do
    has? = fn prompt -> prompt =~ "search_tools" end
    assert has?.(Agent.prompt(tools: tools(100), max_turns: 2))
    refute has?.(Agent.prompt(tools: tools(99), max_turns: 2))
    refute has?.(Agent.prompt(tools: tools(100)))
    refute has?.(Agent.prompt(tools: tools(100), max_turns: 2, catalogue: false))
    assert has?.(Agent.prompt(tools: tools(1), catalogue: true))
    assert Agent.prompt(tools: tools(1), catalogue: true) =~ "You have at most 1 turn, with"

    assert_raise ArgumentError, ~r/option :catalogue/, fn -> Agent.prompt(catalogue: 1) end
  end

  test "tools of these names belong to the application, unless the option takes them" do
    own = %Tool{name: "search_tools", fun: fn _ -> "mine" end}
    program = program(call("search_tools", %{}))
    assert {:ok, "mine", _} = Agent.run(program, [own | tools(200)])

    assert_raise ArgumentError, ~r/rename yours/, fn ->
      Agent.run(program, [own], catalogue: true)
    end
  end

  test "a loop finds its tool, and pays no turn for it" do
    answers = [
      look(call("search_tools", %{"query" => "exchange rate"})),
      look(call("describe_tools", %{"names" => ["rateOfDay", "nosuch"]})),
      program(call("rateOfDay", %{"currency" => "CHF"}))
    ]

    assert {:ok, step} =
             Agent.loop(model(answers), [task: "t", tools: tools(1_000), returns: ":float"],
               max_turns: 1,
               max_tool_calls: 1
             )

    assert step.return == 1.25
    assert length(step.turns) == 3
    assert Enum.map(step.tool_calls, & &1.name) == ~w(search_tools describe_tools rateOfDay)

    texts = for %{content: text} <- step.messages, do: text

    assert Enum.any?(
             texts,
             &(&1 =~ ~s([{"description":"Today's exchange rate","name":"rateOfDay"}))
           )

    assert Enum.any?(texts, &(&1 =~ "rateOfDay(currency :string) -> :float"))
    assert Enum.any?(texts, &(&1 =~ "there is no tool of this name"))
    assert Enum.any?(texts, &(&1 =~ "This is your last turn"))
  end

  test "turns that search end: ten are free, and then they count" do
    search = look(call("search_tools", %{"query" => "order"}))

    assert {:error, step} =
             Agent.loop(model([search]), [task: "t", tools: tools(200)], max_turns: 2)

    assert step.fail.reason == :max_turns
    assert length(step.turns) == 12
    assert step.fail.message =~ "no valid answer in 2 turns"

    # The same where calls are not recorded.
    assert {:error, step} =
             Agent.loop(model([search]), [task: "t", tools: tools(200)],
               max_turns: 2,
               recorded_calls: 0
             )

    assert length(step.turns) == 12
  end

  test "a turn counts that calls another tool, or none, or that is no program" do
    both =
      program(%{
        "op" => "object",
        "fields" => %{
          "look" => call("search_tools", %{"query" => "order"}),
          "n" => call("rateOfDay", %{"currency" => "a"})
        }
      })

    none = look(%{"op" => "literal", "value" => 1})

    for answer <- [both, none, "no program"] do
      assert {:error, step} =
               Agent.loop(model([answer]), [task: "t", tools: tools(200)], max_turns: 3)

      assert length(step.turns) == 3
    end

    # Tools of these names that are the application's own are ordinary tools.
    own =
      for name <- ["search_tools", "describe_tools"], do: %Tool{name: name, fun: fn _ -> 1 end}

    search = look(call("search_tools", %{"query" => "order"}))
    assert {:error, step} = Agent.loop(model([search]), [task: "t", tools: own], max_turns: 3)
    assert length(step.turns) == 3
  end

  test "firewalled parameters are not described, and firewalled data does not flow into a search" do
    list = tools(200)
    name = Enum.at(list, 5).name

    {:ok, [%{"tool" => text}], _} =
      Agent.run(program(call("describe_tools", %{"names" => [name]})), list)

    assert text =~ "id :int"
    refute text =~ "pin"

    leak =
      program(
        call("search_tools", %{
          "query" => %{
            "op" => "pipe",
            "steps" => [%{"op" => "load", "name" => "user"}, %{"op" => "get", "path" => ["_pin"]}]
          }
        })
      )

    assert {:error, error, _} = Agent.run(leak, list, context: %{"user" => %{"_pin" => "1234"}})
    assert inspect(error) =~ "irewall"
  end

  test "ranks" do
    names = fn query, limit ->
      for %{"name" => name} <- Catalogue.found(Tool.list!(tools(1_000)), query, limit), do: name
    end

    assert [<<"approve_refund", _::binary>> | _] = names.("approve a refund", nil)
    assert hd(names.("RATE of the day", 3)) == "rateOfDay"
    assert hd(names.("exchange", nil)) == "rateOfDay"
    assert length(names.("order", nil)) == 10
    assert length(names.("order", 3)) == 3
    assert length(names.("order", -5)) == 1
    assert length(names.("order", 2 ** 70)) == 10
    assert names.("", nil) == []
    assert names.("zzzz", nil) == []
    assert names.(<<255, 254>>, nil) == []
  end

  test "answers stay small, and are shown whole by a look" do
    long =
      for n <- 1..300,
          do: %Tool{
            name: String.duplicate("long_", 60) <> "#{n}",
            fun: & &1,
            description: String.duplicate(~s("quoted\n), 500)
          }

    names = for tool <- Enum.take(long, 10), do: tool.name

    for {name, args} <- [
          {"search_tools", %{"query" => "long"}},
          {"describe_tools", %{"names" => names}}
        ] do
      assert {:ok, [_ | _] = found, _} = Agent.run(program(call(name, args)), long)
      assert byte_size(Codec.encode!(found)) <= 4_000
    end

    eleven = for tool <- Enum.take(long, 11), do: tool.name

    assert {:error, error, _} =
             Agent.run(program(call("describe_tools", %{"names" => eleven})), long)

    assert inspect(error) =~ "at most 10 tools"
  end

  test "an unknown tool of a catalogue is answered shortly" do
    assert {:error, _, feedback} = Agent.run(program(call("rateOfDey", %{})), tools(1_000))
    assert feedback =~ "Find the tools with search_tools."
    assert byte_size(feedback) < 500
  end

  test "a search of 1,000 tools with long descriptions takes linear time" do
    work = fn count ->
      list =
        for n <- 1..count,
            do: %Tool{name: "t#{n}", fun: & &1, description: String.duplicate("word ", 50)}

      {reductions, _found} =
        Room.work(fn -> Catalogue.found(list, "find the words of a letter", nil) end)

      reductions
    end

    # Four times the tools are about four times the work.
    assert work.(4_000) < 8 * work.(1_000)
  end
end

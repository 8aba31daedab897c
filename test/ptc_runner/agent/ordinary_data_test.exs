defmodule PtcRunner.Agent.OrdinaryDataTest do
  # Structs, dates, decimals and atom keys, as an application has them, through the whole of `PtcRunner.Agent`.
  use ExUnit.Case, async: true

  alias Ecto.Association.NotLoaded
  alias PtcRunner.Agent

  doctest PtcRunner.Agent.Plain

  defmodule Order do
    defstruct [:id, :total, :day, :customer, :_pin, __meta__: :built]
  end

  defp program(steps),
    do: PtcRunner.Json.Codec.encode!(%{"program" => %{"op" => "pipe", "steps" => steps}})

  defp load(name), do: %{"op" => "load", "name" => name}
  defp money(coef), do: %Decimal{sign: 1, coef: coef, exp: -2}

  defp orders do
    [
      %Order{id: 1, total: money(9_995), day: ~D[2024-02-01], customer: %NotLoaded{}, _pin: 77},
      %Order{id: 2, total: money(15_000), day: ~D[2024-01-31], customer: %NotLoaded{}, _pin: 78},
      %Order{id: 3, total: money(2_000), day: ~D[2023-12-31], customer: %NotLoaded{}, _pin: 79}
    ]
  end

  # A model that answers with these texts, one after another; the messages are sent to the test.
  defp model(texts) do
    {:ok, agent} = Elixir.Agent.start_link(fn -> texts end)
    test = self()

    fn messages ->
      send(test, {:messages, messages})
      Elixir.Agent.get_and_update(agent, fn [text | rest] -> {text, rest} end)
    end
  end

  test "structs in the context are read, compared and summed as the sample shows them" do
    steps = [
      load("orders"),
      %{"op" => "filter", "where" => %{"op" => "gte", "field" => "day", "value" => "2024-01-01"}},
      %{"op" => "filter", "where" => %{"op" => "gt", "field" => "total", "value" => 100}},
      %{"op" => "sum", "field" => "id"}
    ]

    for context <- [
          %{"orders" => orders()},
          %{orders: orders()},
          struct!(Order) |> Map.put(:orders, orders())
        ] do
      assert {:ok, 2, %{memory: memory}} = Agent.run(program(steps), %{}, context: context)
      assert memory == %{}
    end

    customer = [
      load("orders"),
      %{"op" => "map", "expr" => %{"op" => "get", "path" => ["customer", "name"]}}
    ]

    assert {:ok, [nil, nil, nil], _info} =
             Agent.run(program(customer), %{}, context: %{"orders" => orders()})
  end

  test "a prompt shows fields, ISO texts and digits, and no firewalled field" do
    context = %{"orders" => orders(), "at" => ~U[2024-02-29 10:00:00Z], "clock" => ~T[10:00:00]}
    prompt = Agent.prompt(language: :none, context: context)

    assert prompt =~ "- orders [{customer :any?, day :date, id :int, total :decimal}]"
    assert prompt =~ ~s("day":"2024-02-01")
    assert prompt =~ ~s("total":"99.95")
    assert prompt =~ ~s("customer":null)
    assert prompt =~ ~s(- at :datetime\n  sample: "2024-02-29T10:00:00Z")
    assert prompt =~ ~s(- clock :time\n  sample: "10:00:00")
    refute prompt =~ "_pin"
    refute prompt =~ "77"
    refute prompt =~ "__"
  end

  test "a date as a result is not the memory, and the next loop goes on" do
    max = program([load("orders"), %{"op" => "max", "field" => "day"}])
    task = [task: "latest?", context: %{"orders" => orders()}]
    assert {:ok, step} = Agent.loop(model([max]), task)
    assert step.return == ~D[2024-02-01]
    assert step.memory == %{}
    assert PtcRunner.Json.Codec.encode!(step) =~ ~s("return":"2024-02-01")
    assert {:ok, step} = Agent.loop(model([max]), [{:memory, step.memory} | task])
    assert step.return == ~D[2024-02-01]

    total = program([load("orders"), %{"op" => "max", "field" => "total"}])
    assert {:ok, step} = Agent.loop(model([total]), task)
    assert {step.return, step.memory} == {money(15_000), %{}}
    assert {:ok, _json} = PtcRunner.Json.Codec.encode(step)

    # A row as a result gives its fields to the memory, from which later programs read.
    row = program([load("orders"), %{"op" => "min_by", "field" => "day"}])
    assert {:ok, step} = Agent.loop(model([row]), task)
    assert step.return.id == 3
    assert step.memory.day == ~D[2023-12-31]
    refute is_map_key(step.memory, :__struct__)
    again = ~s({"program": {"op": "var", "name": "day"}})
    assert {:ok, step} = Agent.loop(model([again]), [{:memory, step.memory} | task])
    assert step.return == ~D[2023-12-31]
  end

  test "looks and feedback show ISO texts" do
    look = ~s({"program": {"look": {"op": "load", "name": "orders"}}})
    done = ~s({"program": {"op": "literal", "value": 1}})

    assert {:ok, _step} =
             Agent.loop(model([look, done]), task: "t", context: %{"orders" => orders()})

    assert_received {:messages, [_, _]}
    assert_received {:messages, [_, _, _, %{content: told}]}
    assert told =~ ~s("day":"2024-01-31")
    assert told =~ ~s("total":"150.00")
    assert told =~ ~s("customer":null)
    refute told =~ "_pin"

    wrong = program([load("orders"), %{"op" => "min", "field" => "total"}])

    assert {:error, {:invalid_result, _}, told} =
             Agent.run(wrong, %{}, context: %{"orders" => orders()}, returns: ":bool")

    assert told =~ "20.00"

    sum = program([load("orders"), %{"op" => "sum", "field" => "day"}])

    assert {:error, {:execution_error, text}, _told} =
             Agent.run(sum, %{}, context: %{"orders" => orders()})

    assert text =~ "2024-02-01"
    total = %{"op" => "mul", "left" => %{"op" => "get", "field" => "total"}, "right" => 1.19}
    sum = program([load("orders"), %{"op" => "sum", "expr" => total}])

    assert {:error, {:execution_error, text}, told} =
             Agent.run(sum, %{}, context: %{"orders" => orders()})

    assert text =~ "99.95"
    assert told =~ "99.95"
    assert told =~ "mul of a decimal and a float is not exact"
    sum = program([load("orders"), %{"op" => "sum", "field" => "total"}])
    assert {:ok, total, _info} = Agent.run(sum, %{}, context: %{"orders" => orders()})
    assert total == money(26_995)
  end

  test "a tool's answer with atom keys passes its signature, and its fields are read" do
    rows = fn _args -> [%{id: 1, at: ~D[2024-02-29]}, %{id: 2, at: ~D[2024-03-01]}] end

    tools = %{
      "rows" => {rows, "() -> [{id :int, at :any}]"},
      "one" => {fn _ -> %Order{id: 7} end, "() -> {id :int}"}
    }

    call = %{"op" => "call", "tool" => "rows", "args" => %{}}
    assert {:ok, 3, _info} = Agent.run(program([call, %{"op" => "sum", "field" => "id"}]), tools)
    at = [call, %{"op" => "max_by", "field" => "at"}, %{"op" => "get", "field" => "id"}]
    assert {:ok, 2, _info} = Agent.run(program(at), tools)
    one = [%{"op" => "call", "tool" => "one"}, %{"op" => "get", "field" => "id"}]
    assert {:ok, 7, _info} = Agent.run(program(one), tools)

    assert {:ok, step} =
             Agent.loop(model([program(one)]), task: "t", tools: tools, returns: ":int")

    assert step.return == 7
  end

  test "string keys only are still possible" do
    context = %{rows: [%{id: 1}]}

    assert_raise ArgumentError, ~r/rows\[0\].id is an atom/, fn ->
      Agent.run(program([load("rows")]), %{}, context: context, keys: :strings)
    end

    assert {:ok, compiled, []} = Agent.program(program([load("rows")]))
    assert {compiled.keys, compiled.structs} == {:any, :values}
    assert {:ok, compiled, []} = Agent.program(program([load("rows")]), keys: :strings)
    assert compiled.keys == :strings
  end

  test "values whose text cannot be made are shown, too" do
    for value <- [
          %{~D[2024-02-29] | calendar: Nowhere},
          %{~D[2024-02-29] | day: nil},
          %Decimal{coef: -1},
          %Decimal{coef: Integer.pow(10, 200_000), exp: 1}
        ] do
      prompt =
        Agent.prompt(language: :none, context: %{"x" => value, "rows" => [%{"x" => value}]})

      assert byte_size(prompt) < 10_000

      assert {:ok, ^value, _info} =
               Agent.run(~s({"program": {"op": "load", "name": "x"}}), %{},
                 context: %{"x" => value}
               )

      assert {:error, _error, told} =
               Agent.run(program([load("x")]), %{}, context: %{"x" => value}, returns: ":bool")

      assert byte_size(told) < 10_000
    end
  end
end

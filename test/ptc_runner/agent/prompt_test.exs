defmodule PtcRunner.Agent.PromptTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Agent.Describe
  alias PtcRunner.Test.Oracle.Decimals
  alias PtcRunner.Test.Room

  # Maximum reductions of a prompt over large data: about 100 ms. A reduction allocates a few words.
  @most 10_000_000

  test "the language stands in 6 KB, in 4 KB for edition 1, in the schema, or not at all" do
    assert byte_size(Agent.prompt([])) in 5_000..6_144
    assert byte_size(Agent.prompt(edition: 1)) in 3_000..5_000
    assert Agent.prompt(language: :schema) =~ ~s("anyOf")
    assert Agent.prompt(language: :none) == ""
    refute Agent.prompt(examples: 0) =~ "Examples:"
  end

  test "firewalled fields are not told" do
    prompt =
      Agent.prompt(
        context: %{"users" => [%{"id" => 1, "_token" => "s3cret"}], "_key" => "s3cret"},
        tools: %{"t" => {& &1, "(id :int, _session :string) -> {ok :bool, _raw :map}"}}
      )

    refute prompt =~ "s3cret" or prompt =~ "_token" or prompt =~ "_session" or prompt =~ "_raw"
  end

  test "what a firewalled parameter may be is not told" do
    options = [
      signature: "(city :string, _t {pin :string}) -> :any",
      enums: %{"city" => ["Rome"], "_t.pin" => ["s3cret"]},
      descriptions: %{"_t" => "not to be told"}
    ]

    prompt = Agent.prompt(language: :none, tools: %{"rate" => {& &1, options}})
    assert prompt =~ ~s(city is one of "Rome")
    refute prompt =~ ~r/s3cret|told|_t/
  end

  test "samples may be left out, and are bounded" do
    context = %{"users" => [%{"name" => "Ada Lovelace"}]}
    assert Agent.prompt(context: context) =~ "Ada Lovelace"
    refute Agent.prompt(context: context, samples: false) =~ "Ada Lovelace"

    wide = for n <- 1..10_000, into: %{}, do: {"k#{n}", String.duplicate("x", 1_000)}
    deep = Enum.reduce(1..10_000, 1, fn _, x -> %{"a" => [x]} end)
    shared = Enum.reduce(1..60, 1, fn _, x -> [x, x] end)

    for data <- [
          wide,
          [wide],
          deep,
          shared,
          List.duplicate(wide, 1_000),
          String.duplicate("é", 1_000_000)
        ] do
      assert byte_size(Agent.prompt(language: :none, context: %{"d" => data})) < 5_000
    end
  end

  test "types of data" do
    for {value, type} <- [
          {[1, 2.5], "[:float]"},
          {[], "[:any]"},
          {[[], [1]], "[[:int]]"},
          {[%{"a" => 1}, %{"b" => nil}], "[{a :int?, b :any?}]"},
          {[1, "x"], "[:any]"},
          {[nil, %{"a" => 1}], "[{a :int}?]"},
          {%{a: ~D[2025-11-20], b: ~U[2026-05-03 09:14:00Z]}, "{a :date, b :datetime}"},
          {[1 | 2], ":any"},
          {{1, 2}, ":any"},
          {Map.new(1..1_000, &{"k#{&1}", 1}), ":map"}
        ] do
      assert Describe.type(value) == type
    end
  end

  test "notes on a result that is not declared, and paths that it does not have" do
    for call <- [
          &Agent.prompt/1,
          &Agent.run(%{}, %{}, &1),
          &Agent.loop(fn _ -> flunk() end, &1)
        ] do
      assert_raise ArgumentError, ~r/they need :returns/, fn -> call.(enums: %{"a" => [1]}) end

      assert_raise ArgumentError, ~r/path "b"/, fn ->
        call.(returns: "{a :int}", enums: %{"b" => [1]})
      end
    end
  end

  test "the sample of a row is the same whether its keys are atoms or texts, on every VM" do
    names = ["total", "id", "status", "due", "country", "name", "a"]
    texts = Map.new(names, &{&1, %{"z" => 1, "b" => &1}})
    atoms = Map.new(names, &{String.to_atom(&1), %{z: 1, b: &1}})
    shown = fn row -> Agent.prompt(language: :none, context: %{"rows" => [row, row]}) end
    assert shown.(atoms) == shown.(texts)
    assert shown.(atoms) =~ ~s([{"a":{"b":"a","z":1},"country":{"b":"country","z":1},"due")
    # The first ones are shown, by their names.
    wide = Map.new(101..250, &{String.to_atom("key_#{&1}"), &1})
    assert shown.(%{in: %{in: wide}}) =~ ~s({"key_101":101,"key_102":102,)
    # Of two keys of one name the text counts.
    assert shown.(%{:a => 1, "a" => 2}) =~ ~s([{"a":2}])
  end

  test "a list that is empty in the first row shows an element of another row, at any depth" do
    inside = fn
      list, :list -> %{"lines" => list}
      list, :object -> %{"order" => %{"lines" => list}}
      list, :objects -> %{"a" => %{"b" => %{"c" => list}}}
      list, :lists -> %{"orders" => [%{"lines" => list}]}
      list, :deep -> %{"orders" => [%{"lines" => [%{"tags" => list}]}]}
      list, :struct -> %PtcRunner.Step{return: %{"lines" => list}}
      list, :atom -> %{lines: list}
    end

    for empty <- [[], nil], place <- [:list, :object, :objects, :lists, :deep, :struct, :atom] do
      rows = for(_ <- 1..60, do: inside.(empty, place)) ++ [inside.([%{"sku" => "A-1"}], place)]
      prompt = Agent.prompt(language: :none, context: %{"rows" => rows})
      [sample] = Regex.run(~r/sample.*/, prompt)
      assert sample =~ ~s([{"sku":"A-1"}]), "#{place}: #{prompt}"
      if place != :struct, do: assert(prompt =~ "[{sku :string}]")
    end

    # An association that is loaded in another row only.
    unloaded = %{__struct__: Ecto.Association.NotLoaded}
    prompt = Agent.prompt(context: %{"rows" => [%{lines: unloaded}, %{lines: [%{sku: "A-1"}]}]})
    assert prompt =~ ~s([{"lines":[{"sku":"A-1"}]}])
  end

  test "dates, datetimes, decimals and texts are told apart where they are nested" do
    values = %{
      ~D[2026-01-31] => ":date",
      ~U[2026-01-31 10:00:00Z] => ":datetime",
      ~N[2026-01-31 10:00:00] => ":datetime",
      Decimals.new(1250, -2) => ":decimal",
      "2026-01-31" => ":string"
    }

    for {value, type} <- values,
        {nested, text} <- [
          {[value], "[#{type}]"},
          {[[[value]]], "[[[#{type}]]]"},
          {%{"a" => %{"b" => %{"c" => value}}}, "{a {b {c #{type}}}}"},
          {%{"a" => [%{"b" => [%{"c" => [value]}]}]}, "{a [{b [{c [#{type}]}]}]}"}
        ] do
      assert Agent.prompt(language: :none, context: %{"rows" => [nested, nested]}) =~
               "- rows [#{text}]"
    end
  end

  test "an enumeration of one text is explained" do
    prompt = Agent.prompt(language: :none, context: %{status: :open})
    assert prompt =~ ~s(- status "open"\n)
    assert prompt =~ ~s("a"|"b" is one of these texts.)
    refute Agent.prompt(language: :none, context: %{n: 1}) =~ "one of these texts"
  end

  test "work on data is bounded: nested wide maps, in lists" do
    wide = fn inner -> Map.new(1..150, &{"key #{&1}", inner}) end
    data = %{"d" => List.duplicate(wide.([wide.([wide.(1)])]), 100)}
    {ms, prompt} = Room.least_ms(5_000, fn -> Agent.prompt(language: :none, context: data) end)
    assert byte_size(prompt) < 5_000
    assert ms < 5_000
    program = %{"program" => %{"op" => "literal", "value" => 1}}
    assert {:ok, 1, _info} = Agent.run(program, %{}, context: data)
  end

  test "work on data is bounded: many rows of wide maps, with the same or with other keys" do
    wide = fn keys, inner -> Map.new(keys, &{"k#{&1}", inner}) end
    row = wide.(1..200, wide.(1..200, 1))
    others = for n <- 1..50, do: wide.((n * 200)..(n * 200 + 199), wide.(1..200, 1))
    inside = for n <- 1..50, do: wide.(1..200, wide.((n * 40)..(n * 40 + 39), 1))

    for data <- [
          %{"rows" => List.duplicate(row, 50)},
          %{"rows" => others},
          %{"rows" => inside},
          %{"rows" => List.duplicate(Enum.map(1..50, &wide.((&1 * 40)..(&1 * 40 + 39), 1)), 50)},
          Map.new(1..50, &{"r#{&1}", row}),
          %{"table" => wide.(1..200, row)}
        ] do
      Agent.prompt(context: data)
      assert reductions(fn -> assert byte_size(Agent.prompt(context: data)) < 300_000 end) < @most
    end
  end

  defp reductions(fun) do
    {:reductions, before} = Process.info(self(), :reductions)
    fun.()
    {:reductions, now} = Process.info(self(), :reductions)
    now - before
  end

  test "what is told of the result" do
    prompt =
      Agent.prompt(
        language: :none,
        returns: "[{status :string}]",
        enums: %{"status" => ["open", "closed"]},
        descriptions: %{"status" => "as of now"}
      )

    assert prompt =~ "fits [{status :string}]\n"
    assert prompt =~ "status: as of now\nstatus is one of \"open\", \"closed\""
    assert Agent.prompt(answer: :value, returns: ":int") =~ "fits {value :int}"
  end
end

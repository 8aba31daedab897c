defmodule PtcRunner.Agent.ToldTest do
  # What the prompt says that a program must know: for each question of a writer of programs, the answer in a few words. What the prompt says of the
  # language is also run.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json, Schema}
  alias PtcRunner.Agent.{DataType, Describe}
  alias PtcRunner.Shown.Budget
  alias PtcRunner.Test.Oracle.Decimals

  doctest DataType

  defp prompt(opts), do: Agent.prompt([language: :none] ++ opts)
  defp money(cents), do: Decimals.new(cents, -2)
  defp type(value), do: Describe.type(value, Budget.new(1_000_000))

  describe "types of data" do
    test "tell dates, datetimes, decimals and texts apart, nested too" do
      for {value, type} <- [
            {~D[2026-01-31], ":date"},
            {~U[2026-01-31 10:00:00Z], ":datetime"},
            {~N[2026-01-31 10:00:00], ":datetime"},
            {~T[10:00:00], ":time"},
            {money(1250), ":decimal"},
            {"2026-01-31", ":string"},
            {"12.50", ":string"},
            {12.5, ":float"}
          ] do
        assert type(value) == type
        assert type([value, nil]) == "[#{type}?]"
        assert type([nil, value]) == "[#{type}?]"
        assert type([%{"a" => %{b: [value]}}]) == "[{a {b [#{type}]}}]"
        assert type([%{"a" => value}, %{"b" => value}]) == "[{a #{type}?, b #{type}?}]"
      end

      assert type([~D[2026-01-31], ~U[2026-01-31 10:00:00Z]]) == "[:any]"
      assert type([money(1), 1.5]) == "[:any]"
      assert type([money(1), "1.5"]) == "[:any]"
    end

    test "are those of all rows, wherever the one that differs stands" do
      for rows <- [1, 51, 1_000, 20_000], at <- Enum.uniq([1, rows, div(rows, 2) + 1]) do
        row = fn n, value -> %{id: n, ends_at: value, tags: []} end
        data = for n <- 1..rows, do: row.(n, if(n == at, do: nil, else: ~U[2026-01-31 10:00:00Z]))
        ends = if rows == 1, do: ":any?", else: ":datetime?"
        assert type(data) == "[{ends_at #{ends}, id :int, tags [:any]}]"
        missing = List.update_at(data, at - 1, &Map.delete(&1, :tags))
        if rows > 1, do: assert(type(missing) =~ "tags [:any]?")
        other = List.update_at(data, at - 1, &%{&1 | id: 1.5})
        assert type(other) =~ "id :float"
      end
    end

    test "say how many rows were looked at, if not all, and each name has its share" do
      rows = for n <- 1..300_000, do: %{"a" => n, "b" => "x", "c" => nil}

      text =
        prompt(
          context: %{
            "aa" => rows,
            "small" => for(n <- 1..100, do: %{"n" => if(n == 100, do: nil, else: n)})
          }
        )

      assert [_, read] =
               Regex.run(
                 ~r/- aa \[\{a :int, b "x", c :any\?\}\] \(types of the first (\d+) of 300000 rows\)/,
                 text
               )

      assert String.to_integer(read) in 10_000..300_000
      assert text =~ "- small [{n :int?}]\n"
      refute prompt(context: %{"rows" => Enum.take(rows, 10_000)}) =~ "types of the first"
    end

    test "show the values of enumerations, of atoms and of few texts that come again" do
      rows = fn values, field ->
        for {value, n} <- Enum.with_index(values), do: %{field => value, "n" => n}
      end

      assert type(rows.([:paid, :open], :status)) == ~s([{n :int, status "open"|"paid"}])
      assert type(rows.([:paid, nil, :open], "status")) == ~s'[{n :int, status ("open"|"paid")?}]'
      assert type(rows.(~w(b a b a c c), "kind")) == ~s([{kind "a"|"b"|"c", n :int}])
      assert type(rows.(~w(a b c d), "kind")) == "[{kind :string, n :int}]"
      assert type(rows.(~w(Ada Bob Ada), "name")) == "[{n :int, name :string}]"
      assert type(for(n <- 1..100, do: "text #{n}")) == "[:string]"
      assert type(List.duplicate([:a, :b], 3)) == ~s([["a"|"b"]])
      assert type(List.duplicate(String.duplicate("x", 100), 10)) == "[:string]"
      assert type(for(n <- 1..40, do: :"told #{rem(n, 20)}")) == "[:keyword]"

      assert type([%{"q" => ~s(a"b)}, %{"q" => ~s(a"b)}, %{"q" => "c\nd"}, %{"q" => "c\nd"}]) ==
               ~S([{q "a\"b"|"c\nd"}])

      refute prompt(context: %{"rows" => rows.([:paid, :open], :status)}, samples: false) =~
               "paid"
    end

    test "of hostile data are bounded, and no key or value breaks a line" do
      data = [
        %{"a b\n" => 1, 1 => 2, nil => 3, {1, 2} => 4, "_pin" => "s3cret", :_pin2 => "s3cret"},
        %{
          "improper" => [1 | 2],
          "pid" => self(),
          "nested" => Enum.reduce(1..1_000, 1, fn _, x -> [x] end)
        },
        Map.new(1..1_000, &{"k#{&1}", &1})
      ]

      text = prompt(context: %{"x" => data, "y" => hd(data), "z" => [[1 | 2], [3]]})
      refute text =~ "s3cret" or text =~ "_pin"
      assert byte_size(text) < 10_000
      assert type([%{}, %{}]) == "[{}]"
      assert type([%{"a" => 1}, 1]) == "[:any]"
      assert type([]) == "[:any]"
      shared = Enum.reduce(1..60, 1, fn _, x -> [x, x] end)
      assert is_binary(type(shared))
    end
  end

  describe "samples" do
    test "mark what they cut" do
      assert Describe.sample([%{"tags" => [1, 2, 3]}, %{}]) == ~s([{"tags":[1,"… 2 more"]}])
      assert Describe.sample(%{"t" => String.duplicate("x", 500)}) =~ "…"
      wide = Map.new(1..100, &{"k#{&1}", &1})
      assert Describe.sample(%{"a" => %{"b" => wide}}) =~ ~r/"…":"\d+ more"/
      assert Describe.sample([1, 2]) == "[1]"
    end

    test "show an element of a nested list if any row has one" do
      for {first, other} <- [{[], [7]}, {nil, [7, 8]}], at <- [2, 50, 5_000] do
        rows = for n <- 1..at, do: %{"id" => n, "xs" => if(n == at, do: other, else: first)}
        assert Describe.sample(rows) =~ ~s({"id":1,"xs":[7)
        assert Describe.sample(%{"in" => rows}) =~ ~s("xs":[7)
      end

      assert Describe.sample([[], [], [%{"a" => 1}]]) == ~s([[{"a":1}]])
      assert Describe.sample([%{"xs" => []}, %{"xs" => []}]) == ~s([{"xs":[]}])
      assert Describe.sample([%{"xs" => []} | :tail]) == ~s([{"xs":[]}])
      secret = [%{"xs" => []}, %{"xs" => [%{"_pin" => "s3cret", "id" => 1}]}]
      assert Describe.sample(secret) == ~s([{"xs":[{"id":1}]}])
    end
  end

  describe "the legend" do
    test "explains each type that is used, and no other" do
      words = [
        keyword: ":keyword is",
        date: ":date is",
        datetime: ":datetime has",
        decimal: ":decimal is an exact number"
      ]

      for {type, sentence} <- words do
        used = prompt(returns: [a: type])
        assert used =~ sentence
        for {other, said} <- words, other != type, do: refute(used =~ said)
        assert prompt(tools: %{"t" => {& &1, {[a: type], :any}}}) =~ sentence
      end

      assert prompt(context: %{"d" => [money(1)]}) =~
               ":decimal is an exact number, though samples show it as text"

      assert prompt(context: %{"d" => ~D[2026-01-31]}) =~ ":date is a date"
      assert prompt(context: %{"d" => [:a, :b]}) =~ ~s("a"|"b" is one of these texts)
      assert prompt(context: %{"d" => 1}) =~ "Types: :int"
      assert prompt(task: "x") == "## Task\nx"
    end

    test "says what a result and what arithmetic may be" do
      assert prompt(returns: [a: :decimal]) =~ "A result :decimal may be any number, or its text."
      refute prompt(context: %{"d" => money(1)}) =~ "A result :decimal"
      assert prompt(context: %{"d" => money(1)}) =~ ~s(write {"op":"literal","value":"0.19"})
      refute prompt(returns: [a: :decimal]) =~ ~s(as text such as)
      data = [context: %{"d" => money(100)}, structs: :values]

      mul = fn by ->
        ~s({"program": {"op": "mul", "left": {"op": "load", "name": "d"}, "right": #{by}}})
      end

      assert {:error, _} = Json.run(mul.("0.19"), data)
      assert {:ok, %{coef: _}, _, _} = Json.run(mul.(~s({"op":"literal","value":"0.19"})), data)

      for value <- ["12.5", "12", ~s("12.50")],
          do:
            assert(
              {:ok, %{__struct__: Decimal}, _} =
                Agent.run(~s({"program": {"op": "literal", "value": #{value}}}), %{},
                  returns: {:signature, [], :decimal}
                )
            )
    end

    test "says what a date beside a datetime is" do
      assert prompt(context: %{"at" => ~U[2026-01-31 10:00:00Z]}) =~
               "Beside a datetime, a date is its midnight"

      gt = fn at ->
        Json.run!(
          ~s({"program": {"op": "gt", "left": {"op": "load", "name": "at"}, "value": {"op": "load", "name": "day"}}}),
          context: %{"at" => at, "day" => ~D[2026-01-31]},
          structs: :values
        )
      end

      assert gt.(~U[2026-01-31 00:00:01Z])
      refute gt.(~U[2026-01-30 23:59:59Z])
    end
  end

  describe "tools" do
    test "say which write, wait for approval, or have a maximum" do
      read = {& &1, effect: :read}
      assert prompt(tools: %{"a" => read}) =~ "- a(args :map) -> :any (reads)\n"
      refute prompt(tools: %{"a" => read}) =~ "may write"

      assert prompt(tools: %{"a" => read, "b" => & &1}) =~
               ~s(Tools may write, except those marked "reads")

      assert prompt(tools: %{"b" => & &1}) =~
               "Tools may write: make no call that the task does not need."

      assert prompt(tools: %{"b" => {& &1, approve: true, max_calls: 1}}) =~
               "- b(args :map) -> :any (waits for approval, at most 1 call)"
    end
  end

  describe "the language" do
    # The question of a writer, what the prompt says, and a program with what it gives.
    @answers [
      {"what to_number does with a text that is no number", "to_number of no number is null",
       ~s({"op":"to_number","value":"x"}), nil},
      {"the key of group_by with expr", ~s(expr: as or "key"),
       ~s({"op":"pipe","steps":[{"op":"literal","value":[1]},{"op":"group_by","expr":{"op":"it"},"each":{"n":{"op":"count"}}}]}),
       [%{"key" => 1, "n" => 1}]},
      {"what as names in group_by", "named as the field or by as",
       ~s({"op":"pipe","steps":[{"op":"literal","value":[{"a":1}]},{"op":"group_by","field":"a","as":"k","each":{}}]}),
       [%{"k" => 1}]},
      {"list indexes in path", "path is a list of keys and list indexes",
       ~s({"op":"get","path":["a",1],"from":{"op":"literal","value":{"a":[1,2]}}}), 2},
      {"extract with all and groups",
       "its groups (a list, or an object if named); all true: a list of all",
       ~S'{"op":"extract","pattern":"(\\w)=(\\d)","all":true,"value":"a=1 b=2"}',
       [["a", "1"], ["b", "2"]]},
      {"flags of patterns", "(?i) for any case",
       ~s'{"op":"matches","pattern":"(?i)ABC","left":"xabc"}', true},
      {"whether replace replaces all", "replace replaces all; find is literal",
       ~s({"op":"replace","find":"a.","with":"-","value":"a.a.ab"}), "--ab"},
      {"text with null parts", ~s(null as ""), ~s({"op":"text","parts":["a",null,"b"]}), "ab"},
      {"whether coalesce stops early", "and, or, coalesce, if, switch stop early",
       ~s({"op":"coalesce","values":[1,{"op":"div","left":1,"right":0}]}), 1},
      {"whether or stops early", "and, or, coalesce, if, switch stop early",
       ~s({"op":"or","conditions":[{"op":"literal","value":true},{"op":"div","left":1,"right":0}]}),
       true},
      {"what date_add gives", "date_add: a text like its input",
       ~s({"op":"date_add","value":"2026-01-31","amount":1,"unit":"month"}), "2026-02-28"},
      {"fixed decimals", ~s(to_text of 12.5, decimals 2: "12.50"),
       ~s({"op":"to_text","value":12.5,"decimals":2}), "12.50"},
      {"that round needs value, and how it rounds", "round needs value; halves go away from zero",
       ~s({"op":"list","items":[{"op":"round","value":2.5},{"op":"round","value":-2.5}]}),
       [3.0, -3.0]},
      {"which key wins in a join", "The item's keys win",
       ~s({"op":"pipe","steps":[{"op":"literal","value":[{"id":1,"a":"item"}]},{"op":"join","on":"id","with":[{"id":1,"a":"other"}]}]}),
       [%{"id" => 1, "a" => "item"}]},
      {"the ISO week", "week is ISO", ~s({"op":"date_part","part":"week","value":"2027-01-01"}),
       53},
      {"the year of the ISO week", "its year is that of week_start + 3 days",
       ~s({"op":"date_part","part":"year","value":{"op":"date_add","amount":3,"unit":"day","value":{"op":"date_part","part":"week_start","value":"2027-01-01"}}}),
       2026},
      {"how to page through a search",
       "To page: fold over range; expr gives acc if all came, else acc with the next page",
       ~s({"op":"pipe","steps":[{"op":"range","from":1,"to":9},{"op":"fold","init":{"done":false,"rows":[]},"expr":{"op":"if","condition":{"op":"get","from":{"op":"var","name":"acc"},"field":"done"},"then":{"op":"var","name":"acc"},"else":{"op":"let","name":"page","value":{"op":"call","tool":"search","args":{"page":{"op":"it"}}},"in":{"done":{"op":"lt","left":{"op":"length","value":{"op":"var","name":"page"}},"value":2},"rows":{"op":"concat","lists":[{"op":"get","from":{"op":"var","name":"acc"},"field":"rows"},{"op":"var","name":"page"}]}}}}},{"op":"get","field":"rows"}]}),
       [1, 2, 3, 4, 5]}
    ]

    for {question, said, program, value} <- @answers do
      test question do
        assert Schema.to_prompt(edition: 2, examples: 0) =~ unquote(said)
        me = self()

        search = fn %{"page" => page} ->
          send(me, {:page, page})
          Enum.slice([1, 2, 3, 4, 5], (page - 1) * 2, 2)
        end

        program = ~s({"program": #{unquote(program)}})

        assert {:ok, _, _, _} =
                 ran = Json.run(program, edition: 2, strict: true, tools: %{"search" => search})

        value = unquote(Macro.escape(value))
        assert elem(ran, 1) == value
        if program =~ "search", do: refute_received({:page, 4})
      end
    end

    test "stands in no more than before" do
      assert byte_size(Schema.to_prompt(edition: 2)) <= 6_000
      assert byte_size(Schema.to_prompt(edition: 2, examples: 0)) <= 5_000
    end
  end
end

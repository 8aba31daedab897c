defmodule PtcRunner.SubAgent.FromEctoTest do
  # Signatures of Ecto schemas, in the forms of Ecto before and since 3.12, and the way of a record: from a model's text, or from rows
  # through programs and tools, into a changeset.
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Json
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.FromEcto
  alias PtcRunner.Test.Oracle.Decimals

  doctest FromEcto.Pattern
  doctest FromEcto.Types
  doctest FromEcto.Validations

  for {form, suffix} <- [new: New, old: Old] do
    line = Module.concat([__MODULE__, suffix, Line])
    address = Module.concat([__MODULE__, suffix, Address])
    customer = Module.concat([__MODULE__, suffix, Customer])
    order = Module.concat([__MODULE__, suffix, Order])
    comment = Module.concat([__MODULE__, suffix, Comment])
    every = Module.concat([__MODULE__, suffix, Every])

    defmodule line do
      import PtcRunner.Test.EctoChangeset

      use PtcRunner.Test.EctoSchema,
        form: form,
        primary_key: nil,
        fields: [sku: :string, quantity: :integer, price: :decimal]

      def changeset(line, params) do
        line
        |> cast(params, [:sku, :quantity, :price])
        |> validate_required([:sku, :quantity, :price])
        |> validate_number(:quantity, greater_than: 0, less_than: 1000)
        |> validate_number(:price, greater_than_or_equal_to: 0)
      end
    end

    defmodule address do
      use PtcRunner.Test.EctoSchema, form: form, fields: [city: :string, zip: :string]
    end

    defmodule customer do
      use PtcRunner.Test.EctoSchema,
        form: form,
        source: "customers",
        fields: [name: :string, password_hash: :string],
        embeds: [address: {:one, address}],
        redact: [:password_hash],
        associations: [orders: {:many, order}]
    end

    defmodule order do
      import PtcRunner.Test.EctoChangeset

      use PtcRunner.Test.EctoSchema,
        form: form,
        source: "orders",
        fields: [
          number: :string,
          status: {:enum, [:open, :paid, :closed]},
          total: :decimal,
          placed_on: :date,
          tags: {:array, :string},
          currency: :string,
          secret: :string
        ],
        defaults: [currency: "EUR", status: :open],
        virtual: [note: :string],
        redact: [:secret],
        embeds: [lines: {:many, line}],
        associations: [customer: {:belongs_to, customer}, city: {:has_through, :one, [:customer]}],
        timestamps: :utc_datetime

      def changeset(order, params) do
        order
        |> cast(params, [:number, :status, :total, :placed_on, :tags, :currency])
        |> cast_embed(:lines, required: true)
        |> validate_required([:number, :total])
        |> validate_format(:number, ~r/\A[A-Z]{2}-\d+\z/)
        |> validate_number(:total, greater_than_or_equal_to: 0)
        |> validate_length(:tags, max: 3)
        |> validate_subset(:tags, ~w(new late big))
        |> validate_inclusion(:currency, ["EUR", "CHF"])
        |> validate_inclusion(:status, [:open, :paid])
        |> validate_length(:lines, min: 1)
        |> validate_exclusion(:number, ["XX-0"])
        |> noted(:total, :checked_by_finance)
      end
    end

    defmodule comment do
      use PtcRunner.Test.EctoSchema,
        form: form,
        fields: [text: :string],
        embeds: [replies: {:many, comment}, author: {:one, address}]
    end

    defmodule every do
      use PtcRunner.Test.EctoSchema,
        form: form,
        source: "every",
        primary_key: {:uuid, :binary_id},
        fields:
          [
            a: :id,
            b: :binary_id,
            c: :integer,
            d: :float,
            e: :boolean,
            f: :string,
            g: :decimal,
            h: :date
          ] ++
            [
              i: :time,
              j: :time_usec,
              k: :utc_datetime,
              l: :utc_datetime_usec,
              m: :naive_datetime,
              n: :naive_datetime_usec
            ] ++
            [
              o: :map,
              p: {:map, :integer},
              q: {:array, :date},
              r: {:array, {:array, :decimal}},
              s: :any,
              t: :binary,
              u: Ecto.UUID
            ] ++
            [
              v: {:enum, [:x, :y]},
              w: {:array, {:enum, [low: 1, high: 2]}},
              x: Some.Money,
              y: :duration
            ]
    end
  end

  defp order(New), do: __MODULE__.New.Order
  defp order(Old), do: __MODULE__.Old.Order
  defp in_form(form, name), do: Module.concat([__MODULE__, form, name])
  defp money(cents), do: Decimals.new(cents, -2)

  defp fields({:signature, [], {:map, fields}}), do: Map.new(fields)

  @uuid {:where, :string, [format: :uuid]}
  @time {:where, :string, [format: :time]}

  for form <- [New, Old] do
    describe "with the forms of Ecto #{form}" do
      test "every type of a field" do
        {:ok, signature, dropped} = Signature.from_ecto(in_form(unquote(form), Every))

        naive =
          {:where, :string,
           [
             pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?$",
             description: "ISO 8601 without an offset"
           ]}

        types = for {name, {:optional, type}} <- fields(signature), into: %{}, do: {name, type}

        assert types == %{
                 "uuid" => @uuid,
                 "a" => :int,
                 "b" => @uuid,
                 "c" => :int,
                 "d" => :float,
                 "e" => :bool,
                 "f" => :string,
                 "g" => :decimal,
                 "h" => :date,
                 "i" => @time,
                 "j" => @time,
                 "k" => :datetime,
                 "l" => :datetime,
                 "m" => naive,
                 "n" => naive,
                 "o" => :map,
                 "p" => {:map_of, :int},
                 "q" => {:list, :date},
                 "r" => {:list, {:list, :decimal}},
                 "s" => :any,
                 "t" => :any,
                 "u" => @uuid,
                 "v" => {:where, :keyword, [enum: [:x, :y]]},
                 "w" => {:list, {:where, :keyword, [enum: [:low, :high]]}},
                 "x" => :any,
                 "y" => :any
               }

        assert for(it <- dropped, do: {it.path, it.keyword}) == [
                 {"t", "type"},
                 {"x", "type"},
                 {"y", "type"}
               ]

        assert Enum.at(dropped, 1).reason =~ "types: %{Some.Money => type}"

        own = %{
          Some.Money => [amount: :decimal, currency: :string],
          duration: :int,
          binary: :string
        }

        {:ok, signature, []} =
          Signature.from_ecto(in_form(unquote(form), Every), types: own, only: [:x, :t, :y])

        assert fields(signature)["x"] ==
                 {:optional, {:map, [{"amount", :decimal}, {"currency", :string}]}}
      end

      test "fields, validations, defaults, embedded schemas, and what is not kept" do
        {:ok, signature, dropped} = Signature.from_ecto(order(unquote(form)))
        {:signature, [], {:map, listed}} = signature
        virtual = if unquote(form) == New, do: ["note"], else: []

        assert Enum.map(listed, &elem(&1, 0)) ==
                 ~w(id number status total placed_on tags currency customer_id lines inserted_at updated_at) ++
                   virtual

        fields = Map.new(listed)
        assert fields["number"] == {:where, :string, [pattern: "^[A-Z]{2}-[0-9]+$"]}
        assert fields["total"] == {:where, :decimal, [min: 0]}

        assert fields["status"] ==
                 {:optional, {:where, :keyword, [enum: [:open, :paid], default: :open]}}

        assert fields["currency"] ==
                 {:optional, {:where, :string, [enum: ["EUR", "CHF"], default: "EUR"]}}

        assert fields["tags"] ==
                 {:optional,
                  {:where, {:list, {:where, :string, [enum: ~w(new late big)]}}, [max_items: 3]}}

        assert fields["placed_on"] == {:optional, :date}
        assert fields["id"] == {:optional, :int}
        assert fields["inserted_at"] == {:optional, :datetime}
        assert {:where, {:list, {:map, line}}, [min_items: 1]} = fields["lines"]

        assert line == [
                 {"sku", :string},
                 {"quantity", {:where, :int, [exclusive_min: 0, exclusive_max: 1000]}},
                 {"price", {:where, :decimal, [min: 0]}}
               ]

        assert for(it <- dropped, do: {it.path, it.keyword}) == [
                 {"number", "exclusion"},
                 {"total", "checked_by_finance"},
                 {"secret", "redact"}
               ]
      end

      test "a schema that is within itself" do
        {:ok, signature, []} =
          Signature.from_ecto(in_form(unquote(form), Comment), generated: false)

        reply = %{"text" => "b", "replies" => [], "author" => nil}

        assert Signature.validate(signature, %{
                 "text" => "a",
                 "replies" => [reply, %{"replies" => [reply]}]
               }) == :ok

        assert {:error, [%{path: ["replies", 0, "replies", 0, "text"]}]} =
                 Signature.validate(signature, %{"replies" => [%{"replies" => [%{"text" => 1}]}]})
      end

      test "options" do
        order = order(unquote(form))

        names = fn opts ->
          order |> Signature.from_ecto!(opts) |> fields() |> Map.keys() |> Enum.sort()
        end

        assert names.(only: [:number, :total]) == ~w(number total)
        refute "id" in names.(generated: false)
        refute "updated_at" in names.(generated: false)
        assert "secret" in names.(redacted: true)
        refute "lines" in names.(except: [:lines])

        assert fields(Signature.from_ecto!(order, changeset: false))["total"] ==
                 {:optional, :decimal}

        required = fn order, params ->
          order
          |> PtcRunner.Test.EctoChangeset.cast(params, [])
          |> PtcRunner.Test.EctoChangeset.validate_required([:placed_on])
        end

        assert %{"placed_on" => :date, "number" => {:optional, :string}} =
                 fields(Signature.from_ecto!(order, changeset: required))

        line = in_form(unquote(form), Line)

        assert %{
                 "lines" => {:where, {:list, {:map, [{"sku", {:optional, :string}} | _]}}, _},
                 "total" => {:where, _, _}
               } = fields(Signature.from_ecto!(order, changeset: %{line => false}))

        loaded = fields(Signature.from_ecto!(order, preload: [:city, customer: [orders: []]]))
        assert {:optional, {:map, customer}} = loaded["customer"]

        assert {"orders", {:optional, {:list, {:map, inner}}}} =
                 List.keyfind(customer, "orders", 0)

        assert {"number", {:optional, :string}} in inner
        assert {:optional, {:map, city}} = loaded["city"]

        assert {"address",
                {:optional,
                 {:map, [{"id", {:optional, @uuid}}, {"city", {:optional, :string}} | _]}}} =
                 List.keyfind(city, "address", 0)

        refute List.keymember?(customer, "password_hash", 0)
      end

      test "from a model's text into a changeset" do
        order = order(unquote(form))
        returns = Signature.from_ecto!(order, generated: false)

        text = """
        Here it is:
        {"number": "DE-17", "status": "paid", "total": "12.50", "placed_on": "2026-01-02", "tags": ["new"],
         "lines": [{"sku": "a", "quantity": "2", "price": 6.25}],}
        """

        {:ok, record, _warnings} = Agent.answer(text, returns)
        assert record["total"] == money(1250)
        assert record["currency"] == "EUR"
        changeset = order.changeset(order.__struct__(), record)
        assert changeset.valid?, inspect(changeset.errors)
        made = PtcRunner.Test.EctoChangeset.apply_changes(changeset)

        assert %{
                 number: "DE-17",
                 status: :paid,
                 placed_on: ~D[2026-01-02],
                 lines: [%{sku: "a", quantity: 2}]
               } = made

        assert made.total == money(1250)

        wrong = ~s({"number": "17", "total": -1, "lines": []})
        {:error, errors, _feedback} = Agent.answer(wrong, returns)
        assert Enum.map(errors, & &1.path) == [["number"], ["total"], ["lines"]]
      end

      test "the schemas of providers say it" do
        returns =
          Signature.from_ecto!(order(unquote(form)),
            generated: false,
            only: [:number, :status, :lines]
          )

        for provider <- [:plain, :openai_strict, :anthropic, :gemini] do
          schema = Signature.to_json_schema(returns, for: provider)
          assert schema["properties"]["status"] |> inspect() =~ "open"
        end
      end

      test "rows through the prompt, a program, a tool, the result, and back into a changeset" do
        order = order(unquote(form))

        customer =
          struct(in_form(unquote(form), Customer),
            id: 3,
            name: "Ada",
            password_hash: "s3cret",
            address: struct(in_form(unquote(form), Address), city: "Bern", zip: "3000")
          )

        line = struct(in_form(unquote(form), Line), sku: "a", quantity: 2, price: money(625))

        rows =
          for {id, status, cents} <- [{1, :open, 1250}, {2, :paid, 990}, {3, :open, 75}] do
            struct(order,
              id: id,
              number: "DE-#{id}",
              status: status,
              total: money(cents),
              placed_on: Date.new!(2026, 1, id),
              customer: customer,
              customer_id: 3,
              lines: [line],
              inserted_at: ~U[2026-01-01 10:00:00Z]
            )
          end

        returns = [Signature.from_ecto!(order, preload: :customer)]
        prompt = Agent.prompt(context: %{"orders" => rows}, returns: returns, language: :none)
        assert prompt =~ "status"
        refute prompt =~ "s3cret"
        refute prompt =~ "password_hash"
        refute prompt =~ "__meta__"

        me = self()

        find = fn %{"row" => row} ->
          send(me, {:row, row})
          %{row | currency: "CHF"}
        end

        program =
          ~s({"program": {"op": "pipe", "steps": [
          {"op": "load", "name": "orders"},
          {"op": "filter", "where": {"op": "eq", "field": "status", "value": "open"}},
          {"op": "sort_by", "field": "total", "order": "desc"},
          {"op": "map", "expr": {"op": "call", "tool": "priced", "args": {"row": {"op": "it"}}}}]}})

        tools = %{"priced" => {find, effect: :read}}

        {:ok, value, _info} =
          Agent.run(program, tools,
            context: %{"orders" => rows},
            returns: returns,
            firewall: false
          )

        assert_received {:row, %{__struct__: ^order, id: 1}}
        assert [%{} = first, _second] = value

        for record <- value do
          params = record |> Map.drop([:customer, "customer"])
          changeset = order.changeset(order.__struct__(), params)
          assert changeset.valid?, inspect(changeset.errors)
          made = PtcRunner.Test.EctoChangeset.apply_changes(changeset)
          assert made.currency == "CHF"
          assert made.status == :open
          assert %{quantity: 2} = hd(made.lines)
        end

        refute inspect(first) =~ "NotLoaded"

        # A program that makes new records of the rows.
        program =
          ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "first"},
          {"number": {"op": "get", "field": "number"}, "status": {"op": "get", "field": "status"}, "total": {"op": "get", "field": "total"},
           "placed_on": {"op": "get", "field": "placed_on"}, "lines": {"op": "get", "field": "lines"}}]}})

        {:ok, record, _info} =
          Agent.run(program, %{},
            context: %{"orders" => rows},
            returns: Signature.from_ecto!(order, generated: false)
          )

        assert %{valid?: true} = changeset = order.changeset(order.__struct__(), record)
        assert PtcRunner.Test.EctoChangeset.apply_changes(changeset).placed_on == ~D[2026-01-01]
      end

      test "redacted fields are in no text for a model" do
        customer =
          struct(in_form(unquote(form), Customer), id: 3, name: "Ada", password_hash: "s3cret")

        data = %{"customers" => [customer], "pairs" => %{"a" => {:ok, customer}}}

        look =
          ~s({"program": {"look": [{"op": "load", "name": "customers"}, {"op": "load", "name": "pairs"}]}})

        wrong = ~s({"program": {"op": "load", "name": "customers"}})
        model = fn messages -> if length(messages) == 2, do: look, else: wrong end
        tools = %{"who" => {fn _ -> customer end, effect: :read}}

        {:error, step} =
          Agent.loop(model, [task: "x", context: data, tools: tools, returns: ":int"],
            max_turns: 3
          )

        assert length(step.messages) > 4
        refute Enum.any?(step.messages, &(&1.content =~ "s3cret"))
      end

      test "redacted fields go into no tool where there is a firewall, and are in no error of it" do
        customer =
          struct(in_form(unquote(form), Customer), id: 3, name: "Ada", password_hash: "s3cret")

        op = &Map.put(Map.new(&2), "op", &1)
        customers = op.("load", %{"name" => "customers"})
        get = &op.("get", %{"field" => &1})
        pipe = &op.("pipe", %{"steps" => &1})
        row = &pipe.([customers, op.("first", %{}) | &1])
        tools = %{"send" => & &1["x"], "find" => fn _ -> customer end}

        run = fn node, opts ->
          context = %{"customers" => [customer]}
          opts = [context: context, tools: tools, keys: :any, structs: :values] ++ opts
          Json.run(%{"program" => node}, [firewall: true] ++ opts)
        end

        sent = &run.(op.("call", %{"tool" => "send", "args" => %{"x" => &1}}), &2)
        unset = op.("unset", %{"fields" => ["password_hash"]})
        names = ["id", "password_hash"]

        for value <- [
              row.([get.("password_hash")]),
              row.([op.("select", %{"fields" => names})]),
              pipe.([customers, op.("map", %{"expr" => get.("password_hash")})]),
              row.([op.("unset", %{"fields" => ["name"]})]),
              row.([op.("text", %{"parts" => [get.("password_hash")]})]),
              customers
            ] do
          assert {:error, {:validation_error, text}} = sent.(value, [])
          assert text =~ "customers.password_hash into the argument 'x' of tool 'send'"
        end

        found = pipe.([op.("call", %{"tool" => "find"}), get.("password_hash")])
        assert {:error, {:execution_error, text}} = sent.(found, [])
        assert text =~ "answer of find.password_hash into the argument 'x'"

        for value <- [row.([get.("id")]), row.([op.("select", %{"fields" => ["id"]})])],
            do: assert({:ok, _, _, _} = sent.(value, []))

        assert {:ok, _, _, _} = sent.(pipe.([customers, op.("count", %{})]), [])
        assert {:ok, _, _, _} = sent.(row.([unset, get.("name")]), [])

        kept = %{"hash" => row.([get.("password_hash")]), "rows" => customers}
        assert {:ok, _, _, memory} = run.(kept, [])
        assert memory["_concealed"] == ["hash"]
        var = &op.("var", %{"name" => &1})
        assert {:error, _} = sent.(var.("hash"), memory: memory)
        assert {:error, _} = sent.(var.("rows"), memory: memory)

        assert {:error, {:execution_error, text}} = run.(row.([op.("first", %{})]), [])
        refute text =~ "Ada"
        refute text =~ "s3cret"
      end

      test "as the types of data, and of a tool" do
        order = order(unquote(form))
        rows = [Signature.from_ecto!(order)]

        program =
          ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "orders"}, {"op": "sum", "field": "totl"}]}})

        {:error, [finding]} = Json.check(program, context: %{"orders" => rows})
        assert finding.suggestion == "total"

        tools = %{
          "find" =>
            {fn _ -> %{"number" => "1"} end,
             {[id: :int], Signature.from_ecto!(order, only: [:number])}}
        }

        assert {:error, {:execution_error, text}} =
                 Json.run(~s({"program": {"op": "call", "tool": "find", "args": {"id": 1}}}),
                   tools: tools
                 )

        assert text =~ "expected a text that matches"

        insert = %{
          "insert" => {& &1["number"], {Signature.from_ecto!(order, only: [:number]), :string}}
        }

        assert Json.run!(
                 ~s({"program": {"op": "call", "tool": "insert", "args": {"number": "DE-1"}}}),
                 tools: insert
               ) == "DE-1"
      end
    end
  end

  describe "rules" do
    defmodule Ruled do
      use PtcRunner.Test.EctoSchema,
        primary_key: nil,
        fields: [
          t: :string,
          n: :integer,
          f: :float,
          d: :decimal,
          l: {:array, :integer},
          b: :boolean,
          m: :map
        ]

      def changeset(struct, params),
        do: Process.get(:rules).(PtcRunner.Test.EctoChangeset.cast(struct, params, []))
    end

    import PtcRunner.Test.EctoChangeset

    defp ruled(name, fun) do
      Process.put(:rules, fun)

      {:ok, {:signature, [], {:map, [{_, {:optional, type}}]}}, dropped} =
        Signature.from_ecto(Ruled, only: [name])

      {type, for(it <- dropped, do: it.keyword)}
    end

    test "lengths and numbers" do
      assert ruled(:t, &validate_length(&1, :t, min: 2, max: 5)) ==
               {{:where, :string, [min_length: 2, max_length: 5]}, []}

      assert ruled(:t, &validate_length(&1, :t, is: 4, message: "no")) ==
               {{:where, :string, [min_length: 4, max_length: 4]}, []}

      assert ruled(:t, &validate_length(&1, :t, max: 9, count: :bytes)) ==
               {{:where, :string, [max_length: 9]}, ["length"]}

      assert ruled(:l, &validate_length(&1, :l, is: 2)) ==
               {{:where, {:list, :int}, [min_items: 2, max_items: 2]}, []}

      assert ruled(:m, &validate_length(&1, :m, max: 2)) == {:map, ["max_length"]}

      assert ruled(:n, &validate_number(&1, :n, equal_to: 3)) ==
               {{:where, :int, [min: 3, max: 3]}, []}

      assert ruled(:f, &validate_number(&1, :f, not_equal_to: 3, less_than: 0.5)) ==
               {{:where, :float, [exclusive_max: 0.5]}, ["not_equal_to"]}

      assert ruled(:d, &validate_number(&1, :d, greater_than: money(5))) ==
               {{:where, :decimal, [exclusive_min: money(5)]}, []}

      assert ruled(:t, &validate_number(&1, :t, min: 1, less_than: 3)) ==
               {:string, ["exclusive_max"]}
    end

    test "the same validation twice is the narrower one" do
      twice = fn changeset ->
        changeset
        |> validate_number(:n, greater_than_or_equal_to: 1)
        |> validate_number(:n, greater_than_or_equal_to: 3, less_than: 9)
        |> validate_number(:n, less_than: 12)
      end

      assert ruled(:n, twice) == {{:where, :int, [min: 3, exclusive_max: 9]}, []}

      twice = fn changeset ->
        changeset |> validate_inclusion(:t, ~w(a b c)) |> validate_inclusion(:t, ~w(c b x))
      end

      assert ruled(:t, twice) == {{:where, :string, [enum: ~w(b c)]}, []}

      twice = fn changeset ->
        changeset |> validate_format(:t, ~r/a/) |> validate_format(:t, ~r/b/)
      end

      assert ruled(:t, twice) == {{:where, :string, [pattern: "a"]}, ["pattern"]}

      none = fn changeset ->
        changeset |> validate_number(:n, greater_than: 3) |> validate_number(:n, less_than: 2)
      end

      assert ruled(:n, none) == {{:where, :int, [exclusive_min: 3]}, ["exclusive_max"]}
    end

    test "values, and what is not kept" do
      assert ruled(:n, &validate_inclusion(&1, :n, 1..5)) ==
               {{:where, :int, [min: 1, max: 5]}, []}

      assert ruled(:n, &validate_inclusion(&1, :n, MapSet.new([3]))) ==
               {{:where, :int, [enum: [3]]}, []}

      assert ruled(:l, &validate_subset(&1, :l, [1, 2])) ==
               {{:list, {:where, :int, [enum: [1, 2]]}}, []}

      assert ruled(:b, &validate_acceptance(&1, :b)) == {{:where, :bool, [enum: [true]]}, []}
      assert ruled(:t, &validate_confirmation(&1, :t)) == {:string, ["confirmation"]}

      assert ruled(:t, &noted(&1, :t, {:unsafe_unique, fields: [:t]})) ==
               {:string, ["unsafe_unique"]}

      assert ruled(:t, &noted(&1, :t, %{own: 1})) == {:string, ["%{own: 1}"]}
      assert ruled(:t, &validate_format(&1, :t, ~r/(?<!a)b/)) == {:string, ["format"]}
      assert ruled(:n, &validate_inclusion(&1, :n, ["x"])) == {:int, ["enum"]}
    end

    test "a changeset that cannot be made" do
      for {fun, why} <- [
            {fn _ -> raise "no params" end, "raised no params"},
            {fn _ -> 1 end, "no changeset: 1"},
            {fn _ -> throw(1) end, "ended with throw"}
          ] do
        Process.put(:rules, fun)

        {:ok, {:signature, [], {:map, [{"t", {:optional, :string}}]}}, [dropped]} =
          Signature.from_ecto(Ruled, only: [:t])

        assert %{path: "", keyword: "changeset"} = dropped
        assert dropped.reason =~ why
      end
    end
  end

  describe "patterns" do
    defp letters(regex),
      do:
        with(opts when is_binary(opts) <- Regex.opts(regex), do: String.graphemes(opts))
        |> Enum.map(&if(&1 == :unicode, do: "u", else: &1))

    # Both find the same texts.
    test "mean what they mean in Elixir" do
      texts = [
        "",
        "a",
        "A",
        "ab",
        "a\nb",
        "é",
        "٣",
        "3",
        "a-b",
        "x&&y",
        "a]b",
        " ",
        "\u00a0",
        "user@example.com",
        "<b>",
        "DE-17",
        "a/b",
        "\t",
        "a.b",
        "aaa",
        "[x]",
        "~"
      ]

      regexes = [
        ~r/\A[^@\s]+@[^@\s]+\z/,
        ~r/^\w+$/,
        ~r/^\w+$/u,
        ~r/^\d$/,
        ~r/^\d$/u,
        ~r/^[\w.-]+$/,
        ~r/^[^\d]$/,
        ~r/\bb\b/,
        ~r/^a.b$/,
        ~r/^a.b$/s,
        ~r/^b/m,
        ~r/\Ab/m,
        ~r/^A/i,
        ~r/a # a letter/x,
        ~r/[&&]/,
        ~r/[a&&b]/,
        ~r/[]]/,
        ~r/[^]]/,
        ~r/\<b\>/,
        ~r/[[:upper:]]{2}-/,
        ~r{a\/b},
        ~r/\h/,
        ~r/^\S+$/,
        ~r/[~~]/,
        ~r/[[]x/,
        ~r/a{2,3}/,
        ~r/^(?i)de-(?<n>\d+)$/
      ]

      for regex <- regexes do
        assert {:ok, pattern} = FromEcto.Pattern.of(regex)
        type = {:where, :string, [pattern: pattern]}

        # Without the flag, Elixir counts bytes.
        for text <- texts,
            "u" in letters(regex) or
              text == for(<<char <- text>>, char < 128, into: "", do: <<char>>) do
          assert {regex, text, Signature.validate({:signature, [], type}, text) == :ok} ==
                   {regex, text, text =~ regex}
        end
      end
    end

    test "that have no other form" do
      for regex <- [
            ~r/(?=a)/,
            ~r/(?<!a)b/,
            ~r/(a)\1/,
            ~r/(?>a)b/,
            ~r/\R/,
            ~r/a/f,
            ~r/\Qa\E/,
            ~r/(?<n>a)\k<n>/
          ] do
        assert {:error, why} = FromEcto.Pattern.of(regex)
        assert is_binary(why)
      end
    end
  end

  test "wrong arguments say what is wrong" do
    order = order(New)

    assert {:error, "Nope is no schema of Ecto: it has no function __schema__/1"} =
             Signature.from_ecto(Nope)

    assert {:error, ~s("orders" is no schema) <> _} = Signature.from_ecto("orders")
    assert {:error, text} = Signature.from_ecto(order, only: [:numbr])
    assert text =~ "has no field :numbr. Did you mean :number?"

    assert {:error, "the option :except is a list of names of fields, got: :id"} =
             Signature.from_ecto(order, except: :id)

    assert {:error, text} = Signature.from_ecto(order, preload: [:shop])
    assert text =~ "has no association :shop"
    assert {:error, text} = Signature.from_ecto(order, types: %{Money => :monney})
    assert text =~ "the option :types: Money: a type must be one of"
    assert {:error, text} = Signature.from_ecto(order, changeset: fn _ -> 1 end)
    assert text =~ "the option :changeset is a function of a struct and parameters"
    assert {:error, text} = Signature.from_ecto(order, changeset: %{Line => 1})
    assert text =~ "the option :changeset has no function of two arguments for Line: 1"

    assert_raise ArgumentError, ~r/has no option :onyl/, fn ->
      Signature.from_ecto(order, onyl: [])
    end

    assert_raise ArgumentError, ~r/no schema of Ecto/, fn -> Signature.from_ecto!(Nope) end
  end
end

defmodule PtcRunner.Json.EctoRowsTest do
  # Rows as Ecto makes them, as the context of programs: `__meta__`, associations that are loaded or not, embedded
  # schemas, dates, times, decimals and enumerations.
  use ExUnit.Case, async: true

  alias Ecto.Association.NotLoaded
  alias PtcRunner.Agent
  alias PtcRunner.Json
  alias PtcRunner.Test.Oracle.Decimals

  defmodule Metadata do
    # As `Ecto.Schema.Metadata`, with what a program must never see.
    defstruct [:state, :source, :prefix, context: nil, schema: nil]
  end

  defmodule Address do
    # An embedded schema has no `__meta__`.
    defstruct [:id, :city, :zip]
  end

  defmodule Customer do
    defstruct [:id, :name, :address, :orders, __meta__: nil]
  end

  defmodule Item do
    defstruct [:id, :order_id, :sku, :price, :quantity, __meta__: nil]
  end

  defmodule Order do
    defstruct [
      :id,
      :customer_id,
      :customer,
      :items,
      :status,
      :total,
      :placed_on,
      :due_at,
      :inserted_at,
      :updated_at,
      __meta__: nil
    ]
  end

  defp meta(source), do: %Metadata{state: :loaded, source: source, schema: Order}
  defp missing(field), do: %NotLoaded{__field__: field, __owner__: Order, __cardinality__: :many}
  defp money(cents), do: Decimals.new(cents, -2)

  defp customers do
    for {id, name, city} <- [{1, "Ada", "Bern"}, {2, "Bob", "Basel"}] do
      %Customer{
        id: id,
        name: name,
        address: %Address{city: city, zip: "0#{id}"},
        orders: missing(:orders),
        __meta__: meta("customers")
      }
    end
  end

  defp orders do
    [ada, bob] = customers()

    for {id, customer, cents, status, day, second} <- [
          {1, ada, 1999, :open, ~D[2024-01-31], 5},
          {2, bob, 10_000, :paid, ~D[2024-02-01], 4},
          {3, ada, 250, :paid, ~D[2023-12-31], 3}
        ] do
      %Order{
        id: id,
        customer_id: customer.id,
        customer: customer,
        items: missing(:items),
        status: status,
        total: money(cents),
        placed_on: day,
        due_at: Time.new!(12, 0, second),
        inserted_at: NaiveDateTime.new!(day, Time.new!(10, 0, second)),
        updated_at: DateTime.new!(day, Time.new!(11, 0, second)),
        __meta__: %{meta("orders") | context: id}
      }
    end
  end

  defp items do
    for {id, order, cents, quantity} <- [{1, 1, 1999, 1}, {2, 2, 5000, 2}, {3, 3, 125, 2}] do
      %Item{
        id: id,
        order_id: order,
        price: money(cents),
        quantity: quantity,
        __meta__: meta("items")
      }
    end
  end

  defp op(name, fields \\ %{}), do: Map.put(fields, "op", name)
  defp get(field), do: op("get", %{"field" => field})
  defp map(expr), do: op("map", %{"expr" => expr})
  defp where(name, field, value), do: op(name, %{"field" => field, "value" => value})
  defp load(name), do: op("load", %{"name" => name})
  defp mul(left, right), do: op("mul", %{"left" => left, "right" => right})

  # The value with atom keys as an application gives it, by the engine and by the agent.
  defp value(steps, name \\ "orders") do
    node = op("pipe", %{"steps" => [load(name) | List.wrap(steps)]})
    context = %{orders: orders(), customers: customers(), items: items()}
    opts = [context: context, keys: :any, structs: :values, edition: 2]
    answer = Json.run(%{"program" => node}, opts)
    text = Json.Codec.encode!(%{"program" => node})
    assert Json.run(text, opts) == answer

    case answer do
      {:ok, value, _delta, _memory} ->
        assert {:ok, ^value, _info} = Agent.run(text, %{}, context: context, edition: 2)
        value

      {:error, {_kind, text}} ->
        {:error, text}
    end
  end

  test "fields of all kinds are read, compared and sorted" do
    assert value(map(get("id"))) == [1, 2, 3]
    city = op("get", %{"path" => ["customer", "address", "city"]})
    assert value(map(city)) == ["Bern", "Basel", "Bern"]

    for {condition, ids} <- [
          {where("gt", "total", 19), [1, 2]},
          {where("gt", "total", "19.99"), [2]},
          {where("eq", "total", "19.990"), [1]},
          {where("eq", "status", "paid"), [2, 3]},
          {where("gte", "placed_on", "2024-01-31"), [1, 2]},
          {where("lt", "inserted_at", "2024-01-31T10:00:05"), [3]},
          {where("gt", "updated_at", "2024-01-31T12:00:00+01:00"), [1, 2]},
          {where("lte", "due_at", "12:00:04"), [2, 3]},
          {op("eq", %{"left" => city, "value" => "Bern"}), [1, 3]}
        ] do
      assert value([op("filter", %{"where" => condition}), map(get("id"))]) == ids
    end

    for {field, ids} <- [
          {"total", [3, 1, 2]},
          {"placed_on", [3, 1, 2]},
          {"inserted_at", [3, 1, 2]},
          {"updated_at", [3, 1, 2]},
          {"due_at", [3, 2, 1]},
          {"status", [1, 2, 3]}
        ] do
      assert value([op("sort_by", %{"field" => field}), map(get("id"))]) == ids
    end

    assert value(op("max", %{"field" => "placed_on"})) == ~D[2024-02-01]
    assert value([op("min_by", %{"field" => "total"}), get("id")]) == 3
  end

  test "rows are grouped, joined and summed exactly" do
    assert value(op("sum", %{"field" => "total"})) == money(12_249)
    assert value(op("avg", %{"field" => "total"})) == Decimals.new(4083, -2)

    assert value(
             op("group_by", %{
               "field" => "status",
               "each" => %{"n" => op("count"), "total" => op("sum", %{"field" => "total"})}
             })
           ) == [
             %{"status" => :open, "n" => 1, "total" => money(1999)},
             %{"status" => :paid, "n" => 2, "total" => money(10_250)}
           ]

    by_city = %{
      "expr" => op("get", %{"path" => ["customer", "address", "city"]}),
      "as" => "city",
      "each" => %{"total" => op("sum", %{"field" => "total"})}
    }

    assert value(op("group_by", by_city)) == [
             %{"city" => "Bern", "total" => money(2249)},
             %{"city" => "Basel", "total" => money(10_000)}
           ]

    join = op("join", %{"left" => "order_id", "right" => "id", "with" => load("orders")})
    line = mul(get("price"), get("quantity"))

    each = %{"sum" => op("sum", %{"expr" => line})}
    by_status = op("group_by", %{"field" => "status", "each" => each})

    assert value([join, by_status], "items") == [
             %{"status" => :open, "sum" => money(1999)},
             %{"status" => :paid, "sum" => money(10_250)}
           ]

    tax = mul(get("total"), op("literal", %{"value" => "0.081"}))
    rounded = op("round", %{"value" => tax, "precision" => 2})
    with_tax = [op("set", %{"fields" => %{"tax" => rounded}}), op("sum", %{"field" => "tax"})]
    assert value(with_tax) == money(992)

    text = op("text", %{"parts" => [get("id"), ": ", get("total"), " ", get("status")]})
    assert value(map(text)) == ["1: 19.99 open", "2: 100.00 paid", "3: 2.50 paid"]

    # Dates and times as `to_iso8601` of their modules has them.
    for field <- ["placed_on", "due_at", "inserted_at", "updated_at"] do
      values = for order <- orders(), do: Map.fetch!(order, String.to_existing_atom(field))
      texts = Enum.map(values, & &1.__struct__.to_iso8601(&1))
      assert value(map(op("text", %{"parts" => [get(field)]}))) == texts
      assert value(map(op("to_text", %{"field" => field}))) == texts
      quoted = Enum.map(texts, &~s(["#{&1}"]))
      assert value(map(op("to_text", %{"value" => [get(field)]}))) == quoted
    end
  end

  test "no operation sees __struct__ and __meta__" do
    for name <- ["__meta__", "__struct__"] do
      assert value(map(get(name))) == [nil, nil, nil]
      assert value(map(op("get", %{"path" => [name, "source"]}))) == [nil, nil, nil]
      refute value([op("first"), op("contains", %{"value" => name})])
      assert value(op("select", %{"fields" => [name]})) == [%{}, %{}, %{}]
    end

    [names | _rest] = value(map(op("keys")))
    assert Enum.sort(names) == Enum.sort(Map.keys(hd(orders())) -- [:__struct__, :__meta__])
    # Rows that differ only in `__meta__` are equal.
    again = op("concat", %{"lists" => [load("orders"), load("orders")]})
    assert value([again, op("distinct"), op("count")]) == 3
    assert value([op("distinct"), op("count")], "orders") == 3

    set = value([op("first"), op("set", %{"fields" => %{"x" => 1}})])
    refute is_struct(set)
    refute is_map_key(set, :__meta__)
  end

  test "a result that is a row is the row, and its fields are the memory" do
    [first | _rest] = orders()
    assert value(op("first")) == first
    assert value(op("first"), "customers").orders == missing(:orders)

    program = %{"program" => op("pipe", %{"steps" => [load("orders"), op("first")]})}
    opts = [context: %{orders: orders()}, keys: :any, structs: :values]
    assert {:ok, ^first, _delta, memory} = Json.run(program, opts)
    assert memory == Map.drop(Map.from_struct(first), [:__meta__])
  end

  test "an association that is not loaded is null" do
    assert value(map(get("items"))) == [nil, nil, nil]
    assert value(map(op("get", %{"field" => "items", "default" => []}))) == [[], [], []]
    assert value(map(op("get", %{"path" => ["items", "name"]}))) == [nil, nil, nil]
    empty = where("eq", "items", nil)
    assert value([op("filter", %{"where" => empty}), op("count")]) == 3

    assert value(map(op("pipe", %{"steps" => [get("items"), op("typeof")]}))) ==
             ~w(null null null)

    assert value([op("select", %{"fields" => ["items"]}), op("first")]) == %{items: nil}

    assert {:error, "count requires a list, got nil"} =
             value(map(op("pipe", %{"steps" => [get("items"), op("count")]})))

    # A sum over rows leaves it out, as it leaves out null.
    assert value(op("sum", %{"field" => "items"})) == 0
    # Nothing of it is in a text.
    texts = value(map(op("to_text", %{"value" => %{"items" => get("items")}})))
    assert texts == List.duplicate(~s({"items":null}), 3)
  end

  test "a prompt shows rows without what programs do not see" do
    prompt = Agent.prompt(language: :none, context: %{orders: orders()})
    assert prompt =~ ~s("total":"19.99")
    assert prompt =~ ~s("items":null)
    assert prompt =~ ~s("placed_on":"2024-01-31")
    refute prompt =~ "__meta__"
    refute prompt =~ "NotLoaded"
    refute prompt =~ "Metadata"
  end
end

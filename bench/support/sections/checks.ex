defmodule Bench.Sections.Checks do
  @moduledoc false
  # Measures the check before a run, with types given, and the plan beside the compilation of the same text, and runs of
  # programs that were checked.
  @behaviour Bench.Section

  import Bench.Section
  import Bench.Table, only: [table: 4, words: 2, times: 1, quotients: 2]
  alias Bench.{Bars, Harness, Table}
  alias PtcRunner.Json
  alias PtcRunner.SubAgent.Signature

  # Case, number of operations, and of the fields of each of the four types.
  @cases [
    {:check_20, 20, 20},
    {:check_20_rows, 20, 20},
    {:check_200, 200, 200},
    {:check_2000, 2_000, 20}
  ]
  # The check of 20 operations over four types of 20 fields, in µs.
  @most 20
  @types ~w(a b c d)
  @asked [:check, :plan, :check_compiled, :plan_compiled, :check_again, :plan_again]
  @rows 1_000

  @impl true
  def names, do: [:checks]

  @impl true
  def blocks(_quick?) do
    checks =
      for {name, operations, fields} <- @cases,
          do: group(:checks, name, operations, sides(name, fields))

    [{&data/0, checks ++ [group(:checks, :passed, @rows, passed())]}]
  end

  defp sides(name, fields) do
    types = types(fields)
    done = fn {:ok, _} -> :ok end

    [
      call(:compile, & &1[name], &Json.compile/1, done),
      call(:check, & &1[name], &Json.check(&1, context: types), done),
      call(:plan, & &1[name], &Json.plan/1, done),
      call(:check_compiled, &compiled(&1[name]), &Json.check(&1, new(context: types)), done),
      call(:plan_compiled, &compiled(&1[name]), &Json.plan(&1, new([])), done),
      call(:check_again, &compiled(&1[name]), &Json.check(&1, context: types), done),
      call(:plan_again, &compiled(&1[name]), &Json.plan/1, done)
    ]
  end

  # Options that were not given before: what was asked before is answered without work.
  defp new(opts),
    do: [{:timeout, 60_000 + rem(:erlang.unique_integer([:positive]), 60_000)} | opts]

  defp compiled(text) do
    {:ok, program} = Json.compile(text)
    program
  end

  defp passed do
    {:ok, plain} = Json.compile(text(:check_20, 20, 20))
    {:ok, checked} = Json.compile(text(:check_20, 20, 20), check: [context: types(20)])

    for {name, program} <- [compiled: plain, checked: checked] do
      call(name, & &1.context, fn context ->
        {:ok, result, _delta, _memory} = Json.run(program, context: context)
        result
      end)
    end
  end

  defp data do
    texts =
      for {name, operations, fields} <- @cases,
          into: %{},
          do: {name, text(name, operations, fields)}

    Map.put(texts, :context, Map.new(@types, fn type -> {type, rows(type, 20)} end))
  end

  defp rows(type, fields) do
    for row <- 1..@rows do
      values = for n <- 1..fields, into: %{}, do: {"#{type}#{n}", value(rem(n, 4), row)}
      Map.put(values, "id", row)
    end
  end

  defp value(0, row), do: row
  defp value(1, row), do: "text #{row}"
  defp value(2, row), do: row / 8
  defp value(3, row), do: rem(row, 2) == 0

  # Parsed types.
  defp types(fields) do
    for type <- @types, into: %{} do
      of =
        for n <- 1..fields,
            do: "#{type}#{n} #{Enum.at(~w(:int :string :float :bool?), rem(n, 4))}"

      {:signature, _, parsed} = Signature.parsed!("() -> [{id :int, #{Enum.join(of, ", ")}}]")
      {type, parsed}
    end
  end

  # One pipe for each type, filters, and at the end the rows or a sum: two operations for each filter.
  defp text(name, operations, fields) do
    filters = div(operations - 1 - 3 * 4, 2 * 4) |> max(1)
    parts = for type <- @types, do: ~s("#{type}":#{pipe(name, type, filters, fields)})
    ~s({"program":{"op":"object","fields":{#{Enum.join(parts, ",")}}}})
  end

  defp pipe(name, type, filters, fields) do
    filters =
      for n <- 1..filters do
        field = "#{type}#{4 * rem(n, div(fields, 4)) + 2}"
        ~s({"op":"filter","where":{"op":"gt","field":"#{field}","value":#{n}}})
      end

    last = if name == :check_20_rows, do: [], else: [~s({"op":"sum","field":"#{type}2"})]
    steps = [~s({"op":"load","name":"#{type}"}) | filters] ++ last
    ~s({"op":"pipe","steps":[#{Enum.join(steps, ",")}]})
  end

  @impl true
  def tables(results) do
    intro = """
    A program as text over four lists of rows. Types are given, parsed. `check_20`: 20 operations, types of 20 fields, sums as
    result; `check_20_rows`: the rows as result; `check_200`: 200 operations, types of 200 fields; `check_2000`: 2,000 operations.
    `check_compiled` and `plan_compiled` are over the compiled program, and ask what was not asked before; `check_again` and `plan_again` ask the same each time. `passed`: runs of the program of `check_20` over 1,000 rows for each
    type, compiled without and with `:check`.
    """

    name = words("", &Atom.to_string(&1.case))
    {runs, checks} = Enum.split_with(results, &(&1.case == :passed))

    [
      table("Checks before a run", intro, checks, [
        name
        | times([:compile | @asked]) ++ quotients(@asked, [:compile])
      ]),
      table("Runs of checked programs", "", runs, [
        name | times([:compiled, :checked]) ++ quotients([:checked], [:compiled])
      ])
    ]
  end

  @impl true
  def bars(results) do
    what = "check before a run, 20 operations, four types of 20 fields"

    time =
      for %{case: name} = result <- results, name in [:check_20, :check_20_rows] do
        micros = Harness.median(Harness.side(result, :check)) / 1_000

        Bars.at_most(
          "#{what} (#{name})",
          {@most, "≤ #{@most} µs"},
          {micros, "#{Table.ratio(micros)} µs"}
        )
      end

    checks = Enum.reject(results, &(&1.case == :passed))

    time ++
      [
        Bars.ratio(checks, "check before a run", [:check], :compile, 1.5, place: &"#{&1.case}"),
        Bars.ratio(checks, "plan", [:plan], :compile, 3.0, place: &"#{&1.case}"),
        of_compiled(checks, "check of a compiled program", :check_compiled, 1.0),
        of_compiled(checks, "plan of a compiled program", :plan_compiled, 2.0),
        Bars.ratio(of(results, :passed), "run of a checked program", [:checked], :compiled, 1.05)
      ]
  end

  defp of_compiled(checks, what, side, most),
    do: Bars.ratio(checks, what, [side], :compile, most, place: &"#{&1.case}")
end

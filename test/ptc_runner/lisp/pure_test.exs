defmodule PtcRunner.Lisp.PureTest do
  # Runs with nothing but data and limits end as they do when all options are looked at.
  use ExUnit.Case, async: true
  doctest PtcRunner.Lisp.Pure

  alias PtcRunner.Lisp
  alias PtcRunner.Lisp.{Evaluation, Given, Pure}

  @programs [
    "(+ 1 2)",
    "",
    "(def n 5) (def m [n n]) {:n n}",
    "(println \"a\") (println data/n) 7",
    "(return {:early data/n})",
    "(fail \"no\")",
    "(vec (range 3000))",
    "(map inc data/missing)",
    "(:n data/row)",
    "(format \"%05d\" data/n)",
    "(re-find #\"[0-9]+\" \"ab12\")",
    "(re-find #\"[\" \"ab12\")",
    "(pmap inc [1 2 3])",
    "(fn [x] x)",
    # Refused before they run.
    "(",
    "(+ 1 totl)",
    "(tool/find)",
    "(if)",
    # Errors of runs.
    "(/ 1 0)",
    "(inc \"a\")",
    "(apply data/n [])"
  ]

  defp shown({ended, step}), do: {ended, %{step | usage: nil}, step.usage.memory_bytes}

  test "programs have the results, the prints, the memory and the words of other runs" do
    context = %{"n" => 3, "row" => %{"n" => 4}}

    for program <- @programs do
      given = Given.read(context: context)
      expected = program |> Evaluation.run(given) |> shown()
      assert program |> Pure.run(context: context) |> shown() == expected, program

      with {:ok, compiled} <- Lisp.compile(program) do
        opts = [
          max_heap: given.max_heap,
          context: context,
          tools: %{},
          memory: %{},
          timeout: 5_000
        ]

        opts = Enum.reject(opts, &match?({_name, nil}, &1))
        assert compiled |> Pure.run(opts) |> shown() == expected, program
      end
    end
  end

  test "a long program goes on in further slices" do
    assert {:ok, %{return: 19_999_900_000}} = Pure.run("(reduce + (range 200000))", [])
  end

  test "limits hold" do
    forever = "(loop [i 0] (recur (inc i)))"
    assert {:error, %{fail: %{reason: :timeout}}} = Pure.run(forever, timeout: 20)

    much = "(loop [all []] (recur (conj all all)))"
    assert {:error, %{fail: %{reason: :memory_exceeded}}} = Pure.run(much, max_heap: 20_000)

    long = String.duplicate(" ", 1_000_001)
    assert {:error, %{fail: %{reason: :program_too_large}}} = Pure.run(long, [])

    names = "[" <> Enum.map_join(1..10_001, " ", &":k#{&1}") <> "]"
    assert {:error, %{fail: %{reason: :symbol_limit_exceeded}}} = Pure.run(names, [])
  end

  test "a program of before a restart is compiled again" do
    {:ok, program} = Lisp.compile("(+ 1 data/n)")
    gone = %{program | handle: make_ref()}
    assert {:ok, %{return: 4}} = Pure.run(gone, context: %{"n" => 3})
  end

  test "other options are looked at elsewhere" do
    for opts <- [
          [strict_data: true],
          [signature: "() -> :int"],
          [tools: %{"a" => & &1}],
          [memory: %{"a" => 1}],
          [context: %{}, context: %{"n" => 1}],
          [context: nil],
          [context: [n: 1]],
          [timeout: -1],
          [max_heap: 1],
          [unknown_option: 1],
          [:context],
          [{:context, %{}} | :end],
          %{context: %{}}
        ],
        do: assert(Pure.run("(+ 1 2)", opts) == :other, inspect(opts))
  end
end

defmodule PtcRunner.Test.LispGuide do
  @moduledoc false
  # Generates the pages of PTC-Lisp, guides/lisp.md and guides/lisp_cheatsheet.cheatmd, from the table of built-ins, with examples that are run
  # here. A test fails if a built-in has no example, or if a page is out of date; it also writes the pages:
  # `PTC_WRITE_GUIDES=1 mix test test/lisp_guide_test.exs`.

  alias PtcRunner.{Lisp, Native}
  alias PtcRunner.Lisp.Text
  alias PtcRunner.Test.LispGuide.{Examples, Forms}

  @people [%{"name" => "Ada", "age" => 36}, %{"name" => "Bob", "age" => 25}]

  @doc "The text of guides/lisp.md."
  @spec page() :: String.t()
  def page do
    examples = Examples.all()

    IO.iodata_to_binary([
      filled("test/support/lisp_guide/start.md"),
      "\n## Forms\n\nA form decides itself which of its parts are evaluated.\n\n",
      for({title, rows} <- Forms.sections(), do: ["### #{title}\n\n", table(rows)]),
      "## Built-ins\n\nThey are functions: they can be arguments, and names of your own hide them. `coll` is a vector, a map, a set, a text or nil.\n\n",
      for {title, rows} <- Native.built_ins() do
        rows =
          for {name, args, about} <- rows,
              do: {call(name, args), about, Map.fetch!(examples, name)}

        ["### #{title}\n\n", table(rows)]
      end,
      filled("test/support/lisp_guide/end.md")
    ])
  end

  @doc "The text of guides/lisp_cheatsheet.cheatmd."
  @spec cheatsheet() :: String.t()
  def cheatsheet do
    IO.iodata_to_binary([
      filled("test/support/lisp_guide/cheatsheet_start.md"),
      "\n## Forms\n{: .col-2}\n\n",
      for {title, rows} <- Forms.sections() do
        forms = for {form, _about, _example} <- rows, do: [form, "\n"]
        ["### #{title}\n\n```clojure\n", forms, "```\n\n"]
      end,
      "## Built-ins\n{: .col-2}\n\n",
      for {title, rows} <- Native.built_ins() do
        calls = for {name, args, _about} <- rows, do: [call(name, args), "\n"]
        ["### #{title}\n\n```clojure\n", calls, "```\n\n"]
      end
    ])
    |> String.trim_trailing()
    |> Kernel.<>("\n")
  end

  @doc "What is wrong with the examples: names without one, examples of no built-in, and those that fail."
  @spec faults() :: [String.t()]
  def faults do
    names = for {_title, rows} <- Native.built_ins(), {name, _args, _about} <- rows, do: name
    examples = Examples.all()
    unused = for {name, program} <- examples, not named?(program, name), do: name
    failed = for {name, program} <- examples, {_text, "error:"} <- [result(program)], do: name
    (names -- Map.keys(examples)) ++ (Map.keys(examples) -- names) ++ unused ++ failed
  end

  defp named?(program, name), do: String.contains?(program, name)

  defp call(name, ""), do: "(#{name})"
  defp call(name, args), do: "(#{name} #{args})"

  defp table(rows) do
    head = "| | | example | value |\n|---|---|---|---|\n"
    [head, for({form, about, example} <- rows, do: row(form, about, example)), "\n"]
  end

  defp row(form, about, example),
    do: "| `#{form}` | #{about} | #{code(example)} | #{value(result(example))} |\n"

  defp value({text, ""}), do: code(text)
  defp value({text, before}), do: "#{before} #{code(text)}"

  # A bar would end the cell, also in code.
  defp code(text) do
    if String.contains?(text, ["|", "`"]), do: raise("no cell of a table has #{text}")
    "`#{text}`"
  end

  # In a block of a page that is written by hand, a line that ends in `; =>` gets its value.
  defp filled(path) do
    path
    |> File.read!()
    |> String.split("\n")
    |> Enum.map_join("\n", fn line ->
      case Regex.run(~r/^(\(.*|[\w:\[{"#].*\S)\s+; =>$/, line) do
        [_line, program] -> line <> " " <> text(result(program))
        nil -> line
      end
    end)
  end

  # What a program gives, as the language writes it, and what is said before that: what it prints, if it gives nothing.
  defp result(program) do
    {shown, step} = run("(pr-str #{program})")

    case {shown, step.return} do
      {:ok, "nil"} when step.prints != [] -> {Enum.join(step.prints, "; "), "nil; it prints"}
      {:ok, text} when is_binary(text) -> {text, ""}
      {:ok, {:__ptc_return__, value}} -> {Text.pr(value), "ends with"}
      {:ok, {:__ptc_fail__, value}} -> {Text.pr(value), "fails with"}
      {:error, _nothing} -> {Lisp.format_error(step), "error:"}
    end
  end

  defp text({text, before}), do: String.trim_leading("#{before} #{text}")

  defp run(program) do
    tools = %{
      "double" => fn %{"n" => n} -> 2 * n end,
      "broken" => fn _args -> {:error, "gone"} end
    }

    opts = [
      context: %{"people" => @people},
      tools: tools,
      turn_history: [1, 2],
      budget: %{"calls" => 5}
    ]

    Lisp.run(program, opts)
  end
end

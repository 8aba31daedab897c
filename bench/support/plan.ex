defmodule Bench.Plan do
  @moduledoc false
  # Decides which sections are run, and how much time each group may take.

  alias Bench.{Harness, Machine, Report, Sections}

  # In the order of the report.
  @sections [
    Sections.Programs,
    Sections.Lisp,
    Sections.Groups,
    Sections.Tools,
    Sections.Control,
    Sections.ToolLists,
    Sections.Memory,
    Sections.Texts,
    Sections.Engine,
    Sections.Answers,
    Sections.Repairs,
    Sections.Signatures,
    Sections.Shapes,
    Sections.Checks,
    Sections.FlexAccess
  ]

  @full %{sample_ns: 5_000_000, group_ms: 1_500, min_rounds: 7, max_rounds: 151}
  @quick %{sample_ns: 2_000_000, group_ms: 300, min_rounds: 5, max_rounds: 41}

  @names for section <- @sections, name <- section.names(), do: Atom.to_string(name)
  @usage """
  mix run bench/run.exs [--quick] [--out FILE] [section ...]

    --quick     up to 100,000 rows and fewer rounds: under half a minute
    --out FILE  where to write the results (default: bench/RESULTS.md, full runs of all sections only)
    sections    #{Enum.join(@names, " ")}
  """

  @doc "Runs what the command line asks for."
  @spec main([String.t()], Path.t()) :: :ok
  def main(argv, results_file) do
    {opts, names, wrong} = OptionParser.parse(argv, strict: [quick: :boolean, out: :string])
    unknown = Enum.map(wrong, &elem(&1, 0)) ++ (names -- @names)

    if unknown == [] do
      run(opts, if(names == [], do: @names, else: names), results_file)
    else
      IO.puts(:stderr, ["unknown: ", Enum.join(unknown, ", "), "\n\n", @usage])
      System.halt(1)
    end
  end

  defp run(opts, names, results_file) do
    quick? = Keyword.get(opts, :quick, false)
    wanted = Enum.map(names, &String.to_existing_atom/1)
    facts = Machine.facts()
    started = System.monotonic_time(:second)
    measured = for section <- @sections, do: {section, measure_section(section, wanted, quick?)}
    seconds = System.monotonic_time(:second) - started
    run_fact = {"This run", "#{if quick?, do: "quick", else: "full"}, #{seconds} s"}

    report = Report.markdown(measured, facts ++ [run_fact])
    IO.puts(["\n", report])
    write(report, opts[:out] || default_file(quick?, names, results_file))
  end

  defp default_file(quick?, names, file),
    do: if(not quick? and Enum.sort(names) == Enum.sort(@names), do: file)

  defp write(_report, nil), do: IO.puts("Not a full run: nothing was written.")

  defp write(report, file) do
    File.write!(file, report)
    IO.puts("Written: #{Path.relative_to_cwd(file)}")
  end

  defp measure_section(section, wanted, quick?) do
    if Enum.any?(section.names(), &(&1 in wanted)),
      do: Enum.flat_map(section.blocks(quick?), &measure(&1, wanted, quick?)),
      else: []
  end

  defp measure({make_data, groups}, wanted, quick?) do
    shown? = fn group -> Enum.any?([group.section | group[:also] || []], &(&1 in wanted)) end

    case Enum.filter(groups, shown?) do
      [] ->
        []

      groups ->
        effort = if quick?, do: @quick, else: @full
        Harness.measure(make_data, groups, effort, &IO.puts(Report.line(&1)))
    end
  end

  defp measure(measure_itself, _wanted, _quick?), do: measure_itself.()
end

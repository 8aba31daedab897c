defmodule Bench.Plan do
  @moduledoc false
  # Decides which sections are run, and how much time each group may take.

  alias Bench.{Budget, Harness, Machine, Report, Sections}

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

  # `seconds`: of a run of all sections. A part of them has its part of the time.
  @full %{seconds: 500, sample_ns: 5_000_000, max_rounds: 151}
  @quick %{seconds: 60, sample_ns: 2_000_000, max_rounds: 41}

  @names for section <- @sections, name <- section.names(), do: Atom.to_string(name)
  @usage """
  mix run bench/run.exs [--quick] [--out FILE] [section ...]

    --quick     up to 100,000 rows and fewer rounds: about a minute
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
    {measured, effort} = measure(wanted, quick?)
    seconds = System.monotonic_time(:second) - started
    planned = "#{seconds} s of #{round(effort.seconds)} s"
    run_fact = {"This run", "#{if quick?, do: "quick", else: "full"}, #{planned}"}

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

  defp measure(wanted, quick?) do
    all = for section <- @sections, do: {section, section.blocks(quick?)}
    chosen = for {section, blocks} <- all, do: {section, chosen(section, blocks, wanted)}
    effort = effort(if(quick?, do: @quick, else: @full), weight(chosen), weight(all))

    measured =
      for {section, blocks} <- chosen, do: {section, Enum.flat_map(blocks, &block(&1, effort))}

    {measured, effort}
  end

  defp effort(effort, weight, of) do
    seconds = effort.seconds * weight / of
    %{effort | seconds: seconds} |> Map.put(:budget, Budget.new(round(seconds * 1_000), weight))
  end

  defp weight(sections) do
    Enum.sum(
      for {_section, blocks} <- sections,
          block <- blocks,
          measurement <- measurements(block),
          do: Budget.weight(measurement)
    )
  end

  defp measurements({_make_data, groups}), do: [{:data, groups} | groups]
  defp measurements(without_samples), do: [without_samples]

  defp chosen(section, blocks, wanted) do
    if Enum.any?(section.names(), &(&1 in wanted)),
      do: Enum.flat_map(blocks, &chosen(&1, wanted)),
      else: []
  end

  defp chosen({make_data, groups}, wanted) do
    shown? = fn group -> Enum.any?([group.section | group[:also] || []], &(&1 in wanted)) end

    case Enum.filter(groups, shown?) do
      [] -> []
      groups -> [{make_data, groups}]
    end
  end

  defp chosen(without_samples, _wanted), do: [without_samples]

  defp block({make_data, groups}, effort),
    do: Harness.measure(make_data, groups, effort, &IO.puts(Report.line(&1)))

  defp block(without_samples, effort) do
    Budget.take(effort.budget, without_samples)
    without_samples.()
  end
end

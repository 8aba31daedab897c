defmodule Bench.Plan do
  @moduledoc false
  # Which sections are run, over how many rows, and how much time each may take.

  alias Bench.{Cases, Data, Harness, Machine, Memory, Report, Signatures}

  @sections ~w(filter_sum filter_sort map_object get_distinct tool_map literal fixed origin memory engine answers signatures)
  @row_counts [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
  @most_tool_calls 10_000
  @origin_rows 10_000

  @full %{sample_ns: 5_000_000, group_ms: 2_500, min_rounds: 9, max_rounds: 151}
  @quick %{sample_ns: 2_000_000, group_ms: 300, min_rounds: 5, max_rounds: 41}

  @usage """
  mix run bench/run.exs [--quick] [--out FILE] [section ...]

    --quick     up to 100,000 rows and fewer rounds: under half a minute
    --out FILE  where to write the results (default: bench/RESULTS.md, full runs of all sections only)
    sections    #{Enum.join(@sections, " ")}
  """

  @doc "Runs what the command line asks for."
  @spec main([String.t()], Path.t()) :: :ok
  def main(argv, results_file) do
    {opts, sections, wrong} = OptionParser.parse(argv, strict: [quick: :boolean, out: :string])
    unknown = Enum.map(wrong, &elem(&1, 0)) ++ (sections -- @sections)

    if unknown == [] do
      run(opts, if(sections == [], do: @sections, else: sections), results_file)
    else
      IO.puts(:stderr, ["unknown: ", Enum.join(unknown, ", "), "\n\n", @usage])
      System.halt(1)
    end
  end

  defp run(opts, sections, results_file) do
    quick? = Keyword.get(opts, :quick, false)
    wanted = MapSet.new(sections, &String.to_existing_atom/1)
    facts = Machine.facts()
    started = System.monotonic_time(:second)

    engine = if :engine in wanted, do: Bench.Engine.Cases.blocks(), else: []
    answers = if :answers in wanted, do: Bench.Answers.Cases.blocks(), else: []

    results =
      Enum.flat_map(blocks(wanted, quick?) ++ engine ++ answers, &measure(&1, effort(quick?)))

    memory = if :memory in wanted, do: Memory.measure(memory_rows(quick?)), else: []

    signatures =
      if :signatures in wanted, do: Signatures.measure(effort(quick?), quick?), else: []

    seconds = System.monotonic_time(:second) - started
    run_fact = {"This run", "#{if quick?, do: "quick", else: "full"}, #{seconds} s"}
    report = Report.markdown(results, memory, facts ++ [run_fact])

    report =
      IO.iodata_to_binary([report | Enum.map(Signatures.markdown(signatures), &["\n", &1])])

    IO.puts(["\n", report])
    write(report, opts[:out] || default_file(quick?, sections, results_file))
  end

  defp default_file(quick?, sections, file) do
    if not quick? and Enum.sort(sections) == Enum.sort(@sections), do: file
  end

  defp write(_report, nil), do: IO.puts("Not a full run: nothing was written.")

  defp write(report, file) do
    File.write!(file, report)
    IO.puts("Written: #{Path.relative_to_cwd(file)}")
  end

  # A block is what one process measures over one set of rows.
  defp blocks(wanted, quick?) do
    fixed = if :fixed in wanted, do: [{:built, 10, Cases.fixed()}], else: []
    counts = if quick?, do: List.delete(@row_counts, 1_000_000), else: @row_counts
    by_rows = for rows <- counts, do: {:built, rows, over_rows(wanted, rows)}
    Enum.reject(fixed ++ by_rows ++ origins(wanted), &match?({_, _, []}, &1))
  end

  defp over_rows(wanted, rows) do
    # The origin table shows the built rows beside the others, so it needs them as well.
    shown? = &(&1 in wanted or (:origin in wanted and rows == @origin_rows))
    pipelines = for name <- Cases.pipelines(), shown?.(name), do: Cases.over_rows(name, rows)

    tools =
      if :tool_map in wanted and rows <= @most_tool_calls,
        do: [Cases.over_rows(:tool_map, rows)],
        else: []

    literal = if :literal in wanted, do: [Cases.literal(rows)], else: []
    pipelines ++ tools ++ literal
  end

  defp origins(wanted) do
    for origin <- [:decoded, :received], :origin in wanted do
      {origin, @origin_rows,
       for(name <- Cases.pipelines(), do: Cases.over_rows(name, @origin_rows, origin))}
    end
  end

  defp measure({origin, rows, groups}, effort),
    do: measure({Data.maker(origin, rows), groups}, effort)

  defp measure({make_data, groups}, effort),
    do: Harness.measure(make_data, groups, effort, &IO.puts(Report.line(&1)))

  defp effort(true), do: @quick
  defp effort(false), do: @full

  defp memory_rows(true), do: 100_000
  defp memory_rows(false), do: 1_000_000
end

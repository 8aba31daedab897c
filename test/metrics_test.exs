defmodule PtcRunner.MetricsTest do
  # The metrics and the queries that the guides have are about events that there are, with measurements and metadata that these have.
  use ExUnit.Case, async: true

  @observability "guides/observability.md"
  @production "guides/in_production.md"

  # %{event => {measurements, metadata}}, of the guide's table.
  defp events do
    for "| `[:ptc_runner" <> _rest = line <- @observability |> File.read!() |> String.split("\n"),
        into: %{} do
      ["", event, measurements, metadata, ""] =
        line |> String.split("|") |> Enum.map(&String.trim/1)

      name = Regex.scan(~r/\w+/, event) |> Enum.map_join(".", &hd/1)
      {name, {words(measurements), words(metadata)}}
    end
  end

  defp words(cell), do: for([_all, word] <- Regex.scan(~r/`(\w+)`/, cell), do: word)

  # {kind, event, measurement, tags} of each definition.
  defp metrics(path) do
    for [_all, kind, name, rest] <-
          Regex.scan(
            ~r/^\s+(counter|sum|summary|distribution|last_value)\("([\w.]+)"(.*?)\)(?:,?$)/ms,
            File.read!(path)
          ) do
      {parts, [measured]} = name |> String.split(".") |> Enum.split(-1)
      tags = Regex.run(~r/tags: \[([^\]]*)\]/, rest)
      tags = if tags, do: ~r/:(\w+)/ |> Regex.scan(Enum.at(tags, 1)) |> Enum.map(&Enum.at(&1, 1))
      {kind, Enum.join(parts, "."), measured, tags || []}
    end
  end

  test "each metric has its event, measurement and tags" do
    events = events()
    assert map_size(events) >= 15

    for path <- [@observability, @production] do
      metrics = metrics(path)
      assert length(metrics) >= 9, path

      for {kind, event, measured, tags} <- metrics do
        place = "#{path}: #{event}.#{measured}"
        assert %{^event => {measurements, metadata}} = events, place
        if kind != "counter", do: assert(measured in measurements, place)
        assert tags -- metadata == [], place
      end
    end
  end

  test "each query has the name of a metric, as the reporter writes it, and labels that are its tags" do
    exported =
      for {kind, event, measured, tags} <- metrics(@production), into: %{} do
        name = String.replace("#{event}.#{measured}", ".", "_")
        {if(kind == "distribution", do: name <> "_bucket", else: name), tags}
      end

    [_before, queries] = @production |> File.read!() |> String.split("Queries for a dashboard")
    [_text, queries | _rest] = String.split(queries, "```")
    used = Regex.scan(~r/(ptc_runner_\w+)(?:\{(\w+)=)?/, queries)
    assert length(used) >= 9
    for [_all, name | label] <- used, do: assert(label -- Map.fetch!(exported, name) == [], name)

    for [_all, tag] <- Regex.scan(~r/sum by \((\w+)\) \(rate\(ptc_runner_tool/, queries),
        do: assert(tag in exported["ptc_runner_tool_stop_count"])
  end
end

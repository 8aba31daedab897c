# Draws the picture of the README from the numbers of RESULTS.md:
#
#     elixir bench/chart.exs          # writes docs/benchmark.svg
#
# It needs no build and no library.

Code.require_file("support/results.ex", __DIR__)

defmodule Bench.Chart do
  alias Bench.Results

  @programs [
    {"filter, sum", "filter, sum"},
    {"filter(and), sort desc, select, take", "filter, sort, select, take"},
    {"get path, distinct, count", "get path, distinct, count"},
    {"map with an object of 3 fields", "map to an object of 3 fields"}
  ]
  @columns [
    {"program as text", "this library, program as text", "#2a6fb0"},
    {"Elixir, tuned", "Elixir, tuned by hand (a single pass)", "#9aa7b4"},
    {"Elixir by hand", "Elixir by hand (Enum)", "#d0d6dc"}
  ]
  @rows "10,000"

  @left 190
  @right 90
  @width 720
  @bar 13
  @gap 18
  @top 62

  def svg(text) do
    groups = for {section, name} <- @programs, do: {name, times(text, section)}
    longest = groups |> Enum.flat_map(fn {_name, times} -> times end) |> Enum.max()
    group = length(@columns) * @bar + @gap
    height = @top + length(groups) * group + 12

    bars =
      for {{name, times}, number} <- Enum.with_index(groups) do
        y = @top + number * group
        middle = y + length(@columns) * @bar / 2 + 4
        [text(@left - 12, middle, name, "end", "#24292f"), bars(times, y, longest)]
      end

    IO.iodata_to_binary([
      ~s(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 #{@width} #{height}" width="#{@width}" height="#{height}" ),
      ~s(font-family="system-ui, sans-serif" font-size="12" role="img">\n),
      ~s(<title>Time of four programs over #{@rows} rows, beside the same in Elixir</title>\n),
      ~s(<rect width="#{@width}" height="#{height}" rx="6" fill="#ffffff"/>\n),
      text(16, 22, "Time over #{@rows} rows (shorter is better)", "start", "#24292f"),
      legend(),
      bars,
      "</svg>\n"
    ])
  end

  defp times(text, section) do
    row = text |> Results.rows(section) |> Enum.find(&(&1["rows"] == @rows))
    for {column, _label, _colour} <- @columns, do: Results.nanoseconds(row[column])
  end

  defp bars(times, y, longest) do
    for {{time, {_column, _label, colour}}, number} <-
          times |> Enum.zip(@columns) |> Enum.with_index() do
      width = Float.round((@width - @left - @right) * time / longest, 1)
      at = y + number * @bar

      [
        ~s(<rect x="#{@left}" y="#{at}" width="#{width}" height="#{@bar - 2}" fill="#{colour}"/>\n),
        text(@left + width + 6, at + @bar - 3, shown(time), "start", "#57606a")
      ]
    end
  end

  defp legend do
    {items, _x} =
      Enum.map_reduce(@columns, 16, fn {_column, label, colour}, x ->
        square = ~s(<rect x="#{x}" y="34" width="10" height="10" fill="#{colour}"/>\n)

        {[square, text(x + 15, 43, label, "start", "#57606a")],
         x + 32 + 6.3 * String.length(label)}
      end)

    items
  end

  defp text(x, y, text, anchor, colour),
    do: ~s(<text x="#{x}" y="#{y}" text-anchor="#{anchor}" fill="#{colour}">#{text}</text>\n)

  defp shown(nanos) when nanos < 1_000_000, do: "#{round(nanos / 1_000)} µs"
  defp shown(nanos), do: "#{Float.round(nanos / 1_000_000, 2)} ms"
end

results = File.read!(Path.join(__DIR__, "RESULTS.md"))
File.write!(Path.expand("../docs/benchmark.svg", __DIR__), Bench.Chart.svg(results))

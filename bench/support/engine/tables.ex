defmodule Bench.Engine.Tables do
  @moduledoc false
  # The section `engine` in the report: its bars and its tables.

  import Bench.Layout, only: [section: 5, cell: 2]
  alias Bench.{Harness, Jiffy, Stats, Table}
  alias Bench.Engine.Cases

  # 1.00 to the two decimals that are shown.
  @resolver_limit 1.005
  @codec_limit 0.7
  @growth_limit 1.05
  @growth_counts 100..10_000

  @doc "All bars of the section, judged; none if it was not run."
  @spec bars([Harness.result()]) :: [Bench.Bars.bar()]
  def bars(results) do
    case for(%{section: :engine} = result <- results, do: result) do
      [] -> []
      results -> resolver_bars(results) ++ [growth_bar(results)] ++ codec_bars(results)
    end
  end

  defp resolver_bars(results) do
    for name <- Cases.resolver_names() do
      {worst, result} = worst(results, name, :elixir)

      bar(
        "#{name}/2; 1 to 10,000 tools or options",
        "≤ 1.00 × Elixir by hand",
        worst,
        @resolver_limit,
        "#{Table.count(result.rows)} tools or options"
      )
    end
  end

  defp codec_bars(results) do
    for name <- [:encode, :decode] do
      what = "JSON #{name}: earthquakes, 10,000 small rows, engine with 20 tools"
      limit = "≤ #{Table.ratio(@codec_limit)} × jiffy:#{name}"

      case worst(results, name, :jiffy) do
        nil ->
          %{
            what: what,
            limit: limit,
            measured: "-",
            detail: Jiffy.missing(),
            verdict: :not_measured
          }

        {worst, result} ->
          bar(what, limit, worst, @codec_limit, title(result.origin))
      end
    end
  end

  defp worst(results, name, reference) do
    for(
      %{case: ^name} = result <- results,
      ratio = Harness.ratio(result, :library, reference),
      do: {ratio, result}
    )
    |> Enum.max_by(&elem(&1, 0), fn -> nil end)
  end

  # Elixir's maps are linear too; what makes both grow faster is that the tools leave the caches.
  defp growth_bar(results) do
    by_hand = growth(results, :elixir)

    bar(
      "resolve_tools/2: growth exponent, 100 to 10,000 tools",
      "≤ #{Table.ratio(@growth_limit)}",
      growth(results, :library),
      @growth_limit,
      "Elixir grows by #{Table.ratio(by_hand)}"
    )
  end

  defp growth(results, side) do
    for(
      %{case: :resolve_tools, rows: rows} = result <- results,
      rows in @growth_counts,
      do: {rows, result |> Harness.side(side) |> Harness.median()}
    )
    |> Stats.growth_exponent()
  end

  defp bar(what, limit_text, measured, limit, detail) do
    verdict = if measured <= limit, do: :reached, else: :missed

    %{
      what: what,
      limit: limit_text,
      measured: Table.ratio(measured),
      detail: detail,
      verdict: verdict
    }
  end

  @doc "The tables; nothing if the section was not run."
  @spec tables([Harness.result()]) :: iodata
  def tables(results) do
    results = for %{section: :engine} = result <- results, do: result
    [resolvers(results), codec(results)]
  end

  defp resolvers(results) do
    intro = """
    `resolve_tools/2` with as many tools in the call as on the engine, half of them new; `resolve_params/2` and
    `resolve_model/2` with so many options; `merge_opts/2` with tools, params and a model. The merge of tools, in
    `resolve_tools/2` and `merge_opts/2`, is native; the others are Elixir. *Tuned* is the merge of tools
    in Elixir with more care.\
    """

    header = ["function", "tools or options", "library", "Elixir by hand", "Elixir, tuned"]
    quotients = ["library ÷ Elixir by hand", "library ÷ Elixir, tuned"]

    rows =
      for name <- Cases.resolver_names(), %{case: ^name} = result <- results do
        times = for side <- [:library, :elixir, :tuned], do: cell(result, side)

        ratios =
          for side <- [:elixir, :tuned], do: Table.ratio(Harness.ratio(result, :library, side))

        ["#{name}/2", Table.count(result.rows) | times ++ ratios]
      end

    section("Engine: the resolvers", intro, header ++ quotients, rows, [0])
  end

  defp codec(results) do
    intro = """
    `PtcRunner.Json.Codec`, for the engine `ALLM.Serializer`, beside `jiffy:encode/1` and
    `jiffy:decode(text, [return_maps])`. Jiffy is given the engine as the map its JSON stands for.\
    """

    rows =
      for text <- Cases.texts(),
          name <- [:encode, :decode],
          %{case: ^name, origin: ^text} = result <- results do
        ratio = Table.ratio(Harness.ratio(result, :library, :jiffy))
        [title(text), Atom.to_string(name), cell(result, :library), cell(result, :jiffy), ratio]
      end

    section("Engine: JSON", intro, ["data", "", "library", "jiffy", "library ÷ jiffy"], rows, [
      0,
      1
    ])
  end

  defp title(:earthquakes), do: "the earthquakes, 1.2 MB"
  defp title(:small_rows), do: "10,000 small rows, 0.9 MB"
  defp title(:engine), do: "an engine with 20 tools"
end

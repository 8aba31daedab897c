defmodule Demo.Plain do
  @moduledoc false
  # The demo's programs once more, as a developer would write them in Elixir:
  # what the programs' answers and times are held against.

  alias Demo.Earthquakes

  def strongest(quakes) do
    quakes
    |> Enum.filter(fn quake ->
      quake["type"] == "earthquake" and quake["mag"] >= 5.0 and quake["depth"] < 70
    end)
    |> Enum.sort_by(& &1["mag"], :desc)
    |> Enum.take(8)
    |> Enum.map(&Map.take(&1, ["mag", "depth", "place"]))
  end

  def figures(quakes) do
    quakes = Enum.filter(quakes, &(&1["type"] == "earthquake"))
    magnitudes = Enum.map(quakes, & &1["mag"])

    %{
      "earthquakes" => length(quakes),
      "mean magnitude" => Enum.sum(magnitudes) / length(magnitudes),
      "strongest" => Enum.max(magnitudes),
      "deepest, km" => quakes |> Enum.map(& &1["depth"]) |> Enum.max(),
      "people who felt one" => quakes |> Enum.map(&(&1["felt"] || 0)) |> Enum.sum(),
      "most significant" => Enum.max_by(quakes, & &1["sig"])["place"]
    }
  end

  def felt_share(quakes) do
    felt = Enum.count(quakes, &(&1["felt"] != nil and &1["felt"] > 0))
    all = length(quakes)
    %{"all" => all, "felt" => felt, "percent" => Float.round(felt / all * 100, 1)}
  end

  def californian(quakes) do
    networks = Earthquakes.networks_of(%{"region" => "California"})

    quakes
    |> Enum.filter(&(&1["net"] in networks))
    |> Enum.sort_by(& &1["mag"], :desc)
    |> Enum.take(5)
    |> Enum.map(&Map.take(&1, ["net", "mag", "place"]))
  end

  def two_turns(quakes) do
    strong = Enum.filter(quakes, &(&1["mag"] >= 5))
    shallowest = Enum.min_by(strong, & &1["depth"])
    [length(strong), Map.take(shallowest, ["mag", "depth", "place"])]
  end
end

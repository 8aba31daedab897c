defmodule Demo.Earthquakes do
  @moduledoc false
  # The data of the demo: one week of earthquakes, a flat map for each.

  @file_name Path.expand("../data/earthquakes.json", __DIR__)

  @doc "All events of the file, each with its properties, its `id` and its `depth` in km."
  @spec load!() :: [%{String.t() => term}]
  def load! do
    %{"features" => features} = @file_name |> File.read!() |> PtcRunner.Json.Codec.decode!()

    for %{"id" => id, "properties" => properties, "geometry" => geometry} <- features do
      [_longitude, _latitude, depth] = geometry["coordinates"]
      Map.merge(properties, %{"id" => id, "depth" => depth})
    end
  end

  @doc "A tool for the programs: the codes of the seismic networks that watch a region."
  @spec networks_of(%{String.t() => term}) :: [String.t()] | {:error, String.t()}
  def networks_of(%{"region" => "California"}), do: ["ci", "nc"]
  def networks_of(%{"region" => "Alaska"}), do: ["ak", "av"]
  def networks_of(args), do: {:error, "no region #{inspect(args["region"])}"}
end

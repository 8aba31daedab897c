# The options of a server over one week of earthquakes, with a tool that a person must approve. Started by
#   mcp/bin/ptc-mcp --config mcp/examples/earthquakes.exs

Code.require_file("../../examples/demo/earthquakes.ex", __DIR__)

alert = fn %{"place" => place, "magnitude" => magnitude} ->
  "told the people near #{place} of #{magnitude}"
end

[
  name: "earthquakes",
  context: %{"quakes" => Demo.Earthquakes.load!()},
  tools: %{
    "alert" =>
      {alert,
       signature: "(place :string, magnitude :float) -> :string",
       description: "Tells the people near a place about an earthquake",
       approve: true}
  }
]

# Six programs over one week of real earthquakes, each written as a language model would write
# it. Run with bin/demo.
#
# Every answer is checked against the same computation in plain Elixir, in demo/plain.ex, and
# its time is printed beside that of the plain Elixir.

for file <- ~w(earthquakes plain show race), do: Code.require_file("demo/#{file}.ex", __DIR__)

alias Demo.{Earthquakes, Plain, Race, Show}

quakes = Earthquakes.load!()
context = %{"quakes" => quakes}

IO.puts("#{length(quakes)} seismic events, in the context of every program as \"quakes\".")

# ---------------------------------------------------------------------------------------------
Show.heading("1. Filter and rank: the strongest earthquakes near the surface")

program =
  Show.program(~S"""
  {"program": {"op": "pipe", "steps": [
    {"op": "load", "name": "quakes"},
    {"op": "filter", "where": {"op": "and", "conditions": [
      {"op": "eq", "field": "type", "value": "earthquake"},
      {"op": "gte", "field": "mag", "value": 5.0},
      {"op": "lt", "field": "depth", "value": 70}]}},
    {"op": "sort_by", "field": "mag", "order": "desc"},
    {"op": "take", "count": 8},
    {"op": "select", "fields": ["mag", "depth", "place"]}]}}
  """)

run = fn -> PtcRunner.Json.run!(program, context: context) end
Show.table(run.(), ["mag", "depth", "place"])
race_1 = Race.run("filter and rank", run, fn -> Plain.strongest(quakes) end)

# ---------------------------------------------------------------------------------------------
Show.heading("2. Aggregates: the week in figures")

program =
  Show.program(~S"""
  {"program": {"op": "pipe", "steps": [
    {"op": "load", "name": "quakes"},
    {"op": "filter", "where": {"op": "eq", "field": "type", "value": "earthquake"}},
    {"earthquakes": {"op": "count"},
     "mean magnitude": {"op": "avg", "field": "mag"},
     "strongest": {"op": "max", "field": "mag"},
     "deepest, km": {"op": "max", "field": "depth"},
     "people who felt one": {"op": "sum", "field": "felt"},
     "most significant": {"op": "pipe", "steps": [
       {"op": "var", "name": "__input"},
       {"op": "max_by", "field": "sig"},
       {"op": "get", "field": "place"}]}}]}}
  """)

run = fn -> PtcRunner.Json.run!(program, context: context) end

Show.object(run.(), [
  "earthquakes",
  "mean magnitude",
  "strongest",
  "deepest, km",
  "people who felt one",
  "most significant"
])

race_2 = Race.run("aggregates", run, fn -> Plain.figures(quakes) end)

# ---------------------------------------------------------------------------------------------
Show.heading("3. Let and pct: how many did anybody feel?")

program =
  Show.program(~S"""
  {"program":
    {"op": "let", "name": "all", "value": {"op": "pipe", "steps": [
       {"op": "load", "name": "quakes"},
       {"op": "count"}]},
     "in":
    {"op": "let", "name": "felt", "value": {"op": "pipe", "steps": [
       {"op": "load", "name": "quakes"},
       {"op": "filter", "where": {"op": "and", "conditions": [
         {"op": "neq", "field": "felt", "value": null},
         {"op": "gt", "field": "felt", "value": 0}]}},
       {"op": "count"}]},
     "in": {
       "all": {"op": "var", "name": "all"},
       "felt": {"op": "var", "name": "felt"},
       "percent": {"op": "round", "precision": 1, "value":
         {"op": "pct", "part": {"op": "var", "name": "felt"},
                       "whole": {"op": "var", "name": "all"}}}}}}}
  """)

run = fn -> PtcRunner.Json.run!(program, context: context) end
Show.object(run.(), ["all", "felt", "percent"])
race_3 = Race.run("let with pct", run, fn -> Plain.felt_share(quakes) end)

# ---------------------------------------------------------------------------------------------
Show.heading("4. A tool call: the strongest ones that California's networks saw")

program =
  Show.program(~S"""
  {"program":
    {"op": "let", "name": "networks",
     "value": {"op": "call", "tool": "networks_of", "args": {"region": "California"}},
     "in": {"op": "pipe", "steps": [
       {"op": "load", "name": "quakes"},
       {"op": "filter_in", "field": "net", "value": {"op": "var", "name": "networks"}},
       {"op": "sort_by", "field": "mag", "order": "desc"},
       {"op": "take", "count": 5},
       {"op": "select", "fields": ["net", "mag", "place"]}]}}}
  """)

tools = %{"networks_of" => &Earthquakes.networks_of/1}
run = fn -> PtcRunner.Json.run!(program, context: context, tools: tools) end
Show.table(run.(), ["net", "mag", "place"])
race_4 = Race.run("tool call", run, fn -> Plain.californian(quakes) end)

# ---------------------------------------------------------------------------------------------
Show.heading("5. Memory: what the first turn keeps, the second one uses")

# "result" is what the model sees of this turn; every other key goes to memory.
turn_1 =
  Show.program(~S"""
  {"program": {"op": "pipe", "steps": [
    {"op": "load", "name": "quakes"},
    {"op": "filter", "where": {"op": "gte", "field": "mag", "value": 5}},
    {"result": {"op": "count"},
     "strong": {"op": "var", "name": "__input"}}]}}
  """)

{:ok, count, delta, memory} = PtcRunner.Json.run(turn_1, context: context)

IO.puts("""

  answer of turn 1  #{inspect(count)}
  kept in memory    #{delta |> Map.keys() |> inspect()}\
""")

turn_2 =
  Show.program(~S"""
  {"program": {"op": "pipe", "steps": [
    {"op": "var", "name": "strong"},
    {"op": "min_by", "field": "depth"},
    {"op": "select", "fields": ["mag", "depth", "place"]}]}}
  """)

{:ok, shallowest, _delta, _memory} = PtcRunner.Json.run(turn_2, memory: memory)
Show.object(shallowest, ["mag", "depth", "place"])

run = fn ->
  {:ok, count, _delta, memory} = PtcRunner.Json.run(turn_1, context: context)
  [count, PtcRunner.Json.run!(turn_2, memory: memory)]
end

race_5 = Race.run("memory, two turns", run, fn -> Plain.two_turns(quakes) end)

# ---------------------------------------------------------------------------------------------
Show.heading("6. Wrong programs: what the model is told, to mend them")

wrong_programs = [
  # a closing brace is missing
  ~S'{"program": {"op": "load", "name": "quakes"}',
  # no such operation
  ~S'{"program": {"op": "fitler", "where": {"op": "eq", "field": "net", "value": "ak"}}}',
  # a sum over words
  ~S'{"program": {"op": "pipe", "steps": [{"op": "load", "name": "quakes"}, {"op": "sum", "field": "place"}]}}'
]

for text <- wrong_programs do
  program = Show.program(text)
  run = fn -> PtcRunner.Json.run(program, context: context) end
  {:error, error} = run.()
  IO.puts("    => " <> PtcRunner.Json.format_error(error))
  IO.puts("       after #{round(Race.median_time(run))} µs")
end

# ---------------------------------------------------------------------------------------------
Show.heading("The times together, program text included")

Show.table(
  [race_1, race_2, race_3, race_4, race_5],
  ["program", "native, µs", "plain Elixir, µs", "native / plain"]
)

# An agent over one week of real earthquakes, with a model whose answers are written down: what it is
# told, what it gets wrong, what it is told then, and the result. Run with bin/demo.

for file <- ~w(earthquakes show), do: Code.require_file("demo/#{file}.ex", __DIR__)

alias Demo.{Earthquakes, Show}
alias PtcRunner.Agent

# A model is a function of messages. This one makes the mistakes that models make.
answers = [
  # a tool that there is not
  ~S"""
  I ask for the networks first.
  {"program": {"op": "call", "tool": "networks", "args": {"region": "California"}}}
  """,
  # an argument that the tool does not take, in a fence, with a comma too many
  ~S"""
  ```json
  {"program": {"op": "call", "tool": "networks_of", "args": {"region": "Calif.",}}}
  ```
  """,
  # a look at the data, and something for later
  ~S"""
  {"program": {"op": "pipe", "steps": [
    {"op": "call", "tool": "networks_of", "args": {"region": "California"}},
    {"look": {"op": "var", "name": "__input"}, "networks": {"op": "var", "name": "__input"}}]}}
  """,
  # the strongest one itself, but not in the form that was asked for
  ~S"""
  {"program": {"op": "pipe", "steps": [
    {"op": "load", "name": "quakes"},
    {"op": "filter_in", "field": "net", "value": {"op": "var", "name": "networks"}},
    {"op": "max_by", "field": "mag"},
    {"op": "select", "fields": ["mag", "place"]}]}}
  """,
  # right
  ~S"""
  Now with the count:
  ```json
  {"program": {"op": "pipe", "steps": [
    {"op": "load", "name": "quakes"},
    {"op": "filter_in", "field": "net", "value": {"op": "var", "name": "networks"}},
    {"count": {"op": "count"}, "strongest": {"op": "max_by", "field": "mag"}}]}}
  ```
  """
]

ask = fn messages ->
  Enum.at(answers, Enum.count(messages, &(&1.role == :assistant)))
end

{:ok, step} =
  Agent.loop(ask,
    task: "How many earthquakes did California's networks see, and which was the strongest?",
    context: %{"quakes" => Earthquakes.load!()},
    tools: %{
      "networks_of" =>
        {&Earthquakes.networks_of/1,
         signature: "(region :string) -> [:string]",
         description: "The codes of the seismic networks that watch a region",
         enums: %{"region" => ["California", "Alaska"]}}
    },
    returns: "{count :int, strongest {mag :float, place :string}}"
  )

Show.heading("An agent: from a question to a checked value, in five turns")

[%{content: told} | _] = step.messages
[_language, about] = String.split(told, "## Data", parts: 2)
Show.text("what the model is told, after the language", "## Data" <> about)

for %{role: role, content: content} <- tl(step.messages),
    do: Show.text(if(role == :user, do: "to the model", else: "the model"), content)

Show.object(step.return["strongest"], ["mag", "place"])

calls =
  if match?([_], step.tool_calls),
    do: "1 tool call",
    else: "#{length(step.tool_calls)} tool calls"

IO.puts(
  "  the strongest of #{step.return["count"]} earthquakes; #{calls}, #{step.usage.turns} turns, " <>
    "#{step.usage.duration_ms} ms\n"
)

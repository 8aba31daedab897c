defmodule Mix.Tasks.Ptc.Prompt do
  @shortdoc "Prints what to tell a model about PTC-JSON"
  @moduledoc """
  Prints the description of the language that goes into a model's prompt.

      mix ptc.prompt            # the text: PtcRunner.Schema.to_prompt/0
      mix ptc.prompt --schema   # the JSON schema for structured output
  """

  use Mix.Task

  alias PtcRunner.CLI.Pretty
  alias PtcRunner.Schema.{JsonSchema, Prompt}

  @impl true
  def run(args) when args in [["--help"], ["-h"]],
    do: Mix.shell().info(Mix.Task.moduledoc(__MODULE__) || "see `mix help ptc.prompt`")

  def run(args) do
    Mix.Task.run("app.config")

    case OptionParser.parse(args, strict: [schema: :boolean]) do
      {[], [], []} ->
        Mix.shell().info(Prompt.text(3))

      {[schema: true], [], []} ->
        Mix.shell().info(IO.iodata_to_binary(Pretty.json(JsonSchema.for_llm())))

      _other ->
        Mix.raise("expected `mix ptc.prompt` or `mix ptc.prompt --schema`")
    end
  end
end

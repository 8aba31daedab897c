defmodule Mix.Tasks.Ptc.Prompt do
  @shortdoc "Prints what to tell a model about PTC-JSON"
  @moduledoc """
  Prints the description of the language that goes into a model's prompt.

      mix ptc.prompt               # the text: PtcRunner.Schema.to_prompt/1
      mix ptc.prompt --schema      # the JSON schema for structured output
      mix ptc.prompt --edition 1   # of this edition, by default the one that programs have
  """

  use Mix.Task

  alias PtcRunner.CLI.Pretty
  alias PtcRunner.Json.Edition
  alias PtcRunner.Schema.Editions

  @impl true
  def run(args) when args in [["--help"], ["-h"]],
    do: Mix.shell().info(Mix.Task.moduledoc(__MODULE__) || "see `mix help ptc.prompt`")

  def run(args) do
    Mix.Task.run("app.config")

    case OptionParser.parse(args, strict: [schema: :boolean, edition: :integer]) do
      {opts, [], []} ->
        edition = Keyword.get_lazy(opts, :edition, &Edition.default/0)
        if edition not in [1, 2], do: Mix.raise("--edition must be 1 or 2")
        Mix.shell().info(text(opts[:schema], edition))

      _other ->
        Mix.raise("expected `mix ptc.prompt`, with --schema, --edition 1 or --edition 2")
    end
  end

  defp text(true, edition) do
    schema = Editions.for_llm(edition, :all, :omitted, "mix ptc.prompt")
    IO.iodata_to_binary(Pretty.json(schema))
  end

  defp text(_no, edition), do: Editions.prompt(edition, :all, 3, "mix ptc.prompt")
end

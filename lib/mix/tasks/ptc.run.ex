defmodule Mix.Tasks.Ptc.Run do
  @shortdoc "Runs a PTC-JSON program over JSON data"
  @moduledoc """
  Runs a program over data, and prints its result: as a table if it is a list of rows, otherwise as JSON.

      mix ptc.run PROGRAM.json --context DATA.json

  `-` stands for the standard input. Programs that call tools can be run here only with the answers of a journal.

  ## Options

    * `--context FILE` - the JSON object that `load` reads
    * `--memory FILE` - the JSON object that `var` reads
    * `--timeout MS` - by default 30,000
    * `--max-heap WORDS` - as for `PtcRunner.Json.run/2`
    * `--edition N` - the edition of the language, 1 or 2
    * `--explain` - also prints measurements of each operation: see `PtcRunner.Json.Explain`
    * `--json` - the result as JSON, even if it is rows
    * `--replay FILE` - the answers of tools come from this journal: see `PtcRunner.Json.replay/3`
    * `--record FILE` - writes the journal of the run to this file: see `PtcRunner.Json.record/2`. `--replay`, `--record` and
      `--explain` exclude one another.

  An error is printed to stderr with its position in the program, and the exit code is 1. A run that takes
  longer than a second shows its elapsed time.
  """

  use Mix.Task

  alias PtcRunner.CLI.{Failure, Files, Pretty, Progress, Table}
  alias PtcRunner.Json
  alias PtcRunner.Json.Explain
  alias PtcRunner.Sandbox.Guarded

  @switches [
    context: :string,
    memory: :string,
    timeout: :integer,
    max_heap: :integer,
    edition: :integer,
    explain: :boolean,
    json: :boolean,
    record: :string,
    replay: :string
  ]
  @timeout 30_000

  @impl true
  def run(args) when args in [["--help"], ["-h"]],
    do: Mix.shell().info(Mix.Task.moduledoc(__MODULE__) || "see `mix help ptc.run`")

  def run(args) do
    Mix.Task.run("app.config")
    {:ok, _apps} = Application.ensure_all_started(:ptc_runner_native)

    case OptionParser.parse(args, strict: @switches) do
      {opts, [path], []} ->
        run(Files.text!(path), opts)

      {_opts, _paths, [{switch, _value} | _]} ->
        Mix.raise("unknown or wrong option #{switch}, see `mix help ptc.run`")

      _other ->
        Mix.raise("expected one program: mix ptc.run PROGRAM.json --context DATA.json")
    end
  end

  defp run(program, opts) do
    options = options(opts)
    explain? = Keyword.get(opts, :explain, false)

    if Enum.count([opts[:record], opts[:replay], explain?], & &1) > 1,
      do: Mix.raise("--record, --replay and --explain exclude one another")

    run = fn -> journaled(program, options, explain?, Map.new(opts)) end
    explanation = Progress.around(run, options[:timeout])

    case explanation.result do
      {:ok, result, _delta, _memory} -> Mix.shell().info(shown(result, opts))
      {:error, error} -> Mix.shell().error(Failure.text(program, error, explanation.failed_at))
    end

    if explain? and explanation.operations != [], do: Mix.shell().info(to_string(explanation))
    if match?({:error, _}, explanation.result), do: exit({:shutdown, 1})
  end

  defp journaled(program, options, _explain?, %{replay: path}) do
    journal = Files.map!(path, "journal")
    %Explain{result: Json.replay(program, journal, options)}
  end

  defp journaled(program, options, _explain?, %{record: path}) do
    {result, journal} = Json.record(program, options)
    Files.write_json!(path, journal)
    %Explain{result: result}
  end

  defp journaled(program, options, explain?, _opts), do: result(program, options, explain?)

  # A program without tools has no effects, so it is run again to find the position of an error.
  defp result(program, options, true), do: Json.explain(program, options)

  defp result(program, options, false) do
    case Json.run(program, options) do
      {:error, _reason} = error -> %{Json.explain(program, options) | result: error}
      result -> %Explain{result: result}
    end
  end

  defp options(opts) do
    given = Keyword.take(opts, [:max_heap, :edition])
    context = Files.map!(opts[:context], "context")
    memory = Files.map!(opts[:memory], "memory")
    timeout = Keyword.get(opts, :timeout, @timeout)
    if timeout < 0, do: Mix.raise("--timeout must not be negative")

    if Keyword.get(opts, :edition, 1) not in [1, 2],
      do: Mix.raise("--edition must be 1 or 2")

    if not Guarded.timeout?(timeout),
      do: Mix.raise("--timeout is at most #{Guarded.max_timeout()}")

    if not Guarded.max_heap?(Keyword.get(opts, :max_heap, 0)),
      do: Mix.raise("--max-heap must be 0 (no limit) or at least #{Guarded.least_heap()} words")

    [context: context, memory: memory, timeout: timeout] ++ given
  end

  defp shown(result, opts) do
    if Table.rows?(result) and not Keyword.get(opts, :json, false),
      do: Table.text(result),
      else: IO.iodata_to_binary(Pretty.json(result))
  end
end

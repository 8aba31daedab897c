defmodule Mix.Tasks.Ptc.Run do
  @shortdoc "Runs a PTC-JSON or PTC-Lisp program over JSON data"
  @moduledoc """
  Runs a program over data, and prints its result: as a table if it is a list of rows, otherwise as JSON. The columns of a table stand in the
  order of the program if it names all of them, and otherwise in that of the data. Floats have at most 15 digits, so that
  0.1 + 0.2 is 0.3; with `--json` they have all digits.

      mix ptc.run PROGRAM.json --context DATA.json
      mix ptc.run PROGRAM.clj --context DATA.json

  A file whose name ends in `.clj`, `.lisp` or `.ptcl` is a program in PTC-Lisp: `data/name` reads the context, what it prints is shown
  before its result, and a value that JSON does not have (a set, a function) is shown as PTC-Lisp writes it. Any other file is a program in PTC-JSON.
  `-` stands for the standard input. Programs that call tools can be run here only with the answers of a journal.

  ## Options

    * `--context FILE` - the JSON object that `load` or `data/name` reads. The file is read in place where that is possible: see the guide
      [Large answers of tools](large_answers.md)
    * `--memory FILE` - the JSON object that `var` reads, or the values of earlier programs in PTC-Lisp, by name
    * `--timeout MS` - by default 30,000
    * `--max-heap WORDS` - as for `PtcRunner.Json.run/2`. The file and its index do not count
    * `--edition N` - the edition of PTC-JSON, 1 or 2
    * `--explain` - also prints measurements of each operation of PTC-JSON, or of each form of PTC-Lisp: see `PtcRunner.Json.Explain` and
      `PtcRunner.Lisp.Explain`
    * `--json` - the result as JSON, even if it is rows, with all digits of floats
    * `--replay FILE` - the answers of tools come from this journal: see `PtcRunner.Json.replay/3` and `PtcRunner.Lisp.replay/3`
    * `--record FILE` - writes the journal of the run to this file: see `PtcRunner.Json.record/2`. `--replay`, `--record` and
      `--explain` exclude one another.

  An error is printed to stderr with its position in the program, and the exit code is 1. A run that takes
  longer than a second shows its elapsed time. For a file of more than 50 MB, and if stderr is a terminal, the progress is shown
  from the start.
  """

  use Mix.Task

  alias PtcRunner.CLI.{Digits, Failure, Files, LispRun, OverFile, Pretty, Progress, Table}
  alias PtcRunner.{Json, Lisp, Native, Shown}
  alias PtcRunner.Json.{Explain, Limits}
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
        if LispRun.program?(path), do: lisp(path, opts), else: run(Files.text!(path), opts)

      {_opts, _paths, [{switch, _value} | _]} ->
        Mix.raise("unknown or wrong option #{switch}, see `mix help ptc.run`")

      {_opts, [], []} ->
        Mix.raise("expected one program: mix ptc.run PROGRAM.json --context DATA.json")

      {_opts, [path, more | _], []} ->
        Mix.raise(
          "expected one program, got #{path} and #{more}. A file of data is given by its option: mix ptc.run #{path} --context #{more}"
        )
    end
  end

  defp lisp(path, opts) do
    if Keyword.has_key?(opts, :edition),
      do: Mix.raise("--edition works with programs in PTC-JSON, and #{path} is one in PTC-Lisp")

    options = options(opts)
    exclude!(opts)
    text = Files.large_text!(opts[:context])
    options = Keyword.put(options, :memory, memory!(opts, text))

    program = Files.text!(path)
    {told, explanation} = LispRun.run(program, text, options, Map.new(opts))

    case told do
      {:ok, prints, shown} ->
        for text <- prints ++ [shown], do: Mix.shell().info(text)
        explained(explanation)

      {:error, prints, shown, reason} ->
        for text <- prints, do: Mix.shell().info(text)
        Mix.shell().error(shown)

        with text when text != nil <- raise_limit({reason, options[:timeout]}, options),
             do: Mix.shell().error(text)

        not_given(fn -> Lisp.compile(program) end, opts)
        explained(explanation)
        exit({:shutdown, 1})
    end
  end

  defp explained(nil), do: :ok
  defp explained(%{operations: []}), do: :ok
  defp explained(explanation), do: Mix.shell().info(to_string(explanation))

  defp exclude!(opts) do
    if Enum.count([opts[:record], opts[:replay], opts[:explain]], & &1) > 1,
      do: Mix.raise("--record, --replay and --explain exclude one another")
  end

  defp run(program, opts) do
    options = options(opts)
    explain? = Keyword.get(opts, :explain, false)

    exclude!(opts)
    text = Files.large_text!(opts[:context])
    options = Keyword.put(options, :memory, memory!(opts, text))
    run = fn -> journaled(program, {text, options}, explain?, Map.new(opts)) end
    explanation = Progress.around(run, options[:timeout], byte_size(text || ""))

    case explanation.result do
      {:ok, result, _delta, _memory} ->
        Mix.shell().info(shown(result, [program, text || ""], opts))

      {:error, error} ->
        Mix.shell().error(Failure.text(program, error, explanation.failed_at))
        with text when text != nil <- raise_limit(error, options), do: Mix.shell().error(text)
        not_given(fn -> Json.compile(program, Keyword.take(options, [:edition])) end, opts)
    end

    if explain? and explanation.operations != [], do: Mix.shell().info(to_string(explanation))
    if match?({:error, _}, explanation.result), do: exit({:shutdown, 1})
  end

  defp raise_limit({:timeout, milliseconds}, _options),
    do: "The limit can be raised with --timeout, from #{milliseconds} milliseconds."

  defp raise_limit({:memory_exceeded, _bytes}, options) do
    words = Keyword.get(options, :max_heap, Limits.default_max_heap())
    "The limit can be raised with --max-heap, from #{words} words."
  end

  defp raise_limit(_error, _options), do: nil

  # What a program reads of data that are not given is nil, and its error says no more.
  defp not_given(compile, opts) do
    with nil <- opts[:context], {:ok, program} <- compile.(), [_ | _] = names <- read(program) do
      names = names |> Enum.take(10) |> Enum.map_join(", ", &Shown.name/1)
      Mix.shell().error("No data were given, and the program reads #{names}: see --context")
    end
  end

  defp read(%Lisp.Program{names: names}), do: names.data
  defp read(program), do: Enum.uniq(Native.context_names(program.handle, program.consts))

  defp journaled(program, data, _explain?, %{replay: path} = opts) do
    journal = Files.map!(path, "journal")
    %Explain{result: Json.replay(program, journal, decoded(data, opts))}
  end

  defp journaled(program, data, _explain?, %{record: path} = opts) do
    {result, journal} = Json.record(program, decoded(data, opts))
    Files.write_json!(path, journal)
    %Explain{result: result}
  end

  defp journaled(program, data, true, opts), do: Json.explain(program, decoded(data, opts))

  # A program without tools has no effects, so it is run again to find the position of an error.
  defp journaled(program, {text, options} = data, false, opts) do
    case OverFile.run(program, text, options) do
      {:ok, _value, _delta, _memory} = done ->
        %Explain{result: done}

      {:error, :timeout} ->
        error = {:error, {:timeout, options[:timeout]}}
        %{Json.explain(program, decoded(data, opts)) | result: error}

      # The run over the decoded file has the words of the error, if it is one.
      {:error, _reason} ->
        over_decoded(program, decoded(data, opts))
    end
  end

  defp over_decoded(program, options) do
    case Json.run(program, options) do
      {:error, _reason} = error -> %{Json.explain(program, options) | result: error}
      result -> %Explain{result: result}
    end
  end

  defp decoded({nil, options}, _opts), do: options

  defp decoded({text, options}, %{context: path}) do
    timeout = max(options[:timeout], Limits.text_timeout())
    [{:context, Files.map!(text, path, "context", timeout)} | options]
  end

  # Of two files that are wrong, the context is reported.
  defp memory!(opts, text) do
    Files.map!(opts[:memory], "memory")
  rescue
    error in Mix.Error ->
      decoded({text, [timeout: 0]}, Map.new(opts))
      reraise error, __STACKTRACE__
  end

  defp options(opts) do
    given = Keyword.take(opts, [:max_heap, :edition])
    timeout = Keyword.get(opts, :timeout, @timeout)
    if timeout < 0, do: Mix.raise("--timeout must not be negative")

    if Keyword.get(opts, :edition, 1) not in [1, 2],
      do: Mix.raise("--edition must be 1 or 2")

    if not Guarded.timeout?(timeout),
      do: Mix.raise("--timeout is at most #{Guarded.max_timeout()}")

    if not Guarded.max_heap?(Keyword.get(opts, :max_heap, 0)),
      do: Mix.raise("--max-heap must be 0 (no limit) or at least #{Guarded.least_heap()} words")

    [timeout: timeout] ++ given
  end

  defp shown(result, written, opts) do
    cond do
      opts[:json] -> IO.iodata_to_binary(Pretty.json(result))
      Table.rows?(result) -> Table.text(result, written)
      true -> IO.iodata_to_binary(Pretty.json(result, &Digits.text/1))
    end
  end
end

defmodule Mix.Tasks.Ptc.Check do
  @shortdoc "Checks PTC-JSON programs and signatures"
  @moduledoc """
  Validates programs and signatures without running anything; for continuous integration.

      mix ptc.check programs/*.json signatures/*.sig

  A file whose name ends in `.json` is a program of PTC-JSON, any other file is a signature. Each error is one line,
  `file:line:column: message`. The exit code is 1 if there is an error. Programs of PTC-Lisp are checked by `PtcRunner.Lisp.check/2`,
  and are an error here.

  ## Options

    * `--plan` - shows what each program that is right will do: the tools that it may call, how often and with which data. See
      `PtcRunner.Json.plan/2`.

  With one of these, programs are also checked against types: see `PtcRunner.Json.check/2`. Warnings are shown, and are no errors.

    * `--context-types FILE` - a JSON object of the names that `load` reads. Each is the text of a signature, such as `"[{id :int}]"`, or
      `{"sample": VALUE}`.
    * `--tool-types FILE` - a JSON object of tools and their signatures
    * `--returns SIG` - the signature of the result
    * `--edition N` - the edition of the language, 1 or 2
  """

  use Mix.Task

  alias PtcRunner.CLI.{Failure, Files, LispRun, Place}
  alias PtcRunner.Json
  alias PtcRunner.Json.Explain
  alias PtcRunner.SubAgent.Signature

  @switches [
    context_types: :string,
    tool_types: :string,
    returns: :string,
    edition: :integer,
    plan: :boolean
  ]

  @no_lisp "a program of PTC-Lisp, which is not checked here but by PtcRunner.Lisp.check/2"

  @impl true
  def run(args) when args in [["--help"], ["-h"]],
    do: Mix.shell().info(Mix.Task.moduledoc(__MODULE__) || "see `mix help ptc.check`")

  def run(args) do
    Mix.Task.run("app.config")
    {:ok, _apps} = Application.ensure_all_started(:ptc_runner_native)

    case OptionParser.parse(args, strict: @switches) do
      {opts, [_ | _] = paths, []} ->
        {plan, opts} = Keyword.split(opts, [:plan])
        check(paths, known(opts), plan[:plan] && Keyword.take(opts, [:edition]))

      _other ->
        Mix.raise("expected files: mix ptc.check FILE…")
    end
  end

  # The options of `PtcRunner.Json.check/2`; nil without types.
  defp known([]), do: nil

  defp known(opts) do
    edition = opts[:edition]
    if edition not in [nil, 1, 2], do: Mix.raise("--edition must be 1 or 2")

    [
      context: types(opts[:context_types], "types"),
      tools: types(opts[:tool_types], "signatures"),
      returns: opts[:returns] && text_type!(opts[:returns], "--returns"),
      edition: edition
    ]
  end

  defp types(nil, _what), do: nil

  defp types(path, what),
    do: Map.new(Files.map!(path, what), fn {name, type} -> {name, type!(type, name)} end)

  defp type!(%{"sample" => value}, _name), do: {:sample, value}
  defp type!(type, name), do: text_type!(type, name)

  defp text_type!(text, name) do
    case Signature.parse(text) do
      {:ok, signature} -> signature
      {:error, message} -> Mix.raise("#{name} is no signature: #{message}")
    end
  end

  # `plan`: the options of the plans that are shown; nil if none are.
  defp check(paths, known, plan) do
    wrong = Enum.count(paths, &(check_file(&1, known, plan) == :wrong))
    right = length(paths) - wrong
    Mix.shell().info("#{right} right, #{wrong} wrong")
    if wrong > 0, do: exit({:shutdown, 1})
  end

  defp check_file(path, known, plan) do
    text = Files.text!(path)
    program? = String.ends_with?(path, ".json")

    checked =
      cond do
        program? -> program(text, known)
        LispRun.program?(path) -> {:error, [{@no_lisp, []}]}
        true -> signature(text)
      end

    case checked do
      {:ok, lines} ->
        Enum.each(lines, &show(path, &1, :yellow))
        if program? and plan != nil, do: show_plan(path, text, plan)
        :ok

      {:error, lines} ->
        Enum.each(lines, &show(path, &1, :red))
        :wrong
    end
  end

  defp show(path, {message, place}, color) do
    place = Enum.map_join(place, &"#{&1}:")
    Mix.shell().error(IO.ANSI.format([path, ":", place, " ", color, message]))
  end

  defp show_plan(path, text, opts) do
    case Json.plan(text, opts) do
      {:ok, plan} -> Mix.shell().info([path, ":\n", Json.Plan.text(plan), "\n"])
      {:error, error} -> show(path, {Json.format_error(error), []}, :red)
    end
  end

  defp program(text, known) do
    with {:ok, []} <- program(text), true <- known != nil do
      case Json.check(text, known) do
        {:ok, checked} ->
          {:ok, for(it <- checked.warnings, do: {"warning: " <> it.message, place(it)})}

        {:error, findings} ->
          {:error, for(it <- findings, do: {it.message, place(it)})}
      end
    else
      false -> {:ok, []}
      error -> error
    end
  end

  defp place(%{line: nil}), do: []
  defp place(%{line: line, column: column}), do: [line, column]

  defp program(text) do
    with {:error, error, path} <- Explain.Observed.check(text) do
      place =
        case Failure.range(text, error, path) do
          nil -> []
          {offset, _length} -> Tuple.to_list(Place.line_and_column(text, offset))
        end

      {:error, [{Json.format_error(error), place}]}
    else
      :ok -> {:ok, []}
    end
  end

  defp signature(text) do
    with {:error, message} <- text |> String.trim() |> Signature.parse(),
         do: {:error, [{message, []}]},
         else: (_signature -> {:ok, []})
  end
end

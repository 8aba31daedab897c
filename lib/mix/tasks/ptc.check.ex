defmodule Mix.Tasks.Ptc.Check do
  @shortdoc "Checks PTC-JSON programs and signatures"
  @moduledoc """
  Validates programs and signatures without running anything; for continuous integration.

      mix ptc.check programs/*.json signatures/*.sig

  A file whose name ends in `.json` is a program, any other file is a signature. Each error is one line,
  `file:line:column: message`. The exit code is 1 if there is an error.
  """

  use Mix.Task

  alias PtcRunner.CLI.{Failure, Files, Place}
  alias PtcRunner.Json
  alias PtcRunner.Json.Explain
  alias PtcRunner.SubAgent.Signature

  @impl true
  def run(args) when args in [["--help"], ["-h"]],
    do: Mix.shell().info(Mix.Task.moduledoc(__MODULE__) || "see `mix help ptc.check`")

  def run(args) do
    Mix.Task.run("app.config")
    {:ok, _apps} = Application.ensure_all_started(:ptc_runner_native)

    case OptionParser.parse(args, strict: []) do
      {[], [_ | _] = paths, []} -> check(paths)
      _other -> Mix.raise("expected files: mix ptc.check FILE…")
    end
  end

  defp check(paths) do
    wrong = Enum.count(paths, &(check_file(&1) == :wrong))
    right = length(paths) - wrong
    Mix.shell().info("#{right} right, #{wrong} wrong")
    if wrong > 0, do: exit({:shutdown, 1})
  end

  defp check_file(path) do
    text = Files.text!(path)

    case if(String.ends_with?(path, ".json"), do: program(text), else: signature(text)) do
      :ok ->
        :ok

      {:error, message, place} ->
        place = Enum.map_join(place, &"#{&1}:")
        Mix.shell().error(IO.ANSI.format([path, ":", place, " ", :red, message]))
        :wrong
    end
  end

  defp program(text) do
    with {:error, error, path} <- Explain.Observed.check(text) do
      place =
        case Failure.range(text, error, path) do
          nil -> []
          {offset, _length} -> Tuple.to_list(Place.line_and_column(text, offset))
        end

      {:error, Json.format_error(error), place}
    end
  end

  defp signature(text) do
    with {:error, message} <- text |> String.trim() |> Signature.parse(),
         do: {:error, message, []},
         else: (_signature -> :ok)
  end
end

defmodule PtcRunner.Test.Guides do
  @moduledoc false
  # The examples of the Markdown files as doctests: one module per file. Its documentation is the
  # file without its code fences (which older versions of ExUnit read as results).

  for {module, path} <- [
        Cheatsheet: "guides/cheatsheet.cheatmd",
        DropIn: "guides/drop_in.md",
        Engine: "guides/engine.md",
        LargeAnswers: "guides/large_answers.md",
        Observability: "guides/observability.md",
        Signatures: "guides/signatures.md"
      ] do
    defmodule Module.concat(__MODULE__, module) do
      @external_resource path
      @moduledoc Regex.replace(~r/^```.*$/m, File.read!(path), "")
    end
  end

  @doc "The code of a guide under the name of a file."
  def file(path, name) do
    [code] = Enum.filter(blocks(File.read!(path)), &String.starts_with?(&1, "# #{name}\n"))
    code
  end

  @doc """
  The examples of a guide, as one doctest. A text after `IO.puts` is its output. An exception is
  compared by its message, because a doctest can have only one exception.
  """
  def examples(path) do
    path
    |> File.read!()
    |> printed()
    |> raised()
    |> blocks()
    |> Enum.filter(&(&1 =~ ~r/^iex>/m))
    |> Enum.join("\n")
    # an empty line would begin another test, without the variables of the previous one
    |> String.replace(~r/\n+/, "\n")
  end

  defp printed(text) do
    ~r/^iex> IO\.puts\(([^\n]*)\)\n```\n\n```text\n(.*?)\n```/ms
    |> Regex.replace(text, fn _all, term, text ->
      "iex> String.trim_trailing(#{term})\n#{inspect(text)}\n```"
    end)
  end

  defp raised(text) do
    Regex.replace(~r/^iex> ([^\n]*)\n\*\* \((\w+)\) ([^\n]*)$/m, text, fn _all,
                                                                          call,
                                                                          error,
                                                                          message ->
      "iex> try do #{call}; rescue error in #{error} -> Exception.message(error); end\n#{inspect(message)}"
    end)
  end

  defp blocks(text),
    do:
      ~r/^```elixir\n(.*?)^```$/ms |> Regex.scan(text, capture: :all_but_first) |> List.flatten()
end

# Guides whose examples depend on one another: all of them are one doctest.
for {module, path} <- [
      Readme: "README.md",
      Programs: "guides/programs.md",
      Questions: "guides/questions.md",
      Answers: "guides/answers.md",
      GettingStarted: "guides/getting_started.md",
      ErrorsAndFeedback: "guides/errors_and_feedback.md",
      TestingPrograms: "guides/testing_programs.md",
      ToolsUnderControl: "guides/tools_under_control.md",
      ToolsFromElsewhere: "guides/tools_from_elsewhere.md",
      ExtractingRecords: "guides/extracting_records.md",
      ResultsThatProvidersEnforce: "guides/results_that_providers_enforce.md"
    ] do
  defmodule Module.concat(PtcRunner.Test.Guides, module) do
    @external_resource path
    @moduledoc PtcRunner.Test.Guides.examples(path)
  end
end

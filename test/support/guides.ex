defmodule PtcRunner.Test.Guides do
  @moduledoc false
  # The examples of the Markdown files as doctests: one module a file, whose documentation is the
  # file without its code fences (which older versions of ExUnit take for results).

  for {module, path} <- [
        Readme: "README.md",
        DropIn: "guides/drop_in.md",
        Engine: "guides/engine.md",
        Observability: "guides/observability.md",
        Signatures: "guides/signatures.md"
      ] do
    defmodule Module.concat(__MODULE__, module) do
      @external_resource path
      @moduledoc Regex.replace(~r/^```.*$/m, File.read!(path), "")
    end
  end
end

defmodule PtcRunner.Test.Guides.Answers do
  # A guide whose examples go on from one another: all of them are one doctest.

  @external_resource "guides/answers.md"
  @moduledoc ~r/^```elixir\n(.*?)^```$/ms
             |> Regex.scan(File.read!("guides/answers.md"), capture: :all_but_first)
             |> Enum.join()
end

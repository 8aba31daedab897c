defmodule PtcRunner.Test.Guides do
  @moduledoc false
  # The examples of the Markdown files as doctests: one module a file, whose documentation is the
  # file without its code fences (which older versions of ExUnit take for results).

  for {module, path} <- [Readme: "README.md", Signatures: "guides/signatures.md"] do
    defmodule Module.concat(__MODULE__, module) do
      @external_resource path
      @moduledoc Regex.replace(~r/^```.*$/m, File.read!(path), "")
    end
  end
end

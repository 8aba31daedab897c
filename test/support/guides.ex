defmodule PtcRunner.Test.Guides do
  @moduledoc """
  The guides as the documentation of modules, so that `doctest` runs their examples.
  """

  for guide <- ["engine"] do
    path = Path.expand("../../guides/#{guide}.md", __DIR__)

    defmodule Module.concat(__MODULE__, Macro.camelize(guide)) do
      @external_resource path
      @moduledoc File.read!(path)
    end
  end
end

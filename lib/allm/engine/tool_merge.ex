# An application that has the ALLM package keeps its modules: see guides/engine.md.
unless Code.ensure_loaded?(ALLM) do
  defmodule ALLM.Engine.ToolMerge do
    @moduledoc false
    # Two lists of tools, merged by name: the second list replaces in place or appends.
    #
    # What has no name, or is no tool at all, replaces nothing and is replaced by nothing.

    alias PtcRunner.{Native, Quanta}
    alias PtcRunner.Native.Panic
    require Quanta

    @doc """
    Merges `overrides` into `tools`; linear. A list that is improper, or is none, is not merged.

        iex> ALLM.Engine.ToolMerge.merge([%{name: "a"}, %{name: "b"}], [%{name: "b", new: true}])
        [%{name: "a"}, %{name: "b", new: true}]

    """
    @spec merge([map()], [map()]) :: [map()]
    def merge(tools, overrides) do
      {:ok, merged} = Quanta.run(Native.merge_tools(tools, overrides))
      merged
    catch
      :error, :nif_panicked -> Panic.raise!()
    end
  end
end

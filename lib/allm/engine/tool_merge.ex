# An application that has the ALLM package keeps its modules: see guides/engine.md.
unless Code.ensure_loaded?(ALLM) do
  defmodule ALLM.Engine.ToolMerge do
    @moduledoc false
    # Merges two lists of tools by name: a tool of the second list replaces in place or is appended.
    #
    # Terms without a name and terms that are not tools do not take part in replacement.

    alias PtcRunner.{Native, Quanta}
    require Quanta

    @doc """
    Merges `overrides` into `tools`, in linear time. An invalid or improper list is not merged.

        iex> ALLM.Engine.ToolMerge.merge([%{name: "a"}, %{name: "b"}], [%{name: "b", new: true}])
        [%{name: "a"}, %{name: "b", new: true}]

    """
    @spec merge([map()], [map()]) :: [map()]
    def merge(tools, overrides) do
      {:ok, merged} = Quanta.run!(Native.merge_tools(tools, overrides))
      merged
    end
  end
end

defmodule PtcRunnerMcp.DoctestsTest do
  use ExUnit.Case, async: true

  {:ok, modules} = :application.get_key(:ptc_runner_mcp, :modules)
  support = [PtcRunnerMcp.Requests]

  for module <- modules,
      module not in support,
      {:docs_v1, _, _, _, _, _, docs} = Code.fetch_docs(module),
      Enum.any?(docs, fn {_, _, _, doc, _} ->
        is_map(doc) and Enum.any?(Map.values(doc), &(&1 =~ "iex>"))
      end) do
    doctest module
  end

  # A public function without an example may still be one that only a test with processes can show.
  test "each public function has a text and a spec" do
    {:ok, modules} = :application.get_key(:ptc_runner_mcp, :modules)

    missing =
      for module <- modules,
          not String.starts_with?(inspect(module), "PtcRunnerMcp.Test"),
          module not in [
            PtcRunnerMcp.Requests,
            PtcRunnerMcp.Application,
            Mix.Tasks.Ptc.Mcp,
            PtcRunnerMcp.Http.Inets.Plain
          ],
          {:docs_v1, _, _, _, _, _, docs} = Code.fetch_docs(module),
          {:ok, specs} = Code.Typespec.fetch_specs(module),
          {{:function, name, arity}, _, _, doc, _} <- docs,
          name not in [
            :code_change,
            :stop,
            :__struct__,
            :child_spec,
            :init,
            :handle_call,
            :handle_info,
            :handle_cast,
            :terminate,
            :handle_continue
          ],
          doc == :none or not List.keymember?(specs, {name, arity}, 0),
          do: {module, name, arity}

    assert missing == []
  end
end

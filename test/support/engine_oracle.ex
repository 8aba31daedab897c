defmodule PtcRunner.Test.EngineOracle do
  @moduledoc """
  The resolvers of `ALLM.Engine`, written word by word from their rules, and therefore slow.
  """

  @never_forwarded ~w(adapter adapter_opts model tools tool_executor tool_result_encoder image_adapter
                      params context retry middleware metadata api_key)a

  @doc "The tools of a call."
  def resolve_tools(engine, opts) do
    case Keyword.fetch(opts, :tools) do
      :error ->
        engine.tools

      {:ok, overrides} ->
        replaced =
          for tool <- engine.tools,
              do: overrides |> Enum.filter(&(&1.name === tool.name)) |> List.last(tool)

        names = for tool <- engine.tools, do: tool.name
        replaced ++ for(tool <- overrides, not Enum.any?(names, &(&1 === tool.name)), do: tool)
    end
  end

  @doc "The params of a call."
  def resolve_params(engine, opts) do
    Enum.reduce(opts, engine.params, fn {key, value}, params ->
      if key in @never_forwarded, do: params, else: Map.put(params, key, value)
    end)
  end
end

defmodule Bench.ByHand.Engine do
  @moduledoc false
  # The resolvers as usually written by hand, and a second, faster version of the merge of tools.

  @never_forwarded [:adapter, :adapter_opts, :model, :tools, :tool_executor, :tool_result_encoder] ++
                     [:image_adapter, :params, :context, :retry, :middleware, :metadata, :api_key]

  @spec resolve_tools(ALLM.Engine.t(), keyword) :: [ALLM.Tool.t()]
  def resolve_tools(engine, opts) do
    case Keyword.fetch(opts, :tools) do
      :error ->
        engine.tools

      {:ok, overrides} ->
        by_name = Map.new(overrides, &{&1.name, &1})
        names = MapSet.new(engine.tools, & &1.name)
        replaced = Enum.map(engine.tools, &Map.get(by_name, &1.name, &1))
        replaced ++ Enum.reject(overrides, &(&1.name in names))
    end
  end

  @doc "One map for the new tools, another only for the names that were met, no function calls."
  @spec resolve_tools_tuned(ALLM.Engine.t(), keyword) :: [ALLM.Tool.t()]
  def resolve_tools_tuned(engine, opts) do
    case List.keyfind(opts, :tools, 0) do
      nil ->
        engine.tools

      {:tools, overrides} ->
        by_name = :maps.from_list(for tool <- overrides, do: {tool.name, tool})
        {replaced, met} = replace(engine.tools, by_name, [], %{})
        replaced ++ for tool <- overrides, not is_map_key(met, tool.name), do: tool
    end
  end

  defp replace([], _by_name, replaced, met), do: {:lists.reverse(replaced), met}

  defp replace([%{name: name} = tool | tools], by_name, replaced, met) do
    case by_name do
      %{^name => new} -> replace(tools, by_name, [new | replaced], Map.put(met, name, true))
      _not_replaced -> replace(tools, by_name, [tool | replaced], met)
    end
  end

  @spec resolve_params(ALLM.Engine.t(), keyword) :: map
  def resolve_params(engine, opts) do
    Map.merge(engine.params, opts |> Keyword.drop(@never_forwarded) |> Map.new())
  end

  @spec resolve_model(ALLM.Engine.t(), keyword) :: term
  def resolve_model(engine, opts) do
    model = opts[:model] || engine.model
    if Code.ensure_loaded?(LLMDB), do: apply(LLMDB, :model, [model]), else: model
  end

  @spec merge_opts(ALLM.Engine.t(), keyword) :: ALLM.Engine.t()
  def merge_opts(engine, opts) do
    Enum.reduce(opts, engine, fn
      {:model, model}, engine ->
        %{engine | model: model}

      {:tools, tools}, engine ->
        %{engine | tools: resolve_tools(engine, tools: tools)}

      {:params, params}, engine when is_map(params) ->
        %{engine | params: Map.merge(engine.params, params)}

      {:context, context}, engine when is_map(context) ->
        %{engine | context: Map.merge(engine.context, context)}

      _other, engine ->
        engine
    end)
  end
end

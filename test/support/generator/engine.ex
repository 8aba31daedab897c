defmodule PtcRunner.Test.Generator.Engine do
  @moduledoc false
  # Random engines: serializable ones that JSON restores; and options of calls, valid or not.

  import PtcRunner.Test.Random
  alias ALLM.{Engine, Tool}
  alias PtcRunner.Test.Generator.Json

  @doc "An engine that JSON restores unchanged."
  def engine do
    map(
      {
        %{
          adapter: module(),
          adapter_opts: list_of({existing_atom(), json()}, 0..3),
          model: one_of([nil, "fake:m", Json.string()]),
          tools: list_of(tool(), 0..4),
          tool_executor: module(),
          tool_result_encoder: module(),
          image_adapter: module(),
          retry: one_of([:default, false, list_of({existing_atom(), json()}, 1..2)])
        },
        {existing_map(), existing_map(), existing_map()}
      },
      fn {fields, {params, context, metadata}} ->
        struct!(
          Engine,
          Map.merge(fields, %{params: params, context: context, metadata: metadata})
        )
      end
    )
  end

  @doc "A tool that JSON restores unchanged. Few names, so that they are often equal."
  def tool do
    template = %{
      name: one_of(["a", "b", "c", "", "ä"]),
      description: Json.string(),
      schema: map(list_of({Json.string(), json()}, 0..3), &Map.new/1),
      manual: one_of([true, false])
    }

    map(template, &struct!(Tool, &1))
  end

  @doc "Options of a call with valid tools and params."
  def opts do
    list_of(
      frequency([
        {2, {:tools, list_of(tool(), 0..12)}},
        {1, {:model, one_of([nil, "m"])}},
        {1, {one_of([:params, :context]), existing_map()}},
        {4, {existing_atom(), integer(0..9)}},
        {1, {one_of([:adapter, :api_key, :retry, :metadata]), 1}}
      ]),
      0..6
    )
  end

  @doc "A keyword list of anything."
  def any_opts do
    value =
      frequency([
        {3, Json.term(10)},
        {2, list_of(one_of([tool(), Json.term(10)]), 0..3)},
        {1, [1 | 2]}
      ])

    list_of({one_of([:tools, :model, :params, :context, :other]), value}, 0..6)
  end

  # Values that JSON restores unchanged: no atoms except nil, true and false.
  defp json, do: lazy(fn -> map(Json.text(2), fn {_text, value} -> value end) end)

  defp existing_map, do: map(list_of({existing_atom(), json()}, 0..3), &Map.new/1)
  defp existing_atom, do: one_of([:temperature, :top_p, :mode, :verify, :日本, nil, true, String])
  defp module, do: one_of([nil, String, ALLM.Tool, :some_erlang_module])
end

defmodule Bench.Programs do
  @moduledoc false
  # The programs' texts, as a language model writes them. `Bench.ByHand` has the same in Elixir.

  @doc "The text of the program of that name."
  @spec text(atom) :: String.t()
  def text(:filter_sum) do
    pipe(
      ~s({"op":"filter","where":{"op":"gt","field":"amount","value":500}},{"op":"sum","field":"amount"})
    )
  end

  # One category of twenty.
  def text(:filter_text) do
    pipe(
      ~s({"op":"filter","where":{"op":"eq","field":"category","value":"category 7"}},) <>
        ~s({"op":"sum","field":"amount"})
    )
  end

  def text(:filter_sort) do
    pipe(
      ~s({"op":"filter","where":{"op":"and","conditions":[) <>
        ~s({"op":"eq","field":"active","value":true},{"op":"gt","field":"amount","value":250}]}},) <>
        ~s({"op":"sort_by","field":"price","order":"desc"},) <>
        ~s({"op":"select","fields":["id","name","price"]},{"op":"take","count":10})
    )
  end

  def text(:select_count),
    do: pipe(~s({"op":"select","fields":["id","name","price"]},{"op":"count"}))

  def text(:map_object) do
    pipe(
      ~s({"op":"map","expr":{"op":"object","fields":{"id":{"op":"get","field":"id"},) <>
        ~s("label":{"op":"get","field":"name"},"value":{"op":"get","field":"amount"}}}})
    )
  end

  def text(:get_distinct) do
    pipe(
      ~s({"op":"map","expr":{"op":"get","path":["owner","address","city"]}},) <>
        ~s({"op":"distinct"},{"op":"count"})
    )
  end

  def text(:tool_map) do
    pipe(~s({"op":"map","expr":{"op":"call","tool":"double","args":{"n":21}}}))
  end

  def text(:group_totals) do
    pipe(
      ~s({"op":"group_by","field":"category","each":{"n":{"op":"count"},) <>
        ~s("total":{"op":"sum","field":"amount"}}})
    )
  end

  def text(:group_items), do: pipe(~s({"op":"group_by","field":"category"}))

  def text(:join_column) do
    pipe(
      ~s({"op":"join","with":{"op":"load","name":"customers"},"on":"id"},) <>
        ~s({"op":"set","fields":{"net":{"op":"mul","left":{"op":"get","field":"amount"},) <>
        ~s("right":{"op":"get","field":"discount"}}}})
    )
  end

  def text(:set_columns) do
    pipe(
      ~s({"op":"set","fields":{) <>
        ~s("total":{"op":"mul","left":{"op":"get","field":"amount"},"right":{"op":"get","field":"price"}},) <>
        ~s("net":{"op":"sub","left":{"op":"get","field":"price"},"right":{"op":"get","field":"amount"}}}})
    )
  end

  def text(:sum_product) do
    pipe(
      ~s({"op":"sum","expr":{"op":"mul","left":{"op":"get","field":"amount"},) <>
        ~s("right":{"op":"get","field":"price"}}})
    )
  end

  def text(:filter_pattern),
    do: visits(~s'{"op":"matches","field":"name","pattern":"[24]7 (North|South)"}')

  def text(:filter_lower) do
    visits(~s({"op":"eq","left":{"op":"lower","field":"name"},"value":"visitor 7 north"}))
  end

  def text(:filter_month) do
    visits(~s({"op":"eq","left":{"op":"date_part","field":"day","part":"month"},"value":3}))
  end

  # Five steps, including the load.
  def text(:five_steps) do
    pipe(
      ~s({"op":"filter","where":{"op":"gt","field":"amount","value":500}},) <>
        ~s({"op":"sort_by","field":"price","order":"desc"},) <>
        ~s({"op":"select","fields":["id","name","price"]},{"op":"take","count":3})
    )
  end

  def text(:tool_once), do: program(~s({"op":"call","tool":"double","args":{"n":21}}))

  def text(:literal), do: program(~s({"op":"literal","value":42}))

  def text(:literal_objects) do
    objects =
      for n <- 1..10, do: ~s({"id":#{n},"name":"Customer #{n}","price":#{n}.25,"active":true})

    program(~s({"op":"literal","value":[#{Enum.join(objects, ",")}]}))
  end

  defp pipe(steps) do
    program(~s({"op":"pipe","steps":[{"op":"load","name":"rows"},#{steps}]}))
  end

  defp visits(condition) do
    load = ~s({"op":"load","name":"visits"})

    program(
      ~s({"op":"pipe","steps":[#{load},{"op":"filter","where":#{condition}},{"op":"count"}]})
    )
  end

  defp program(node), do: ~s({"program":#{node}})
end

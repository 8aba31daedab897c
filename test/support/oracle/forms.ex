defmodule PtcRunner.Test.Oracle.Forms do
  @moduledoc false
  # The checks between the fields of a node of edition 2: of some fields one may be given, or one must.

  import PtcRunner.Test.Oracle.Fail, only: [fail: 1]

  @expr ["field", "expr"]
  @left ["field", "left"]
  @value ["field", "value"]

  @one_of Map.new(~w(sum avg min max min_by max_by index_by median percentile), &{&1, @expr})
          |> Map.merge(%{
            "sort_by" => ["field", "expr", "by"],
            "group_by" => ["field", "fields", "expr"]
          })
  @at_most Map.new(
             ~w(eq neq gt gte lt lte contains in starts_with ends_with matches),
             &{&1, @left}
           )
           |> Map.merge(
             Map.new(
               ~w(upper lower trim length split replace extract to_number to_text abs floor ceil date_add date_part),
               &{&1, @value}
             )
           )
           |> Map.put("distinct", @expr)

  @doc "Fails for forms that exclude each other; without one of those that must be there too if `strict?`."
  @spec check(map(), boolean()) :: :ok
  def check(%{"op" => op} = node, strict?) do
    forms = Map.get(@one_of, op) || Map.get(@at_most, op, [])
    given = Enum.filter(forms, &Map.has_key?(node, &1))

    with [one, other | _] <- given, do: both(op, one, other)
    beside(op, node)

    if strict? and given == [] and is_map_key(@one_of, op), do: missing(op, "field")
    special(op, node, strict?)
  end

  defp beside("sort_by", %{"order" => _, "by" => _}), do: both("sort_by", "order", "by")
  defp beside("group_by", %{"as" => _, "fields" => _}), do: both("group_by", "as", "fields")
  defp beside(_op, _node), do: :ok

  defp special("get", %{"key" => _} = node, _strict?) do
    if is_map_key(node, "field") or is_map_key(node, "path"),
      do: fail("Operation 'get' accepts 'field', 'path' or 'key', not several"),
      else: :ok
  end

  defp special("get", %{"field" => _, "path" => _}, true), do: both("get", "field", "path")

  defp special("get", node, true)
       when not is_map_key(node, "field") and not is_map_key(node, "path"),
       do: fail("Operation 'get' requires either 'field' or 'path'")

  defp special("join", %{"on" => _} = node, _strict?)
       when is_map_key(node, "left") or is_map_key(node, "right"),
       do: fail("Operation 'join' accepts 'on' or 'left' and 'right', not both")

  defp special("join", node, _strict?)
       when not is_map_key(node, "on") and not is_map_key(node, "left") and
              not is_map_key(node, "right"),
       do: missing("join", "on")

  defp special("join", node, _strict?) do
    cond do
      is_map_key(node, "on") -> :ok
      not is_map_key(node, "right") -> missing("join", "right")
      not is_map_key(node, "left") -> missing("join", "left")
      true -> :ok
    end

    if node["kind"] == "group" and not is_map_key(node, "as"),
      do: missing("join", "as"),
      else: :ok
  end

  defp special(_op, _node, _strict?), do: :ok

  defp both(op, one, other),
    do: fail("Operation '#{op}' accepts '#{one}' or '#{other}', not both")

  @doc "Fails for a field that is not there."
  @spec missing(String.t(), String.t()) :: no_return()
  def missing(op, name), do: fail("Operation '#{op}' requires field '#{name}'")
end

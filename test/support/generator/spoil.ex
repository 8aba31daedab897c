defmodule PtcRunner.Test.Generator.Spoil do
  @moduledoc false
  # Makes one part of a program wrong, or at least different: wrong operations, missing and
  # superfluous fields, operands that are not nodes, nodes with a current value of their own.

  import PtcRunner.Test.Random

  alias PtcRunner.Test.Generator.{Data, Texts}
  alias PtcRunner.Test.Oracle.Check
  alias PtcRunner.Test.Places

  @doc "The program with one random part changed."
  @spec spoil(map(), 1 | 2) :: PtcRunner.Test.Random.generator(term())
  def spoil(program, edition \\ 1) do
    map(one_of(Places.all(program)), fn place ->
      map(change(List.last(place), Places.at(program, place), edition), &put(program, place, &1))
    end)
  end

  defp put(program, place, :delete), do: Places.delete(program, place)
  defp put(program, place, new), do: Places.put(program, place, new)

  defp change("op", name, edition) do
    frequency([
      {4, one_of(Check.names(edition))},
      {3, misspelled(name)},
      {1, one_of([nil, 42, :count, %{"a" => 1}, "", "Count", "žluť"])},
      {1, :delete}
    ])
  end

  # The specification does not say whether a struct may replace these objects.
  defp change(key, _object, _edition) when key in ["args", "fields", "each"] do
    one_of([:delete, nil, 5, [], ["a", 1], "x", %{}, %{"op" => "count"}])
  end

  # The limits of a range are small: the oracle has no heap limit.
  defp change(key, _limit, _edition) when key in ["from", "to"],
    do: one_of([:delete, nil, "x", 1.5, [1], %{"op" => "count"}])

  defp change("pattern", _pattern, _edition), do: one_of([:delete, nil, Texts.no_pattern()])

  defp change(_key, %{"op" => _} = node, edition) do
    frequency([
      {3, :delete},
      {3, wrong(edition)},
      {2, Map.put(node, "__input", own_input())},
      {1, map({one_of(fields(edition)), wrong(edition)}, &put_field(node, &1))},
      {2, mistyped(node)},
      {1, [node]}
    ])
  end

  defp change(_key, _literal, edition), do: frequency([{1, :delete}, {3, wrong(edition)}])

  defp fields(1), do: ~w(field value path result default)

  defp fields(2),
    do:
      fields(1) ++
        ~w(left expr as key by each where kind unit part on right separator size p all find with)

  # One of its fields under another name, similar or not.
  defp mistyped(node) do
    map(one_of(Map.keys(node)), fn name ->
      map(misspelled(name), &(node |> Map.delete(name) |> Map.put(&1, node[name])))
    end)
  end

  defp put_field(node, {field, value}), do: Map.put(node, field, value)

  defp own_input, do: one_of([nil, 5, [1, 2], [%{"id" => 1, "amount" => 2}], %{"id" => 3}])

  defp wrong(edition) do
    frequency([
      {2, one_of([nil, true, "x", 5, -1, 1.5, :atom, Integer.pow(10, 30)])},
      {1, one_of([[], %{}, [nil], ["a", 1], %{"a" => 1}])},
      {2, %{"op" => one_of(["bogus", nil, 7, "count", "count"])}},
      {2, %{"op" => one_of(Check.names(edition))}},
      {1, Data.any()},
      {1, Data.odd()}
    ])
  end

  defp misspelled(name) when is_binary(name) and name != "" do
    map({integer(0..(String.length(name) - 1)), one_of(["", "x", "ee", "é"])}, fn {at, new} ->
      {before, rest} = String.split_at(name, at)
      before <> new <> String.slice(rest, 1..-1//1)
    end)
  end

  defp misspelled(_name), do: "lod"
end

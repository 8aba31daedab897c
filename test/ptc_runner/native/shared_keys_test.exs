defmodule PtcRunner.Native.SharedKeysTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Codec

  # Maps of up to 32 entries share their keys; larger ones are trees.
  @sizes [1, 2, 3, 7, 31, 32, 33, 40]

  defp rows(keys), do: for(n <- 1..40, do: Map.new(keys, &{&1, :erlang.phash2({n, &1})}))

  defp objects(rows, keys) do
    fields = Enum.map_join(keys, ",", &~s("#{&1}":{"op":"get","field":"#{&1}"}))
    object = ~s({"op":"object","fields":{#{fields}}})

    Json.run!(
      ~s({"program":{"op":"pipe","steps":[{"op":"load","name":"rows"},{"op":"map","expr":#{object}}]}}),
      context: %{"rows" => rows}
    )
  end

  for size <- @sizes, order <- [:ascending, :descending, :mixed] do
    test "#{size} keys, #{order}: maps with shared keys are maps like all others" do
      keys = for n <- 1..unquote(size), do: "key #{n}"

      keys =
        case unquote(order) do
          :ascending -> Enum.sort(keys)
          :descending -> Enum.sort(keys, :desc)
          :mixed -> Enum.sort_by(keys, &:erlang.phash2/1)
        end

      rows = rows(keys)
      made = objects(rows, keys)

      assert made === rows
      :erlang.garbage_collect()
      assert made === rows
      assert Enum.map(made, &:erlang.phash2/1) == Enum.map(rows, &:erlang.phash2/1)

      assert Enum.map(made, &:erlang.term_to_binary/1) ==
               Enum.map(rows, &:erlang.term_to_binary/1)

      assert Enum.map(made, &Map.put(&1, "a", 1)) === Enum.map(rows, &Map.put(&1, "a", 1))
      assert Enum.map(made, &Enum.sort/1) === Enum.map(rows, &Enum.sort/1)
      assert Task.await(Task.async(fn -> made end)) === rows
    end
  end

  test "the maps of a program, of select and of a text share their keys" do
    keys = ["id", "label", "value"]
    rows = rows(keys)
    select = ~s({"program":{"op":"pipe","steps":[{"op":"load","name":"rows"},
      {"op":"select","fields":["id","value"]}]}})

    {:ok, decoded} =
      Codec.decode(String.duplicate(~s({"a":{"b":1,"c":2},"d":3},), 40) |> listed())

    for maps <- [objects(rows, keys), Json.run!(select, context: %{"rows" => rows}), decoded] do
      assert :erts_debug.size(maps) < :erts_debug.flat_size(maps)
    end
  end

  defp listed(items), do: "[" <> String.trim_trailing(items, ",") <> "]"

  test "a key that occurs twice, and other keys after it" do
    text = ~s([{"a":1,"b":2},{"a":1,"a":2},{"b":1,"a":2},{"a":3},{"a":4,"b":5},{"c":1,"b":2}])
    {:ok, maps} = Codec.decode(text)

    assert maps === [
             %{"a" => 1, "b" => 2},
             %{"a" => 1},
             %{"a" => 2, "b" => 1},
             %{"a" => 3},
             %{"a" => 4, "b" => 5},
             %{"b" => 2, "c" => 1}
           ]
  end
end

defmodule PtcRunner.Json.BrokenTextsTest do
  # A large text that is not JSON is the error of the tool, or of the context, and nothing is built to find it.
  use ExUnit.Case, async: true

  doctest PtcRunner.Json.Codec.Reading

  alias PtcRunner.Json

  @row ~s({"id": 1, "name": "abc", "v": [1,2,3]})
  @caught ~s({"program": {"op": "call", "tool": "t", "args": {}, "on_error": "caught"}})
  @load ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "x"}, {"op": "count"}]}})

  # A value, and what is none behind it.
  defp behind(count),
    do: for(more <- ["]", " x", "\n[1]", "{"], do: "[" <> rows(count) <> "]" <> more)

  defp rows(count), do: Enum.map_join(1..count//1, ",", fn _ -> @row end)

  defp nested(count),
    do: for(part <- ["[", "[1,", ~s({"a":), ~s({"a":[)], do: String.duplicate(part, 50 * count))

  test "the answer of a tool" do
    large = if PtcRunner.Test.Environment.many?(), do: 50_000, else: 15_000

    for count <- [10, large],
        broken <-
          ["[" <> rows(count), "[" <> rows(count) <> ",,1]", "[" <> rows(count) <> "}"] ++
            behind(count) ++ nested(count) do
      tools = %{"t" => fn _ -> Json.text(broken) end}
      assert {:ok, "caught", _, _} = Json.run(@caught, tools: tools)
      program = String.replace(@caught, ~s(, "on_error": "caught"), "")
      assert {:error, {:execution_error, text}} = Json.run(program, tools: tools)
      assert text =~ "Tool 't' error: " and text =~ "JSON decode error: Unexpected"
    end
  end

  test "the context" do
    for count <- [10, 25_000, 450_000] do
      broken = "[" <> rows(count)
      :erlang.garbage_collect()
      before = own_memory()

      assert {:error, {:execution_error, text}} =
               Json.run(@load, context: %{"x" => Json.text(broken)}, timeout: 60_000)

      assert text ==
               "Context 'x': JSON decode error: Unexpected end of input at position #{byte_size(broken)}"

      assert own_memory() - before < 300_000_000
    end
  end

  # Other tests run beside this one, so only the memory of the caller counts.
  defp own_memory, do: self() |> Process.info(:memory) |> elem(1)

  test "a text that is JSON and too large is that error" do
    text = Json.text("[" <> rows(100_000) <> "]")

    program =
      ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "x"}, {"op": "map", "expr": {"op": "set", "fields": {"a": 1}}}]}})

    assert {:error, {:memory_exceeded, _}} =
             Json.run(program, context: %{"x" => text}, timeout: 60_000)
  end
end

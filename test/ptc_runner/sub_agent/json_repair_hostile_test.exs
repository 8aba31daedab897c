defmodule PtcRunner.SubAgent.JsonRepairHostileTest do
  # Texts made to take long: they end, and no normal scheduler is held meanwhile.
  use ExUnit.Case, async: false

  alias PtcRunner.SubAgent.JsonParser
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.Test.{Answers, SliceClock}

  @units [
    "[",
    "{",
    "\"",
    "'",
    "`",
    "{\"a\":",
    "{\"a\":\"",
    "[\"a\" ",
    "a,\"",
    "\\",
    "1,",
    "/*",
    "...",
    "“",
    "a b: ",
    "}",
    "\n",
    "{\"a\":1}"
  ]
  @signature "{a :any, b [{a :string}]?}"

  defp text(unit, bytes), do: String.duplicate(unit, div(bytes, byte_size(unit)))

  # What happens once may be the hypervisor.
  defp holds(fun, attempts \\ 3) do
    before = SliceClock.marks()
    fun.()

    case SliceClock.held_since(before) do
      [] -> []
      nifs when attempts == 1 -> nifs
      _nifs -> holds(fun, attempts - 1)
    end
  end

  test "up to what a normal scheduler takes, and beyond" do
    {:ok, signature} = PtcRunner.SubAgent.Signature.parse(@signature)
    agent = Answers.agent(signature)

    held =
      for unit <- @units, bytes <- [4_096, 50_000], prefix <- ["", "{\"a\": [\"x\" "] do
        text = binary_part(prefix <> text(unit, bytes), 0, bytes - 8)

        holds(fn ->
          assert elem(JsonParser.repair(text), 0) in [:ok, :error]
          assert elem(JsonParser.repair(text, signature), 0) in [:ok, :error]
          JsonHandler.handle_json_answer(text, agent, Answers.state(), repair: true)
        end)
      end

    assert List.flatten(held) == []
  end

  test "1 MB" do
    for unit <- ["[", "\"", "{\"a\":", "```", "[\"a\" "] do
      {microseconds, result} = :timer.tc(fn -> JsonParser.repair(text(unit, 1_000_000)) end)
      assert elem(result, 0) in [:ok, :error]
      assert microseconds < 30_000_000, "#{unit}: #{microseconds} µs"
    end
  end
end

defmodule PtcRunner.SubAgent.JsonRepairHostileTest do
  # Texts made to take long: they end, and no normal scheduler is held meanwhile.
  use ExUnit.Case, async: true

  alias PtcRunner.Native
  alias PtcRunner.SubAgent.JsonParser
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.Test.{Answers, Room, SliceClock}

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

  # What goes beyond it: with PTC_CASES further.
  @beyond if PtcRunner.Test.Environment.many?(), do: 50_000, else: 16_000
  @long if PtcRunner.Test.Environment.many?(), do: 1_000_000, else: 300_000

  test "up to what a normal scheduler takes, and beyond" do
    {:ok, signature} = PtcRunner.SubAgent.Signature.parse(@signature)
    agent = Answers.agent(signature)

    held =
      for unit <- @units, bytes <- [4_096, @beyond], prefix <- ["", "{\"a\": [\"x\" "] do
        text = binary_part(prefix <> text(unit, bytes), 0, bytes - 8)

        SliceClock.holds(fn ->
          assert elem(JsonParser.repair(text), 0) in [:ok, :error]
          assert elem(JsonParser.repair(text, signature), 0) in [:ok, :error]
          JsonHandler.handle_json_answer(text, agent, Answers.state(), repair: true)
        end)
      end

    assert List.flatten(held) == []
  end

  test "a repair meets its deadline and its heap limit" do
    for unit <- ["[1 ", "{\"a\":", "[\"a\" "], text = text(unit, 2_000_000) do
      {ms, result} = Room.least_ms(2_000, fn -> JsonParser.repair(text, nil, timeout: 20) end)
      assert result == {:error, :timeout}
      assert ms < 2_000
    end

    assert JsonParser.repair(text("[1 ", 2_000_000), nil, max_heap: 1_000) ==
             {:error, :memory_exceeded}

    # What was wrong at first is told.
    agent = Answers.agent(elem(PtcRunner.SubAgent.Signature.parse(@signature), 1))
    opts = [repair: true, timeout: 20]

    answered =
      JsonHandler.handle_json_answer(text("[1 ", 2_000_000), agent, Answers.state(), opts)

    assert elem(answered, 0) == :continue
  end

  test "texts that an attack found: markers, brackets and stray characters without end" do
    a = {:map, [{"a", {:map, [{"a", {:optional, :float}}]}}]}

    for {text, type} <- [
          {text("a ``` ", 300_000) <> "{a:1,}", nil},
          {"```x " <> text("a``` ", 300_000), nil},
          {text("a ```\n", 300_000) <> "{a:1,}", nil},
          {text("[", 300_000) <> "1,234", nil},
          {~s({"a": 1}) <> text("}", 300_000) <> ",", {:list, :any}},
          {~s({"a": 1}[1, 2]) <> text("}", 300_000) <> ",;/*", {:list, {:list, :any}}},
          {~s({"items":[1, 2]) <> text("\\", 1_000_000) <> ".", a}
        ] do
      {ms, result} = Room.least_ms(1_500, fn -> JsonParser.repair(text, type, timeout: 50) end)
      assert elem(result, 0) in [:ok, :error]
      with {:ok, _value, repairs} <- result, do: assert(length(repairs) <= 2_000)
      assert ms < 1_500, "#{binary_part(text, 0, 20)}: #{ms} ms"
      part = binary_part(text, 0, 4_086)
      assert SliceClock.holds(fn -> JsonParser.repair(part, type) end) == []
    end
  end

  test "a repair is left, and goes on with its own text and types only" do
    text = text("[\"a\" ", 100_000)

    {:long, state, {^text, nil} = terms} =
      Native.repair_value_dirty(text, nil, 0, false, {:infinity, 0})

    assert_raise ArgumentError, fn -> Native.resume_dirty(state, {text <> "x", nil}, :more) end

    # The state keeps the types that it began with.
    whole = fn other ->
      {:long, state, {^text, nil}} =
        Native.repair_value_dirty(text, nil, 0, false, {:infinity, 0})

      state |> Native.resume_dirty({text, other}, :more) |> PtcRunner.Quanta.finish()
    end

    assert whole.({:list, :string}) == whole.(nil)

    assert_raise ArgumentError, fn -> Native.resume_dirty(state, terms, :more) end
    # A slice does nothing of it.
    {:long, state, terms} = Native.repair_value_dirty(text, nil, 0, false, {:infinity, 0})
    assert {:long, _state, ^terms} = Native.resume(state, terms, :more)
  end

  test "#{@long} bytes" do
    for unit <- ["[", "\"", "{\"a\":", "```", "[\"a\" "] do
      {ms, result} = Room.least_ms(30_000, fn -> JsonParser.repair(text(unit, @long)) end)
      assert elem(result, 0) in [:ok, :error]
      assert ms < div(@long * 3, 100), "#{unit}: #{ms} ms"
    end
  end
end

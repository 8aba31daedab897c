defmodule PtcRunner.Json.ErrorTextTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json.ErrorText
  alias PtcRunner.Json.ErrorText.Scan
  alias PtcRunner.Test.Room

  doctest ErrorText
  doctest Scan
  doctest PtcRunner.Json.Message

  defmodule Silent do
    defstruct []

    defimpl String.Chars do
      def to_string(_struct), do: throw(:silent)
    end
  end

  defp execution(message), do: ErrorText.format({:execution_error, message})

  test "labels the payload of the other kinds" do
    assert ErrorText.format({:parse_error, "bad"}) == "ParseError: bad"
    assert ErrorText.format({:validation_error, :bad}) == "ValidationError: bad"
    assert ErrorText.format({:timeout, 50}) == "TimeoutError: execution exceeded 50ms limit"
    assert ErrorText.format({:memory_exceeded, 8}) == "MemoryError: exceeded 8 byte limit"
  end

  test "inspects what has no text" do
    assert ErrorText.format({:timeout, {1, 2}}) == "Error: {:timeout, {1, 2}}"
    assert ErrorText.format({:parse_error, [-1]}) == "Error: {:parse_error, [-1]}"
    assert ErrorText.format({:parse_error, %Silent{}}) =~ "Error: {:parse_error, %PtcRunner"
    assert ErrorText.format({:execution_error, :text}) == "Error: {:execution_error, :text}"
    assert ErrorText.format([1, 2, 3, 4, 5, 6]) == "Error: [1, 2, 3, 4, 5, ...]"
  end

  test "recognises errors of types" do
    assert execution(~s(x expected a map, got: "a\nb" c)) ==
             ~s(TypeError: expected an object but got: "a\nb")

    assert execution("x expected a map, got: [1, 2]\nmore") ==
             "TypeError: expected an object but got: [1, 2]"

    assert execution(~s({:badmap,"v"})) == ~s(TypeError: expected an object but got: "v")
    assert execution("expected a map") == "TypeError: expected an object but got a different type"

    assert execution("function_clause") ==
             "TypeError: function received unexpected argument types"
  end

  test "recognises errors of keys" do
    assert execution("key :name not found in: %{}") ==
             "KeyError: field 'name' not found in object"

    assert execution(~s(key "a b" not found)) == "KeyError: field 'a b' not found in object"
    assert execution("key 1 not found") == "KeyError: field not found in object"
    assert execution("key  not found") == "ExecutionError: key  not found"
  end

  test "recognises errors of variables" do
    assert execution(~s({:undefined_variable, "a", "b"})) ==
             "UndefinedVariable: 'b' is not defined in context"

    assert execution(~s(undefined_variable\n "c"\n"d")) ==
             "UndefinedVariable: 'c' is not defined in context"

    assert execution(~s(undefined_variable "a"\n"b")) ==
             "UndefinedVariable: 'b' is not defined in context"

    assert execution("undefined_variable \"\xE9\"") ==
             "UndefinedVariable: '\xE9' is not defined in context"

    assert execution("undefined_variable") == "UndefinedVariable: variable not found in context"
  end

  test "cuts values after 50 graphemes and messages after 200" do
    for {size, shown} <- [{50, 50}, {51, 50}] do
      assert execution("expected a map, got: " <> String.duplicate("é", size)) ==
               "TypeError: expected an object but got: " <> String.duplicate("é", shown)
    end

    for {size, shown} <- [{200, 200}, {201, 200}] do
      assert execution(String.duplicate("é", size)) ==
               "ExecutionError: " <> String.duplicate("é", shown)
    end
  end

  # What the documentation says, in regular expressions over bytes.
  defmodule Documented do
    @space "[ \\t-\\r]"
    @word "[A-Za-z0-9_\\xAA\\xB5\\xBA\\xC0-\\xD6\\xD8-\\xF6\\xF8-\\xFF]+"

    def execution(text) do
      cond do
        text =~ "badmap" or text =~ "expected a map" -> type_error(text)
        text =~ "badkey" or find(text, "(key .+ not found)") -> key_error(text)
        text =~ "undefined_variable" -> variable_error(text)
        true -> "ExecutionError: " <> String.slice(hd(String.split(text, "\n")), 0, 200)
      end
    end

    defp type_error(text) do
      start = "TypeError: expected an object but got"

      cond do
        value = find(text, ~s(expected a map, got:#{@space}*"([^"]+\)")) -> start <> quoted(value)
        value = find(text, ~s(expected a map, got:#{@space}*([^\\n"]+\))) -> start <> bare(value)
        value = find(text, ~s(badmap,#{@space}*"([^"]+\)")) -> start <> quoted(value)
        true -> start <> " a different type"
      end
    end

    defp key_error(text) do
      case find(text, ~s(key#{@space}+:(#{@word}\)#{@space}+not found)) ||
             find(text, ~s(key#{@space}+"([^"]+\)"#{@space}+not found)) do
        nil -> "KeyError: field not found in object"
        key -> "KeyError: field '#{key}' not found in object"
      end
    end

    defp variable_error(text) do
      case find(text, ~s(undefined_variable.*[,{]?#{@space}*"(#{@word}\)")) do
        nil -> "UndefinedVariable: variable not found in context"
        name -> "UndefinedVariable: '#{name}' is not defined in context"
      end
    end

    defp quoted(value), do: ~s(: "#{String.slice(value, 0, 50)}")
    defp bare(value), do: ": " <> String.slice(String.trim(value), 0, 50)

    defp find(text, pattern) do
      case :re.run(text, pattern, capture: :all_but_first) do
        {:match, [{at, size}]} -> binary_part(text, at, size)
        :nomatch -> nil
      end
    end
  end

  @starts ["expected a map, got:", "badmap,", "key ", "badkey ", "undefined_variable", ""]

  @pieces @starts ++
            ["key", "not found", " not found", "abc", "b_1", "é", "ú", "ж", <<0xE9>>, <<0xFF>>] ++
            [" ", "  ", "\n", "\t", "\"", "\"", "\"x\"", ":", ",", "{"]

  test "finds what the documented patterns find, and nothing else" do
    :rand.seed(:exsss, {1, 2, 3})

    for start <- @starts, n <- 1..3_000 do
      pieces = for _ <- 1..rem(n, 12)//1, do: Enum.random(@pieces)
      message = IO.iodata_to_binary([start | pieces])
      assert {message, execution(message)} == {message, Documented.execution(message)}
    end
  end

  test "takes time in proportion to the message" do
    for piece <- [
          "undefined_variable ",
          "undefined_variable\n\"",
          "key \"",
          "key :a ",
          "badmap, \""
        ] do
      message = String.duplicate(piece, 50_000)
      {ms, text} = Room.least_ms(2_000, fn -> execution(message) end)
      assert is_binary(text)
      assert ms < 2_000
    end
  end
end

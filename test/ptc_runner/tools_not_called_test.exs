defmodule PtcRunner.ToolsNotCalledTest do
  # A run that is given tools begins as one without them, and prepares nothing for calls until it is known that its program has one.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Codec

  @rows [%{"n" => 50}, %{"n" => 150}, %{"n" => 200}]
  @load ~s({"op": "load", "name": "rows"})
  @call ~s({"op": "call", "tool": "double", "args": {"n": 21}})
  @computed ~s({"op": "call", "tool": "double", "args": {"n": {"op": "get", "field": "n"}}})

  def double(%{"n" => n}), do: 2 * n

  defp program(node), do: ~s({"program": #{node}})
  defp pipe(steps), do: ~s({"op": "pipe", "steps": [#{Enum.join(steps, ", ")}]})

  defp forms(text) do
    {:ok, compiled} = Json.compile(text)
    {:ok, map} = Codec.decode(text, [])
    [text, compiled, map]
  end

  # With each of these options a run goes another way, to the same result.
  defp results(node, opts) do
    for form <- forms(program(node)),
        more <- [[], [max_tool_calls: 9], [timeout: 60_000], [timeout: 60_000, max_heap: 0]],
        uniq: true,
        do: Json.run(form, opts ++ more)
  end

  defp opts, do: [context: %{"rows" => @rows}, tools: %{"double" => &__MODULE__.double/1}]

  test "the result does not depend on where a run begins" do
    if_false =
      &~s({"op": "if", "condition": {"op": "literal", "value": false}, "then": #{&1}, "else": 7})

    for {node, value} <- [
          {pipe([@load, ~s({"op": "sum", "field": "n"})]), 400},
          {~s({"op": "literal", "value": ["call"]}), ["call"]},
          {if_false.(@call), 7},
          {@call, 42},
          {~S({"op": "c\u0061ll", "tool": "double", "args": {"n": 21}}), 42},
          {pipe([@call, ~s({"op": "eq", "value": 42})]), true},
          {pipe([@load, ~s({"op": "map", "expr": #{@computed}})]), [100, 300, 400]}
        ] do
      assert results(node, opts()) == [{:ok, value, %{}, %{}}]
    end
  end

  test "a program that may call a tool and does not" do
    for tools <- [%{}, %{"double" => &__MODULE__.double/1}, %{"other" => fn _args -> 1 end}] do
      node =
        ~s({"op": "if", "condition": {"op": "literal", "value": false}, "then": #{@call}, "else": null})

      assert results(node, tools: tools) == [{:ok, nil, %{}, %{}}]
    end
  end

  test "a program that fails" do
    assert [{:error, {:execution_error, text}}] =
             results(~s({"op": "sum", "field": "n"}), tools: opts()[:tools])

    assert text == "No input available"
    assert [{:error, {:validation_error, text}}] = texts_and_maps(~s({"op": "cuont"}), opts())
    assert text =~ "Did you mean 'count'?"
    assert [{:error, {:execution_error, text}}] = results(@call, tools: %{"x" => fn _ -> 1 end})
    assert text =~ "double"
  end

  defp texts_and_maps(node, opts) do
    {:ok, map} = node |> program() |> Codec.decode([])
    for form <- [program(node), map], uniq: true, do: Json.run(form, opts)
  end

  test "what is wrong with the tools is said, although none is called" do
    sum = pipe([@load, ~s({"op": "sum", "field": "n"})])

    for {tools, part} <- [
          {%{"t" => 1}, "Invalid: t"},
          {%{"t" => fn _, _ -> 1 end}, "Invalid: t"},
          {%{:t => &__MODULE__.double/1, "t" => &__MODULE__.double/1}, "two tools"},
          {[], "Option :tools must be a map"}
        ] do
      assert [{:error, {_kind, text}}] = results(sum, context: %{"rows" => @rows}, tools: tools)
      assert text =~ part
    end

    assert [{:error, {:validation_error, text}}] =
             texts_and_maps(~s({"op": "cuont"}), tools: %{"t" => 1})

    assert text =~ "Did you mean 'count'?"
  end

  test "a long run has the limits that are not looked up for a short one" do
    rows = Enum.to_list(1..20_000)
    node = pipe([@load, ~s({"op": "map", "expr": {"again": {"op": "it"}}})])
    opts = [context: %{"rows" => rows}, tools: %{"double" => &__MODULE__.double/1}]

    for form <- forms(program(node)) do
      assert {:ok, [%{"again" => 1} | _rest], %{}, %{}} = Json.run(form, opts)
      assert {:error, {:memory_exceeded, 80_000}} = Json.run(form, [max_heap: 10_000] ++ opts)
      assert {:error, {:timeout, 0}} = Json.run(form, [timeout: 0] ++ opts)
    end
  end

  test "a call has the whole time of a run whose program is longer than what is looked through" do
    filler = ~s({"op": "literal", "value": "#{String.duplicate("x", 70_000)}"})
    node = ~s({"op": "list", "items": [#{filler}, #{@call}]})
    opts = [tools: %{"double" => fn args -> Process.sleep(1) && double(args) end}]
    assert [{:ok, [_filler, 42], %{}, %{}}] = results(node, opts)
  end

  test "texts of the context" do
    context = %{"rows" => Json.text(~s([{"n": 1}, {"n": 2}]))}
    sum = pipe([@load, ~s({"op": "sum", "field": "n"})])

    for tools <- [%{}, opts()[:tools]] do
      assert results(sum, context: context, tools: tools) == [{:ok, 3, %{}, %{}}]
    end
  end
end

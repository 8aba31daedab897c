defmodule PtcRunner.Agent.LiteralsTest do
  # null, true and false are not the texts "nil", "true" and "false".
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Json.Codec

  test "an answer with them where a text belongs is an error" do
    for {text, signature, path} <- [
          {~s({"p": null}), "{p :string}", ["p"]},
          {~s({"p": true}), "{p :string}", ["p"]},
          {~s({"p": false, "n": "1"}), "{p :string, n :int}", ["p"]},
          {~s({"p": ["a", null]}), "{p [:string]}", ["p", 1]},
          {~s({"p": {"q": null}, "n": 1}), "{p {q :string}, n :float}", ["p", "q"]},
          {~s({"p": None}), "{p :string}", []},
          {~s({"p": null), "{p :string, q :int?}", []},
          {"null", ":string", []}
        ] do
      assert {:error, errors, feedback} = Agent.answer(text, signature)
      if path != [], do: assert([%{path: ^path}] = Enum.filter(errors, &(&1.path == path)))
      refute feedback =~ ~s("nil")
    end

    assert {:ok, %{"p" => nil, "n" => 1}, [_]} =
             Agent.answer(~s({"p": null, "n": "1"}), "{p :string?, n :int}")

    assert {:ok, %{"p" => "null", "n" => 1}, [_]} =
             Agent.answer(~s({"p": "null", "n": "1"}), "{p :string, n :int}")
  end

  test "a call with them where a text belongs is refused" do
    for {args, signature, place} <- [
          {%{p: nil}, "(p :string) -> :any", "p: expected string, got nil"},
          {%{p: true, n: "1"}, "(p :string, n :int) -> :any", "p: expected string, got boolean"},
          {%{p: ["a", nil]}, "(p [:string]) -> :any", "p[1]: expected string, got nil"},
          {%{p: [%{q: nil}]}, "(p [{q :string}]) -> :any", "p[0].q: expected string, got nil"}
        ] do
      tool = fn args -> flunk("called with #{inspect(args)}") end
      program = Codec.encode!(%{program: %{op: "call", tool: "t", args: args}})

      assert {:error, {:execution_error, message}, feedback} =
               Agent.run(program, %{"t" => {tool, signature}})

      assert message =~ place
      refute feedback =~ "have already been made"
    end

    union = {:one_of, [:string, :int], nil}

    for {args, type, place} <- [
          {%{p: true}, union, "p: expected one of :string, :int, got true"},
          {%{p: nil}, union, "p: expected one of :string, :int, got nil"},
          {%{p: [1, "a", false]}, {:list, union},
           "p[2]: expected one of :string, :int, got false"},
          {%{p: %{q: true}}, {:map_of, :string}, "p.q: expected string, got boolean true"},
          {%{p: true}, {:defs, %{"T" => :string}, {:ref, "T"}}, "p: expected string, got boolean"}
        ] do
      tool = fn args -> flunk("called with #{inspect(args)}") end
      program = Codec.encode!(%{program: %{op: "call", tool: "t", args: args}})
      signature = {:signature, [{"p", type}], :any}

      assert {:error, {:execution_error, message}, _feedback} =
               Agent.run(program, %{"t" => {tool, signature}})

      assert message =~ place
    end

    either = {:signature, [{"p", {:one_of, [:string, :bool], nil}}, {"n", :float}], :any}
    args = %{p: true, n: 1, s: nil}
    program = Codec.encode!(%{program: %{op: "call", tool: "t", args: args}})
    assert {:ok, %{"p" => true, "n" => 1.0}, _} = Agent.run(program, %{"t" => {& &1, either}})

    program = Codec.encode!(%{program: %{op: "call", tool: "t", args: %{p: nil, n: 1, s: "nil"}}})
    tools = %{"t" => {& &1, "(p :string?, n :float, s :string) -> :any"}}
    assert {:ok, %{"p" => nil, "n" => 1.0, "s" => "nil"}, _} = Agent.run(program, tools)
  end
end

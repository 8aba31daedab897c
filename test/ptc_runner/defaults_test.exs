defmodule PtcRunner.DefaultsTest do
  # The table of defaults in the guide about programs: each row is so, in both columns, and no row is missing here.
  use ExUnit.Case, async: true

  @moduletag :capture_log

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Test.SpecTools

  @guide "guides/programs.md"

  # What a program gives with each of the two, as {:ok, value} or {:error, text}.
  defp both(program, context, tools, opts \\ []) do
    json =
      case Json.run(program, [context: context, tools: tools] ++ opts) do
        {:ok, value, _delta, _memory} -> {:ok, value}
        {:error, error} -> {:error, Json.format_error(error)}
      end

    agent =
      case Agent.run(program, tools, [context: context] ++ opts) do
        {:ok, value, _info} -> {:ok, value}
        {:error, error, _feedback} -> {:error, Json.format_error(error)}
      end

    {json, agent}
  end

  defp load(name, steps),
    do: %{"program" => %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => name} | steps]}}

  defp call(args \\ %{}), do: %{"op" => "call", "tool" => "t", "args" => args}

  @rows %{
    ":keys" => :keys,
    ":structs" => :structs,
    ":strict" => :strict,
    ":firewall" => :firewall,
    ":max_tool_calls" => :calls,
    "{:ok, value} of a tool" => :ok,
    "a bare function with a @spec as a tool" => :spec,
    "a bare function of two arguments as a tool" => :two,
    ":edition" => :edition
  }

  test "the table has these rows" do
    [_before, part] =
      @guide |> File.read!() |> String.split("## Defaults here and in an agent", parts: 2)

    [part | _after] = String.split(part, "\n## ", parts: 2)

    names =
      for "| " <> line <- String.split(part, "\n"),
          [name | _cells] = String.split(line, " | "),
          name != "option",
          do: String.replace(name, "`", "")

    assert Enum.sort(names) == Enum.sort(Map.keys(@rows))
  end

  for {name, row} <- @rows do
    @row row
    test "#{name}: as the table says", do: row(@row)
  end

  defp row(:keys) do
    get = [%{"op" => "first"}, %{"op" => "get", "field" => "n"}]
    assert both(load("rows", get), %{"rows" => [%{n: 1}]}, %{}) == {{:ok, nil}, {:ok, 1}}
    {json, agent} = both(load("rows", []), %{rows: [1]}, %{})
    assert {json, agent} == {{:ok, nil}, {:ok, [1]}}
  end

  defp row(:structs) do
    later = [
      %{
        "op" => "filter",
        "where" => %{"op" => "gt", "field" => "day", "value" => "2026-01-31"}
      },
      %{"op" => "count"}
    ]

    rows = [%{"day" => ~D[2026-02-01]}, %{"day" => ~D[2026-01-31]}]
    assert {{:ok, json}, {:ok, 1}} = both(load("rows", later), %{"rows" => rows}, %{})
    assert json != 1
    typeof = [%{"op" => "typeof"}]

    assert both(load("day", typeof), %{"day" => ~D[2026-02-01]}, %{}) ==
             {{:ok, "object"}, {:ok, "string"}}
  end

  defp row(:strict) do
    count = load("rows", [%{"op" => "count", "feild" => "n"}])

    assert {{:ok, 1}, {:error, "ValidationError: " <> text}} = both(count, %{"rows" => [1]}, %{})

    assert text =~ "feild"

    assert {{:ok, nil}, {:error, "ExecutionError: Unknown name 'row'" <> _}} =
             both(load("row", []), %{"rows" => [1]}, %{})
  end

  defp row(:firewall) do
    tools = %{"t" => fn %{"card" => card} -> "got #{card}" end}

    pay =
      load("order", [%{"op" => "get", "field" => "_card"}, call(%{"card" => %{"op" => "it"}})])

    assert {{:ok, "got 4711"}, {:error, "ValidationError: Firewalled data flows" <> _}} =
             both(pay, %{"order" => %{"_card" => 4711}}, tools)
  end

  defp row(:calls) do
    tools = %{"t" => fn _args -> 1 end}

    each =
      load("ids", [
        %{"op" => "map", "expr" => call(%{"id" => %{"op" => "it"}})},
        %{"op" => "count"}
      ])

    opts = [timeout: 30_000]

    assert both(each, %{"ids" => Enum.to_list(1..1_000)}, tools, opts) ==
             {{:ok, 1_000}, {:ok, 1_000}}

    assert {{:ok, 1_001}, {:error, "ExecutionError: " <> text}} =
             both(each, %{"ids" => Enum.to_list(1..1_001)}, tools, opts)

    assert text =~ "no more than 1000 calls"
  end

  defp row(:ok) do
    program = %{"program" => call()}
    bare = %{"t" => fn _args -> {:ok, 1} end}
    assert both(program, %{}, bare) == {{:ok, {:ok, 1}}, {:ok, 1}}
    typed = %{"t" => {fn _args -> {:ok, 1} end, "() -> :int"}}
    assert both(program, %{}, typed) == {{:ok, 1}, {:ok, 1}}
  end

  defp row(:spec) do
    program = %{"program" => call(%{"order" => "7", "amount" => 5})}
    {json, agent} = both(program, %{}, %{"t" => &SpecTools.refund/1})
    assert agent == {:ok, "7: 5.0"}
    # It has got texts as keys, which it does not take.
    assert {:error, "ExecutionError: Tool 't' raised: " <> _text} = json
  end

  defp row(:two) do
    program = %{"program" => call()}
    tools = %{"t" => fn _args, %{context: context} -> map_size(context) end}
    assert {{:error, text}, {:ok, 0}} = both(program, %{}, tools)
    assert text =~ "t"
    assert both(program, %{}, tools, tool_context: [user: 7]) == {{:ok, 1}, {:ok, 1}}
  end

  defp row(:edition) do
    # A template is computed in edition 2 alone.
    program = %{"program" => %{"a" => %{"op" => "add", "left" => 1, "right" => 2}}}
    assert both(program, %{}, %{}) == {{:ok, %{"a" => 3}}, {:ok, %{"a" => 3}}}
  end
end

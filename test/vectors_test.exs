defmodule PtcRunner.VectorsTest do
  # Golden vectors: what the library must answer, one test for each group of cases.
  use ExUnit.Case, async: true

  import PtcRunner.Test.StoredVectors, only: [vectors: 4]
  import PtcRunner.Test.Vectors, only: [assert_call: 1, read: 1, tools: 1, traced: 2]

  alias PtcRunner.{Json, Native}
  alias PtcRunner.Test.Oracle
  alias PtcRunner.Test.Oracle.{Check, Eval, Fail}

  doctest PtcRunner.Test.StoredVectors

  vectors "PtcRunner.Json.run/2", "ptc_json", vector do
    assert_program(vector)
  end

  vectors "PtcRunner.Json.format_error/1", "format_error", vector do
    assert Json.format_error(vector.input) === vector.expect
  end

  vectors "the public functions", "ptc_json_api", vector do
    assert_call(vector)
  end

  # The oracle is the judge in the random tests, so it is judged itself. It has no limits.
  describe "the oracle of the random tests" do
    test "answers every program as expected" do
      for vector <- read("ptc_json"), not limited?(vector), program = program(vector) do
        answer = Oracle.run(program, vector.context, vector.memory, tools(vector.tools))
        {vector.id, answer === vector.expect}
      end
      |> assert_all()
    end

    test "answers every program of edition 2 as expected" do
      for vector <- read("ptc_json_edition_2"),
          not limited?(vector),
          program = program(vector) do
        opts = [edition: 2] |> Keyword.merge(vector.opts)
        run = &Oracle.run(program, vector.context, vector.memory, &1, opts)
        {answer, calls} = traced(tools(vector.tools), run)
        {vector.id, judged?(answer, vector) and calls == Map.get(vector, :calls, [])}
      end
      |> assert_all()
    end

    test "validates and evaluates single nodes as expected" do
      for vector <- read("ptc_json_api"), answer = oracle_answer(vector) do
        {vector.id, answer === vector.expect}
      end
      |> assert_all()
    end
  end

  defp assert_program(%{program: program, expect: expect} = vector) do
    options = options(vector)
    answer = Json.run(program, options)
    assert answer === expect

    for decoded <- decoded(program), do: assert(Json.run(decoded, options) === expect)
    assert run_compiled(program, options) === expect

    case expect do
      {:error, error} -> assert Json.format_error(error) === vector.format_error
      _ -> :ok
    end
  end

  defp options(vector) do
    given = [
      context: vector.context,
      memory: vector.memory,
      tools: tools(vector.tools),
      edition: 1
    ]

    given ++ vector.opts
  end

  # A text that is an object can also be given as the map that it means.
  defp decoded(text) when is_binary(text) do
    case Native.json_decode(text, :infinity, {:infinity, 0}) do
      {:ok, map} when is_map(map) -> [map]
      _ -> []
    end
  end

  defp decoded(_program), do: []

  defp run_compiled(program, options) do
    with {:ok, %Json.Program{} = compiled} <- Json.compile(program, edition: 1) do
      Json.run(compiled, Keyword.delete(options, :edition))
    end
  end

  # The node under "program"; nil if the case is one for the parser.
  defp program(%{program: program}) do
    case decoded(program) ++ [program] do
      [%{"program" => node} | _] when is_map(node) -> node
      _ -> nil
    end
  end

  # What the crate for patterns says about a wrong one, the oracle does not know.
  defp judged?({:error, {kind, text}}, %{match: :prefix, expect: {:error, {kind, start}}}),
    do: String.starts_with?(text, start)

  defp judged?(answer, vector), do: answer === vector.expect

  defp limited?(%{expect: {:error, {kind, _}}}), do: kind in [:timeout, :memory_exceeded]
  defp limited?(_vector), do: false

  defp oracle_answer(%{module: Json.Validator, function: :validate, args: [node]}) do
    Fail.catching(:validation_error, fn -> Check.program(node, 1) end)
  end

  defp oracle_answer(%{module: Json.Interpreter, function: :eval, args: [node, context]}) do
    environment = Eval.environment(context.ctx, context.memory, context.tools)

    Fail.catching(:execution_error, fn ->
      {:ok, Eval.eval(node, environment), context.memory}
    end)
  end

  defp oracle_answer(_vector), do: nil

  defp assert_all(outcomes) do
    assert outcomes != []
    assert for({id, false} <- outcomes, do: id) == []
  end
end

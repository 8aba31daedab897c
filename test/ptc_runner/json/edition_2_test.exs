defmodule PtcRunner.Json.Edition2Test do
  # The golden vectors of edition 2, one test a case, in each form of running. The cases of one operation:
  # `mix test test/ptc_runner/json/edition_2_test.exs --only group:join` (several times for several).
  use ExUnit.Case, async: true

  import PtcRunner.Test.StoredVectors, only: [vectors: 4]
  import PtcRunner.Test.Vectors, only: [tools: 1, traced: 2]

  alias PtcRunner.{Json, Native}

  @moduletag :edition_2

  vectors "PtcRunner.Json.run/2, edition 2,", "ptc_json_edition_2", vector do
    for {form, fun} <- forms(vector), do: assert_answer(form, fun, vector)
  end

  # Every form of running that must give the same answer and make the same calls.
  defp forms(%{program: text} = vector) do
    {:ok, map} = Native.json_decode(text, :infinity, {:infinity, 0})

    # A run with a small context moves to the process of its tools at the first call, a large one stays.
    large = put_in(vector.context["$large"], Enum.to_list(1..50_000))

    [
      text: &Json.run(text, options(vector, &1)),
      map: &Json.run(map, options(vector, &1)),
      compiled: &run_compiled(text, options(vector, &1)),
      compiled_map: &run_compiled(map, options(vector, &1)),
      staying: &Json.run(text, options(large, &1)),
      explained: &Json.explain(text, options(vector, &1)).result,
      keys: &Json.run(text, [keys: :any] ++ options(vector, &1)),
      overlapping: &Json.run(text, [tool_concurrency: 4] ++ options(vector, &1))
    ]
    |> Enum.filter(fn {form, _fun} -> form?(form, vector) end)
  end

  # An atom is a key where `keys: :any` holds, so only cases without atoms as keys mean the same there.
  defp form?(:keys, vector), do: not atom_keys?([vector.context, vector.memory])
  defp form?(:overlapping, vector), do: vector.tools != %{}
  defp form?(_form, _vector), do: true

  defp atom_keys?(%{} = map) do
    is_struct(map) or Enum.any?(map, fn {key, value} -> is_atom(key) or atom_keys?(value) end)
  end

  defp atom_keys?([first | rest]), do: atom_keys?(first) or atom_keys?(rest)
  defp atom_keys?(_other), do: false

  defp options(vector, tools) do
    # The first of two equal options counts.
    given = [context: vector.context, memory: vector.memory, tools: tools]
    given ++ vector.opts ++ if(vector.opts[:edition], do: [], else: [edition: 2])
  end

  defp run_compiled(program, options) do
    with {:ok, %Json.Program{} = compiled} <-
           Json.compile(program, Keyword.take(options, [:edition])) do
      Json.run(compiled, Keyword.delete(options, :edition))
    end
  end

  defp assert_answer(form, fun, vector) do
    {answer, calls} = traced(tools(vector.tools), fun)
    assert_expected(vector, form, answer)

    # Where calls overlap, later ones may have begun before an error.
    expected = Map.get(vector, :calls, [])
    if form != :overlapping, do: assert({vector.id, form, calls} === {vector.id, form, expected})

    with {:error, error} <- answer, %{format_error: text} <- vector do
      assert Json.format_error(error) === text
    end
  end

  # `match => prefix`: the message goes on after the given text.
  defp assert_expected(%{match: :prefix} = vector, form, answer) do
    assert {:error, {kind, message}} = vector.expect
    assert {:error, {^kind, actual}} = answer
    where = "#{vector.id}, #{form}: #{inspect(actual)}"
    assert String.starts_with?(actual, message) and byte_size(actual) > byte_size(message), where
    assert not String.contains?(actual, "\n"), where
  end

  defp assert_expected(vector, form, answer),
    do: assert({vector.id, form, answer} === {vector.id, form, vector.expect})
end

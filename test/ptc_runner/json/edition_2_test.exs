defmodule PtcRunner.Json.Edition2Test do
  # The golden vectors of edition 2, one test for each group of cases, in each form of running. The cases of one operation:
  # `mix test test/ptc_runner/json/edition_2_test.exs --only group:join` (several times for several).
  use ExUnit.Case, async: true

  import PtcRunner.Test.StoredVectors, only: [vectors: 4]
  import PtcRunner.Test.Vectors, only: [tools: 1, traced: 2]

  alias PtcRunner.{Json, Native}
  alias PtcRunner.Test.{Oracle, Vectors}

  @moduletag :edition_2

  vectors "PtcRunner.Json.run/2, edition 2,", "ptc_json_edition_2", vector do
    for {form, fun} <- forms(vector), do: assert_answer(form, fun, vector)
  end

  # The cases of edition 1 that are about what edition 2 has changed.
  @changed ~w(
    val/let_value_string val/if_else_checked_before_then val/merge_element_list val/zip_element_number
    val/get_field_null val/get_path_number_element val/max_by_field_null val/call_args_null val/call_args_nested_op_not_validated
    val/object_field_op_null val/object_nested_plain_map_not_validated val/object_list_of_ops_not_validated
    val/comparison_value_not_validated suggest/31_group_by suggest/32_groupby suggest/54_mod cmp/lte_num_str
    cmp/gt_null_num cmp/lte_null_null cmp/lte_bool_str cmp/lte_list_str cmp/current_value_null_gt
    cmp/value_nested_op_in_plain_map_is_literal filter/missing_field_passes_gt map/pipe_first_step_null_not_item
    filter_in/expr_malformed_take_nil filter_in/expr_malformed_let filter_in/expr_malformed_and
    filter_in/expr_malformed_object filter_in/expr_malformed_where filter_in/expr_malformed_where_empty_list
    filter_in/expr_get_without_path_returns_current filter_in/expr_load_bad_name filter_in/expr_if_missing_else
    filter_in/expr_merge_bad object/nested_plain_map_not_evaluated object/list_not_evaluated
    implicit/literal_fields_only pipe/nested_starts_with_null real/customers_credit_gt_null_passes
    tool/echo_args_let_not_substituted
  )

  test "a golden program of edition 1 gives the same in edition 2, but for what that has changed" do
    changed =
      for vector <- Vectors.read("ptc_json"),
          answer = Json.run(vector.program, options(vector, tools(vector.tools))),
          answer !== vector.expect do
        {:ok, %{"program" => node}} =
          Native.json_decode(vector.program, :infinity, {:infinity, 0})

        expected =
          Oracle.run(node, vector.context, vector.memory, tools(vector.tools), edition: 2)

        assert {vector.id, answer} === {vector.id, expected}
        vector.id
      end

    assert changed == @changed
  end

  test "the interpreter catches the error of a tool, too" do
    call = %{"op" => "call", "tool" => "t", "on_error" => %{"op" => "var", "name" => "error"}}
    context = PtcRunner.Context.new(%{}, %{}, %{"t" => fn _ -> {:error, "down"} end})

    for node <- [call, %{"op" => "pipe", "steps" => [call]}, %{"op" => "list", "items" => [call]}] do
      assert {:ok, value} = Json.Runner.eval(node, context, 2)
      assert List.flatten([value]) == [~s(Tool 't' error: "down")]
    end
  end

  # Every form of running that must give the same answer and make the same calls.
  defp forms(%{program: text} = vector) do
    {:ok, map} = Native.json_decode(text, :infinity, {:infinity, 0})

    # A run with a small context moves to the process of its tools at the first call, a large one stays.
    large = put_in(vector.context["$large"], large())

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

  # Made once.
  defp large do
    with nil <- :persistent_term.get(__MODULE__, nil) do
      list = Enum.to_list(1..50_000)
      :persistent_term.put(__MODULE__, list)
      list
    end
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

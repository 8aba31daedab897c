defmodule PtcRunner.SubAgent.AnswerVectorsTest do
  # Golden vectors of the answers of LLMs, one test for each group of cases.
  use ExUnit.Case, async: true

  import PtcRunner.Test.StoredVectors, only: [placed: 1, vectors: 4, vectors_of: 4]

  alias PtcRunner.SubAgent.{JsonParser, KeyNormalizer}
  alias PtcRunner.SubAgent.Loop.JsonHandler

  vectors "JsonParser.parse/1", "json_parser", vector do
    assert JsonParser.parse(vector.text) === vector.expect
  end

  vectors "KeyNormalizer", "key_normalizer", vector do
    assert_call(KeyNormalizer, vector)
  end

  vectors "atoms and validation", "atomize", vector do
    assert_call(JsonHandler, vector)
    for name <- vector.absent_atoms, do: assert(JsonHandler.safe_to_atom(name) == name)
  end

  vectors "format_validation_errors/1", "format_validation_errors", vector do
    call = %{f: :format_validation_errors, args: [vector.errors], expect: vector.expect}
    assert_call(JsonHandler, call)
  end

  vectors "JsonHandler", "json_handler", vector do
    assert_call(JsonHandler, vector)
  end

  answered = for {%{f: :handle_json_answer}, _} = placed <- placed("json_handler"), do: placed

  # What one native call does, done by the functions that each do a part.
  vectors_of "the public functions one by one", answered, vector do
    assert_answer(vector.expect, fn -> apply(&step_by_step/4, args(vector.args)) end)
  end

  vectors "Step, Turn, Metrics, Shared", "step_turn_metrics", vector do
    assert_call(vector.m, vector)
  end

  defp assert_call(module, %{f: function, args: args, expect: expect}),
    do: assert_answer(expect, fn -> apply(module, function, args(args)) end)

  defp assert_answer({:raise, exception}, fun), do: assert_raise(exception, fun)
  defp assert_answer({:value, value}, fun), do: assert(timeless(fun.()) === value)

  # The one value that depends on the clock.
  defp timeless({:stop, {outcome, %{usage: %{duration_ms: duration}} = step}, turn, tokens})
       when is_integer(duration),
       do: {:stop, {outcome, put_in(step.usage.duration_ms, :any)}, turn, tokens}

  defp timeless(other), do: other

  defp args(args), do: Enum.map(args, &arg/1)

  defp arg([{_key, _value} | _] = opts), do: Enum.map(opts, &option/1)
  defp arg(other), do: other

  defp option({:build_error_feedback, {:fb, tag}}),
    do: {:build_error_feedback, fn error, response -> "#{tag}|#{error}|#{response}" end}

  defp option(other), do: other

  defp step_by_step(content, agent, state, opts) do
    parsed = JsonParser.parse(content)
    refuse = &JsonHandler.handle_parse_error(&1, content, agent, state, opts)

    list? =
      match?({:ok, _}, parsed) and JsonHandler.signature_expects_list?(agent.parsed_signature)

    case {parsed, list?} do
      {{:ok, %{"items" => items}}, true} when is_list(items) ->
        JsonHandler.validate_and_complete_list(items, content, agent, state, opts)

      {{:ok, map}, true} when is_map(map) ->
        refuse.(~s(Expected {"items": [...]} wrapper for array response))

      {{:ok, list}, true} when is_list(list) ->
        JsonHandler.validate_and_complete_list(list, content, agent, state, opts)

      {{:ok, map}, false} when is_map(map) ->
        JsonHandler.validate_and_complete(map, content, agent, state, opts)

      {{:ok, _other}, _list?} ->
        refuse.("Response must be a JSON object, not an array or primitive")

      {{:error, :no_json_found}, _list?} ->
        refuse.("No valid JSON found in response")

      {{:error, :invalid_json}, _list?} ->
        refuse.("JSON parse error")
    end
  end
end

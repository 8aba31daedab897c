defmodule PtcRunner.Lisp.FaultWords.Calls do
  @moduledoc false
  # The errors of calls: of functions, of values that are none, of tools, of jumps.

  alias PtcRunner.Lisp.{FaultWords, Text, Words}
  alias PtcRunner.Shown

  # Characters of a text that are shown in a hint.
  @shown 40

  @spec words(atom(), String.t(), String.t() | nil, [term()]) :: FaultWords.words() | nil
  def words(:closure_arity, name, _detail, [params, rest, got | _]) do
    {:arity_mismatch, "#{called(name)} expects #{expected(params, rest)}, got #{got}"}
  end

  # A built-in has called the function with a wrong number of arguments.
  def words(:callback_arity, name, _detail, [params, rest, got | _]),
    do: {:arity_error, "#{called(name)} expects #{expected(params, rest)}, got #{got}"}

  def words(:update_arity, name, _detail, [params, got | _]) do
    {:arity_error,
     "#{name}: function expects #{params} argument(s) but was called with #{got}.#{update_hint(name, params, got)}"}
  end

  def words(:not_callable, _name, _detail, [value]), do: {:not_callable, Words.few(value)}

  def words(:keyword_call, _name, _detail, [keyword | _]) do
    {:invalid_keyword_call,
     "#{Words.shown(keyword)} takes a map and perhaps a default, as in (#{Words.shown(keyword)} m)"}
  end

  def words(:map_call, _name, _detail, [_map | _]),
    do: {:invalid_map_call, "a map takes a key and perhaps a default, as in (m :key)"}

  def words(:struct_without_keys, _name, _detail, [value]),
    do:
      {:runtime_error, "a keyword cannot be looked up in #{Text.brief(value)}, which has no keys"}

  def words(:struct_call, _name, _detail, [value]),
    do: {:runtime_error, "#{Text.brief(value)} cannot be called"}

  def words(:set_call, _name, _detail, [got]),
    do: {:arity_error, "set expects 1 argument, got #{got}"}

  def words(:tool_arguments, tool, _detail, given) do
    {:invalid_tool_args,
     "Tool calls require named arguments. Use (tool/#{Shown.name(tool)} {:key value}), not positional args." <>
       named(tool, given)}
  end

  def words(:apply, _name, _detail, [value]) do
    {:type_error, "apply expects collection as last argument, got #{Words.type(value)}"}
  end

  def words(:recur_count, _name, _detail, [expected, got | _]),
    do: {:arity_mismatch, "recur expects #{Words.count(expected, "argument")}, got #{got}"}

  def words(:keyword_arguments, _name, _detail, [count]),
    do: {:destructure_error, "keyword args must be even, got odd count: #{count}"}

  def words(:destructure_list, _name, _detail, [value]),
    do: {:destructure_error, "expected list or nil, got #{Words.shown(value)}"}

  def words(:destructure_map, _name, _detail, [value]),
    do: {:destructure_error, "expected map or nil, got #{Words.shown(value)}"}

  def words(:unreachable, _name, _detail, _terms),
    do:
      {:runtime_error, "the program has come to a part that cannot be reached, please report it"}

  def words(_code, _name, _detail, _terms), do: nil

  defp called(name) when name in [nil, "", "fn"], do: "the function"
  defp called(name), do: "function '#{Shown.name(name)}'"

  defp expected(params, rest) when rest in [0, false], do: Words.count(params, "argument")
  defp expected(params, _rest), do: "at least #{Words.count(params, "argument")}"

  defp update_hint(name, params, got) when got > params do
    " The extra argument may have been intended as a default value, but #{name} passes extra args to the function. " <>
      "Use (or current-val default) inside the function, or wrap with fnil."
  end

  defp update_hint(name, _params, _got),
    do: " #{name} calls it with the current value and the arguments that follow the function."

  defp named(tool, [text]) when is_binary(text) do
    shown = if String.valid?(text), do: String.slice(text, 0, @shown), else: Words.shown(text)
    " Got string #{inspect(shown)} — try (tool/#{Shown.name(tool)} {:url \"...\"})"
  end

  defp named(_tool, [value]), do: " Got #{Words.shown(value)} — wrap in {:key value}"
  defp named(_tool, _several), do: ""
end

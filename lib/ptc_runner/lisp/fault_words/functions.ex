defmodule PtcRunner.Lisp.FaultWords.Functions do
  @moduledoc false
  # The errors of built-ins that take functions: comparators, keys, and what functions give.

  alias PtcRunner.Lisp.{FaultWords, Text, Words}

  @spec words(atom(), String.t(), String.t() | nil, [term()]) :: FaultWords.words() | nil
  def words(:comparator, name, _detail, [value | _]) do
    {:type_error,
     "#{name}: expected a comparator (a function of two arguments, :asc or :desc), got #{Words.type(value)}"}
  end

  def words(:comparator_result, name, _detail, [value]) do
    {:runtime_error,
     "#{name}: the comparator must give true, false or an integer, got #{Words.shown(value)}"}
  end

  def words(:sort_key, name, _detail, [item]) do
    {:type_error,
     "#{name} key function failed for item #{Text.brief(item)}: key function does not accept this value"}
  end

  def words(:mapcat_result, name, _detail, [value]) do
    {:runtime_error,
     "#{name}: the function must give a list, a set or a map, got #{Words.type(value)}"}
  end

  def words(:walk_entry, name, _detail, [value]) do
    {:type_error, "#{name}: inner function must return [key, value], got: #{Words.shown(value)}"}
  end

  def words(:key_count, name, _detail, _terms),
    do: {:runtime_error, "#{name} requires at least 2 arguments (function and one value)"}

  def words(:unordered_set, name, _detail, _terms),
    do: {:type_error, "#{name} does not support sets (sets are unordered)"}

  def words(:partial_function, name, _detail, _terms),
    do: {:runtime_error, "#{name} requires at least 1 argument (the function)"}

  def words(:predicate_count, name, _detail, _terms),
    do: {:runtime_error, "#{name} requires at least 1 predicate"}

  def words(:function_count, name, _detail, _terms),
    do: {:runtime_error, "#{name} requires at least 1 function"}

  def words(:pmap_of_map, _name, _detail, _terms) do
    {:type_error, "pmap: keyword accessor requires a list of maps, got a single map"}
  end

  # A tool has failed that a worker has called: the error has its name and what it has said.
  def words(:worker_failed, form, _detail, [%{tool: tool} = error]) do
    reason = if form == "pmap", do: :pmap_error, else: :pcalls_error
    said = Map.get(error, %PtcRunner.Lisp.Keyword{name: "message"})
    {reason, "tool '#{PtcRunner.Shown.name(tool)}' failed: #{said}"}
  end

  def words(:pmap_function, _name, _detail, [value]),
    do: {:pmap_error, "pmap requires a function, got: #{Words.shown(value)}"}

  def words(:pmap_collection, _name, _detail, [value]),
    do: {:pmap_error, "pmap requires a collection, got: #{Words.shown(value)}"}

  def words(:thunk, _name, _detail, [value]),
    do: {:pcalls_error, "pcalls requires callable thunks, got: #{Words.shown(value)}"}

  def words(:thunk_arity, _name, _detail, [params]) do
    {:pcalls_error, "pcalls requires zero-arity thunks, got function with arity #{params}"}
  end

  def words(_code, _name, _detail, _terms), do: nil
end

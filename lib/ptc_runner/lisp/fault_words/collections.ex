defmodule PtcRunner.Lisp.FaultWords.Collections do
  @moduledoc false
  # The errors of built-ins on lists, maps, sets and texts.

  alias PtcRunner.Lisp.FaultWords
  alias PtcRunner.Lisp.FaultWords.Arguments
  alias PtcRunner.Lisp.Words

  @spec words(atom(), String.t(), String.t() | nil, [term()]) :: FaultWords.words() | nil
  def words(:not_a_collection, _name, _detail, [value]), do: Arguments.expected_collection(value)

  def words(:swapped, name, _detail, [key, _map]) do
    {:type_error,
     "#{name} expects the collection first, e.g. (#{name} map key) — got (#{Words.type(key)}, map), arguments appear to be swapped"}
  end

  def words(:concat_text, name, _detail, [text]),
    do: {:type_error, "#{name} expected collections, got string #{Words.shown(text)}"}

  def words(:not_a_pair, name, _detail, [value]),
    do:
      {:type_error,
       "#{name}: a map entry is a vector of a key and a value, got #{Words.shown(value)}"}

  def words(:not_positive, name, _detail, [value]),
    do: {:type_error, "#{name}: size and step are positive integers, got #{Words.shown(value)}"}

  def words(:zero_step, name, _detail, _terms),
    do: {:type_error, "#{name}: the step must not be 0"}

  def words(:index, _name, _detail, [index, length]) do
    {:runtime_error, "index #{Words.shown(index)} out of bounds for list of length #{length}"}
  end

  def words(:assoc_arguments, name, _detail, [count]),
    do: {:runtime_error, "#{name} requires a map or list and key-value pairs, got #{count} args"}

  def words(:even_arguments, name, _detail, [count]),
    do: {:arity_error, "#{name} requires an even number of arguments, got #{count}"}

  def words(:not_a_map, _name, _detail, [value]),
    do: {:runtime_error, "expected a map, got: #{Words.shown(value)}"}

  def words(:not_updatable, _name, _detail, [key]),
    do: {:runtime_error, "could not put/update key #{Words.shown(key)} on a non-map value"}

  def words(_code, _name, _detail, _terms), do: nil
end

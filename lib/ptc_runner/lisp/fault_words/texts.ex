defmodule PtcRunner.Lisp.FaultWords.Texts do
  @moduledoc false
  # The errors of built-ins on texts, and of the methods of texts.

  alias PtcRunner.Lisp.{FaultWords, Words}

  @spec words(atom(), String.t(), String.t() | nil, [term()]) :: FaultWords.words() | nil
  def words(:method_text, name, "receiver", [value]),
    do: {:type_error, "#{name}: expected string, got #{Words.java(value)}"}

  def words(:method_text, name, "argument", [value]),
    do: {:type_error, "#{name}: expected string argument, got #{Words.java(value)}"}

  def words(:method_text, name, "index", [value]),
    do: {:type_error, "#{name}: expected integer index, got #{Words.java(value)}"}

  def words(:method_number, name, place, [value]),
    do: {:type_error, "#{name}: expected numeric #{place}, got #{Words.java(value)}"}

  def words(:substring_range, name, place, [index, length]) do
    {:type_error, "#{name}: #{place} index #{index} out of range for string of length #{length}"}
  end

  def words(:substring_order, name, _detail, [first, last]) do
    {:type_error, "#{name}: start index #{first} out of range (greater than end index #{last})"}
  end

  def words(:long_separator, name, _detail, [separator]) do
    {:type_error,
     "#{name}: expected a separator of one character, an empty string or a regex, got #{Words.shown(separator)}"}
  end

  def words(:no_name, name, _detail, [value]),
    do: {:runtime_error, "#{name} not supported on: #{Words.shown(value)}"}

  def words(:no_keyword, name, _detail, [value]),
    do: {:runtime_error, "cannot coerce to #{name}: #{Words.shown(value)}"}

  def words(:invalid_keyword, name, _detail, [text]),
    do: {:runtime_error, "invalid #{name} name: #{Words.shown(text)}"}

  def words(_code, _name, _detail, _terms), do: nil
end

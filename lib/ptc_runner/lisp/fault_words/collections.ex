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

  def words(_code, _name, _detail, _terms), do: nil
end

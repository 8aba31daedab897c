defmodule PtcRunner.Lisp.FaultWords.Collections do
  @moduledoc false
  # The errors of built-ins on lists, maps, sets and texts.

  alias PtcRunner.Lisp.FaultWords

  @spec words(atom(), String.t(), String.t() | nil, [term()]) :: FaultWords.words() | nil
  def words(_code, _name, _detail, _terms), do: nil
end

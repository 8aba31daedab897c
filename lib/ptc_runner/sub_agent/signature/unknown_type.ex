defmodule PtcRunner.SubAgent.Signature.UnknownType do
  @moduledoc false
  # What is said where a term stands in the place of a type.

  @spec raise!(term()) :: no_return()
  def raise!(type), do: raise(ArgumentError, "unsupported type: #{PtcRunner.Shown.text(type)}")
end

defmodule PtcRunner.SubAgent.Signature.UnknownType do
  @moduledoc false
  # The error for a term that is not a type.

  @spec raise!(term()) :: no_return()
  def raise!(type), do: raise(ArgumentError, "unsupported type: #{PtcRunner.Shown.text(type)}")
end

defmodule PtcRunner.Lisp.FaultWords.Reasons do
  @moduledoc false
  # The prefixes of messages, by their reasons.

  @doc """
  A text with the prefix of its reason.

      iex> alias PtcRunner.Lisp.FaultWords.Reasons
      iex> for reason <- [:arity_error, :runtime_error, :type_error, :unbound_var], do: Reasons.prefixed(reason, "x")
      ["arity error: x", "Runtime error: x", "type_error: x", "x"]

  """
  @spec prefixed(atom(), String.t()) :: String.t()
  def prefixed(:arity_error, text), do: "arity error: " <> text
  def prefixed(:runtime_error, text), do: "Runtime error: " <> text
  def prefixed(:not_callable, text), do: "not callable: " <> text
  # These have no prefix.
  def prefixed(reason, text) when reason in [:unbound_var, :tool_error], do: text
  def prefixed(reason, text), do: "#{reason}: #{text}"

  @doc """
  The reason of a name that was not made in Elixir.

      iex> PtcRunner.Lisp.FaultWords.Reasons.named("type_error")
      :type_error

  """
  @spec named(String.t()) :: atom()
  def named("type_error"), do: :type_error
  def named("arithmetic_error"), do: :arithmetic_error
  def named("arity_error"), do: :arity_error
  def named(_other), do: :runtime_error
end

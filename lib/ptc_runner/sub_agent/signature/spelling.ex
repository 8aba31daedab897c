defmodule PtcRunner.SubAgent.Signature.Spelling do
  @moduledoc false
  # Coercion takes the declared names; validation takes hyphens and underscores for each other, and may find the
  # same key for two fields. Here they are reconciled: a value that is valid is coerced to a valid value.

  alias PtcRunner.{Native, Quanta}
  require Quanta

  @doc false
  # The reply of a native coercion, after a look at how validation reads the value. Costs nothing if the value was
  # coerced, unless two fields of the type may have the same key, or it has a struct for a `:map`.
  @spec settled(tuple() | atom(), term(), term()) :: tuple() | atom()
  def settled({:refused, _failure, _hidden?} = refused, value, type) do
    case Quanta.run(Native.signature_spelled(type, value)) do
      {_ok_or_doubled, coerced, warnings} when is_list(warnings) ->
        if valid?(value, type), do: valid(coerced, warnings, value, type), else: refused

      _other ->
        refused
    end
  end

  def settled({:doubled, coerced, warnings}, value, type) do
    if valid?(value, type),
      do: valid(coerced, warnings, value, type),
      else: {:ok, coerced, warnings}
  end

  def settled(reply, _value, _type), do: reply

  # What one field needs can be wrong for another with the same key: then the value stays as it is.
  defp valid(coerced, warnings, value, type) do
    if valid?(coerced, type), do: {:ok, coerced, warnings}, else: {:ok, value, []}
  end

  # Does not raise if a part of the type is not a type.
  defp valid?(value, type),
    do: Quanta.run(Native.signature_validate(type, value, false)) == :ok
end

defmodule PtcRunner.Test.SignatureOracle do
  @moduledoc """
  The meaning of types, in plain recursive Elixir: the oracle of the random tests, and the walk of a type
  term that the benchmarks compare with.

      iex> alias PtcRunner.Test.SignatureOracle
      iex> SignatureOracle.validate([1, "2"], {:list, :int})
      {:error, [%{path: [1], message: "expected int, got string"}]}
      iex> SignatureOracle.coerce(["1", 2], {:list, :int})
      {:ok, [1, 2], ["coerced string \\"1\\" to integer"]}
      iex> SignatureOracle.input(%{"n" => "x"}, {:map, [{"n", :int}]})
      {:error, [%{path: ["n"], message: "expected int, got string"}]}
  """

  alias PtcRunner.Test.SignatureOracle.{Coerce, Input, Validate}

  @doc "As `PtcRunner.SubAgent.Signature.Validator.validate/2`."
  def validate(value, type), do: outcome(Validate.errors(value, type, []))

  @doc "The same with all maps closed."
  def validate_closed(value, type), do: validate(value, closed(type))

  defp outcome([]), do: :ok
  defp outcome(errors), do: {:error, errors}

  defp closed({kind, fields}) when kind in [:map, :closed_map],
    do: {:closed_map, for({name, type} <- fields, do: {name, closed(type)})}

  defp closed({kind, type}), do: {kind, closed(type)}
  defp closed(type), do: type

  @doc "As `PtcRunner.SubAgent.Signature.Coercion.coerce/2`."
  def coerce(value, type) do
    {coerced, warnings} = Coerce.coerce(value, type)
    settled(coerced, warnings, value, type)
  catch
    {:refused, reason} -> spelled(value, type, reason)
  end

  # A valid value stays as it is if it would not be valid.
  defp settled(coerced, warnings, value, type) do
    if validate(value, type) == :ok and validate(coerced, type) != :ok,
      do: {:ok, value, []},
      else: {:ok, coerced, warnings}
  end

  # A valid value whose keys have another spelling.
  defp spelled(value, type, reason) do
    with :ok <- validate(value, type),
         {coerced, warnings, []} <- Input.walk(value, type, [], &Validate.spelled_key/2) do
      settled(coerced, warnings, value, type)
    else
      _other -> {:error, reason}
    end
  end

  @doc "The result of the input step of `PtcRunner.SubAgent.Signature.call_tool/4` for arguments."
  def input(value, type) do
    case Input.walk(value, type, []) do
      {coerced, warnings, []} -> settled(coerced, warnings, value, type)
      {_value, _warnings, errors} -> {:error, errors}
    end
  end
end

defmodule PtcRunner.SubAgent.Signature.Validator do
  @moduledoc """
  Validates values against types, natively, in one walk.
  """

  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.Native.Panic
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.Findings
  require Quanta

  @doc """
  Validates a value; reports all errors, with their paths.

  Keys are atoms or strings, and hyphens and underscores in them are equivalent. Maps may have keys
  that their type does not declare, unless the type is a `:closed_map`.

      iex> type = {:list, {:map, [{"id", :int}, {"score", :float}]}}
      iex> PtcRunner.SubAgent.Signature.Validator.validate([%{id: 1, score: 2}], type)
      :ok
      iex> PtcRunner.SubAgent.Signature.Validator.validate([%{id: 1}, %{id: "2", score: 1.0}], type)
      {:error,
       [
         %{path: [0, "score"], message: "expected field, got nil"},
         %{path: [1, "id"], message: "expected int, got string"}
       ]}

  Raises `FunctionClauseError` if a term is not a type and the value has anything at its
  position. The list of errors ends after some millions of path segments.
  """
  @spec validate(term(), Signature.type()) :: :ok | {:error, [Signature.error(), ...]}
  def validate(data, type), do: check(data, type, false)

  @doc false
  # Validates with every map type closed.
  def validate_closed(data, type), do: check(data, type, true)

  @doc false
  # Data of a JSON Schema: keys are as declared.
  def exact(data, type), do: found(fn -> Quanta.run(Native.signature_exact(type, data)) end)

  defp check(data, type, closed?),
    do: found(fn -> Quanta.run(Native.signature_validate(type, data, closed?)) end)

  defp found(walk) do
    case walk.() do
      :ok ->
        :ok

      {:error, errors, finished?} ->
        {:error, Findings.finish(errors, finished?)}

      {:unknown, _type} ->
        raise(FunctionClauseError, module: __MODULE__, function: :validate, arity: 2)
    end
  catch
    :error, :nif_panicked -> {:error, [%{path: [], message: Panic.caught()}]}
  end
end

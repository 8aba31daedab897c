defmodule PtcRunner.Json.Validator do
  @moduledoc """
  Checks a decoded program before it runs: that every operation is known and has its fields, with values
  of the right kinds.
  """

  alias PtcRunner.Json.{Limits, Program}
  alias PtcRunner.Shown

  @typedoc "The error, or the exceeded limit: milliseconds, or bytes of memory."
  @type error ::
          {:validation_error, String.t()}
          | {:timeout, non_neg_integer()}
          | {:memory_exceeded, non_neg_integer()}

  @doc """
  Checks a program; reports the first error, depth first. The check has the default limits of a
  run, see `PtcRunner.Json.run/2`.

      iex> PtcRunner.Json.Validator.validate(%{"op" => "load", "name" => "orders"})
      :ok

      iex> PtcRunner.Json.Validator.validate(%{"op" => "lod", "name" => "orders"})
      {:error, {:validation_error, "Unknown operation 'lod'. Did you mean 'load'?"}}

      iex> PtcRunner.Json.Validator.validate([])
      {:error, {:validation_error, "AST must be a map, got []"}}

  """
  @spec validate(term()) :: :ok | {:error, error()}
  def validate(ast) when is_map(ast) do
    Program.check({:checked, ast}, Limits.default())
  end

  def validate(ast),
    do: {:error, {:validation_error, "AST must be a map, got #{Shown.text(ast)}"}}
end

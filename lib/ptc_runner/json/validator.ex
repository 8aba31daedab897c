defmodule PtcRunner.Json.Validator do
  @moduledoc """
  Checks a parsed program before it runs: that every operation is known and has its fields, in the
  right shapes.
  """

  alias PtcRunner.Json.{Limits, Message, Program}
  alias PtcRunner.Shown

  @type error :: {:validation_error, String.t()}

  @doc """
  Checks a program; reports the first mistake, depth first.

      iex> PtcRunner.Json.Validator.validate(%{"op" => "load", "name" => "orders"})
      :ok

      iex> PtcRunner.Json.Validator.validate(%{"op" => "lod", "name" => "orders"})
      {:error, {:validation_error, "Unknown operation 'lod'. Did you mean 'load'?"}}

      iex> PtcRunner.Json.Validator.validate([])
      {:error, {:validation_error, "AST must be a map, got []"}}

  """
  @spec validate(term()) :: :ok | {:error, error()}
  def validate(ast) when is_map(ast) do
    case Program.build_node(ast, Limits.default_max_depth()) do
      {:ok, _handle, _consts} -> :ok
      {:error, fault} -> {:error, Message.error(fault)}
    end
  end

  def validate(ast),
    do: {:error, {:validation_error, "AST must be a map, got #{Shown.text(ast)}"}}
end

defmodule PtcRunner.Json.Interpreter do
  @moduledoc """
  Evaluates a program in the calling process: no limits, no memory contract, direct calls of tools.

  For your own programs. Use `PtcRunner.Json.run/2` for programs that an LLM wrote.
  """

  alias PtcRunner.Context
  alias PtcRunner.Json.Runner

  @type error :: {:execution_error, String.t()}

  @doc """
  Evaluates an unchecked node; returns its value and the context's memory.

      iex> context = PtcRunner.Context.new(%{"n" => 20}, %{"kept" => 1})
      iex> node = %{"op" => "add", "left" => %{"op" => "load", "name" => "n"}, "right" => 22}
      iex> PtcRunner.Json.Interpreter.eval(node, context)
      {:ok, 42, %{"kept" => 1}}

      iex> PtcRunner.Json.Interpreter.eval(:add, PtcRunner.Context.new())
      {:error, {:execution_error, "Node must be a map, got :add"}}

  """
  @spec eval(term(), Context.t()) :: {:ok, term(), map()} | {:error, error()}
  def eval(node, %Context{} = context) do
    with {:ok, value} <- Runner.eval(node, context), do: {:ok, value, context.memory}
  end
end

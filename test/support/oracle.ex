defmodule PtcRunner.Test.Oracle do
  @moduledoc """
  A second implementation of the language, for tests only: plain recursive Elixir, written
  from the specification for clarity and not for speed.

  `run/4` returns what `PtcRunner.Json.run/2` must return for a decoded program,
  except for limits: the oracle has no timeout and no heap limit.
  """

  alias PtcRunner.Test.Oracle.{Check, Eval, Fail, Tools}

  @type error :: {:validation_error | :execution_error, String.t()}
  @type answer :: {:ok, result :: term(), delta :: map(), new_memory :: map()} | {:error, error()}

  @doc """
  Runs the node under `"program"`. Options: `:edition` (1), and `:now`, what `now` gives.

      iex> program = %{"op" => "load", "name" => "x"}
      iex> PtcRunner.Test.Oracle.run(program, %{"x" => 1}, %{"m" => 2}, %{})
      {:ok, 1, %{}, %{"m" => 2}}
  """
  @spec run(term(), map(), map(), map(), keyword()) :: answer()
  def run(program, context, memory, tools, opts \\ []) do
    edition = Keyword.get(opts, :edition, 1)

    with :ok <- Fail.catching(:validation_error, fn -> Check.program(program, edition) end),
         :ok <- Fail.catching(:validation_error, fn -> Tools.check(tools) end),
         {:value, value} <-
           Fail.catching(:execution_error, fn -> value(program, context, memory, tools, opts) end) do
      remember(value, memory)
    end
  end

  defp value(program, context, memory, tools, opts) do
    {:value,
     Eval.eval(program, Eval.environment(context, memory, tools, [checked?: true] ++ opts))}
  end

  # The rule of the memory: a map updates the memory, and its "result" is the answer if it has one.
  defp remember(%{"result" => result} = value, memory) do
    answer(result, Map.delete(value, "result"), memory)
  end

  defp remember(%{result: result} = value, memory) do
    answer(result, Map.delete(value, :result), memory)
  end

  defp remember(value, memory) when is_map(value), do: answer(value, value, memory)
  defp remember(value, memory), do: answer(value, %{}, memory)

  defp answer(result, delta, memory), do: {:ok, result, delta, Map.merge(memory, delta)}
end

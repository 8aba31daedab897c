defmodule PtcRunner.Json.Contract do
  @moduledoc false
  # The rules of memory: what a program's value is as a result, and what of it is kept.

  alias PtcRunner.Json.{Limits, Program, Values}

  @doc "The result of a run with these limits."
  @spec of(term(), map(), term(), Limits.given()) :: {:ok, term(), map(), map()}
  def of(%{__struct__: _} = value, memory, program, limits),
    do: of(value, memory, Program.structs(program, limits))

  def of(value, memory, _program, _limits), do: ruled(value, memory)

  @doc """
  The result, the delta and the new memory. Where structs are read as values, a struct is a map of its fields, and a
  date or a decimal is no map.

      iex> PtcRunner.Json.Contract.of(%{"result" => 1, "n" => 2}, %{"m" => 3}, :values)
      {:ok, 1, %{"n" => 2}, %{"m" => 3, "n" => 2}}

      iex> PtcRunner.Json.Contract.of(~D[2024-02-29], %{"m" => 3}, :values)
      {:ok, ~D[2024-02-29], %{}, %{"m" => 3}}

  """
  @spec of(term(), map(), :maps | :values) :: {:ok, term(), map(), map()}
  def of(%module{} = value, memory, :values) when is_atom(module) do
    cond do
      Values.value?(value) ->
        {:ok, value, %{}, memory}

      Values.unloaded?(value) ->
        {:ok, nil, %{}, memory}

      true ->
        {:ok, _fields, delta, memory} = value |> Values.fields() |> ruled(memory)
        {:ok, Map.get(value, :result, value), delta, memory}
    end
  end

  def of(value, memory, _structs), do: ruled(value, memory)

  defp ruled(%{"result" => result} = value, memory),
    do: merge(result, Map.delete(value, "result"), memory)

  defp ruled(%{result: result} = value, memory),
    do: merge(result, Map.delete(value, :result), memory)

  defp ruled(value, memory) when is_map(value), do: merge(value, value, memory)
  defp ruled(value, memory), do: {:ok, value, %{}, memory}

  defp merge(result, delta, memory), do: {:ok, result, delta, Map.merge(memory, delta)}
end

defmodule Bench.ByHand.Answers do
  @moduledoc false
  # The steps of an answer in Elixir, for this one signature, with jiffy as the decoder: find the
  # JSON, decode it, check every row, and report the errors with their paths.

  alias Bench.Jiffy

  @doc "The value, or the errors."
  @spec handle(String.t()) :: {:ok, map} | {:error, [map]}
  def handle(text) do
    value = text |> json() |> Jiffy.decode()

    case value do
      %{"results" => rows} when is_list(rows) ->
        case errors(rows, 0, []) do
          [] -> {:ok, value}
          errors -> {:error, errors}
        end

      _other ->
        {:error, [%{path: ["results"], message: "expected field, got nil"}]}
    end
  end

  defp json(text) do
    with [_before, rest] <- String.split(text, "```json", parts: 2),
         [inside, _after] <- String.split(rest, "```", parts: 2) do
      inside
    else
      _no_fence -> text
    end
  end

  defp errors([row | rows], index, errors), do: errors(rows, index + 1, row(row, index, errors))
  defp errors([], _index, errors), do: Enum.reverse(errors)

  defp row(%{"id" => id, "score" => score, "name" => name}, _index, errors)
       when is_integer(id) and is_number(score) and is_binary(name),
       do: errors

  defp row(row, index, errors) do
    [
      {"id", &is_integer/1, "int"},
      {"score", &is_number/1, "float"},
      {"name", &is_binary/1, "string"}
    ]
    |> Enum.reduce(errors, fn {name, right?, wanted}, errors ->
      if right?.(row[name]),
        do: errors,
        else: [%{path: ["results", index, name], message: "expected #{wanted}"} | errors]
    end)
  end
end

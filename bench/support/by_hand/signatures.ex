defmodule Bench.ByHand.Signatures do
  @moduledoc false
  # The checks of the section `signatures` for its one type, in plain Elixir, as usually written
  # by hand, without a type term. The `_tuned` functions are optimized as far as possible.

  @type data :: %{String.t() => [map]}

  @doc "Whether the data is right: heads of a function, and nothing else."
  @spec right?(term) :: boolean
  def right?(%{"results" => rows}) when is_list(rows), do: rows_right?(rows)
  def right?(_data), do: false

  defp rows_right?([%{"id" => id, "score" => score, "metadata" => metadata} | rows])
       when is_integer(id) and is_number(score) and is_map(metadata) and not is_struct(metadata),
       do: rows_right?(rows)

  defp rows_right?(rows), do: rows == []

  @doc "All that is wrong, with paths."
  @spec validate(data) :: :ok | {:error, [map]}
  def validate(%{"results" => rows}) do
    errors = for {row, index} <- Enum.with_index(rows), error <- row_errors(row, index), do: error

    if errors == [], do: :ok, else: {:error, errors}
  end

  defp row_errors(%{"id" => id, "score" => score, "metadata" => metadata}, index) do
    Enum.reject(
      [
        unless(is_integer(id), do: error(index, "id", "int", id)),
        unless(is_number(score), do: error(index, "score", "float", score)),
        unless(is_map(metadata), do: error(index, "metadata", "map", metadata))
      ],
      &is_nil/1
    )
  end

  defp error(index, field, wanted, value) do
    %{path: ["results", index, field], message: "expected #{wanted}, got #{kind(value)}"}
  end

  @doc "The same in one pass, without lists in between."
  @spec validate_tuned(data) :: :ok | {:error, [map]}
  def validate_tuned(%{"results" => rows}) do
    case wrong_rows(rows, 0, []) do
      [] -> :ok
      errors -> {:error, :lists.reverse(errors)}
    end
  end

  defp wrong_rows([], _index, errors), do: errors

  defp wrong_rows([%{"id" => id, "score" => score, "metadata" => metadata} | rows], index, errors) do
    errors =
      if is_integer(id),
        do: errors,
        else: [tuned_error(index, "id", "expected int, got ", id) | errors]

    errors =
      if is_number(score),
        do: errors,
        else: [tuned_error(index, "score", "expected float, got ", score) | errors]

    errors =
      if is_map(metadata),
        do: errors,
        else: [tuned_error(index, "metadata", "expected map, got ", metadata) | errors]

    wrong_rows(rows, index + 1, errors)
  end

  defp tuned_error(index, field, text, value),
    do: %{path: ["results", index, field], message: text <> kind(value)}

  defp kind(value) when is_binary(value), do: "string"
  defp kind(value) when is_integer(value), do: "int"
  defp kind(value) when is_float(value), do: "float"
  defp kind(value) when is_list(value), do: "list"
  defp kind(_value), do: "map"

  @doc "The data with numbers for strings, and what was changed."
  @spec coerce(data) :: {:ok, data, [String.t()]}
  def coerce(%{"results" => rows}) do
    {rows, warnings} = Enum.map_reduce(rows, [], &coerce_row/2)
    {:ok, %{"results" => rows}, Enum.reverse(warnings)}
  end

  @doc "The same for one row."
  @spec coerce_one(map) :: {:ok, map, [String.t()]}
  def coerce_one(row) do
    {row, warnings} = coerce_row(row, [])
    {:ok, row, Enum.reverse(warnings)}
  end

  @doc "Whether one row is right."
  @spec validate_one(map) :: :ok | :error
  def validate_one(row), do: if(rows_right?([row]), do: :ok, else: :error)

  defp coerce_row(%{"id" => id, "score" => score, "metadata" => metadata}, warnings)
       when is_map(metadata) do
    {id, warnings} = integer(id, warnings)
    {score, warnings} = float(score, warnings)
    {%{"id" => id, "score" => score, "metadata" => metadata}, warnings}
  end

  defp integer(id, warnings) when is_integer(id), do: {id, warnings}

  defp integer(text, warnings) do
    {id, ""} = Integer.parse(text)
    {id, ["coerced string \"#{text}\" to integer" | warnings]}
  end

  defp float(score, warnings) when is_float(score), do: {score, warnings}
  defp float(score, warnings) when is_integer(score), do: {score * 1.0, warnings}

  defp float(text, warnings) do
    {score, _rest} = Float.parse(text)
    {score, ["coerced string \"#{text}\" to float" | warnings]}
  end
end

defmodule PtcRunner.IsoTime do
  @moduledoc false
  # Reads times of texts that anybody may have written.

  @doc """
  `DateTime.from_iso8601/1`, which in some releases of Elixir raises for a time that is not in the years -9999 to 9999 in UTC.

      iex> PtcRunner.IsoTime.datetime("2024-02-29T10:00:00+01:00")
      {:ok, ~U[2024-02-29 09:00:00Z], 3600}
      iex> for text <- ["9999-12-31T23:59:59-05:00", "-9999-01-01T00:00:00+05:00", "soon"], do: elem(PtcRunner.IsoTime.datetime(text), 0)
      [:error, :error, :error]

  """
  @spec datetime(String.t()) ::
          {:ok, DateTime.t(), Calendar.utc_offset()} | {:error, atom()}
  def datetime(text) do
    case DateTime.from_iso8601(text) do
      {:ok, %{year: year}, _offset} when year not in -9999..9999 -> {:error, :invalid_date}
      read -> read
    end
  rescue
    FunctionClauseError -> {:error, :invalid_date}
  end
end

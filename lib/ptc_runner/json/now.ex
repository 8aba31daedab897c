defmodule PtcRunner.Json.Now do
  @moduledoc false
  # The time that a run takes for its start, option `:now`.

  alias PtcRunner.IsoTime

  @doc """
  A time as the operation `now` gives it; nil stands for the time of the start. `:error` if it is neither a `DateTime`
  nor an ISO 8601 text, or not in the years 0 to 9999. A text without a time is midnight, one without an offset is in UTC.

      iex> PtcRunner.Json.Now.text(~U[2024-02-29 10:30:00.5Z])
      {:ok, "2024-02-29T10:30:00Z"}

      iex> PtcRunner.Json.Now.text("2024-02-29T10:30:00+02:00")
      {:ok, "2024-02-29T08:30:00Z"}

      iex> PtcRunner.Json.Now.text("2024-02-29")
      {:ok, "2024-02-29T00:00:00Z"}

      iex> PtcRunner.Json.Now.text("today")
      :error

  """
  @spec text(term()) :: {:ok, String.t() | nil} | :error
  def text(nil), do: {:ok, nil}

  def text(%DateTime{} = time) do
    with {:ok, utc} <- time |> DateTime.to_unix() |> DateTime.from_unix(),
         true <- utc.year in 0..9999 do
      {:ok, DateTime.to_iso8601(utc)}
    else
      _other -> :error
    end
  rescue
    # Its fields are not those of a time.
    _invalid -> :error
  end

  def text(text) when is_binary(text) do
    with {:error, :missing_offset} <- IsoTime.datetime(text),
         {:ok, naive} <- NaiveDateTime.from_iso8601(text) do
      naive |> DateTime.from_naive!("Etc/UTC") |> text()
    else
      {:ok, time, _offset} -> text(time)
      {:error, _invalid} -> of_date(text)
    end
  end

  def text(_other), do: :error

  defp of_date(text) do
    with {:ok, date} <- Date.from_iso8601(text),
         do: date |> DateTime.new!(~T[00:00:00]) |> text(),
         else: (_invalid -> :error)
  end
end

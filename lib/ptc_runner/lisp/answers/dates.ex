defmodule PtcRunner.Lisp.Answers.Dates do
  @moduledoc false
  # The built-ins for dates and times, and those of the system.

  alias PtcRunner.IsoTime
  alias PtcRunner.Lisp.{Answers, Duration, Words}

  # Integers below this are seconds, others are milliseconds.
  @milliseconds 1_000_000_000_000
  @day 86_400_000
  @epoch 719_528

  # No sum of a date and more days is a year that a date can have.
  @most_days 8_000_000

  # No date or time has a longer text, but for zeros.
  @longest 1_000

  @doc """
  Evaluates a built-in that reads the clock, at this time.

      iex> alias PtcRunner.Lisp.Answers.Dates
      iex> for name <- ["java.util.Date.", "System/currentTimeMillis"], do: Dates.at(name, "2024-02-28T00:00:00Z")
      [{true, ~U[2024-02-28 00:00:00Z]}, {true, 1709078400000}]

  """
  @spec at(String.t(), String.t()) :: Answers.answer()
  def at(name, text) do
    {:ok, time, _offset} = IsoTime.datetime(text)

    case name do
      "java.util.Date." -> {true, time}
      "System/currentTimeMillis" -> {true, DateTime.to_unix(time, :millisecond)}
    end
  end

  @doc """
  Evaluates a built-in.

      iex> alias PtcRunner.Lisp.Answers.Dates
      iex> Dates.answer(".plusDays", [~D[2024-02-28], 2])
      {true, ~D[2024-03-01]}
      iex> Dates.answer(".plusDays", ["2024-02-28", 2])
      {false, "type_error", ".plusDays: expected LocalDate, got string"}

  """
  @spec answer(String.t(), [term()]) :: Answers.answer()
  def answer("java.util.Date.", []), do: {true, DateTime.utc_now()}
  def answer("java.util.Date.", [value]), do: moment(value)

  def answer(".getTime", [%DateTime{} = time]), do: {true, DateTime.to_unix(time, :millisecond)}

  def answer(".getTime", [other]),
    do: Answers.type_error(".getTime: expected DateTime, got #{Words.shown(other)}")

  def answer(parse, [text]) when parse in ["LocalDate/parse", "Instant/parse", "parse"],
    do: parsed(text)

  def answer(name, [date, days]) when name in [".plusDays", ".minusDays"],
    do: shifted(name, date, days)

  def answer(".toEpochDay", [%Date{} = date]), do: {true, Date.to_gregorian_days(date) - @epoch}
  def answer(".toEpochDay", [other]), do: expected(".toEpochDay", "LocalDate", other)

  def answer(name, [first, second]) when name in [".isBefore", ".isAfter"] do
    with {:ok, order} <- compared(name, first, second),
         do: {true, order == if(name == ".isBefore", do: :lt, else: :gt)}
  end

  def answer("Duration/between", [%DateTime{} = first, %DateTime{} = second]),
    do: {true, %Duration{milliseconds: DateTime.diff(second, first, :millisecond)}}

  def answer("Duration/between", [%DateTime{}, other]),
    do: expected("Duration/between", "DateTime end argument", other)

  def answer("Duration/between", [other, _second]),
    do: expected("Duration/between", "DateTime start argument", other)

  def answer(".toMillis", [%Duration{milliseconds: milliseconds}]), do: {true, milliseconds}

  def answer(".toDays", [%Duration{milliseconds: milliseconds}]),
    do: {true, div(milliseconds, @day)}

  def answer(name, [other]) when name in [".toMillis", ".toDays"],
    do: expected(name, "Duration", other)

  def answer("System/currentTimeMillis", []), do: {true, System.system_time(:millisecond)}

  def answer("Boolean/parseBoolean", [text]) when is_binary(text),
    do: {true, String.downcase(text) == "true"}

  def answer("Boolean/parseBoolean", [other]),
    do: expected("Boolean/parseBoolean", "string", other)

  defp expected(name, what, other),
    do: Answers.type_error("#{name}: expected #{what}, got #{Words.java(other)}")

  defp moment(integer) when is_integer(integer) do
    unit = if abs(integer) < @milliseconds, do: :second, else: :millisecond

    case DateTime.from_unix(integer, unit) do
      {:ok, time} ->
        {true, time}

      {:error, _reason} ->
        Answers.type_error("java.util.Date: invalid timestamp #{Words.shown(integer)}")
    end
  end

  defp moment(%DateTime{} = time), do: {true, time}
  defp moment(%Date{} = date), do: {true, midnight(date)}

  defp moment(text) when is_binary(text) do
    with :error <- time(text), {:error, _reason} <- date(text) do
      Answers.type_error(
        "java.util.Date: cannot parse #{Words.shown(text)} as an ISO 8601 date or time"
      )
    else
      {:ok, %DateTime{} = time} -> {true, time}
      {:ok, %Date{} = date} -> {true, midnight(date)}
    end
  end

  defp moment(other),
    do: Answers.type_error("java.util.Date: cannot construct from #{Words.shown(other)}")

  defp midnight(date), do: DateTime.new!(date, ~T[00:00:00])

  # A time without an offset is in UTC.
  defp time(text) when byte_size(text) > @longest, do: :error

  defp time(text) do
    with {:error, _reason} <- IsoTime.datetime(text),
         {:error, _reason} <- NaiveDateTime.from_iso8601(text) do
      :error
    else
      {:ok, %DateTime{} = time, _offset} -> {:ok, time}
      {:ok, %NaiveDateTime{} = time} -> {:ok, DateTime.from_naive!(time, "Etc/UTC")}
    end
  end

  defp date(text) when byte_size(text) > @longest, do: {:error, :invalid_format}
  defp date(text), do: Date.from_iso8601(text)

  defp parsed(text) when is_binary(text) do
    if byte_size(text) <= @longest and String.contains?(text, "T"),
      do: parsed_time(text),
      else: parsed_date(text)
  end

  defp parsed(nil), do: Answers.type_error("parse: cannot parse nil")
  defp parsed(other), do: Answers.type_error("parse: expected string, got #{Words.shown(other)}")

  defp parsed_date(text) do
    with {:error, _reason} <- date(text) do
      Answers.type_error("parse: invalid ISO-8601 date '#{bounded(text)}' (expected YYYY-MM-DD)")
    else
      {:ok, date} -> {true, date}
    end
  end

  defp parsed_time(text) do
    case time(text) do
      {:ok, time} -> {true, time}
      :error -> Answers.type_error("parse: invalid ISO-8601 date/time '#{bounded(text)}'")
    end
  end

  defp bounded(text) when byte_size(text) > 400,
    do: bounded(text |> binary_part(0, 400) |> String.slice(0, 100)) <> "…"

  defp bounded(text), do: if(String.valid?(text), do: text, else: Words.shown(text))

  defp shifted(name, %Date{} = date, days) when is_integer(days) do
    days = if name == ".plusDays", do: days, else: -days

    with true <- abs(days) <= @most_days, {:ok, shifted} <- added(date, days) do
      {true, shifted}
    else
      _out_of_range -> Answers.type_error("#{name}: the date is out of range")
    end
  end

  defp shifted(name, %Date{}, other), do: expected(name, "integer days", other)
  defp shifted(name, other, _days), do: expected(name, "LocalDate", other)

  # Later releases of Elixir know years of more than four digits, which no text of a date has.
  defp added(date, days) do
    case Date.add(date, days) do
      %Date{year: year} = added when year in -9999..9999 -> {:ok, added}
      _later -> :error
    end
  rescue
    _out_of_range -> :error
  end

  defp compared(_name, %Date{} = first, %Date{} = second), do: {:ok, Date.compare(first, second)}

  defp compared(_name, %DateTime{} = first, %DateTime{} = second),
    do: {:ok, DateTime.compare(first, second)}

  defp compared(name, %module{} = first, %other{} = second)
       when module in [Date, DateTime] and other in [Date, DateTime],
       do:
         Answers.type_error(
           "#{name}: cannot compare #{Words.java(first)} with #{Words.java(second)} — use same types"
         )

  defp compared(name, %module{} = first, other) when module in [Date, DateTime],
    do: expected(name, "#{Words.java(first)} argument", other)

  defp compared(name, other, _second), do: expected(name, "LocalDate or DateTime", other)
end

defmodule PtcRunner.Test.Oracle.Dates do
  @moduledoc false
  # Dates: a date is read as a local time, the offset of it if it has one, and the form of its text.

  import PtcRunner.Test.Oracle.Fail, only: [both: 2, fail: 1, shown: 1]

  alias PtcRunner.Test.Oracle.{Added, Eval}

  @seconds %{"second" => 1, "minute" => 60, "hour" => 3_600, "day" => 86_400, "week" => 604_800}
  @months %{"month" => 1, "year" => 12}

  @text ~r/\A(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}:\d{2}(?:\.\d+)?)(Z|[-+]\d{2}:\d{2})?)?\z/

  @doc "Runs one of these operations."
  @spec run(String.t(), map(), Eval.environment()) :: term()
  def run("now", _node, env), do: env.now

  def run("date_diff", node, env) do
    from = Eval.template(node["from"], env)
    to = Eval.template(node["to"], env)

    if from == nil or to == nil do
      nil
    else
      case {parse(from), parse(to)} do
        {{:ok, from}, {:ok, to}} ->
          between(utc(from), utc(to), node["unit"])

        _ ->
          {from, to} = both(from, to)
          fail("date_diff requires ISO 8601 dates, got: #{from}, #{to}")
      end
    end
  end

  def run("date_add", node, env) do
    with {value, date} <- input("date_add", node, env) do
      case Eval.template(node["amount"], env) do
        amount when is_integer(amount) ->
          added(date, amount, node["unit"]) || no_date("date_add", value)

        other ->
          fail("date_add requires an integer amount, got #{shown(other)}")
      end
    end
  end

  def run("date_part", node, env) do
    with {_value, date} <- input("date_part", node, env), do: part(node["part"], date.local)
  end

  defp input(op, node, env) do
    with value when value != nil <- Added.input(op, node, env) do
      case parse(value) do
        {:ok, date} -> {value, date}
        :error -> no_date(op, value)
      end
    end
  end

  defp no_date(op, value), do: fail("#{op} requires ISO 8601 dates, got: #{shown(value)}")

  ## Reading

  # `form`: `:date`, `:naive`, or the text of the offset.
  defp parse(%Date{} = date), do: parse(Date.to_iso8601(date))
  defp parse(%NaiveDateTime{} = time), do: parse(NaiveDateTime.to_iso8601(time))
  defp parse(%DateTime{} = time), do: parse(DateTime.to_iso8601(time))

  defp parse(text) when is_binary(text) do
    case Regex.run(@text, text, capture: :all_but_first) do
      [date] -> read(date, "00:00:00", :date)
      [date, time] -> read(date, time, :naive)
      [date, time, offset] -> read(date, time, offset)
      nil -> :error
    end
  end

  defp parse(_other), do: :error

  defp read(date, time, form) do
    with {:ok, seconds} <- offset(form),
         {:ok, local} <- NaiveDateTime.from_iso8601("#{date}T#{time}") do
      {:ok, %{local: local, form: form, offset: seconds}}
    else
      _ -> :error
    end
  end

  defp offset(form) when form in [:date, :naive, "Z"], do: {:ok, 0}

  defp offset(<<sign, hours::binary-2, ?:, minutes::binary-2>>) do
    seconds = String.to_integer(hours) * 3_600 + String.to_integer(minutes) * 60

    if String.to_integer(hours) < 24 and String.to_integer(minutes) < 60,
      do: {:ok, if(sign == ?-, do: -seconds, else: seconds)},
      else: :error
  end

  defp utc(%{local: local, offset: offset}), do: NaiveDateTime.add(local, -offset)

  ## Between two dates

  defp between(from, to, unit) when is_map_key(@months, unit) do
    sign = if order(from) > order(to), do: -1, else: 1
    div(months(from, to, sign), @months[unit])
  end

  defp between(from, to, unit),
    do: div(NaiveDateTime.diff(to, from, :microsecond), @seconds[unit] * 1_000_000)

  # The most months that can be added to `from`, or taken from it, without passing `to`.
  defp months(from, to, sign) do
    estimate = abs((to.year - from.year) * 12 + to.month - from.month)
    Enum.find((estimate + 1)..0//-1, &reached?(shifted(from, sign * &1), to, sign)) * sign
  end

  defp reached?(time, to, 1), do: order(time) <= order(to)
  defp reached?(time, to, -1), do: order(time) >= order(to)

  defp order(t) do
    {microseconds, _precision} = t.microsecond
    {t.year, t.month, t.day, t.hour, t.minute, t.second, microseconds}
  end

  # Months later, on the same day or the last one of the month.
  defp shifted(time, months) do
    count = time.year * 12 + time.month - 1 + months
    {year, month} = {Integer.floor_div(count, 12), Integer.mod(count, 12) + 1}
    last = :calendar.last_day_of_the_month(max(year, 0), month)
    %{time | year: year, month: month, day: min(time.day, last)}
  end

  ## Later dates

  # nil where the year has not four digits.
  defp added(%{local: local, form: form}, amount, unit) do
    form = if form == :date and unit in ~w(hour minute second), do: "Z", else: form

    case later(local, amount, unit) do
      %{year: year} = later when year in 0..9999 -> text(later, form)
      _ -> nil
    end
  end

  defp later(local, amount, unit) when is_map_key(@months, unit),
    do: shifted(local, amount * @months[unit])

  defp later(local, amount, unit) do
    seconds = amount * @seconds[unit]
    if abs(seconds) < 400_000_000_000, do: moved(local, seconds)
  end

  # `NaiveDateTime` knows no later years.
  defp moved(local, seconds) do
    NaiveDateTime.add(local, seconds)
  rescue
    _error -> nil
  end

  defp text(time, :date), do: time |> NaiveDateTime.to_date() |> Date.to_iso8601()
  defp text(time, :naive), do: NaiveDateTime.to_iso8601(time)
  defp text(time, offset), do: NaiveDateTime.to_iso8601(time) <> offset

  ## Parts

  defp part("quarter", time), do: div(time.month + 2, 3)
  defp part("weekday", time), do: Date.day_of_week(time)
  defp part("yearday", time), do: Date.day_of_year(time)

  defp part("week", time) do
    # The calendar repeats every 400 years, and Erlang's has no year before 0.
    {_year, week} = :calendar.iso_week_number({time.year + 400, time.month, time.day})
    week
  end

  defp part("date", time), do: text(time, :date)
  defp part("month_start", time), do: text(%{time | day: 1}, :date)
  defp part("week_start", time), do: time |> Date.beginning_of_week() |> Date.to_iso8601()
  defp part("year_month", time), do: time |> text(:date) |> binary_part(0, 7)
  defp part(part, time), do: Map.fetch!(time, String.to_existing_atom(part))
end

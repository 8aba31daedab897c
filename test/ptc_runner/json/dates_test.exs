defmodule PtcRunner.Json.DatesTest do
  # The operations on dates against Elixir's `Date`, `NaiveDateTime` and `DateTime`; random dates.
  # PTC_SEED repeats a run, PTC_CASES=4 takes four times as many.
  use ExUnit.Case, async: true

  alias PtcRunner.{Agent, Json}
  alias PtcRunner.Test.Environment

  doctest PtcRunner.IsoTime
  doctest PtcRunner.Json.Now

  @units ~w(year month week day hour minute second)
  @seconds %{"week" => 604_800, "day" => 86_400, "hour" => 3_600, "minute" => 60, "second" => 1}
  @number_parts ~w(year quarter month week day weekday yearday hour minute second)
  @text_parts ~w(date month_start week_start year_month)

  setup do
    seed = Environment.seed()
    :rand.seed(:exsss, seed)
    %{seed: seed}
  end

  defp run(node, opts \\ []), do: Json.run(%{"program" => node}, [edition: 2] ++ opts)
  defp value(node, opts \\ []), do: Json.run!(%{"program" => node}, [edition: 2] ++ opts)

  # The value of an operation for each of these items, read by one program.
  defp each(node, items, opts \\ []) do
    steps = [%{"op" => "load", "name" => "x"}, %{"op" => "map", "expr" => node}]
    value(%{"op" => "pipe", "steps" => steps}, [context: %{"x" => items}] ++ opts)
  end

  defp get(field), do: %{"op" => "get", "field" => field}
  defp part(part), do: %{"op" => "date_part", "part" => part}

  # Years of all kinds, and many dates near the ends of months.
  defp random_date do
    year =
      Enum.random([
        Enum.random(0..9999),
        Enum.random(1990..2030),
        Enum.random([0, 9999, 1900, 2000])
      ])

    month = Enum.random(1..12)
    last = :calendar.last_day_of_the_month(year, month)
    Date.new!(year, month, Enum.random([Enum.random(1..last), last, max(last - 1, 1), 1]))
  end

  defp random_time do
    fraction =
      Enum.random([{0, 0}, {0, 0}, {500_000, 1}, {250_000, 3}, {Enum.random(0..999_999), 6}])

    Time.new!(Enum.random(0..23), Enum.random(0..59), Enum.random(0..59), fraction)
  end

  defp random_offset,
    do: Enum.random(["", "Z", "Z", "+02:00", "-05:30", "+0000", "+14:00", "-11"])

  # The text, and what it says: the date, the time of day, the offset in seconds.
  defp random_text do
    date = random_date()

    case Enum.random([:date, :time]) do
      :date ->
        {Date.to_iso8601(date), {date, ~T[00:00:00], 0, ""}}

      :time ->
        {time, offset} = {random_time(), random_offset()}
        separator = Enum.random(["T", "T", " "])
        text = Date.to_iso8601(date) <> separator <> Time.to_iso8601(time) <> offset
        {text, {date, time, seconds_of(offset), offset}}
    end
  end

  defp seconds_of(""), do: 0
  defp seconds_of("Z"), do: 0

  defp seconds_of(<<sign, hours::2-bytes, ":", minutes::2-bytes>>),
    do: seconds_of(sign, hours, minutes)

  defp seconds_of(<<sign, hours::2-bytes, minutes::2-bytes>>),
    do: seconds_of(sign, hours, minutes)

  defp seconds_of(<<sign, hours::2-bytes>>), do: seconds_of(sign, hours, "00")

  defp seconds_of(sign, hours, minutes) do
    seconds = String.to_integer(hours) * 3_600 + String.to_integer(minutes) * 60
    if sign == ?-, do: -seconds, else: seconds
  end

  # Microseconds since the year 0 in UTC, and the date and the time there.
  defp in_utc({date, time, offset, _text}) do
    {seconds, micros} = Time.to_seconds_after_midnight(time)
    seconds = Date.to_gregorian_days(date) * 86_400 + seconds - offset
    {days, seconds} = {Integer.floor_div(seconds, 86_400), Integer.mod(seconds, 86_400)}
    {days, seconds * 1_000_000 + micros}
  end

  describe "date_part" do
    test "of random dates is that of Elixir", %{seed: seed} do
      samples = for _ <- 1..Environment.cases(2_000), do: random_text()
      texts = Enum.map(samples, &elem(&1, 0))
      fields = Map.new(@number_parts ++ (@text_parts -- ["week_start"]), &{&1, part(&1)})
      found = each(%{"op" => "object", "fields" => fields}, texts)

      for {{text, {date, time, _, _}}, found} <- Enum.zip(samples, found) do
        expected = %{
          "year" => date.year,
          "quarter" => Date.quarter_of_year(date),
          "month" => date.month,
          "week" => week(date),
          "day" => date.day,
          "weekday" => Date.day_of_week(date),
          "yearday" => Date.day_of_year(date),
          "hour" => time.hour,
          "minute" => time.minute,
          "second" => time.second,
          "date" => Date.to_iso8601(date),
          "month_start" => date |> Date.beginning_of_month() |> Date.to_iso8601(),
          "year_month" => date |> Date.to_iso8601() |> binary_part(0, 7)
        }

        assert {seed, text, found} == {seed, text, expected}
        monday = Date.beginning_of_week(date)

        assert value(Map.put(part("week_start"), "value", text)) == Date.to_iso8601(monday)
      end
    end
  end

  # Erlang knows no week of the year -1.
  defp week(%Date{year: 0, month: 1, day: day}) when day < 3, do: 52
  defp week(date), do: date |> Date.to_erl() |> :calendar.iso_week_number() |> elem(1)

  describe "date_diff" do
    test "of random dates is that of Elixir", %{seed: seed} do
      samples = for _ <- 1..Environment.cases(2_000), do: {random_text(), random_text()}
      near = for _ <- 1..Environment.cases(2_000), do: near(random_text())
      samples = samples ++ near

      items = for {{from, _}, {to, _}} <- samples, do: %{"from" => from, "to" => to}

      fields =
        Map.new(
          @units,
          &{&1, %{"op" => "date_diff", "from" => get("from"), "to" => get("to"), "unit" => &1}}
        )

      found = each(%{"op" => "object", "fields" => fields}, items)

      for {{{_, from}, {_, to}}, item, found} <- Enum.zip([samples, items, found]) do
        {{days, micros}, {to_days, to_micros}} = {in_utc(from), in_utc(to)}
        apart = (to_days - days) * 86_400_000_000 + to_micros - micros

        for {unit, seconds} <- @seconds do
          assert {seed, item, unit, found[unit]} ==
                   {seed, item, unit, div(apart, seconds * 1_000_000)}
        end

        months = months({days, micros}, {to_days, to_micros})
        assert {seed, item, found["month"]} == {seed, item, months}
        assert {seed, item, found["year"]} == {seed, item, div(months, 12)}
      end
    end

    # Two dates that are about a number of months apart.
    defp near({text, {date, time, offset, shown} = said}) do
      days = Enum.random(-3..3) + Enum.random([0, 30, 31, 59, 365, -30, -365])
      other = Date.to_gregorian_days(date) + days

      if other in 0..3_652_424 do
        other = Date.from_gregorian_days(other)
        rest = binary_part(text, 10, byte_size(text) - 10)
        {{text, said}, {Date.to_iso8601(other) <> rest, {other, time, offset, shown}}}
      else
        {{text, said}, {text, said}}
      end
    end

    # The definition: the greatest number of months (towards zero) that does not lead beyond `to`.
    defp months(from, to) do
      {{count, day, micros}, {to_count, _, _} = to} = {point(from), point(to)}
      sign = if {count, day, micros} <= to, do: 1, else: -1
      all = to_count - count

      Enum.find([all + sign, all, all - sign], 0, fn months ->
        there = {count + months, min(day, last_day(count + months)), micros}
        months * sign >= 0 and if(sign > 0, do: there <= to, else: there >= to)
      end)
    end

    # The number of the month, the day and the time.
    defp point({days, micros}) do
      {year, month, day} = of_days(days)
      {year * 12 + month - 1, day, micros}
    end

    defp last_day(count) do
      year = 2_000 + Integer.mod(Integer.floor_div(count, 12), 400)
      :calendar.last_day_of_the_month(year, Integer.mod(count, 12) + 1)
    end

    # The years before 0 and after 9999 have the calendar of those 400 years away.
    defp of_days(days) do
      {shift, days} =
        cond do
          days < 400 -> {-400, days + 146_097}
          days > 3_652_000 -> {400, days - 146_097}
          true -> {0, days}
        end

      date = Date.from_gregorian_days(days)
      {date.year + shift, date.month, date.day}
    end
  end

  describe "date_add" do
    test "of random dates is that of Elixir", %{seed: seed} do
      for _ <- 1..Environment.cases(2_000) do
        {text, {date, time, _offset, _shown}} = random_text()

        {unit, amount} =
          {Enum.random(@units), Enum.random([Enum.random(-40..40), Enum.random(-5_000..5_000)])}

        node = %{"op" => "date_add", "value" => text, "amount" => amount, "unit" => unit}
        {seconds, _micros} = Time.to_seconds_after_midnight(time)

        {later, clock} =
          case @seconds[unit] do
            nil ->
              months = if unit == "year", do: 12 * amount, else: amount
              {later_or_none(date, months), seconds}

            length ->
              all = Date.to_gregorian_days(date) * 86_400 + seconds + amount * length
              {Integer.floor_div(all, 86_400), Integer.mod(all, 86_400)}
          end

        expected =
          if later in 0..3_652_424 do
            {:ok, shown(text, Date.from_gregorian_days(later), clock, unit)}
          else
            {:error,
             {:execution_error, "date_add requires ISO 8601 dates, got: #{inspect(text)}"}}
          end

        found = with {:ok, sum, _, _} <- run(node), do: {:ok, sum}
        assert {seed, text, amount, unit, found} == {seed, text, amount, unit, expected}
      end
    end

    # The number of the day.
    defp later_or_none(date, months) do
      count = date.year * 12 + date.month - 1 + months
      {year, month} = {Integer.floor_div(count, 12), Integer.mod(count, 12) + 1}

      if year in 0..9_999 do
        last = :calendar.last_day_of_the_month(year, month)
        Date.to_gregorian_days(Date.new!(year, month, min(date.day, last)))
      else
        -1
      end
    end

    # Only the digits of the date and of the clock change.
    defp shown(text, date, clock, unit) do
      clock = clock |> Time.from_seconds_after_midnight() |> Time.to_iso8601()

      case text do
        <<_date::10-bytes>> when unit in ~w(hour minute second) ->
          Date.to_iso8601(date) <> "T" <> clock <> "Z"

        <<_date::10-bytes>> ->
          Date.to_iso8601(date)

        <<_date::10-bytes, separator, _clock::8-bytes, rest::binary>> ->
          Date.to_iso8601(date) <> <<separator>> <> clock <> rest
      end
    end

    test "with integers of any size" do
      for amount <- [10 ** 30, -(10 ** 30), 9_223_372_036_854_775_807, 3_652_425],
          unit <- @units do
        node = %{"op" => "date_add", "value" => "0000-01-01", "amount" => amount, "unit" => unit}

        unless amount == 3_652_425 and unit in ~w(hour minute second) do
          assert run(node) ==
                   {:error,
                    {:execution_error, ~s(date_add requires ISO 8601 dates, got: "0000-01-01")}}
        end
      end
    end

    test "evaluates the amount only for a date" do
      test = self()

      tools = %{
        "t" => fn _args ->
          send(test, :called)
          1
        end
      }

      call = %{"op" => "call", "tool" => "t"}
      node = %{"op" => "date_add", "field" => "d", "amount" => call, "unit" => "day"}
      program = %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "x"}, node]}
      run = &run(program, context: %{"x" => %{"d" => &1}}, tools: tools)

      assert {:ok, nil, _, _} = run.(nil)
      assert {:error, {:execution_error, "date_add requires ISO 8601 dates, got: 5"}} = run.(5)
      refute_received :called
      assert {:ok, "2024-01-02", _, _} = run.("2024-01-01")
      assert_received :called
    end
  end

  test "a text is a date if Elixir reads it, and its year has four digits", %{seed: seed} do
    alphabet = ~c"0123456789-+:TZ .,tz"

    for _ <- 1..Environment.cases(4_000) do
      {text, _said} = random_text()
      place = Enum.random(0..(byte_size(text) - 1))
      before = binary_part(text, 0, place)
      <<char, rest::binary>> = binary_part(text, place, byte_size(text) - place)

      mutated =
        case Enum.random([:keep, :change, :drop, :add]) do
          :keep -> text
          :change -> before <> <<Enum.random(alphabet)>> <> rest
          :drop -> before <> rest
          :add -> before <> <<char, Enum.random(alphabet)>> <> rest
        end

      found = match?({:ok, _, _, _}, run(Map.put(part("year"), "value", mutated)))
      assert {seed, mutated, found} == {seed, mutated, date?(mutated)}
    end
  end

  # `DateTime.from_iso8601/1` fails for times whose year in UTC is 10000, so the offset is checked here.
  @time ~r/^[-+]?.{10}[T ].{8}([.,]\d+)?(Z|[-+]\d\d(:?\d\d)?)?$/

  defp date?(text) do
    case {Date.from_iso8601(text), NaiveDateTime.from_iso8601(text)} do
      {{:ok, date}, _} -> date.year >= 0
      {_, {:ok, naive}} -> naive.year >= 0 and text =~ @time
      _ -> false
    end
  end

  describe "structs" do
    test "are dates in every mode" do
      structs = [~D[2024-02-29], ~N[2024-02-29 10:30:00.250], ~U[2024-02-29 10:30:00Z]]

      vienna = %{
        ~U[2024-02-29 10:30:00Z]
        | utc_offset: 3_600,
          std_offset: 3_600,
          time_zone: "X",
          zone_abbr: "X"
      }

      for opts <- [[], [structs: :values], [keys: :any], [structs: :values, keys: :any]] do
        assert each(part("day"), structs ++ [vienna], opts) == [29, 29, 29, 29]

        # As everywhere where structs are values, an atom is the text of its name.
        if opts[:structs], do: assert(each(part("day"), [:"2024-02-29"], opts) == [29])
        add = %{"op" => "date_add", "amount" => 1, "unit" => "month"}

        if opts[:structs], do: assert(each(add, [:"2024-02-29"], opts) == ["2024-03-29"])

        assert each(add, structs ++ [vienna], opts) ==
                 [
                   "2024-03-29",
                   "2024-03-29T10:30:00.250",
                   "2024-03-29T10:30:00Z",
                   "2024-03-29T10:30:00+02:00"
                 ]

        diff = %{
          "op" => "date_diff",
          "from" => "2024-02-29",
          "to" => %{"op" => "var", "name" => "__input"},
          "unit" => "hour"
        }

        assert each(diff, structs ++ [vienna], opts) == [0, 10, 10, 8]
      end
    end

    test "that are no dates" do
      wrong = [
        ~T[10:30:00],
        %{~D[2024-02-29] | month: 13},
        %{~D[2024-02-29] | year: 10_000},
        %{~D[2024-02-29] | year: -1},
        %{~D[2024-02-29] | day: nil},
        %{~D[2024-02-29] | calendar: Calendar.Other},
        %{~U[2024-02-29 10:30:00Z] | utc_offset: 100_000},
        %{~N[2024-02-29 10:30:00] | hour: 10 ** 20},
        {2024, 2, 29},
        ["2024-02-29"],
        :today,
        <<"2024-02-29", 255>>,
        "10:30:00",
        2024,
        2024.5
      ]

      for value <- wrong, opts <- [[], [structs: :values]] do
        assert {:error, {:execution_error, "date_part requires ISO 8601 dates, got: " <> _}} =
                 run(
                   %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => "x"}, part("day")]},
                   [context: %{"x" => value}] ++ opts
                 )
      end
    end
  end

  test "a fraction may have any length, and its words and its time count" do
    text = "2024-02-29T10:30:00." <> String.duplicate("1", 1_000_000) <> "Z"

    node = %{
      "op" => "pipe",
      "steps" => [
        %{"op" => "load", "name" => "x"},
        %{"op" => "date_add", "amount" => 1, "unit" => "day"}
      ]
    }

    assert <<"2024-03-01T10:30:00.11", _::binary>> = sum = value(node, context: %{"x" => text})
    assert byte_size(sum) == byte_size(text)

    assert {:error, {:memory_exceeded, _}} = run(node, context: %{"x" => text}, max_heap: 10_000)
  end

  describe "now" do
    @now %{"op" => "now"}

    test "is the time of the start, to the second, in UTC" do
      before = DateTime.truncate(DateTime.utc_now(), :second)
      {:ok, now, 0} = @now |> value() |> DateTime.from_iso8601()
      assert DateTime.compare(now, before) != :lt
      assert DateTime.compare(now, DateTime.utc_now()) != :gt
    end

    test "is the option :now" do
      for {now, text} <- [
            {~U[2024-02-29 10:30:00Z], "2024-02-29T10:30:00Z"},
            {~U[2024-02-29 10:30:00.999Z], "2024-02-29T10:30:00Z"},
            {"2024-02-29T10:30:00+02:00", "2024-02-29T08:30:00Z"},
            {"2024-02-29T10:30:00", "2024-02-29T10:30:00Z"},
            {"2024-02-29", "2024-02-29T00:00:00Z"},
            {"0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"}
          ] do
        assert value(@now, now: now) == text
        {:ok, compiled} = Json.compile(%{"program" => @now}, edition: 2)
        assert Json.run!(compiled, now: now) == text

        assert {:ok, ^text, _, _} =
                 Json.explain(%{"program" => @now}, edition: 2, now: now).result

        assert {:ok, ^text, _} = Agent.run(%{"program" => @now}, %{}, now: now, edition: 2)
      end

      for now <- [
            5,
            "today",
            "",
            ~D[2024-02-29],
            "9999-12-31T23:59:59-05:00",
            %{~U[2024-02-29 10:30:00Z] | year: nil}
          ] do
        assert_raise ArgumentError,
                     ~r/option :now of PtcRunner.Json.run\/2 must be a DateTime/,
                     fn ->
                       run(@now, now: now)
                     end
      end
    end

    test "is one time for the whole run, whatever its tools do" do
      call = %{"op" => "call", "tool" => "wait", "args" => %{"at" => @now}}
      both = %{"op" => "list", "items" => [@now, call, @now]}

      node = %{
        "op" => "pipe",
        "steps" => [%{"op" => "load", "name" => "x"}, %{"op" => "map", "expr" => both}]
      }

      tools = %{"wait" => fn %{"at" => at} -> Process.sleep(1) && at end}

      for x <- [Enum.to_list(1..60), [1]],
          opts <- [[], [tool_concurrency: 20], [now: "2024-02-29T10:30:00Z"]] do
        large = Enum.to_list(1..50_000)
        opts = [context: %{"x" => x, "large" => large}, tools: tools, timeout: 60_000] ++ opts
        rows = value(node, opts)
        assert [now] = rows |> List.flatten() |> Enum.uniq()
        if opts[:now], do: assert(now == opts[:now])
      end
    end
  end
end

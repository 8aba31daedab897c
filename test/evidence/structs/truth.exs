defmodule Forty.Truth do
  @moduledoc "The right value of each task, and what must have been written, in plain Elixir with exact fractions."
  alias Forty.{Data, Tools}

  @today ~D[2025-10-01]

  @doc "All ids with `{value, writes}`; a write is `{tool, args}`."
  def all do
    ids =
      Path.join(__DIR__, "tasks.json")
      |> File.read!()
      |> PtcRunner.Json.Codec.decode!()
      |> Enum.map(& &1["id"])

    c = Data.context()

    Map.new(ids, fn id ->
      {id, with(value when not is_tuple(value) <- truth(id, c), do: {value, []})}
    end)
  end

  # Exact fractions {numerator, denominator}.
  defp q(%{__struct__: Decimal, sign: s, coef: c, exp: e}) when e >= 0,
    do: {s * c * Integer.pow(10, e), 1}

  defp q(%{__struct__: Decimal, sign: s, coef: c, exp: e}), do: {s * c, Integer.pow(10, -e)}
  defp q(n) when is_integer(n), do: {n, 1}
  defp q({_, _} = q), do: q
  defp q(nil), do: {0, 1}
  defp plus(a, b), do: with({{n, d}, {m, e}} <- {q(a), q(b)}, do: low(n * e + m * d, d * e))
  defp minus(a, b), do: with({n, d} <- q(b), do: plus(a, {-n, d}))
  defp times(a, b), do: with({{n, d}, {m, e}} <- {q(a), q(b)}, do: low(n * m, d * e))
  defp over(a, b), do: with({m, e} <- q(b), do: times(a, if(m < 0, do: {-e, -m}, else: {e, m})))
  defp low(n, d), do: with(g <- max(Integer.gcd(n, d), 1), do: {div(n, g), div(d, g)})
  defp sum(list), do: Enum.reduce(list, {0, 1}, &plus/2)
  defp float(a), do: with({n, d} <- q(a), do: n / d)
  defp less?(a, b), do: with({n, _} <- minus(a, b), do: n < 0)
  # Half away from zero, to a fraction.
  defp rnd(a, places) do
    {n, d} = times(a, Integer.pow(10, places))
    whole = div(2 * abs(n) + d, 2 * d)
    {if(n < 0, do: -whole, else: whole), Integer.pow(10, places)}
  end

  defp rounded(a, places), do: float(rnd(a, places))

  defp two(a) do
    {cents, 100} = rnd(a, 2)
    "#{div(cents, 100)}.#{String.pad_leading("#{rem(cents, 100)}", 2, "0")}"
  end

  defp years(from, to),
    do: to.year - from.year - if({to.month, to.day} < {from.month, from.day}, do: 1, else: 0)

  defp iso(nil), do: nil
  defp iso(date), do: Date.to_iso8601(date)
  defp before?(a, b), do: Date.compare(a, b) == :lt
  defp day(datetime), do: DateTime.to_date(datetime)
  defp by_id(rows), do: Map.new(rows, &{&1.id, &1})
  defp month(date), do: String.slice(Date.to_iso8601(date), 0, 7)

  defp truth("visits-in-march", c),
    do: Enum.count(c.visits, &({&1.starts_at.year, &1.starts_at.month} == {2025, 3}))

  defp truth("february-march", c),
    do:
      for(
        i <- c.invoices,
        i.issued.year == 2025 and i.issued.month in [2, 3] and i.state in [:open, :void],
        do: i.number
      )
      |> Enum.sort()

  defp truth("paid-sum", c),
    do: for(i <- c.invoices, i.currency == "EUR" and i.paid_on, do: i.amount) |> sum() |> float()

  defp truth("average-by-state", c) do
    for {state, rows} <- Enum.group_by(c.invoices, & &1.state) |> Enum.sort() do
      %{
        "state" => state,
        "invoices" => length(rows),
        "average" => rows |> Enum.map(& &1.amount) |> sum() |> over(length(rows)) |> rounded(2)
      }
    end
  end

  defp truth("weights", c) do
    known =
      for p <- c.patients,
          p.weight not in [nil, "unknown"],
          do:
            p.weight
            |> String.replace(["kg", " "], "")
            |> String.replace(",", ".")
            |> Decimal.new()

    known |> sum() |> over(length(known)) |> rounded(1)
  end

  defp truth("last-reminder", c) do
    for i <- Enum.sort_by(c.invoices, & &1.number), length(i.reminders) >= 2 do
      last = i.reminders |> Enum.max(NaiveDateTime) |> NaiveDateTime.to_date()

      %{
        "number" => i.number,
        "last_reminder" => iso(last),
        "days_to_payment" => i.paid_on && Date.diff(i.paid_on, last)
      }
    end
  end

  defp truth("oldest", c) do
    for p <- c.patients |> Enum.sort_by(&{Date.to_iso8601(&1.born), &1.id}) |> Enum.take(5),
        do: %{"name" => p.name, "age" => years(p.born, @today)}
  end

  defp truth("overdue", c) do
    for(
      i <- c.invoices,
      i.state == :open and before?(i.due, @today),
      do: %{
        "number" => i.number,
        "days_overdue" => Date.diff(@today, i.due),
        "amount" => float(i.amount)
      }
    )
    |> Enum.sort_by(&{-&1["days_overdue"], &1["number"]})
  end

  defp truth("days-to-payment", c) do
    days = for i <- c.invoices, i.paid_on, do: Date.diff(i.paid_on, i.issued)
    days |> sum() |> over(length(days)) |> rounded(1)
  end

  defp truth("status-percent", c) do
    for(
      {status, n} <- Enum.frequencies_by(c.visits, & &1.status),
      do: %{
        "status" => status,
        "visits" => n,
        "percent" => rounded({n * 100, length(c.visits)}, 1)
      }
    )
    |> Enum.sort_by(&{-&1["visits"], &1["status"]})
  end

  defp truth("age-groups", c) do
    ages = Enum.map(c.patients, &years(&1.born, @today))

    %{
      "child" => Enum.count(ages, &(&1 < 18)),
      "adult" => Enum.count(ages, &(&1 in 18..64)),
      "senior" => Enum.count(ages, &(&1 >= 65))
    }
  end

  defp truth("department-revenue", c) do
    {visits, doctors} = {by_id(c.visits), by_id(c.doctors)}

    for(
      i <- c.invoices,
      i.currency == "EUR",
      i.state != :void,
      v = visits[i.visit_id],
      d = doctors[v.doctor_id],
      do: {d.department, i.amount}
    )
    |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))
    |> Enum.map(fn {d, amounts} ->
      %{"department" => d, "invoices" => length(amounts), "revenue" => float(sum(amounts))}
    end)
    |> Enum.sort_by(&{-&1["revenue"], &1["department"]})
  end

  defp truth("department-status", c) do
    doctors = by_id(c.doctors)

    counts =
      for(v <- c.visits, d = doctors[v.doctor_id], do: {d.department, v.status})
      |> Enum.frequencies()

    for {{department, status}, n} <- Enum.sort(counts),
        do: %{"department" => department, "status" => status, "visits" => n}
  end

  defp truth("top-doctors", c) do
    doctors = by_id(c.doctors)

    for(
      v <- c.visits,
      v.status == :done,
      d = doctors[v.doctor_id],
      uniq: true,
      do: {d.name, v.patient_id}
    )
    |> Enum.frequencies_by(&elem(&1, 0))
    |> Enum.map(fn {name, n} -> %{"name" => name, "patients" => n} end)
    |> Enum.sort_by(&{-&1["patients"], &1["name"]})
    |> Enum.take(3)
  end

  defp truth("distinct-codes", c),
    do:
      for(
        v <- c.visits,
        v.status == :done,
        v.starts_at.year == 2025 and v.starts_at.month >= 7,
        p <- v.procedures,
        uniq: true,
        do: p.code
      )
      |> length()

  defp truth("procedures", c) do
    c.visits
    |> Enum.flat_map(& &1.procedures)
    |> Enum.group_by(& &1.code)
    |> Enum.map(fn {code, all} ->
      %{
        "code" => code,
        "times" => length(all),
        "minutes" => Enum.sum(Enum.map(all, & &1.minutes)),
        "revenue" => all |> Enum.map(& &1.price) |> sum() |> float()
      }
    end)
    |> Enum.sort_by(&{-&1["revenue"], &1["code"]})
  end

  defp truth("wrong-amounts", c) do
    visits = by_id(c.visits)

    for i <- Enum.sort_by(c.invoices, & &1.number),
        v = visits[i.visit_id],
        difference =
          minus(i.amount, minus(v.procedures |> Enum.map(& &1.price) |> sum(), i.discount)),
        float(difference) != 0.0,
        do: %{"number" => i.number, "difference" => float(difference)}
  end

  defp truth("running-total", c) do
    months = for m <- 1..9, do: "2025-0#{m}"
    per = for m <- months, do: for(i <- c.invoices, month(i.issued) == m, do: i.amount) |> sum()

    for {{m, s}, r} <- Enum.zip(Enum.zip(months, per), Enum.scan(per, &plus/2)),
        do: %{"month" => m, "invoiced" => float(s), "running" => float(r)}
  end

  defp truth("weeks", c) do
    for(
      v <- c.visits,
      v.status == :done,
      month(v.starts_at) in ["2025-05", "2025-06"],
      do:
        :calendar.iso_week_number({v.starts_at.year, v.starts_at.month, v.starts_at.day})
        |> elem(1)
    )
    |> Enum.frequencies()
    |> Enum.sort()
    |> Enum.map(fn {w, n} -> %{"week" => w, "visits" => n} end)
  end

  defp truth("weekend", c) do
    for v <- Enum.sort_by(c.visits, & &1.id),
        v.status != :cancelled,
        d = Date.day_of_week(v.starts_at),
        d > 5,
        do: %{"id" => v.id, "day" => if(d == 6, do: "Saturday", else: "Sunday")}
  end

  defp truth("too-early", c) do
    visits = by_id(c.visits)

    for i <- Enum.sort_by(c.invoices, & &1.number),
        v = visits[i.visit_id],
        before?(i.issued, day(v.starts_at)),
        do: %{
          "number" => i.number,
          "issued" => iso(i.issued),
          "visit_day" => iso(day(v.starts_at))
        }
  end

  defp truth("outside-shift", c) do
    doctors = by_id(c.doctors)

    for(
      v <- c.visits,
      d = doctors[v.doctor_id],
      t = DateTime.to_time(v.starts_at),
      Time.compare(t, d.shift_start) == :lt or Time.compare(t, d.shift_end) != :lt,
      do: v.id
    )
    |> Enum.sort()
  end

  defp truth("letters", c) do
    {visits, patients} = {by_id(c.visits), by_id(c.patients)}

    for i <- Enum.sort_by(c.invoices, & &1.number),
        i.state == :open,
        not before?(i.due, ~D[2025-06-01]),
        v = visits[i.visit_id],
        p = patients[v.patient_id],
        do:
          "Dear #{p.name}, invoice #{i.number} of #{two(i.amount)} #{i.currency} is due on #{Calendar.strftime(i.due, "%d.%m.%Y")}."
  end

  defp truth("copay", c) do
    {visits, patients} = {by_id(c.visits), by_id(c.patients)}

    for(
      i <- c.invoices,
      i.currency == "EUR",
      month(i.issued) in ["2025-05", "2025-06", "2025-07"],
      v = visits[i.visit_id],
      p = patients[v.patient_id],
      do:
        Tools.copay(i.amount, if(p.insurance, do: Atom.to_string(p.insurance.kind), else: "none"))
    )
    |> sum()
    |> rounded(2)
  end

  defp truth("in-euro", c) do
    for(
      i <- c.invoices,
      month(i.issued) in ["2025-04", "2025-05", "2025-06"],
      %{} = rate <- [Tools.exchange_rate(i.currency, i.issued)],
      do: times(i.amount, rate)
    )
    |> sum()
    |> rounded(2)
  end

  defp truth("free-days", c) do
    for(
      d <- c.doctors,
      d.department in [:surgery, :pediatrics],
      day = Tools.next_free_day(d.id, ~D[2025-10-02]),
      do: %{"name" => d.name, "day" => iso(day), "days" => Date.diff(day, ~D[2025-10-02])}
    )
    |> Enum.sort_by(&{&1["day"], &1["name"]})
  end

  defp truth("insurers", c) do
    for {provider, n} <-
          c.patients
          |> Enum.filter(& &1.insurance)
          |> Enum.frequencies_by(& &1.insurance.provider)
          |> Enum.sort() do
      case Tools.insurer(provider) do
        %{} = i ->
          %{
            "provider" => provider,
            "contract_until" => iso(i.contract_until),
            "max_amount" => float(i.max_amount),
            "patients" => n
          }

        {:error, _} ->
          %{"provider" => provider, "contract_until" => nil, "max_amount" => nil, "patients" => n}
      end
    end
  end

  defp truth("risk", c) do
    for(
      p <- c.patients,
      p.active == true,
      r = Tools.risk(p.born, p.allergies),
      r.level == :high,
      do: %{"name" => p.name, "points" => r.points}
    )
    |> Enum.sort_by(&{-&1["points"], &1["name"]})
  end

  defp truth("remind", c) do
    {visits, patients} = {by_id(c.visits), by_id(c.patients)}

    due =
      for(
        i <- c.invoices,
        i.state == :open,
        i.currency == "EUR",
        Date.diff(@today, i.due) > 30,
        v = visits[i.visit_id],
        p = patients[v.patient_id],
        do: {p.id, i.amount}
      )
      |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))

    writes =
      for {id, amounts} <- due,
          do:
            {"send_message",
             %{
               "patient_id" => id,
               "text" =>
                 "You have #{length(amounts)} overdue invoices, in total #{two(sum(amounts))} EUR."
             }}

    {Enum.count(Map.keys(due), &Tools.delivered?/1), writes}
  end

  defp truth("follow-up", c) do
    {patients, doctors} = {by_id(c.patients), by_id(c.doctors)}

    rows =
      for {id, visits} <-
            c.visits
            |> Enum.filter(&(&1.status == :done))
            |> Enum.group_by(& &1.patient_id)
            |> Enum.sort(),
          p = patients[id],
          p.active == true,
          v = Enum.max_by(visits, & &1.starts_at, DateTime),
          before?(day(v.starts_at), ~D[2025-06-01]),
          d = doctors[v.doctor_id],
          do: {p, v, d}

    writes =
      for {p, v, d} <- rows,
          do:
            {"book",
             %{
               "doctor_id" => d.id,
               "patient_id" => p.id,
               "day" => iso(%{day(v.starts_at) | year: v.starts_at.year + 1}),
               "fee" => rounded(over(d.hourly_rate, 2), 2)
             }}

    {for(
       {p, _, d} <- rows,
       do: %{"patient_id" => p.id, "booking" => Tools.booking_id(d.id, p.id)}
     ), writes}
  end

  defp truth("second-language", c),
    do:
      for(
        d <- c.doctors,
        d.department == :dermatology,
        do: %{"name" => d.name, "second" => Enum.at(d.languages, 1) || "none"}
      )

  defp truth("gaps", c) do
    came = MapSet.new(c.visits, & &1.patient_id)

    %{
      "no_insurance" => Enum.count(c.patients, &is_nil(&1.insurance)),
      "no_phone" => Enum.count(c.patients, &(String.trim(&1.phone || "") == "")),
      "no_weight" => Enum.count(c.patients, &(&1.weight in [nil, "unknown"])),
      "never_came" => Enum.count(c.patients, &(&1.id not in came))
    }
  end

  defp truth("active-prescriptions", c) do
    for(
      p <- c.prescriptions,
      last = Date.add(p.start, p.days - 1),
      not before?(~D[2025-09-15], p.start) and not before?(last, ~D[2025-09-15]),
      do: %{"id" => p.id, "drug" => p.drug, "last_day" => iso(last)}
    )
    |> Enum.sort_by(&{&1["last_day"], &1["id"]})
  end

  defp truth("daily-dose", c) do
    doses =
      for p <- c.prescriptions,
          [_, n, amount, unit] <- [Regex.run(~r/^(\d+) ?[xX] ?([\d.]+) ?(mg|g)$/, p.dose || "")],
          do:
            {p.drug,
             float(
               times(
                 times(String.to_integer(n), Decimal.new(amount)),
                 if(unit == "g", do: 1000, else: 1)
               )
             )}

    for {drug, all} <- doses |> Enum.group_by(&elem(&1, 0), &elem(&1, 1)) |> Enum.sort(),
        do: %{"drug" => drug, "mg" => Enum.max(all)}
  end

  defp truth("drug-costs", c) do
    for(
      {drug, rows} <- Enum.group_by(c.prescriptions, & &1.drug),
      do: %{
        "drug" => drug,
        "prescriptions" => length(rows),
        "gross" =>
          rows
          |> Enum.map(&times(&1.price, (&1.repeats || 0) + 1))
          |> sum()
          |> times({119, 100})
          |> rounded(2)
      }
    )
    |> Enum.sort_by(&{-&1["gross"], &1["drug"]})
  end

  defp truth("tenure", c) do
    for(
      d <- c.doctors,
      y = years(d.hired_on, @today),
      do: %{
        "name" => d.name,
        "years" => y,
        "label" =>
          cond(
            do:
              (
                y < 3 -> "junior"
                y < 10 -> "mid"
                true -> "senior"
              )
          )
      }
    )
    |> Enum.sort_by(&{-&1["years"], &1["name"]})
  end

  defp truth("work-costs", c) do
    doctors = by_id(c.doctors)

    for(
      {id, visits} <- c.visits |> Enum.filter(& &1.ended_at) |> Enum.group_by(& &1.doctor_id),
      d = doctors[id],
      minutes = Enum.sum(Enum.map(visits, &DateTime.diff(&1.ended_at, &1.starts_at, :minute))),
      do: %{
        "name" => d.name,
        "minutes" => minutes,
        "cost" => times(minutes, over(d.hourly_rate, 60)) |> rounded(2)
      }
    )
    |> Enum.sort_by(&{-&1["cost"], &1["name"]})
    |> Enum.take(5)
  end

  defp truth("quarters", c) do
    for {quarter, rows} <-
          c.visits
          |> Enum.filter(&(&1.starts_at.year == 2025))
          |> Enum.group_by(&"Q#{div(&1.starts_at.month + 2, 3)}")
          |> Enum.sort() do
      none = Enum.count(rows, &(&1.status == :no_show))

      %{
        "quarter" => quarter,
        "visits" => length(rows),
        "no_shows" => none,
        "percent" => rounded({100 * none, length(rows)}, 1)
      }
    end
  end

  defp truth("currencies", c) do
    for {currency, rows} <- Enum.group_by(c.invoices, & &1.currency) |> Enum.sort() do
      amounts = rows |> Enum.map(& &1.amount) |> Enum.sort(&(not less?(&2, &1)))
      n = length(amounts)
      median = over(plus(Enum.at(amounts, div(n - 1, 2)), Enum.at(amounts, div(n, 2))), 2)

      %{
        "currency" => currency,
        "median" => float(median),
        "largest" => float(List.last(amounts)),
        "latest" => iso(rows |> Enum.map(& &1.issued) |> Enum.max(Date))
      }
    end
  end

  defp truth("paid-more", c) do
    doctors = by_id(c.doctors)

    for(
      d <- c.doctors,
      s = doctors[d.supervisor_id],
      less?(s.hourly_rate, d.hourly_rate),
      do: %{
        "name" => d.name,
        "supervisor" => s.name,
        "difference" => float(minus(d.hourly_rate, s.hourly_rate))
      }
    )
    |> Enum.sort_by(&{-&1["difference"], &1["name"]})
  end
end

# A clinic: doctors, patients, visits, invoices, prescriptions, as Ecto gives them. Deterministic; the gaps are on purpose.

defmodule Forty.Meta do
  defstruct state: :loaded, source: nil
end

defmodule Forty.Doctor do
  defstruct [
    :__meta__,
    :id,
    :name,
    :department,
    :hired_on,
    :shift_start,
    :shift_end,
    :hourly_rate,
    :supervisor_id,
    languages: []
  ]
end

defmodule Forty.Insurance do
  defstruct [:provider, :kind, :valid_until]
end

defmodule Forty.Patient do
  defstruct [
    :__meta__,
    :id,
    :name,
    :born,
    :phone,
    :weight,
    :insurance,
    :registered_at,
    :active,
    :visits,
    allergies: []
  ]
end

defmodule Forty.Vitals do
  defstruct [:temperature, :pulse]
end

defmodule Forty.Procedure do
  defstruct [:code, :minutes, :price]
end

defmodule Forty.Visit do
  defstruct [
    :__meta__,
    :id,
    :patient_id,
    :doctor_id,
    :starts_at,
    :ended_at,
    :status,
    :reason,
    :vitals,
    :patient,
    procedures: []
  ]
end

defmodule Forty.Invoice do
  defstruct [
    :__meta__,
    :id,
    :number,
    :visit_id,
    :issued,
    :due,
    :paid_on,
    :amount,
    :discount,
    :currency,
    :state,
    reminders: []
  ]
end

defmodule Forty.Prescription do
  defstruct [:__meta__, :id, :patient_id, :drug, :dose, :start, :days, :price, :repeats]
end

defmodule Forty.Data do
  alias Forty.{Doctor, Insurance, Invoice, Meta, Patient, Prescription, Procedure, Visit, Vitals}

  def now, do: "2025-10-01T08:00:00Z"

  def context do
    %{
      doctors: doctors(),
      patients: patients(),
      visits: visits(),
      invoices: invoices(),
      prescriptions: prescriptions()
    }
  end

  # A stable number from 0 to n - 1 (phash2 gives the same in all versions of OTP).
  defp h(key, n), do: :erlang.phash2({:forty, key}, n)
  defp pick(key, list), do: Enum.at(list, h(key, length(list)))
  defp meta(source), do: %Meta{source: source}

  defp not_loaded(field, owner),
    do: %Ecto.Association.NotLoaded{__field__: field, __owner__: owner, __cardinality__: :one}

  @doctors [
    "Mara Lind",
    "Otto Brandt",
    "Ines Caro",
    "Paul Neri",
    "Zoë Falk",
    "Hugo Reis",
    "Lea Vogt",
    "Amir Saad",
    "Tess Moor",
    "Jan Kos",
    "Rita Blum",
    "Sven Dahl",
    "Nora Pike",
    "Karl Ammer",
    "Yuki Abe",
    "Bea Lohr",
    "Tom Arden",
    "Eva Sund",
    "Igor Plath",
    "Ada Quist"
  ]
  @languages ["de", "en", "fr", "es", "tr", "pl"]

  def doctors do
    for {name, i} <- Enum.with_index(@doctors, 1) do
      %Doctor{
        __meta__: meta("doctors"),
        id: i,
        name: name,
        department: Enum.at([:cardiology, :dermatology, :pediatrics, :surgery], rem(i, 4)),
        hired_on: Date.add(~D[2010-03-15], h({:hired, i}, 5400)),
        shift_start: Enum.at([~T[07:00:00], ~T[08:30:00], ~T[09:00:00]], h({:shift, i}, 3)),
        shift_end: Enum.at([~T[15:00:00], ~T[16:30:00], ~T[17:00:00]], h({:shift, i}, 3)),
        hourly_rate:
          Decimal.new(pick({:rate, i}, ["72.50", "80", "95.75", "110.00", "64.3", "101.25"])),
        supervisor_id: if(i <= 3, do: nil, else: pick({:boss, i}, [1, 2, 3, 4, 99])),
        languages: for(l <- @languages, h({:speaks, i, l}, 5) < 2, do: l)
      }
    end
  end

  @first ["Anna", "Ben", "Clara", "David", "Emil", "Frida", "Gero", "Hanna", "Ivan", "Julia"]
  @last ["Ott", "Paulsen", "Quandt", "Roth", "Seidel", "Thoma", "Urban", "Weiss"]

  def patients do
    for i <- 1..32 do
      %Patient{
        __meta__: meta("patients"),
        id: 100 + i,
        name: "#{Enum.at(@first, rem(i * 3, 10))} #{Enum.at(@last, rem(i * 5, 8))}",
        born: born(i),
        phone:
          pick({:phone, i}, [
            "+49 30 #{1000 + i}",
            "+49 40 #{2000 + i}",
            "0170-#{3000 + i}",
            nil,
            "",
            "  "
          ]),
        weight: weight(i),
        insurance: insurance(i),
        registered_at:
          NaiveDateTime.add(
            ~N[2022-01-03 08:15:00],
            h({:registered, i}, 1300) * 86_400 + h({:at, i}, 30_000)
          ),
        active: pick({:active, i}, [true, true, true, false, nil]),
        visits: not_loaded(:visits, Patient),
        allergies:
          for(
            a <- ["penicillin", "Latex", "pollen", "nuts", "Penicillin"],
            h({:allergy, i, a}, 4) == 0,
            do: a
          )
      }
    end
  end

  # Two are 18 and 65 on the day of the run, one was born on a leap day.
  defp born(4), do: ~D[2007-10-01]
  defp born(9), do: ~D[2007-10-02]
  defp born(13), do: ~D[1960-10-01]
  defp born(17), do: ~D[1960-10-02]
  defp born(21), do: ~D[1988-02-29]
  defp born(i), do: Date.add(~D[1938-06-01], h({:born, i}, 30_500))

  defp weight(i) do
    kilos = 18 + h({:weight, i}, 80)
    tenth = h({:tenth, i}, 10)

    case h({:form, i}, 6) do
      0 -> "#{kilos} kg"
      1 -> "#{kilos}.#{tenth} kg"
      2 -> "#{kilos},#{tenth} kg"
      3 -> "#{kilos}.#{tenth}kg"
      4 -> "unknown"
      5 -> nil
    end
  end

  defp insurance(i) do
    case h({:insurance, i}, 6) do
      0 ->
        nil

      n when n in [1, 2] ->
        %Insurance{
          provider: pick({:public, i}, ["AOK", "Barmer", "TK"]),
          kind: :public,
          valid_until: nil
        }

      3 ->
        %Insurance{provider: "Helvia", kind: :private, valid_until: ~D[2025-06-30]}

      4 ->
        %Insurance{
          provider: pick({:private, i}, ["Nordia", "Oldcare"]),
          kind: :private,
          valid_until: Date.add(~D[2025-01-31], h({:until, i}, 500))
        }

      5 ->
        %Insurance{provider: "AOK", kind: :public, valid_until: ~D[2026-12-31]}
    end
  end

  @codes [
    {"ECG", 20, "45.50"},
    {"XRAY", 15, "80"},
    {"LAB", 10, "23.90"},
    {"SUT", 40, "120.00"},
    {"VAC", 5, "18.5"},
    {"CONS", 30, "60.25"}
  ]

  def visits do
    for i <- 1..60 do
      start =
        DateTime.add(
          ~U[2024-12-20 06:30:00Z],
          h({:day, i}, 310) * 86_400 + h({:slot, i}, 24) * 1800
        )

      past? = DateTime.compare(start, ~U[2025-10-01 00:00:00Z]) == :lt

      status =
        if past?,
          do:
            pick({:status, i}, [:done, :done, :done, :done, :done, :done, :cancelled, :no_show]),
          else: pick({:status, i}, [:planned, :planned, :cancelled])

      # One over midnight.
      start = if i == 23, do: ~U[2025-06-14 23:20:00Z], else: start
      status = if i == 23, do: :done, else: status

      %Visit{
        __meta__: meta("visits"),
        id: 500 + i,
        # Patients 131 and 132 never come; 140 does not exist.
        patient_id: if(i in [11, 37], do: 140, else: 101 + h({:patient, i}, 29)),
        doctor_id: if(i in [8, 44], do: 77, else: 1 + h({:doctor, i}, 18)),
        starts_at: start,
        ended_at:
          if(status == :done and h({:open, i}, 8) > 0,
            do: DateTime.add(start, if(i == 23, do: 55, else: 10 + h({:length, i}, 50)) * 60)
          ),
        status: status,
        reason:
          pick({:reason, i}, [
            "Check-up",
            "check-up",
            "Chest pain",
            "rash, itching",
            "Fever & cough",
            nil,
            "Follow-up after surgery"
          ]),
        vitals:
          if(status == :done and h({:vitals, i}, 5) > 0,
            do: %Vitals{
              temperature: 36.0 + h({:temp, i}, 34) / 10,
              pulse: 52 + h({:pulse, i}, 70)
            }
          ),
        patient: not_loaded(:patient, Visit),
        procedures: if(status == :done, do: procedures(i), else: [])
      }
    end
  end

  defp procedures(i) do
    for k <- 1..4, k <= max(h({:procedures, i}, 6), rem(i, 7)) do
      {code, minutes, price} = pick({:code, i, k}, @codes)

      %Procedure{
        code: code,
        minutes: minutes + 5 * h({:more, i, k}, 3),
        price: Decimal.new(price)
      }
    end
  end

  # One for each visit with procedures, as far as 45, and three for visits that do not exist or are not done.
  def invoices do
    billed =
      visits() |> Enum.filter(&(&1.procedures != [])) |> Enum.sort_by(& &1.starts_at, DateTime)

    strange = [
      %Visit{id: 999, starts_at: ~U[2025-04-02 09:00:00Z]},
      %Visit{id: 998, starts_at: ~U[2025-02-27 09:00:00Z]}
    ]

    for {visit, i} <- Enum.with_index(Enum.take(billed, 43) ++ strange, 1) do
      issued =
        Date.add(
          DateTime.to_date(visit.starts_at),
          if(h({:early, i}, 12) == 0, do: -2, else: h({:issued, i}, 9))
        )

      due = Date.add(issued, pick({:due, i}, [14, 30, 30, 60]))
      discount = pick({:discount, i}, [nil, nil, "0", "5.00", "10.5"])
      wrong = if h({:wrong, i}, 7) == 0, do: 1000, else: 0

      cents =
        max(
          visit.procedures |> Enum.map(&cents(&1.price)) |> Enum.sum(),
          if(visit.id > 900, do: 9990, else: 0)
        )

      amount = cents - cents(discount && Decimal.new(discount)) + wrong
      state = pick({:state, i}, [:paid, :paid, :paid, :open, :open, :void])

      %Invoice{
        __meta__: meta("invoices"),
        id: i,
        number: "INV-#{issued.year}-#{String.pad_leading("#{i}", 4, "0")}",
        visit_id: visit.id,
        issued: issued,
        due: due,
        paid_on: if(state == :paid, do: Date.add(issued, h({:paid, i}, 75))),
        amount: decimal(amount),
        discount: discount && Decimal.new(discount),
        currency: pick({:currency, i}, ["EUR", "EUR", "EUR", "EUR", "CHF", "USD", "XTS"]),
        state: state,
        reminders: if(state == :void, do: [], else: reminders(i, due))
      }
    end
  end

  defp reminders(i, due) do
    for k <- 1..3,
        k <= h({:reminders, i}, 4),
        do:
          NaiveDateTime.new!(
            Date.add(due, 7 * k),
            Enum.at([~T[09:00:00], ~T[17:45:30], ~T[23:59:59]], h({:hour, i, k}, 3))
          )
  end

  defp cents(nil), do: 0
  defp cents(%{sign: s, coef: c, exp: e}), do: s * c * Integer.pow(10, e + 2)

  # 12000 cents are 120, 12.00 or 12.0 in different rows, as databases give them.
  defp decimal(cents) when rem(cents, 100) == 0, do: Decimal.new(div(cents, 100))

  defp decimal(cents) when rem(cents, 10) == 0,
    do: %Decimal{sign: 1, coef: div(cents, 10), exp: -1}

  defp decimal(cents), do: %Decimal{sign: 1, coef: cents, exp: -2}

  def prescriptions do
    for i <- 1..36 do
      {drug, doses} =
        pick({:drug, i}, [
          {"Ibuprofen", ["3x400mg", "2x600mg", "3 x 400 mg"]},
          {"Amoxicillin", ["3x1g", "2x750mg", nil]},
          {"Metformin", ["2x0.5g", "1x850mg"]},
          {"Zinc", ["1x15mg", "as needed"]},
          {"Paracetamol", ["4x500mg", "3X1g", "2x500mg"]}
        ])

      %Prescription{
        __meta__: meta("prescriptions"),
        id: 9000 + i,
        patient_id: if(i == 30, do: 150, else: 101 + h({:prescribed, i}, 32)),
        drug: drug,
        dose: pick({:dose, i}, doses),
        start: Date.add(~D[2025-07-20], h({:start, i}, 66)),
        days: pick({:days, i}, [5, 7, 10, 14, 28, 90]),
        price:
          pick({:price, i}, [nil, "7.99", "12.50", "3.2", "19"]) |> then(&(&1 && Decimal.new(&1))),
        repeats: pick({:repeats, i}, [0, 0, 1, 2, 3, nil])
      }
    end
  end
end

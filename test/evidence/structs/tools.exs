defmodule Forty.Insurer do
  defstruct [:name, :max_amount, :contract_until]
end

defmodule Forty.Tools do
  @doc "The tools. Those that write send `{:wrote, name, args}` to `observer`."
  def tools(observer) do
    %{
      "copay" =>
        {fn %{"amount" => amount, "kind" => kind} -> copay(amount, kind) end,
         signature: {[amount: :decimal, kind: :string], :decimal},
         description:
           "What a patient pays of an amount himself, by the kind of the insurance: public, private or none.",
         enums: %{"kind" => ["public", "private", "none"]},
         effect: :read},
      "exchange_rate" =>
        {fn %{"currency" => currency, "day" => day} -> exchange_rate(currency, day) end,
         signature: {[currency: :string, day: :date], :decimal},
         description:
           "How many EUR one unit of a currency was worth on a day. 1 for EUR. An unknown currency is an error.",
         effect: :read},
      "next_free_day" =>
        {fn %{"doctor_id" => id, "from" => from} -> next_free_day(id, from) end,
         signature: {[doctor_id: :int, from: :date], {:optional, :date}},
         description:
           "The first day from this one on on which a doctor has time. Null if there is none.",
         effect: :read},
      "is_holiday" =>
        {fn %{"day" => day} -> holiday?(day) end,
         signature: {[day: :date], :bool},
         description: "Whether a day is a public holiday.",
         effect: :read},
      "insurer" =>
        {fn %{"name" => name} -> insurer(name) end,
         signature:
           {[name: :string], [name: :string, max_amount: :decimal, contract_until: :date]},
         description: "The contract with an insurer. An insurer without a contract is an error.",
         effect: :read},
      "risk" =>
        {fn %{"patient" => patient} ->
           risk(patient["born"] || patient[:born], patient["allergies"] || patient[:allergies])
         end,
         signature:
           {[patient: [born: :date, allergies: [:string]]], [level: :keyword, points: :int]},
         description: "The risk of a patient: level is low, medium or high.",
         effect: :read},
      "send_message" =>
        {fn %{"patient_id" => id, "text" => text} ->
           send(observer, {:wrote, "send_message", %{"patient_id" => id, "text" => text}})
           delivered?(id)
         end,
         signature: "(patient_id :int, text :string) -> :bool",
         description: "Sends a message to a patient. True if it was delivered.",
         effect: :write},
      "book" =>
        {fn %{"doctor_id" => doctor, "patient_id" => patient, "day" => day, "fee" => fee} ->
           send(
             observer,
             {:wrote, "book",
              %{"doctor_id" => doctor, "patient_id" => patient, "day" => day, "fee" => fee}}
           )

           %{id: booking_id(doctor, patient), at: DateTime.new!(day, ~T[09:00:00])}
         end,
         signature:
           {[doctor_id: :int, patient_id: :int, day: :date, fee: :decimal],
            [id: :int, at: :datetime]},
         description: "Books a visit. Returns the number of the booking and its time.",
         effect: :write}
    }
  end

  # Public, because the truth uses them too.
  def copay(amount, "public"), do: %{amount | coef: amount.coef * 10, exp: amount.exp - 2}
  def copay(amount, "private"), do: %{amount | coef: amount.coef * 25, exp: amount.exp - 2}
  def copay(amount, "none"), do: amount

  def exchange_rate("EUR", _day), do: Decimal.new(1)
  def exchange_rate("CHF", day), do: %Decimal{sign: 1, coef: 1040 + day.month, exp: -3}
  def exchange_rate("USD", day), do: %Decimal{sign: 1, coef: 9300 - 15 * day.month, exp: -4}

  def exchange_rate(currency, _day),
    do: {:error, "no rate for #{currency}. There are EUR, CHF and USD"}

  def next_free_day(id, _from) when id in [4, 16], do: nil

  def next_free_day(id, from) do
    day = Date.add(from, rem(id * 5, 9))

    if Date.day_of_week(day) > 5 or holiday?(day),
      do: Date.add(day, 8 - Date.day_of_week(day)),
      else: day
  end

  @holidays [
    ~D[2025-01-01],
    ~D[2025-04-18],
    ~D[2025-04-21],
    ~D[2025-05-01],
    ~D[2025-05-29],
    ~D[2025-06-09],
    ~D[2025-10-03],
    ~D[2025-12-25]
  ]
  def holiday?(day), do: Enum.any?(@holidays, &(Date.compare(&1, day) == :eq))

  def insurer(name) when name in ["AOK", "Barmer", "TK"],
    do: %Forty.Insurer{
      name: name,
      max_amount: Decimal.new("1500.00"),
      contract_until: ~D[2027-12-31]
    }

  def insurer("Helvia"),
    do: %Forty.Insurer{
      name: "Helvia",
      max_amount: Decimal.new("220.5"),
      contract_until: ~D[2025-08-31]
    }

  def insurer("Nordia"),
    do: %Forty.Insurer{
      name: "Nordia",
      max_amount: Decimal.new("150"),
      contract_until: ~D[2026-03-31]
    }

  def insurer(name), do: {:error, "no contract with #{name}"}

  def risk(born, allergies) do
    points = div(2025 - born.year, 20) + 2 * length(allergies)

    %{
      level:
        cond(
          do:
            (
              points >= 6 -> :high
              points >= 3 -> :medium
              true -> :low
            )
        ),
      points: points
    }
  end

  def delivered?(id), do: rem(id, 5) != 0
  def booking_id(doctor, patient), do: doctor * 1000 + patient
end

defmodule Bench.Table do
  @moduledoc false
  # Tables as data, and numbers as text. The Markdown source is aligned, so it is readable in a terminal too.

  alias Bench.{Harness, Stats}

  @typedoc "A header, the alignment of the cells, and the function from a row to its cell."
  @type column :: {String.t(), :left | :right, (row :: term -> String.t())}
  @type t :: %{title: String.t(), intro: String.t(), rows: list, columns: [column]}

  @labels %{
    text: "program as text",
    compiled: "compiled program",
    elixir: "Elixir by hand",
    tuned: "Elixir, tuned",
    one_pass: "one-pass comprehension",
    written: "Elixir as people write it",
    bare: "bare NIF loop",
    isolated: "Elixir, one process a call",
    whole: "right answer, whole",
    pattern: "heads of a function",
    oracle: "walk of the type in Elixir",
    in_place: "in place",
    decoded: "decode and run",
    otp: ":json.decode"
  }

  @doc "A side in words."
  @spec label(atom) :: String.t()
  def label(side), do: Map.get(@labels, side, Atom.to_string(side))

  @spec table(String.t(), String.t(), list, [column]) :: t
  def table(title, intro, rows, columns),
    do: %{title: title, intro: intro, rows: rows, columns: columns}

  @doc "A column of words."
  @spec words(String.t(), (term -> String.t())) :: column
  def words(header, fun), do: {header, :left, fun}

  @doc "A column of numbers."
  @spec number(String.t(), (term -> String.t())) :: column
  def number(header, fun), do: {header, :right, fun}

  @doc "The columns of these sides' times, and of how many rounds these had."
  @spec times([atom]) :: [column]
  def times(sides) do
    times = for side <- sides, do: number(label(side), &time(&1, side))
    times ++ [number("rounds", &count(&1.rounds))]
  end

  @doc "The columns of the quotients of these sides and each of the others."
  @spec quotients([atom], [atom]) :: [column]
  def quotients(sides, others) do
    for other <- others, side <- sides do
      number("#{side} ÷ #{label(other)}", &ratio(Harness.ratio(&1, side, other)))
    end
  end

  @doc "An aligned Markdown table."
  @spec markdown(list, [column]) :: iodata
  def markdown(rows, columns) do
    cells =
      for {header, align, cell} <- columns do
        cells = [header | Enum.map(rows, cell)]
        width = cells |> Enum.map(&String.length/1) |> Enum.max() |> max(3)
        [head | body] = Enum.map(cells, &[" ", pad(&1, align, width), " |"])

        [
          head,
          [String.duplicate("-", width + 1), if(align == :left, do: "-|", else: ":|")] | body
        ]
      end

    Enum.zip_with(cells, &["|", &1, "\n"])
  end

  defp pad(cell, :left, width), do: String.pad_trailing(cell, width)
  defp pad(cell, :right, width), do: String.pad_leading(cell, width)

  @doc "One side's `median (min..max)` in the unit that suits the median; `-` if it was not measured."
  @spec time(Harness.result(), atom) :: String.t()
  def time(result, side) do
    case Harness.side(result, side) do
      nil ->
        "-"

      %{samples: samples} ->
        median = Stats.median(samples)
        {unit, name} = unit(median)
        [median, least, most] = for ns <- [median | min_max(samples)], do: digits(ns / unit)
        "#{median} #{name} (#{least}..#{most})"
    end
  end

  defp min_max(samples), do: samples |> Enum.min_max() |> Tuple.to_list()

  defp unit(ns) when ns < 1_000, do: {1, "ns"}
  defp unit(ns) when ns < 1_000_000, do: {1_000, "µs"}
  defp unit(_ns), do: {1_000_000, "ms"}

  @doc "A quotient, such as `0.58`."
  @spec ratio(number | nil) :: String.t()
  def ratio(nil), do: "-"
  def ratio(number), do: digits(number)

  @doc "Three significant digits: `1.23`, `12.3`, `123`, `1,234`."
  @spec digits(number) :: String.t()
  def digits(number) when number < 10, do: fixed(number, 2)
  def digits(number) when number < 100, do: fixed(number, 1)
  def digits(number), do: number |> round() |> count()

  @doc "An integer with commas: `1,000,000`."
  @spec count(integer) :: String.t()
  defdelegate count(integer), to: PtcRunner.Json.Explain.Format, as: :number

  @spec fixed(number, non_neg_integer) :: String.t()
  def fixed(number, decimals), do: :erlang.float_to_binary(number * 1.0, decimals: decimals)
end

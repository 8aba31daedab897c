defmodule Bench.Bars do
  @moduledoc false
  # Compares the project's performance goals with the measurements. Of several numbers the worst is judged.

  alias Bench.{Harness, Jiffy, Stats, Table}

  @type bar :: %{
          what: String.t(),
          limit: String.t(),
          measured: String.t(),
          detail: String.t(),
          verdict: :reached | :missed | :not_measured
        }

  @doc """
  `side ÷ yardstick` is at most `limit`, in all these results and for all these sides.

  Options: `words` for the yardstick, `place` (what a result is over, in words), and `beside`, a side to
  name the quotient with as well.
  """
  @spec ratio([Harness.result()], String.t(), [atom], atom, number, keyword) :: bar
  def ratio(results, what, sides, yardstick, limit, opts \\ []) do
    limit_text = "≤ #{Table.ratio(limit)} × #{opts[:words] || Table.label(yardstick)}"

    quotients =
      for result <- results,
          side <- sides,
          quotient = Harness.ratio(result, side, yardstick),
          do: {quotient, side, result}

    case quotients do
      [] ->
        missing = if results == [], do: "not part of this run", else: Jiffy.missing()
        not_measured(what, limit_text, missing)

      _ ->
        {worst, side, result} = Enum.max_by(quotients, &elem(&1, 0))
        place = if opts[:place], do: [opts[:place].(result)], else: []
        which = if match?([_, _ | _], sides), do: [Atom.to_string(side)], else: []
        detail = Enum.join(place ++ which ++ beside(result, side, opts[:beside]), "; ")
        at_most(what, {limit, limit_text}, {worst, Table.ratio(worst)}, detail)
    end
  end

  defp beside(result, side, other) do
    case Harness.ratio(result, side, other) do
      nil -> []
      quotient -> ["#{Table.ratio(quotient)} × #{Table.label(other)}"]
    end
  end

  @doc "The time of each case and side grows with the rows by an exponent of at most `limit`."
  @spec growth([Harness.result()], String.t(), [atom], number, Range.t()) :: bar
  def growth(results, what, sides, limit, rows \\ 1_000..1_000_000) do
    limit_text = "≤ #{Table.ratio(limit)}"

    exponents =
      for {name, results} <- Enum.group_by(results, & &1.case),
          side <- sides,
          {exponent, range} <- [exponent(results, side, rows)] do
        {by_hand, _} = exponent(results, :elixir, rows)
        beside = "Elixir grows by #{Table.ratio(by_hand)}"
        {exponent, "#{name}, #{side}, #{range}; #{beside}"}
      end

    case exponents do
      [] ->
        not_measured(what, limit_text, "too few row counts in this run")

      _ ->
        {worst, detail} = Enum.max_by(exponents, &elem(&1, 0))
        at_most(what, {limit, limit_text}, {worst, Table.ratio(worst)}, detail)
    end
  end

  @doc "The growth exponents of these sides are at most 0.05 above that of Elixir."
  @spec growth_beside_elixir([Harness.result()], String.t(), [atom]) :: bar
  def growth_beside_elixir(results, what, sides) do
    limit = 0.05

    above =
      for {name, results} <- Enum.group_by(results, & &1.case),
          {by_hand, range} <- [exponent(results, :elixir)],
          side <- sides,
          {exponent, _range} <- [exponent(results, side)] do
        detail = "#{name}, #{side}, #{range}: #{Table.ratio(exponent)}"
        {exponent - by_hand, "#{detail}; Elixir grows by #{Table.ratio(by_hand)}"}
      end

    case above do
      [] ->
        not_measured(what, "≤ #{limit} above Elixir", "too few row counts in this run")

      _ ->
        {worst, detail} = Enum.max_by(above, &elem(&1, 0))
        measured = {worst, "#{Table.ratio(worst)} above"}
        at_most(what, {limit, "≤ #{limit} above Elixir"}, measured, detail)
    end
  end

  @doc "The growth exponent of one side, and from how many rows to how many; nil where there are too few points."
  @spec exponent([Harness.result()], atom, Range.t()) :: {float, String.t()} | nil
  def exponent(results, side, rows \\ 1_000..1_000_000) do
    points =
      for result <- results,
          result.rows in rows,
          measured = Harness.side(result, side),
          do: {result.rows, Harness.median(measured)}

    with [_, _ | _] <- points do
      {{least, _}, {most, _}} = Enum.min_max_by(points, &elem(&1, 0))
      {Stats.growth_exponent(points), "#{Table.count(least)} to #{Table.count(most)}"}
    else
      _ -> nil
    end
  end

  @doc "A number is at most the limit; both with their text."
  @spec at_most(String.t(), {number, String.t()}, {number, String.t()}, String.t()) :: bar
  def at_most(what, {limit, limit_text}, {number, text}, detail \\ "") do
    verdict = if number <= limit, do: :reached, else: :missed
    %{what: what, limit: limit_text, measured: text, detail: detail, verdict: verdict}
  end

  @doc "A number is at least the limit; both with their text."
  @spec at_least(String.t(), {number, String.t()}, {number, String.t()}, String.t()) :: bar
  def at_least(what, {limit, limit_text}, {number, text}, detail \\ "") do
    verdict = if number >= limit, do: :reached, else: :missed
    %{what: what, limit: limit_text, measured: text, detail: detail, verdict: verdict}
  end

  @doc "A bar that this run has not measured, and why."
  @spec not_measured(String.t(), String.t(), String.t()) :: bar
  def not_measured(what, limit, why),
    do: %{what: what, limit: limit, measured: "-", detail: why, verdict: :not_measured}
end

defmodule Bench.Sections.Signatures do
  @moduledoc false
  # Measures validate, coerce and parse, beside Elixir by hand for the one type, the tests' oracle and jiffy.
  @behaviour Bench.Section

  import Bench.Section
  import Bench.Table, only: [table: 4, words: 2, number: 2, times: 1, quotients: 2, count: 1]
  alias Bench.{Bars, Data, Harness, Jiffy}
  alias Bench.ByHand.Signatures, as: ByHand
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Coercion, Validator}
  alias PtcRunner.Test.SignatureOracle

  @row {:map, [{"id", :int}, {"score", :float}, {"metadata", :map}]}
  @type_of_data {:map, [{"results", {:list, @row}}]}

  @text "(query :string, options {limit :int?, sort :string?}) -> " <>
          "{results [{id :int, score :float, metadata :map}], total :int}"

  # As long as the signature.
  @json ~s({"query":"rows","options":{"limit":10,"sort":"up"},"results":[{"id":1,"score":2.5,) <>
          ~s("metadata":{"a":"bcdef"}}],"total":17})

  @rows 10_000
  @row_counts [1_000, @rows, 100_000, 1_000_000]
  # Maximum nanoseconds that a call for one row may cost more than Elixir by hand.
  @call_costs 500
  @growth_limit 1.05
  @jiffy "jiffy.decode of as much JSON"

  # One entry per case: its title, its row counts, its sides, and its bars as {side beside the library, limit}.
  defp cases do
    right = & &1.right
    strings = & &1.strings
    wrong = & &1.wrong
    one_right = &hd(&1.right["results"])
    one_strings = &hd(&1.strings["results"])
    # Jiffy returns another term, which is known to be correct.
    jiffy = call(:jiffy, fn _ -> @json end, &Jiffy.decode/1, fn %{"total" => 17} -> :parsed end)

    [
      validate_right:
        {"validate, all right", @rows,
         [
           call(:library, right, &Validator.validate(&1, @type_of_data)),
           call(:pattern, right, &ByHand.right?/1, fn true -> :ok end),
           call(:elixir, right, &ByHand.validate/1),
           call(:oracle, right, &SignatureOracle.validate(&1, @type_of_data))
         ], [pattern: 2.0, oracle: 0.15]},
      validate_wrong:
        {"validate, every row wrong", @rows,
         [
           call(:library, wrong, &Validator.validate(&1, @type_of_data)),
           call(:elixir, wrong, &ByHand.validate/1),
           call(:tuned, wrong, &ByHand.validate_tuned/1)
         ], [elixir: 0.7]},
      coerce_nothing:
        {"coerce, nothing to change", @rows,
         [
           call(:library, right, &Coercion.coerce(&1, @type_of_data)),
           call(:elixir, right, &ByHand.coerce/1)
         ], [elixir: 0.5]},
      coerce_decoded:
        {"coerce, nothing to change, out of binary_to_term", @rows,
         [
           call(:library, & &1.decoded, &Coercion.coerce(&1, @type_of_data)),
           call(:elixir, & &1.decoded, &ByHand.coerce/1)
         ], [elixir: 0.5]},
      coerce_jiffy:
        {"coerce, nothing to change, out of jiffy", @rows,
         if_jiffy([
           call(:library, &from_jiffy/1, &Coercion.coerce(&1, @type_of_data)),
           call(:elixir, &from_jiffy/1, &ByHand.coerce/1)
         ]), [elixir: 0.5]},
      coerce_heavy:
        {"coerce, nothing to change, 50 MB of live heap", @rows,
         [
           call(:library, & &1.decoded, &Coercion.coerce(&1, @type_of_data)),
           call(:elixir, & &1.decoded, &ByHand.coerce/1)
         ], [elixir: 0.5]},
      validate_one:
        {"one row: validate", 1,
         [
           call(:library, one_right, &Validator.validate(&1, @row)),
           call(:elixir, one_right, &ByHand.validate_one/1)
         ], []},
      coerce_one:
        {"one row: coerce", 1,
         [
           call(:library, one_strings, &Coercion.coerce(&1, @row)),
           call(:elixir, one_strings, &ByHand.coerce_one/1)
         ], []},
      parse:
        {"parse", 1,
         [
           call(:library, fn _ -> @text end, &Signature.parse/1, fn {:ok, _} -> :parsed end)
           | if_jiffy([jiffy])
         ], [jiffy: 1.0]},
      coerce_all:
        {"coerce, every id and score a string", @rows,
         [
           call(:library, strings, &Coercion.coerce(&1, @type_of_data)),
           call(:elixir, strings, &ByHand.coerce/1)
         ], [elixir: 0.7]}
    ]
  end

  @impl true
  def names, do: [:signatures]

  # All cases over one number of rows, `coerce_all` over the others as well.
  @impl true
  def blocks(quick?) do
    counts = if quick?, do: List.delete(@row_counts, 1_000_000), else: @row_counts

    light =
      for count <- counts do
        groups =
          for {name, {_title, rows, [_ | _] = sides, _bars}} <- cases(),
              name != :coerce_heavy and (count == @rows or name == :coerce_all),
              do:
                weighed(
                  group(:signatures, name, if(name == :coerce_all, do: count, else: rows), sides)
                )

        {fn -> data(count) end, groups}
      end

    {_title, rows, sides, _bars} = cases()[:coerce_heavy]
    light ++ [{&heavy_data/0, [group(:signatures, :coerce_heavy, rows, sides)]}]
  end

  # Each of 1,000,000 rows gives two warnings.
  defp weighed(%{rows: 1_000_000} = group), do: Map.put(group, :weight, 20)
  defp weighed(group), do: group

  defp heavy_data do
    Data.load_heap()
    data(@rows)
  end

  defp from_jiffy(data),
    do: data.right |> Jiffy.encode() |> IO.iodata_to_binary() |> Jiffy.decode()

  defp data(@rows) do
    right = results(&row(&1, &1 / 8))

    Map.merge(strings(@rows), %{
      right: right,
      decoded: right |> :erlang.term_to_binary() |> :erlang.binary_to_term(),
      wrong: results(&row("#{&1}", &1 / 8))
    })
  end

  # The others are for `coerce_all` only.
  defp data(count), do: strings(count)

  defp strings(count), do: %{strings: results(&row("#{&1}", "#{&1 / 8}"), count)}

  defp results(row, count \\ @rows), do: %{"results" => Enum.map(1..count, row)}

  defp row(id, score), do: %{"id" => id, "score" => score, "metadata" => %{"page" => 1}}

  defp title(name), do: cases() |> Keyword.fetch!(name) |> elem(0)

  @impl true
  def tables(results) do
    intro =
      "A map with a list of rows `{id :int, score :float, metadata :map}`; the text that is parsed " <>
        "is #{byte_size(@text)} bytes long, the JSON that jiffy decodes beside it #{byte_size(@json)}."

    sides = [:elixir, :tuned, :pattern, :oracle, :jiffy]
    words = [words("", &title(&1.case)), number("rows", &count(&1.rows))]
    columns = times([:library | sides]) ++ quotients([:library], sides)
    [table("Signatures", intro, results, words ++ columns)]
  end

  @impl true
  def bars(results) do
    quotients =
      for {name, {title, rows, _sides, bars}} <- cases(), {side, limit} <- bars do
        opts = if side == :jiffy, do: [words: @jiffy], else: []
        Bars.ratio(of(results, name, rows), title, [:library], side, limit, opts)
      end

    calls =
      for name <- [:validate_one, :coerce_one], result <- of(results, name, 1) do
        [library, elixir] =
          for side <- [:library, :elixir], do: Harness.median(Harness.side(result, side))

        limit = {@call_costs, "≤ Elixir by hand + #{@call_costs} ns"}
        more = library - elixir
        Bars.at_most(title(name), limit, {more, "#{round(more)} ns more"})
      end

    what = "growth of coerce with warnings, 1,000 to 1,000,000 rows"
    growing = for %{case: :coerce_all} = result <- results, do: result
    quotients ++ calls ++ [Bars.growth(growing, what, [:library], @growth_limit)]
  end
end

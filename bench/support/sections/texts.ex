defmodule Bench.Sections.Texts do
  @moduledoc false
  # Measures programs over JSON texts that are not decoded, beside a decode and a run, beside OTP's decoder and beside jaq.
  @behaviour Bench.Section

  import Bench.Section

  import Bench.Table,
    only: [table: 4, words: 2, number: 2, times: 1, quotients: 2, fixed: 2, count: 1]

  alias PtcRunner.Json
  alias PtcRunner.Json.Codec
  alias Bench.{Bars, Harness, Jaq, Stats, Table, Texts}

  # Case, and the bar for its time as a share of decode and run.
  @bars [
    filter_sum: 0.25,
    filter_sort: 0.25,
    group_count: 0.30,
    everything: 1.10,
    small_field: 1.0
  ]
  @others [:magnitudes, :all_earthquakes, :deep_field, :escaped_filter, :all_escapes]
  @cases Keyword.keys(@bars) ++ @others
  @of_jaq 0.10
  @of_otp 0.15
  # Bytes a second, with vectors and without.
  @vectors 1.0
  @scalar 0.4
  # Bytes, and nanoseconds.
  @memory 6_000_000
  @longest 2_000_000

  @impl true
  def names, do: [:texts]

  @impl true
  def blocks(quick?) do
    programs = Texts.programs()

    groups =
      for name <- @cases do
        {text, program, jaq} = Map.fetch!(programs, name)
        sides = [own(:in_place, text, program), own(:decoded, text, program)]
        weighed(group(:texts, name, 1, sides ++ otp(name, text) ++ jaq(jaq, text)))
      end

    {text, program, _jaq} = Map.fetch!(programs, :filter_sum)

    answers = [
      in_place: &Json.text/1,
      decoded: &Codec.decode!(&1, timeout: :infinity, max_heap: 0)
    ]

    answered = fn read -> &Texts.answered(program, Map.fetch!(&1, text), read) end
    sides = for {name, read} <- answers, do: side(name, answered.(read))
    groups = groups ++ [weighed(group(:texts, :answered, 1, sides))]

    # What a process of jaq takes without a text.
    start =
      for side <- jaq(".", :empty), do: group(:texts, :jaq_start, 1, [%{side | value: & &1}])

    groups = groups ++ start

    make = fn -> Map.put(Texts.all(quick?), :small, Texts.small()) end
    [fn -> Texts.speeds(Texts.all(quick?)) end, {make, groups}, fn -> others(make.()) end]
  end

  # The others have texts of many megabytes.
  defp weighed(%{case: name} = group)
       when name in [:small_field, :magnitudes, :all_earthquakes],
       do: group

  defp weighed(group), do: Map.put(group, :weight, 5)

  defp others(texts), do: Texts.memory(texts.rows) ++ Texts.longest_calls(texts)

  defp own(name, text, program) do
    side(name, fn texts -> apply(Texts, name, [program, Map.fetch!(texts, text)]) end)
  end

  # The decoder of OTP 27 and later, without a program.
  defp otp(:filter_sum, text) do
    if Code.ensure_loaded?(:json) do
      decode = fn texts ->
        text = Map.fetch!(texts, text)
        fn -> apply(:json, :decode, [text]) end
      end

      [side(:otp, decode, &sum/1)]
    else
      []
    end
  end

  defp otp(_name, _text), do: []

  defp sum(rows),
    do: Enum.sum(for %{"amount" => amount, "count" => n} <- rows, amount > 50_000, do: n)

  # The process of jaq reads a file.
  defp jaq(filter, text) when is_binary(filter) do
    if Jaq.path(), do: [side(:jaq, &started(&1, text, filter), &String.to_integer/1)], else: []
  end

  defp jaq(nil, _text), do: []

  defp started(texts, text, filter) do
    file = Path.join(System.tmp_dir!(), "ptc_texts_#{System.unique_integer([:positive])}.json")
    File.write!(file, Map.get(texts, text, ""))
    remove_after(self(), file)
    fn -> Jaq.run(filter, file) end
  end

  # The process that measures ends after the last group.
  defp remove_after(owner, file) do
    spawn(fn ->
      monitor = Process.monitor(owner)
      receive do: ({:DOWN, ^monitor, _, _, _} -> File.rm(file))
    end)
  end

  @impl true
  def tables(results) do
    intro = """
    `rows`: 17 MB of rows of 8 fields. *In place*: the text in the context of a compiled program; *decoded*: `Codec.decode/2`, then the
    same program. The others are the decoder of OTP 27 and later, without a program, and a process of
    [jaq](https://github.com/01mf02/jaq) that reads the text from a file.
    """

    [
      table("Texts that are not decoded", intro, timed(results), [
        words("", &title(&1.case))
        | times([:in_place, :decoded] ++ yardsticks()) ++
            quotients([:in_place], [:decoded] ++ yardsticks())
      ]),
      table(
        "Index and validation of a text",
        "One core, without the VM.",
        of_case(results, :index),
        [
          words("text", &Atom.to_string(&1.name)),
          number("MB", &megabytes(&1.bytes)),
          number("with vectors", &"#{fixed(&1.vectors, 2)} GB/s"),
          number("without", &"#{fixed(&1.scalar, 2)} GB/s"),
          number("index ÷ text", &fixed(&1.share, 3))
        ]
      ),
      table("Memory of filter and sum over a text", memory_intro(), of_case(results, :memory), [
        words("", &Atom.to_string(&1.name)),
        number("text", &"#{megabytes(&1.text)} MB"),
        number("growth at the peak", &"#{megabytes(&1.growth)} MB"),
        number("looks", &count(&1.looks))
      ]),
      table("Longest call on a normal scheduler", "", of_case(results, :longest_call), [
        number("calls", &count(&1.calls)),
        number("longest", &micros(&1.longest)),
        number("longest of the undisturbed", &micros(&1.alone))
      ])
    ]
  end

  defp memory_intro,
    do:
      "By how much the memory of the VM grows, with the index. The text itself was there before. The worst of ten runs counts."

  defp title(:filter_sum), do: "rows: filter, sum"
  defp title(:answered), do: "rows that a tool answers: filter, sum"
  defp title(:filter_sort), do: "rows: filter, sort, select, take 10"
  defp title(:group_count), do: "rows: group and count"
  defp title(:everything), do: "rows: everything is returned"
  defp title(:small_field), do: "2 KB of rows: one field"
  defp title(:magnitudes), do: "earthquakes (1.2 MB): filter, count"
  defp title(:all_earthquakes), do: "earthquakes: everything is returned"
  defp title(:deep_field), do: "one deep object: one field"
  defp title(:escaped_filter), do: "strings with escapes: filter, count"
  defp title(:jaq_start), do: "an empty file"
  defp title(:all_escapes), do: "strings with escapes: everything is returned"

  # Those that this machine has.
  defp yardsticks do
    if(Code.ensure_loaded?(:json), do: [:otp], else: []) ++
      if(Jaq.path(), do: [:jaq], else: [])
  end

  defp timed(results), do: for(%{sides: _} = result <- results, do: result)
  defp of_case(results, name), do: for(%{case: ^name} = result <- results, do: result)
  defp megabytes(bytes), do: fixed(bytes / 1_000_000, 1)
  defp micros(nanoseconds), do: "#{Table.digits(nanoseconds / 1_000)} µs"

  @impl true
  def bars(results) do
    of_decoded =
      for {name, limit} <- @bars do
        results = of_case(results, name)

        Bars.ratio(results, "texts: #{title(name)}", [:in_place], :decoded, limit,
          words: "decode and run"
        )
      end

    sums = of_case(results, :filter_sum)
    what = "texts: #{title(:filter_sum)}"

    speeds(of_case(results, :index)) ++
      of_decoded ++
      [otp_bar(sums, what), jaq_bar(sums, of_case(results, :jaq_start), what)] ++
      memory_bars(of_case(results, :memory)) ++ call_bars(of_case(results, :longest_call))
  end

  defp speeds([]),
    do: [Bars.not_measured("texts: index and validation", "≥ #{@vectors} GB/s", "no cargo")]

  defp speeds(speeds) do
    for {key, limit, how} <- [{:vectors, @vectors, "with vectors"}, {:scalar, @scalar, "without"}] do
      worst = Enum.min_by(speeds, & &1[key])
      measured = {worst[key], "#{fixed(worst[key], 2)} GB/s"}

      Bars.at_least(
        "texts: index and validation, #{how}",
        {limit, "≥ #{limit} GB/s"},
        measured,
        "#{worst.name}"
      )
    end
  end

  defp otp_bar(sums, what) do
    limit = "≤ #{Table.ratio(@of_otp)} × OTP's :json.decode"

    if Code.ensure_loaded?(:json),
      do: Bars.ratio(sums, what, [:in_place], :otp, @of_otp, words: "OTP's :json.decode"),
      else:
        Bars.not_measured(
          what,
          limit,
          "this is OTP #{System.otp_release()}; :json is in 27 and later"
        )
  end

  # Without what the process of jaq takes to start.
  defp jaq_bar(sums, starts, what) do
    limit = "≤ #{Table.ratio(@of_jaq)} × jaq"

    with [sum] <- sums,
         [start] <- starts,
         %{samples: jaq} <- Harness.side(sum, :jaq),
         %{samples: own} <- Harness.side(sum, :in_place) do
      start = Harness.median(Harness.side(start, :jaq))
      ratio = Stats.ratio(own, Enum.map(jaq, &max(&1 - start, 1.0)))
      detail = "without its start, #{Table.digits(start / 1_000_000)} ms; #{Jaq.version()}"
      Bars.at_most(what, {@of_jaq, limit}, {ratio, Table.ratio(ratio)}, detail)
    else
      _missing -> Bars.not_measured(what, limit, Jaq.missing())
    end
  end

  defp memory_bars(seen) do
    for %{name: :in_place} = seen <- seen do
      Bars.at_most(
        "texts: memory of filter, sum over #{megabytes(seen.text)} MB, more than the text",
        {@memory, "≤ #{megabytes(@memory)} MB"},
        {seen.growth, "#{megabytes(seen.growth)} MB"}
      )
    end
  end

  defp call_bars(seen) do
    for seen <- seen do
      Bars.at_most(
        "texts: a normal scheduler is held, undisturbed",
        {@longest, "≤ #{micros(@longest)}"},
        {seen.alone, micros(seen.alone)},
        "#{count(seen.calls)} calls; the longest of all #{micros(seen.longest)}"
      )
    end
  end
end

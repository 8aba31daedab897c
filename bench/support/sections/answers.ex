defmodule Bench.Sections.Answers do
  @moduledoc false
  # Measures answers of LLMs, from text to validated value.
  @behaviour Bench.Section

  import Bench.Section
  import Bench.Table, only: [table: 4, words: 2, number: 2, times: 1, quotients: 2, count: 1]
  alias Bench.{Bars, ByHand, Jiffy}
  alias PtcRunner.SubAgent.{AnswerStream, JsonParser, Signature}
  alias PtcRunner.SubAgent.Loop.JsonHandler

  @many 10_000
  @few 10
  @chunk 20
  @signature "() -> {results [{id :int, score :float, name :string}]}"

  # One entry per case: its title, its row counts, its sides, and its bars as {rows, what,
  # the side beside the library, limit, that side in words}. `tables/1` and `bars/1` are derived from them.
  defp cases do
    right = valued(:library, &handled(&1.text, &1), &returned/1)
    whole = valued(:whole, &handled(&1.text, &1), &returned/1)
    rows_wrong = fn {:continue, _, turn} -> length(String.split(turn.result.error, "; ")) end
    rows_right = &length(returned(&1)["results"])

    [
      handle: %{
        title: "handle_json_answer",
        rows: [@few, @many],
        sides: [right | beside(& &1.text)],
        bars: [
          {@many, "handle_json_answer, 10,000 rows, right", :jiffy, 0.8, "jiffy's bare decode"},
          {@few, "handle_json_answer, 10 rows, right", :jiffy, 1.5, "jiffy's bare decode"}
        ]
      },
      parse: %{
        title: "JsonParser.parse, prose and a fence",
        rows: [@many],
        sides: [valued(:library, &JsonParser.parse(&1.fenced), &ok/1) | beside(& &1.fenced)],
        bars: [
          {@many, "JsonParser.parse, 10,000 rows inside prose and a fence", :jiffy, 0.6,
           "jiffy's bare decode of the JSON alone"}
        ]
      },
      # Both sides process as many rows; all rows of one are wrong.
      errors: %{
        title: "handle_json_answer, every row wrong",
        rows: [@many],
        sides: [
          valued(:library, &handled(&1.wrong, &1), rows_wrong),
          valued(:whole, &handled(&1.text, &1), rows_right)
        ],
        bars: [
          {@many, "handle_json_answer, an answer with 10,000 errors", :whole, 2.0,
           "the right answer"}
        ]
      },
      stream: %{
        title: "AnswerStream, 20-byte chunks",
        rows: [@many],
        sides: [valued(:library, &streamed/1, &ok/1), whole],
        bars: [
          {@many, "AnswerStream, 10,000 rows in 20-byte chunks", :whole, 3.0,
           "the whole text at once"}
        ]
      },
      repair: %{
        title: "handle_json_answer, repair: true",
        rows: [@many],
        sides: [valued(:library, &handled(&1.text, &1, repair: true), &returned/1), whole],
        bars: [
          {@many, "handle_json_answer with repair: true, 10,000 rows, right", :whole, 1.02,
           "without"}
        ]
      },
      repaired: %{
        title: "the same, a comma missing in every tenth row",
        rows: [@many],
        sides: [valued(:library, &handled(&1.broken, &1, repair: true), &returned/1), whole],
        bars: [
          {@many,
           "handle_json_answer with repair: true, a comma missing in every tenth of 10,000 rows",
           :whole, 3.0, "the right answer"}
        ]
      }
    ]
  end

  @impl true
  def names, do: [:answers]

  @impl true
  def blocks(_quick?) do
    for rows <- [@few, @many] do
      groups =
        for {name, case} <- cases(),
            rows in case.rows,
            do: group(:answers, name, rows, case.sides)

      {fn -> data(rows) end, groups}
    end
  end

  # Elixir by hand decodes with jiffy. Jiffy receives the JSON alone, and only decodes it.
  defp beside(text) do
    by_hand = valued(:elixir, fn data -> ByHand.Answers.handle(text.(data)) end, &ok/1)
    if_jiffy([by_hand, call(:jiffy, &Jiffy.decode(&1.text))])
  end

  # `fun` is timed; `value` extracts from its result what the sides have in common.
  defp valued(name, fun, value), do: call(name, & &1, fun, value)

  defp handled(text, data, opts \\ []),
    do: JsonHandler.handle_json_answer(text, data.agent, data.state, opts)

  defp returned({:stop, {:ok, step}, _turn, _tokens}), do: step.return
  defp ok({:ok, value}), do: value

  defp streamed(data), do: feed(AnswerStream.new(data.agent.parsed_signature), data.chunks)

  defp feed(stream, [chunk | chunks]) do
    {:cont, stream} = AnswerStream.feed(stream, chunk)
    feed(stream, chunks)
  end

  defp feed(stream, []), do: AnswerStream.finish(stream)

  defp data(rows) do
    text = text(rows, & &1)
    {:ok, signature} = Signature.parse(@signature)

    %{
      text: text,
      fenced: "Here are the results you asked for:\n\n```json\n#{text}\n```\n\nAnything else?",
      wrong: text(rows, &~s("#{&1}")),
      broken: broken(rows),
      chunks: chunks(text),
      agent: %{parsed_signature: signature, max_turns: 3, field_descriptions: nil},
      state: %{
        turn: 1,
        turns: [],
        messages: [],
        remaining_turns: 2,
        turn_tokens: nil,
        start_time: System.monotonic_time(:millisecond),
        trace_mode: true,
        collect_messages: true,
        expanded_prompt: "",
        original_prompt: "",
        llm_requests: 1,
        total_input_tokens: 100,
        total_output_tokens: 100
      }
    }
  end

  defp text(rows, id),
    do: ~s({"results":[#{Enum.map_join(1..rows, ",", fn n -> row(n, id.(n)) end)}]})

  defp broken(rows) do
    rows =
      Enum.map_join(1..rows, ",", fn n ->
        row = row(n, n)
        if rem(n, 10) == 0, do: String.replace(row, ",", " ", global: false), else: row
      end)

    ~s({"results":[#{rows}]})
  end

  defp row(n, id) do
    score = :erlang.float_to_binary(:erlang.phash2({n, :score}, 1_000) / 1_000, decimals: 3)
    ~s({"id":#{id},"score":#{score},"name":"r#{n}"})
  end

  defp chunks(text) do
    for at <- 0..(byte_size(text) - 1)//@chunk,
        do: binary_part(text, at, min(@chunk, byte_size(text) - at))
  end

  @impl true
  def tables(results) do
    intro = """
    Answers of 10 and of 10,000 rows `{id :int, score :float, name :string}` (400 KB). *Elixir by hand* finds the JSON,
    has jiffy decode it and checks the rows with patterns for this very type; it makes no step and no turn. *Jiffy*
    decodes the JSON, and nothing else. The answer with errors, the stream and the repairs
    stand beside the right answer, read whole.
    """

    words = [words("", &cases()[&1.case].title), number("rows", &count(&1.rows))]
    times = times([:library, :elixir, :jiffy, :whole])
    [table("Answers", intro, results, words ++ times ++ quotients([:library], [:jiffy]))]
  end

  @impl true
  def bars(results) do
    bars =
      for {name, case} <- cases(), {rows, what, side, limit, words} <- case.bars do
        opts = [words: words, beside: :elixir]
        Bars.ratio(of(results, name, rows), what, [:library], side, limit, opts)
      end

    bars ++ [early_stop()]
  end

  # The number of bytes that a stream reads of an answer with a wrong first row, and the end of that row.
  defp early_stop do
    rows = [first | _] = [row(1, ~s("1")) | for(n <- 2..@many, do: row(n, n))]
    text = ~s({"results":[#{Enum.join(rows, ",")}]})
    row_end = byte_size(~s({"results":[)) + byte_size(first)
    taken = taken(AnswerStream.new(@signature), chunks(text), 0)

    Bars.at_most(
      "AnswerStream, a wrong first row of 10,000, in 20-byte chunks",
      {row_end, "halted within the first row, which ends at byte #{row_end}"},
      {taken, "byte #{taken}"}
    )
  end

  defp taken(stream, [chunk | chunks], bytes) do
    case AnswerStream.feed(stream, chunk) do
      {:cont, stream} -> taken(stream, chunks, bytes + byte_size(chunk))
      {:halt, _errors} -> bytes + byte_size(chunk)
    end
  end
end

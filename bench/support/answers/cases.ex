defmodule Bench.Answers.Cases do
  @moduledoc false
  # The section `answers`: answers of LLMs, from text to validated value.

  alias Bench.Answers.ByHand
  alias Bench.Jiffy
  alias PtcRunner.SubAgent.{AnswerStream, JsonParser, Signature}
  alias PtcRunner.SubAgent.Loop.JsonHandler

  @many 10_000
  @few 10
  @chunk 20
  @signature "() -> {results [{id :int, score :float, name :string}]}"

  @typedoc "What one process measures: a function that makes its data, and the groups."
  @type block :: {(... -> map), [Bench.Harness.group()]}

  @spec blocks() :: [block]
  def blocks do
    [
      {fn -> data(@few) end, [handle(@few)]},
      {fn -> data(@many) end, [handle(@many), parse(), errors(), stream(), repair(), repaired()]}
    ]
  end

  @doc "How many bytes of an answer with a wrong first row a stream takes, and how many that row ends at."
  @spec early_stop() :: {non_neg_integer, non_neg_integer}
  def early_stop do
    rows = [row(1, ~s("1")) | for(n <- 2..@many, do: row(n, n))]
    text = ~s({"results":[#{Enum.join(rows, ",")}]})

    {taken(AnswerStream.new(@signature), chunks(text), 0),
     byte_size(~s({"results":[)) + byte_size(hd(rows))}
  end

  defp taken(stream, [chunk | chunks], bytes) do
    case AnswerStream.feed(stream, chunk) do
      {:cont, stream} -> taken(stream, chunks, bytes + byte_size(chunk))
      {:halt, _errors} -> bytes + byte_size(chunk)
    end
  end

  defp handle(rows) do
    group(:handle, rows, [
      side(:library, &handled(&1.text, &1), &returned/1),
      side(:elixir, fn data -> ByHand.handle(data.text) end, fn {:ok, value} -> value end)
    ])
  end

  defp parse do
    group(:parse, @many, [
      side(:library, &JsonParser.parse(&1.fenced), fn {:ok, value} -> value end),
      side(:elixir, fn data -> ByHand.handle(data.fenced) end, fn {:ok, value} -> value end)
    ])
  end

  # Both sides handle as many rows; all of one are wrong.
  defp errors do
    wrong = fn {:continue, _state, turn} -> length(String.split(turn.result.error, "; ")) end
    right = fn answer -> length(returned(answer)["results"]) end

    %{
      section: :answers,
      case: :errors,
      rows: @many,
      origin: :built,
      sides: [
        side(:wrong, &handled(&1.wrong, &1), wrong),
        side(:right, &handled(&1.text, &1), right)
      ]
    }
  end

  defp stream do
    %{
      section: :answers,
      case: :stream,
      rows: @many,
      origin: :built,
      sides: [
        side(:stream, &streamed/1, fn {:ok, value} -> value end),
        side(:whole, &handled(&1.text, &1), &returned/1)
      ]
    }
  end

  # A right answer with `repair: true`, and without.
  defp repair do
    %{
      section: :answers,
      case: :repair,
      rows: @many,
      origin: :built,
      sides: [
        side(:on, &handled(&1.text, &1, repair: true), &returned/1),
        side(:off, &handled(&1.text, &1), &returned/1)
      ]
    }
  end

  # An answer with a comma missing in every tenth row, and the right one.
  defp repaired do
    %{
      section: :answers,
      case: :repaired,
      rows: @many,
      origin: :built,
      sides: [
        side(:broken, &handled(&1.broken, &1, repair: true), &returned/1),
        side(:right, &handled(&1.text, &1), &returned/1)
      ]
    }
  end

  defp streamed(data), do: feed(AnswerStream.new(data.agent.parsed_signature), data.chunks)

  defp feed(stream, [chunk | chunks]) do
    {:cont, stream} = AnswerStream.feed(stream, chunk)
    feed(stream, chunks)
  end

  defp feed(stream, []), do: AnswerStream.finish(stream)

  defp handled(text, data, opts \\ []),
    do: JsonHandler.handle_json_answer(text, data.agent, data.state, opts)

  defp returned({:stop, {:ok, step}, _turn, _tokens}), do: step.return

  # Jiffy gets the JSON alone, and does nothing but decode it.
  defp group(name, rows, sides) do
    jiffy = if Jiffy.available?(), do: [side(:jiffy, &Jiffy.decode(&1.text))], else: []
    sides = if jiffy == [], do: Enum.reject(sides, &(&1.name == :elixir)), else: sides
    %{section: :answers, case: name, rows: rows, origin: :built, sides: sides ++ jiffy}
  end

  defp side(name, run, value \\ & &1),
    do: %{name: name, prepare: fn data -> fn -> run.(data) end end, value: value}

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
end

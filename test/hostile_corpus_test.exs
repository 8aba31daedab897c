defmodule PtcRunner.HostileCorpusTest do
  @moduledoc """
  Every hostile input with every public function that takes its kind: each call ends in time, with a
  result or a documented error of bounded size, holds no normal scheduler for more than 2 ms of CPU
  time and makes no atom.
  """

  use PtcRunner.Test.Apart

  alias PtcRunner.Json
  alias PtcRunner.Json.Codec
  alias PtcRunner.SubAgent.{AnswerStream, JsonParser, KeyNormalizer, Signature, Template}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.Test.{Answers, Hostile, Room, SliceClock, Watch}

  @moduletag timeout: 300_000

  setup_all do
    apart(&Watch.load_everything/0)
  end

  @timeout 25
  # A wall clock of a busy machine; what the native side spends is bounded by the CPU clock.
  @wall 15_000
  # A run ends this many milliseconds of native CPU time after its deadline at the latest.
  @margin 100
  # Without a deadline: what the largest input here may take natively.
  @whole 2_000
  # The timeout of the codec here, and what one integer more may take.
  @codec_timeout 500
  @codec @codec_timeout + 1_000
  @longest_error 4_096
  @rows {:signature, [], {:map, [{"results", {:list, {:map, [{"id", :int}]}}}]}}

  # How long a call may take natively, in milliseconds, and the call.
  defp of_texts,
    do: [
      {"run", @timeout + @margin, &run/1},
      {"compile", @whole, &Json.compile/1},
      {"Parser.parse", @whole, &Json.Parser.parse/1},
      {"format_error", @whole, &format_error/1},
      {"Codec.decode", @whole, &Codec.decode/1},
      {"Codec.encode", @codec, &encode/1},
      {"JsonParser.parse", @whole, &JsonParser.parse/1},
      {"Signature.parse", @whole, &Signature.Parser.parse/1},
      {"to_lisp_key", @whole, &Signature.Renderer.to_lisp_key/1},
      {"normalize_key", @whole, &KeyNormalizer.normalize_key/1},
      {"coerce to int", @whole, &coerce(&1, :int)},
      {"coerce to keyword", @whole, &coerce(&1, :keyword)},
      {"handle_json_answer", @whole, &answer(&1, [])},
      {"handle_json_answer detailed", @whole, &answer(&1, feedback: :detailed)},
      {"stream at once", @whole, &stream([&1])},
      {"stream in chunks", @whole, &stream(chunks(&1, 4_096))},
      {"extract_placeholders", @whole, &Template.extract_placeholders/1}
    ]

  defp of_values,
    do: [
      {"Codec.encode", @codec, &encode/1},
      {"validate", @whole, &validate/1},
      {"coerce to a list", @whole, &coerce(&1, {:list, :int})},
      {"coerce to any", @whole, &coerce(&1, :any)},
      {"a tool's answer", @timeout + @margin, &tool/1},
      {"a program", @timeout + @margin, &literal/1}
    ]

  defp run(text), do: Json.run(text, timeout: @timeout)
  defp encode(value), do: Codec.encode(value, timeout: @codec_timeout)
  defp format_error(text), do: {:ok, Json.format_error({:execution_error, text})}
  defp coerce(value, type), do: Signature.Coercion.coerce(value, type)
  defp validate(value), do: Signature.validate({:signature, [], {:list, :int}}, value)

  defp answer(text, opts) do
    outcome = JsonHandler.handle_json_answer(text, Answers.agent(@rows), Answers.state(), opts)

    case outcome do
      {:continue, state, _turn} -> {:feedback, List.last(state.messages).content}
      {:stop, {:ok, _step}, _turn, _} -> :ok
      {:stop, {:error, _step}, _turn, _} -> :ok
    end
  end

  defp stream(chunks) do
    chunks
    |> Enum.reduce_while({:cont, AnswerStream.new(@rows)}, fn chunk, {:cont, stream} ->
      with {:cont, stream} <- AnswerStream.feed(stream, chunk),
           do: {:cont, {:cont, stream}},
           else: (halted -> {:halt, halted})
    end)
    |> case do
      {:cont, stream} -> AnswerStream.finish(stream)
      {:halt, error} -> error
    end
  end

  defp chunks(text, size) when byte_size(text) <= size, do: [text]

  defp chunks(text, size) do
    {chunk, rest} = {binary_part(text, 0, size), binary_part(text, size, byte_size(text) - size)}
    [chunk | chunks(rest, size)]
  end

  defp tool(value) do
    program = %{"program" => %{"op" => "call", "tool" => "t"}}
    Json.run(program, tools: %{"t" => fn _args -> value end}, timeout: @timeout)
  end

  defp literal(value) do
    program = %{"program" => %{"op" => "keys", "value" => value}}
    Json.run(program, timeout: @timeout)
  end

  for {name, index} <- Hostile.texts() |> Enum.map(&elem(&1, 0)) |> Enum.with_index() do
    test "text: #{name}" do
      {_name, make} = Enum.at(Hostile.texts(), unquote(index))
      text = make.()

      failures =
        Enum.flat_map(of_texts(), fn {f, limit, fun} -> check(f, limit, fn -> fun.(text) end) end)

      assert failures == []
    end
  end

  for {name, index} <- Hostile.values() |> Enum.map(&elem(&1, 0)) |> Enum.with_index() do
    skip = if name =~ ~r/integers? of \d MB/, do: Hostile.skip_huge_integers()

    @tag skip: skip
    test "value: #{name}" do
      {_name, make} = Enum.at(Hostile.values(), unquote(index))
      value = make.()

      failures =
        Enum.flat_map(of_values(), fn {f, limit, fun} ->
          check(f, limit, fn -> fun.(value) end)
        end)

      assert failures == []
    end

    @tag skip: skip
    test "programs over: #{name}" do
      {_name, make} = Enum.at(Hostile.values(), unquote(index))
      value = make.()
      needle = :binary.copy("x", 100_000)

      failures =
        for {name, program} <- Hostile.programs(),
            {shape, context} <- [
              {"alone", %{"rows" => value, "n" => value}},
              {"in rows", %{"rows" => List.duplicate(%{"k1" => value}, 200), "n" => value}},
              {"with a needle", %{"rows" => value, "n" => needle}}
            ],
            failure <-
              check("#{name} #{shape}", @timeout + @margin, fn ->
                Json.run(program, context: context, timeout: @timeout)
              end),
            do: failure

      assert failures == []
    end
  end

  # What is wrong with a call, as sentences. What depends on the machine must be wrong three times.
  defp check(name, limit, fun) do
    {wrong, slow} = attempt(fun, limit)
    slow = if slow != [] and slow?(fun, limit) and slow?(fun, limit), do: slow, else: []
    Enum.map(wrong ++ slow, &"#{name}: #{&1}")
  end

  defp slow?(fun, limit), do: elem(attempt(fun, limit), 1) != []

  # In this process: to send the input to another one would copy it, and so end all sharing.
  defp attempt(fun, limit) do
    atoms = :erlang.system_info(:atom_count)
    {over, spent} = native()
    {wall, outcome} = :timer.tc(fn -> outcome(fun) end)
    {over_now, spent_now} = native()
    spent = div(spent_now - spent, 1_000_000)
    wall = div(wall, 1_000)
    made = :erlang.system_info(:atom_count) - atoms

    holds = for {nif, mark} <- over_now, mark > Map.get(over, nif, 0), do: nif

    {outcome ++ sentence(made > 5, "made #{made} atoms"),
     Enum.map(holds, &"#{&1} held a scheduler") ++
       sentence(spent > limit and spent > limit * Room.slowness(), "#{spent} ms of native time") ++
       sentence(wall > @wall, "took #{wall} ms")}
  end

  defp sentence(true, text), do: [text]
  defp sentence(false, _text), do: []

  defp native do
    lines = SliceClock.lines()
    {SliceClock.marks(), lines |> Enum.map(& &1.total) |> Enum.sum()}
  end

  # A result or a documented error, whose texts are short.
  defp outcome(fun) do
    case fun.() do
      :ok ->
        []

      {:ok, _value} ->
        []

      {:ok, _value, _warnings} ->
        []

      {:ok, _value, _delta, _memory} ->
        []

      {:feedback, text} ->
        too_long(text, 20 * @longest_error)

      {:halt, {:error, errors}} ->
        errors(errors)

      {:error, errors} when is_list(errors) ->
        errors(errors)

      {:error, {kind, detail}} when is_atom(kind) ->
        too_long(detail, @longest_error)

      {:error, reason} when is_atom(reason) ->
        []

      {:error, text} when is_binary(text) ->
        too_long(text, @longest_error)

      {:error, %{__exception__: true} = error} ->
        too_long(Exception.message(error), @longest_error)

      text when is_binary(text) ->
        []

      list when is_list(list) ->
        []

      other ->
        ["answered #{inspect(other, limit: 5, printable_limit: 100)}"]
    end
  rescue
    error -> ["raised #{inspect(error, limit: 5, printable_limit: 100)}"]
  end

  defp errors(errors) do
    errors
    |> Enum.take(200)
    |> Enum.flat_map(&too_long(&1.message, @longest_error))
    |> Enum.uniq()
  end

  defp too_long(text, longest) when is_binary(text) and byte_size(text) > longest,
    do: ["an error of #{byte_size(text)} bytes"]

  defp too_long(_detail, _longest), do: []
end

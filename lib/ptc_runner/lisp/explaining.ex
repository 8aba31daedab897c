defmodule PtcRunner.Lisp.Explaining do
  @moduledoc false
  # Runs a program that is compiled for observation, and converts the native counts to forms with their texts and places.

  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.Json.Explain.Format
  alias PtcRunner.Json.{Limits, Near, Run}
  alias PtcRunner.Lisp.{Evaluation, Explain, Given, Program}
  require Quanta

  # Characters of the text of a form.
  @line 60

  # By the bits of the native side.
  @kinds [nil, :boolean, :number, :string, :list, :map, :other]

  @doc """
  See `PtcRunner.Lisp.explain/2`.

      iex> given = PtcRunner.Lisp.Given.read([])
      iex> explanation = PtcRunner.Lisp.Explaining.explain("(inc (inc 1))", given)
      iex> for form <- explanation.operations, do: {form.about, form.path, form.runs}
      [{"(inc (inc 1))", ["program", 1, 1], 1}, {"(inc 1)", ["program", 1, 6], 1}]

  """
  @spec explain(String.t() | Program.t(), Given.t()) :: Explain.t()
  def explain(program, given) do
    began = System.monotonic_time()
    {result, run} = Evaluation.observed(program, given)
    duration = since(began)
    limits = Limits.resolve({given.timeout, given.max_heap, 1})
    {failed_at, forms} = forms(run, result)
    words = forms |> Enum.map(& &1.words) |> Enum.sum()
    failed_at = failed_at || place_of_problem(result, run)

    %Explain{
      result: result,
      failed_at: failed_at,
      operations: forms,
      near: near(run, limits, {div(duration, 1_000_000), words}, result),
      duration: duration,
      words: words
    }
  end

  defp since(began),
    do: System.convert_time_unit(System.monotonic_time() - began, :native, :nanosecond)

  defp near(nil, limits, used, result), do: Near.found(limits, used, nil, error(result))

  defp near(run, limits, used, result),
    do: Near.found(limits, used, Near.budget(run), error(result))

  defp error({:error, %{fail: %{reason: :memory_exceeded}}}), do: {:memory_exceeded, nil}
  defp error(_result), do: nil

  # What is wrong with a text that cannot be read or analyzed.
  defp place_of_problem({:error, %{fail: %{reason: reason}, usage: %{error_at: at}}}, nil)
       when reason not in [:unbound_var, :unknown_tool],
       do: ["program", at.line, at.column]

  defp place_of_problem(_result, _run), do: nil

  defp forms(nil, _result), do: {nil, []}

  defp forms(%Run{observation: observation, program: %Program{} = program}, result) do
    case observation && Quanta.run(Native.observed(observation, program.consts)) do
      # The run did not start, or the record was lost because of a bug in the native library.
      nil ->
        {nil, []}

      {innermost, rows} ->
        texts = List.to_tuple([program.source | Enum.map(program.added, &elem(&1, 0))])
        forms = rows |> located(texts) |> Enum.map(&form(&1, texts)) |> List.to_tuple()
        failed? = match?({:error, _step}, result) and innermost != nil
        inside = rows |> Enum.with_index() |> Enum.group_by(&parent/1, &elem(&1, 1))
        forms = whole(rows, program, forms)
        {if(failed?, do: elem(forms, innermost).path), nested(inside, nil, 0, forms)}
    end
  end

  defp parent({{parent, _place, _op, _counts, _keys}, _number}), do: parent

  # Several forms one after another are no form of the text.
  defp whole([{nil, [0, start, _end], "do", _counts, _keys} | _], %Program{source: source}, forms) do
    if source |> behind(start) |> String.starts_with?("(do"),
      do: forms,
      else: put_elem(forms, 0, %{elem(forms, 0) | about: "the program"})
  end

  defp whole(_rows, _program, forms), do: forms

  # The forms with their depths, each behind the one around it.
  defp nested(inside, around, depth, forms) do
    Enum.flat_map(Map.get(inside, around, []), fn number ->
      form = forms |> elem(number) |> Map.put(:depth, depth)
      [form | nested(inside, number, depth + 1, forms)]
    end)
  end

  # The rows with their lines and columns. Each text is gone through once.
  defp located(rows, texts) do
    places =
      rows
      |> Enum.group_by(&unit/1, &start/1)
      |> Map.new(fn {unit, offsets} -> {unit, texts |> elem(unit) |> places(offsets)} end)

    for row <- rows, do: {row, places |> Map.fetch!(unit(row)) |> Map.fetch!(start(row))}
  end

  defp unit({_parent, [unit, _start, _end], _op, _counts, _keys}), do: unit
  defp start({_parent, [_unit, start, _end], _op, _counts, _keys}), do: start

  # The line and the column of each offset.
  defp places(text, offsets) do
    {places, _last} =
      offsets
      |> Enum.uniq()
      |> Enum.sort()
      |> Enum.map_reduce({0, 1, 1}, fn offset, {from, line, column} ->
        part = binary_part(text, from, offset - from)
        lines = :binary.matches(part, "\n")

        place =
          case List.last(lines) do
            nil -> {line, column + length_of(part)}
            {at, 1} -> {line + length(lines), 1 + length_of(behind(part, at + 1))}
          end

        {{offset, place}, Tuple.insert_at(place, 0, offset)}
      end)

    Map.new(places)
  end

  defp behind(text, at), do: binary_part(text, at, byte_size(text) - at)

  # What is wrong with a text may be that it is none.
  defp length_of(part),
    do: if(String.valid?(part), do: String.length(part), else: byte_size(part))

  defp form({{_parent, [unit, start, end_], op, counts, []}, {line, column}}, texts) do
    {runs, ended, _lists_in, _items_in, lists_out, items_out, held, time, words, calls, waited,
     breaks, _given, _some, _made, total_time, total_words, kinds} = counts

    %{
      path: if(unit == 0, do: ["program", line, column], else: ["memory", unit, line, column]),
      span: {start, end_ - start},
      op: op,
      about: about(op, texts |> elem(unit) |> binary_part(start, end_ - start)),
      runs: runs,
      ended: ended,
      items_in: nil,
      items_out: if(lists_out > 0, do: items_out),
      held: held,
      kinds: for({kind, bit} <- Enum.with_index(@kinds), odd?(Bitwise.bsr(kinds, bit)), do: kind),
      time: time,
      total_time: total_time,
      words: words,
      total_words: total_words,
      tool_calls: calls,
      tool_time: waited,
      breaks: breaks,
      keys: []
    }
  end

  defp odd?(number), do: rem(number, 2) == 1

  defp about("fn", text), do: "calls of " <> about("call", text)

  defp about(_op, text), do: Format.line(text, @line)
end

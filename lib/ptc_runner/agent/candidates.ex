defmodule PtcRunner.Agent.Candidates do
  @moduledoc false
  # Which value of a text counts, if there are several: a model that corrects itself writes another one.

  alias PtcRunner.Agent.Parts

  # Maximum number of parts that are read at the beginning and at the end of a text.
  @most 32

  # Words between two values after which the later one counts.
  @corrects ~r/\b(?:wrong|mistakes?|mistaken|incorrect(?:ly)?|correct(?:ed|ing|ion)|instead|actually|wait|sorry|oops|fix(?:ed|ing)?|revised?|rather|scratch|ignore|replac(?:e|es|ed|ing)|improved|updated|amended|final +(?:answer|result|version|program|json|value|output))\b/i

  # Words that say that there is nothing to correct.
  @denied ~r/\b(?:no|not|never|nothing|without|need(?:s|ed)?)\s+(?:\w+\s+){0,2}(?:wrong|mistakes?|mistaken|incorrect(?:ly)?|correct(?:ed|ing|ion)|fix(?:ed|ing)?|revised?|replac(?:e|es|ed|ing)|improved|updated|amended)\b/i

  # Words directly before the later value by which it is the one that is taken back: "instead of {…}", "ignore {…}".
  @behind ~r/\b(?:of|than|not|ignore|ignoring|replac(?:e|es|ing)|correct(?:s|ing)|revis(?:e|es|ing)|fix(?:es|ing)?|(?:the|my|an?|this|that)\s+(?:\w+\s+)?(?:wrong|mistaken|incorrect|previous|earlier|old|former|first|original)(?:\s+\w+)?)[\s*_`"']*\z/i

  # Bytes of the words between two values that are looked at.
  @between 4_000

  @typedoc """
    * `:one` - there are not several values that fit
    * `{:only, text}` - one of several texts fits, or all that fit have one value
    * `{:last, text, count}` - the last one, because the words before it take back the one before
    * `{:several, count}` - it is not known which one counts
  """
  @type choice ::
          :one
          | {:only, String.t()}
          | {:last, String.t(), pos_integer()}
          | {:several, pos_integer()}

  @doc """
  The text of the value that counts. `fitting` returns the value of a text, or `:error` if it is none.

      iex> alias PtcRunner.Agent.Candidates
      iex> fitting = &PtcRunner.SubAgent.JsonParser.parse/1
      iex> Candidates.choose(~s({"n": 1} or {"n": 2}), fitting)
      {:several, 2}
      iex> Candidates.choose(~s({"n": 1}. Wait: {"n": 2}), fitting)
      {:last, ~s({"n": 2}), 2}

  A last value that was cut off, or that takes back the one before and does not fit, is the only one: its error is told.

      iex> fitting = &PtcRunner.SubAgent.JsonParser.parse/1
      iex> PtcRunner.Agent.Candidates.choose(~s({"n": 1}. Wait: {"n": 2), fitting)
      {:only, ~s({"n": 2)}

  ## Options

    * `:fenced` - values in fences count before those that sentences around them mention
    * `:plain` - what stands in a fence may be a value without brackets
    * `:parts` - `PtcRunner.Agent.Parts.of/1` of the text, if it is known
  """
  @spec choose(String.t(), (String.t() -> {:ok, term()} | :error), keyword()) :: choice()
  def choose(text, fitting, opts \\ []) do
    {spans, open} = opts[:parts] || Parts.of(text)

    fences =
      if opts[:plain] || (opts[:fenced] && (match?([_, _ | _], spans) or open != nil)),
        do: Parts.fences(text, spans),
        else: []

    parts = if opts[:plain], do: plain(fences, spans, text), else: []

    case Enum.sort(spans ++ parts ++ List.wrap(open)) do
      [_, _ | _] = parts ->
        {found, others} = parts |> few() |> read(text, fitting)
        found = if opts[:fenced], do: unmentioned(found, fences, text), else: found
        others |> Enum.filter(&later?(&1, found, open, text)) |> chosen(found, text)

      _one ->
        :one
    end
  end

  # What stands in fences that have no object or list.
  defp plain(fences, spans, text) do
    for {at, size} = fence <- fences,
        binary_part(text, at, size) =~ ~r/\S/,
        not Enum.any?(spans, &Parts.inside?(&1, fence)),
        do: fence
  end

  defp few(parts) when length(parts) <= 2 * @most, do: parts
  defp few(parts), do: Enum.take(parts, @most) ++ Enum.take(parts, -@most)

  defp read(parts, text, fitting) do
    parts
    |> Enum.map(fn part -> {part, fitting.(Parts.text(text, part))} end)
    |> Enum.split_with(&match?({_part, {:ok, _value}}, &1))
  end

  # Beside values in fences, one that a sentence mentions is no answer.
  defp unmentioned(found, fences, text) do
    fenced? = fn {part, _value} -> Enum.any?(fences, &Parts.inside?(part, &1)) end

    if Enum.any?(found, fenced?),
      do: Enum.filter(found, &(fenced?.(&1) or not Parts.mentioned?(text, elem(&1, 0)))),
      else: found
  end

  # A part behind the last value that is no value, but was meant as one.
  defp later?(_other, [], _open, _text), do: false

  defp later?({{at, _size} = part, _no}, found, open, text) do
    {{from, _} = last, _value} = List.last(found)

    at > from and :binary.at(text, at) == :binary.at(text, from) and
      (part == open or corrects?(text, last, part))
  end

  defp chosen([_ | _] = later, _found, text),
    do: {:only, Parts.text(text, later |> List.last() |> elem(0))}

  defp chosen([], found, text) do
    case found |> innermost() |> Enum.chunk_while(nil, &unlike/2, &{:cont, &1}) do
      [] ->
        :one

      [{part, _value}] ->
        {:only, Parts.text(text, part)}

      several ->
        [{last, _value}, {before, _other} | _] = Enum.reverse(several)

        if corrects?(text, before, last),
          do: {:last, Parts.text(text, last), length(several)},
          else: {:several, different(several)}
    end
  end

  # A bracket that nothing closes reaches to the end of the text. Where its repair is the value of a part inside it, that part has
  # the value unrepaired.
  defp innermost([{outer, {:ok, value}}, {inner, {:ok, value}} = kept | rest]) do
    if Parts.inside?(inner, outer),
      do: innermost([kept | rest]),
      else: [{outer, {:ok, value}} | innermost([kept | rest])]
  end

  defp innermost([first | rest]), do: [first | innermost(rest)]
  defp innermost([]), do: []

  # Without values that equal the one before: 1 and 1.0 are the same number.
  defp unlike({_part, {:ok, value}} = one, {_last, {:ok, last}}) when value == last,
    do: {:cont, one}

  defp unlike(one, _last), do: {:cont, one, one}

  defp different(several) do
    several
    |> Enum.reduce([], fn {_part, {:ok, value}}, seen ->
      if Enum.any?(seen, &(&1 == value)), do: seen, else: [value | seen]
    end)
    |> length()
  end

  @doc """
  Whether the words between two parts of a text take back the first one.

      iex> corrects? = &PtcRunner.Agent.Candidates.corrects?("{}" <> &1 <> "[]", {0, 2}, {2 + byte_size(&1), 2})
      iex> Enum.map([" Wait: ", " instead of ", " is the correction of ", ". No correction needed. "], corrects?)
      [true, false, false, false]

  """
  @spec corrects?(String.t(), Parts.span(), Parts.span()) :: boolean()
  def corrects?(text, {before, length}, {from, _size}) do
    gap = from - before - length
    between = binary_part(text, before + length + max(gap - @between, 0), min(gap, @between))
    between =~ @corrects and not (between =~ @denied) and not (between =~ @behind)
  end
end

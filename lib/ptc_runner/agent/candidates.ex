defmodule PtcRunner.Agent.Candidates do
  @moduledoc false
  # The programs in the text of an answer, if there are several: a model that corrects itself writes another one.

  alias PtcRunner.SubAgent.{JsonParser, JsonRepair}

  @begin ~r/\{\s*"(?:program|op)"\s*:/
  # Words between two programs after which the later one counts.
  @corrects ~r/\b(?:wrong|mistakes?|mistaken|incorrect(?:ly)?|correct(?:ed|ing|ion)|instead|actually|wait|sorry|oops|fix(?:ed|ing)?|revised?|rather|scratch|ignore|replac(?:e|es|ed|ing)|improved)\b/iu

  # Bytes of the words between two programs that are looked at.
  @between 4_000

  @typedoc "The offset and the size of a part, in bytes."
  @type span :: {non_neg_integer(), pos_integer()}

  @doc """
  The text of the program that counts.

    * `:one` - there are not several different programs
    * `{:last, text, how, count}` - the last one, because the words before it take back the one before. `how`: JSON was `:found`
      in its text, or only after it was `:repaired`
    * `{:several, count}` - it is not known which one counts

      iex> PtcRunner.Agent.Candidates.choose(~s({"op": "count"} is wrong. {"op": "first"}), [])
      {:last, ~s({"op": "first"}), :found, 2}

      iex> PtcRunner.Agent.Candidates.choose(~s({"op": "count"} or {"op": "first"}), [])
      {:several, 2}

  `limits` are those of `PtcRunner.SubAgent.JsonParser.parse/2`.
  """
  @spec choose(String.t(), keyword()) ::
          :one
          | {:last, String.t(), :found | :repaired, pos_integer()}
          | {:several, pos_integer()}
  def choose(text, limits) do
    with [_, _ | _] = begins <- begins(text),
         [_, _ | _] = spans <- spans(begins, text, 0),
         [_, _ | _] = programs <- programs(spans, text, limits),
         [_, _ | _] <- programs |> Enum.map(&elem(&1, 1)) |> Enum.uniq() do
      [{{from, size} = last, _value, how}, {before, _, _} | _] = Enum.reverse(programs)

      if corrects?(text, before, last),
        do: {:last, binary_part(text, from, size), how, length(programs)},
        else: {:several, length(programs)}
    else
      _one -> :one
    end
  end

  @doc "Whether the words between two parts of a text take back the first one."
  @spec corrects?(String.t(), span(), span()) :: boolean()
  def corrects?(text, {before, length}, {from, _size}) do
    gap = from - before - length
    between = binary_part(text, before + length + max(gap - @between, 0), min(gap, @between))
    String.valid?(between) and between =~ @corrects
  end

  @doc """
  The outermost objects and lists of a text, `[]` if there are more than `most`.

      iex> PtcRunner.Agent.Candidates.regions(~s({"a": [1]} or [2]), 9)
      [{0, 10}, {14, 3}]

  """
  @spec regions(String.t(), pos_integer()) :: [span()]
  def regions(text, most), do: regions(text, 0, most, [])

  defp regions(_text, _from, most, spans) when length(spans) > most, do: []

  defp regions(text, from, most, spans) do
    with {at, 1} <- :binary.match(text, ["{", "["], scope: {from, byte_size(text) - from}),
         size when size != nil <- size(binary_part(text, at, byte_size(text) - at), 0, 0) do
      regions(text, at + size, most, [{at, size} | spans])
    else
      _end -> Enum.reverse(spans)
    end
  end

  @doc "Whether the end of a text is outside of all brackets."
  @spec outside?(String.t()) :: boolean()
  def outside?(text) do
    case :binary.match(text, ["{", "["]) do
      :nomatch ->
        true

      {at, 1} ->
        rest = binary_part(text, at, byte_size(text) - at)

        case size(rest, 0, 0) do
          nil -> false
          size -> rest |> binary_part(size, byte_size(rest) - size) |> outside?()
        end
    end
  end

  # Bytes that are not UTF-8 may be anywhere in the text.
  defp begins(text) do
    if String.valid?(text),
      do: for([{at, _size}] <- Regex.scan(@begin, text, return: :index), do: at),
      else: []
  end

  # The outermost objects.
  defp spans([at | rest], text, from) when at < from, do: spans(rest, text, from)

  defp spans([at | rest], text, _from) do
    case size(binary_part(text, at, byte_size(text) - at), 0, 0) do
      nil -> []
      size -> [{at, size} | spans(rest, text, at + size)]
    end
  end

  defp spans([], _text, _from), do: []

  # The size of the object at the start of a text; nil if it has no end.
  defp size(<<byte, rest::binary>>, size, depth) do
    case byte do
      ?" -> string(rest, size + 1, depth)
      open when open in [?{, ?[] -> size(rest, size + 1, depth + 1)
      close when close in [?}, ?]] and depth == 1 -> size + 1
      close when close in [?}, ?]] -> size(rest, size + 1, depth - 1)
      _other -> size(rest, size + 1, depth)
    end
  end

  defp size("", _size, _depth), do: nil

  defp string(<<?\\, _escaped, rest::binary>>, size, depth), do: string(rest, size + 2, depth)
  defp string(<<?", rest::binary>>, size, depth), do: size(rest, size + 1, depth)
  defp string(<<_byte, rest::binary>>, size, depth), do: string(rest, size + 1, depth)
  defp string("", _size, _depth), do: nil

  # Without the placeholders of an explanation, such as {"program": NODE}.
  defp programs(spans, text, limits) do
    for {from, size} = span <- spans,
        {how, value} <- [value(binary_part(text, from, size), limits)],
        program?(value),
        do: {span, value, how}
  end

  defp value(text, limits) do
    with {:error, _reason} <- JsonParser.locate(text, limits),
         {:ok, value, _repairs} <- JsonRepair.read(text, nil, limits) do
      {:repaired, value}
    else
      {:ok, value} -> {:found, value}
      {:error, _reason} -> :error
    end
  end

  defp program?(%{"program" => program}), do: is_map(program)
  defp program?(%{"op" => op}), do: is_binary(op)
  defp program?(_other), do: false
end

defmodule PtcRunner.Agent.Thinking do
  @moduledoc false
  # What a model writes to itself before it answers, as reasoning models do: it is no part of the answer.

  alias PtcRunner.Agent.Parts

  # A name of a tag has one of these words.
  @name "(?:[\\w.:-]*(?:think|thought|reason|reflect|scratchpad|analysis|monologue|planning|deliberat)[\\w.:-]*|cot)"

  # <think>, <|end_of_thought|>, ◁think▷, [THINK], and the channels of gpt-oss, by bytes: the text need not be UTF-8.
  @tag Regex.compile!(
         "<\\s*/?\\s*#{@name}\\s*(?:\\s[^<>]*)?(?<!/)>" <>
           "|<\\|\\s*/?#{@name}\\s*\\|>" <>
           "|\\xE2\\x97\\x81/?#{@name}\\xE2\\x96\\xB7" <>
           "|\\[/?(?:think|thinking|thoughts?|reasoning)\\]" <>
           "|<\\|channel\\|>\\s*analysis[^<]*<\\|message\\|>" <>
           "|<\\|end\\|>|<\\|channel\\|>\\s*final[^<]*<\\|message\\|>",
         "i"
       )

  # Each tag has one of these. A text without them is not searched.
  @begins ["<", <<0xE2, 0x97, 0x81>>, "[t", "[T", "[r", "[R", "[/"]

  # Maximum number of tags that are looked at.
  @most 2_000

  @typep tag ::
           {at :: non_neg_integer(), size :: pos_integer(), kind :: atom(), opens? :: boolean()}

  @doc """
  The text with blanks in the place of the thinking, so that places in it stay where they are. A tag in a string of JSON is
  data.

      iex> PtcRunner.Agent.Thinking.blanked("<think>1</think>2")
      "                2"

      iex> PtcRunner.Agent.Thinking.blanked(~s({"html": "<think>1</think>"}))
      ~s({"html": "<think>1</think>"})

  The tag that begins it may be a part of the prompt, and the one that ends it may be missing:

      iex> PtcRunner.Agent.Thinking.blanked("so it is 1</think>2")
      "                  2"

      iex> PtcRunner.Agent.Thinking.blanked("2\\n<think>Is it 1?")
      "2\\n               "

  """
  @spec blanked(String.t()) :: String.t()
  def blanked(text), do: text |> blanked(:whole) |> elem(0)

  @doc """
  The beginning of a text without its thinking, and whether it ends inside of thinking: what has begun is thinking until its end comes.

      iex> PtcRunner.Agent.Thinking.so_far("So <think>Is it 1?")
      {"So                ", true}

      iex> PtcRunner.Agent.Thinking.so_far("So <think>Is it 1?</think> 2")
      {"So                         2", false}

  """
  @spec so_far(String.t()) :: {String.t(), open? :: boolean()}
  def so_far(text), do: blanked(text, :growing)

  @doc """
  Whether a tag of thinking ends in a chunk; `before` is the text before it.

      iex> alias PtcRunner.Agent.Thinking
      iex> [Thinking.ends_tag?("so</thi", "nk>{"), Thinking.ends_tag?("</think>", "<b>")]
      [true, false]

  """
  @spec ends_tag?(String.t(), String.t()) :: boolean()
  def ends_tag?(before, chunk) do
    text = before <> chunk
    :binary.match(text, @begins) != :nomatch and ends_tag?(text, byte_size(before), @tag)
  end

  defp ends_tag?(text, from, tag) do
    tag
    |> Regex.scan(text, return: :index)
    |> Enum.any?(fn [{at, size} | _] -> at + size > from end)
  end

  defp blanked(text, how) do
    if :binary.match(text, @begins) == :nomatch,
      do: {text, false},
      else: without_tags(text, how)
  end

  defp without_tags(text, how) do
    case Regex.scan(@tag, text, return: :index) do
      [] ->
        {text, false}

      found ->
        tags = found |> Enum.take(@most) |> tags(text)
        {parts, open?} = parts(tags, {text, how}, {0, :line}, [])
        {Parts.without(text, parts), open?}
    end
  end

  defp tags(found, text) do
    for [{at, size} | _] <- found do
      {kind, opens?} = text |> binary_part(at, size) |> String.downcase(:ascii) |> kind()
      {at, size, kind, opens?}
    end
  end

  defp kind("<|end|>"), do: {:channel, false}
  defp kind("<|channel|>" <> rest), do: {:channel, not String.contains?(rest, "final")}
  defp kind("<|" <> rest), do: {:bar, not (rest =~ ~r/\A\s*(?:\/|end)/)}
  defp kind("<" <> rest), do: {:angle, not (rest =~ ~r/\A\s*\//)}
  defp kind("[" <> rest), do: {:square, not String.starts_with?(rest, "/")}

  defp kind(<<_triangle::binary-size(3), rest::binary>>),
    do: {:triangle, not String.starts_with?(rest, "/")}

  # The parts of the text that are thinking, the last one first, and whether that one has no end. `state`: up to where the text
  # was read, and where that is.
  @spec parts([tag()], {String.t(), :whole | :growing}, {non_neg_integer(), term()}, [
          Parts.span()
        ]) :: {[Parts.span()], boolean()}
  defp parts([{at, size, kind, opens?} | rest], {text, _how} = read, {from, place}, found) do
    place = text |> binary_part(from, at - from) |> place(place)
    until = at + size

    cond do
      match?({:string, _depth}, place) ->
        parts(rest, read, {at, place}, found)

      opens? ->
        case finish(rest, read, at, kind) do
          :none ->
            parts(rest, read, {until, place}, found)

          :open ->
            {[{at, byte_size(text) - at} | found], true}

          until ->
            rest |> after_(until) |> parts(read, {until, place}, [{at, until - at} | found])
        end

      # The tag that begins it is not in the text; one of a channel also ends an answer.
      kind != :channel and
          (found == [] or binary_part(text, until, byte_size(text) - until) =~ ~r/\S/) ->
        parts(rest, read, {until, :words}, [{0, until}])

      true ->
        parts(rest, read, {until, place}, found)
    end
  end

  defp parts([], _read, _state, found), do: {found, false}

  defp finish(tags, {_text, :growing}, _at, kind), do: ended(tags, kind, 1) || :open

  defp finish(tags, {text, :whole}, at, kind),
    do: ended(tags, kind, 1) || first_end(tags, kind) || unended(text, at, kind)

  # Where the thinking ends that has begun; there may be some in it.
  defp ended([{at, size, kind, false} | _], kind, 1), do: at + size
  defp ended([{_, _, kind, false} | rest], kind, depth), do: ended(rest, kind, depth - 1)
  defp ended([{_, _, kind, true} | rest], kind, depth), do: ended(rest, kind, depth + 1)
  defp ended([_other | rest], kind, depth), do: ended(rest, kind, depth)
  defp ended([], _kind, _depth), do: nil

  defp first_end(tags, kind) do
    with {at, size, _kind, _opens?} <- Enum.find(tags, &match?({_, _, ^kind, false}, &1)),
         do: at + size
  end

  # Without an end, it is all that follows, if it begins a line; words may mention a tag.
  defp unended(_text, _at, :square), do: :none

  defp unended(text, at, _kind),
    do: if(binary_part(text, 0, at) =~ ~r/(?:\A|[\n>])[ \t\r]*\z/, do: :open, else: :none)

  defp after_(tags, until), do: Enum.drop_while(tags, fn {at, _, _, _} -> at < until end)

  # Whether the end of a text is among words, in so many brackets, or in a string. Without brackets, a string begins a line.
  defp place(<<>>, place), do: place
  defp place(<<?\\, _byte, rest::binary>>, {:string, _} = place), do: place(rest, place)
  defp place(<<byte, rest::binary>>, {:string, 0}) when byte in [?", ?\n], do: place(rest, :words)

  defp place(<<byte, rest::binary>>, {:string, depth}) when byte in [?", ?\n],
    do: place(rest, {:in, depth})

  defp place(<<_byte, rest::binary>>, {:string, _} = place), do: place(rest, place)
  defp place(<<?", rest::binary>>, {:in, depth}), do: place(rest, {:string, depth})

  defp place(<<byte, rest::binary>>, {:in, depth}) when byte in [?{, ?[],
    do: place(rest, {:in, depth + 1})

  defp place(<<byte, rest::binary>>, {:in, 1}) when byte in [?}, ?]], do: place(rest, :words)

  defp place(<<byte, rest::binary>>, {:in, depth}) when byte in [?}, ?]],
    do: place(rest, {:in, depth - 1})

  defp place(<<byte, rest::binary>> = text, :words) when byte in [?{, ?[],
    do: place(rest, if(Parts.begun?(text), do: {:in, 1}, else: :words))

  defp place(<<?\n, rest::binary>>, :words), do: place(rest, :line)
  defp place(<<_byte, rest::binary>>, :words), do: place(rest, :words)

  defp place(<<byte, rest::binary>>, :line) when byte in [?\s, ?\t, ?\r, ?\n],
    do: place(rest, :line)

  defp place(<<?", rest::binary>>, :line), do: place(rest, {:string, 0})
  defp place(text, :line), do: place(text, :words)
  defp place(<<_byte, rest::binary>>, place), do: place(rest, place)
end

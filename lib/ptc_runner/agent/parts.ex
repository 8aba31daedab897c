defmodule PtcRunner.Agent.Parts do
  @moduledoc false
  # The parts of a text that may be values: the outermost objects and lists, and what stands in fences. They are found by
  # bytes, because what stands around JSON need not be UTF-8.

  # What an object or a list begins with. After other brackets there are words.
  @object ~r/\A\{\s*(?:["'`{}\[\/#.]|\xE2\x80[\x98-\x9F]|\xC2\xAB|[\w$\x80-\xFF-]+["'`]?\s*[:=])/
  @list ~r/\A\[\s*(?:["'`{\[\]\/#+\-.\d]|\xE2\x80[\x98-\x9F]|\xC2\xAB|(?:true|false|null|none|nil)\b)/i
  # Bytes from a bracket on that are looked at.
  @near 200

  @marker ~r/`{3,}|~{3,}/
  @tag ~r/\A[\w+.#-]*[ \t]*\r?\n|\Ajson/i
  @letter ~r/[A-Za-z\x80-\xFF]/

  @typedoc "The offset and the size of a part, in bytes."
  @type span :: {non_neg_integer(), non_neg_integer()}

  @doc """
  The outermost objects and lists of a text, and the part from the one on that has no end.

      iex> PtcRunner.Agent.Parts.of(~s({"a": [1]} or [2], not {x and {"b": 1))
      {[{0, 10}, {14, 3}], {30, 7}}

  """
  @spec of(String.t()) :: {[span()], open :: span() | nil}
  def of(text), do: of(text, 0, [])

  defp of(text, from, spans) do
    case :binary.match(text, ["{", "["], scope: {from, byte_size(text) - from}) do
      {at, 1} ->
        rest = binary_part(text, at, byte_size(text) - at)

        cond do
          not begun?(rest) -> of(text, at + 1, spans)
          size = size(rest) -> of(text, at + size, [{at, size} | spans])
          true -> {Enum.reverse(spans), {at, byte_size(rest)}}
        end

      :nomatch ->
        {Enum.reverse(spans), nil}
    end
  end

  @doc """
  Whether the text at a bracket begins like an object or a list.

      iex> PtcRunner.Agent.Parts.begun?(~s({"a"))
      true

      iex> PtcRunner.Agent.Parts.begun?("[sic]")
      false

  """
  @spec begun?(String.t()) :: boolean()
  def begun?(text) do
    near = binary_part(text, 0, min(byte_size(text), @near))
    near =~ if(:binary.first(text) == ?{, do: @object, else: @list)
  end

  @doc """
  The size of the object or list at the start of a text; `nil` if it has no end.

      iex> PtcRunner.Agent.Parts.size(~s({"a": "}"}, x))
      10

  """
  @spec size(String.t()) :: pos_integer() | nil
  def size(text), do: size(text, 0, 0)

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

  @doc """
  The fences of a text, without their markers and tags. Markers inside of the given parts are content.

      iex> PtcRunner.Agent.Parts.fences("So:\\n```json\\n1\\n```", [])
      [{12, 2}]

  """
  @spec fences(String.t(), [span()]) :: [span()]
  def fences(text, spans) do
    @marker
    |> Regex.scan(text, return: :index)
    |> Enum.map(&hd/1)
    |> outside(spans)
    |> paired(text)
  end

  defp outside([{at, _} | _] = markers, [{from, size} | spans]) when at >= from + size,
    do: outside(markers, spans)

  defp outside([{at, _} | markers], [{from, _} | _] = spans) when at >= from,
    do: outside(markers, spans)

  defp outside([marker | markers], spans), do: [marker | outside(markers, spans)]
  defp outside([], _spans), do: []

  # A marker is closed by one of its kind that is not shorter.
  defp paired([{at, size} | markers], text) do
    byte = :binary.at(text, at)

    closing =
      Enum.drop_while(markers, fn {at, length} ->
        length < size or :binary.at(text, at) != byte
      end)

    until = with [{until, _length} | _] <- closing, do: until, else: ([] -> byte_size(text))
    [content(text, at + size, until) | closing |> Enum.drop(1) |> paired(text)]
  end

  defp paired([], _text), do: []

  defp content(text, from, until) do
    content = binary_part(text, from, until - from)

    tag = with [{0, size}] <- Regex.run(@tag, content, return: :index), do: size, else: (nil -> 0)

    {from + tag, until - from - tag}
  end

  @doc "Whether a part is inside of another one."
  @spec inside?(span(), span()) :: boolean()
  def inside?({at, size}, {from, length}), do: at >= from and at + size <= from + length

  @doc """
  Whether a part stands in the middle of a sentence.

      iex> PtcRunner.Agent.Parts.mentioned?(~s(With {"n": 1} in mind), {5, 8})
      true

      iex> PtcRunner.Agent.Parts.mentioned?(~s(Answer: {"n": 1} it is), {8, 8})
      false

  """
  @spec mentioned?(String.t(), span()) :: boolean()
  def mentioned?(text, {at, size}) do
    before = text |> binary_part(0, at) |> :binary.split("\n", [:global]) |> List.last()
    rest = binary_part(text, at + size, byte_size(text) - at - size)
    [behind | _] = :binary.split(rest, "\n")
    {before, behind} = {untagged(before), untagged(behind)}
    before =~ @letter and not (before =~ ~r/:[\s*_]*\z/) and behind =~ @letter
  end

  defp untagged(words), do: Regex.replace(~r/<[^<>]*>/, words, "")

  @doc "The text of a part."
  @spec text(String.t(), span()) :: String.t()
  def text(text, {at, size}), do: binary_part(text, at, size)

  @doc """
  A text with blanks in the place of some parts: its other places stay.

      iex> PtcRunner.Agent.Parts.without("[1]", [{2, 1}, {0, 1}])
      " 1 "

  """
  @spec without(String.t(), [span()]) :: String.t()
  def without(text, parts) do
    Enum.reduce(parts, text, fn {at, size} = part, text ->
      rest = binary_part(text, at + size, byte_size(text) - at - size)
      binary_part(text, 0, at) <> blanked(text(text, part)) <> rest
    end)
  end

  defp blanked(text) do
    for <<byte <- text>>, into: "", do: if(byte == ?\n, do: "\n", else: " ")
  end
end

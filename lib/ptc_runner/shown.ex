defmodule PtcRunner.Shown do
  @moduledoc false
  # What a reader gets to see of terms, names and texts: bounded, whatever their size.
  #
  #   term ──inspect/1, which asks for each part──▶ leaf:      shown, its bytes are spent
  #                                                 container: its head, as many parts as are shown
  #                                                 nothing left: "…"
  #        ──▶ text ──cut──▶ at most `limit` bytes
  #
  # The work is proportional to the text, not to the term. All words are those of `inspect/1`.

  alias PtcRunner.Shown.{Head, Size}

  # A whole message, the value in it, and a name in it. A message holds one value or two halves.
  @message 4_096
  @value 3_840
  @name 256

  # So many of many things are named.
  @most 20

  @failed "(a term that cannot be shown)"

  @doc "The bytes of the longest message."
  @spec message_limit() :: pos_integer()
  def message_limit, do: @message

  @doc "How many of many errors or names are shown."
  @spec most() :: pos_integer()
  def most, do: @most

  @doc """
  The text of a term, in at most `limit` bytes: that of `inspect/2`, or as much of it as there is room
  for, and the size of the term.

  An integer of more than some 10,000 digits is shown by its size. Of a long list the first 100 elements
  decide whether it is shown as a keyword list.

      iex> PtcRunner.Shown.text(%{"n" => 1.5})
      "%{\\"n\\" => 1.5}"

      iex> PtcRunner.Shown.text([Integer.pow(2, 40_000)])
      "[#Integer<40001 bits>]"

      iex> PtcRunner.Shown.text(Enum.to_list(1..40), 64)
      "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1… (a list of 40 elements)"

  """
  @spec text(term(), pos_integer(), keyword()) :: String.t()
  def text(term, limit \\ @value, opts \\ [])

  def text(atom, _limit, _opts) when is_atom(atom), do: inspect(atom)

  def text(term, limit, opts) do
    left = :counters.new(1, [])
    :counters.put(left, 1, limit + 1)
    text = inspect(term, [{:inspect_fun, &show(&1, bounded(&2), left)} | opts])
    if byte_size(text) <= limit, do: text, else: cut(text, limit, Size.of(term))
  end

  @doc """
  The texts of two terms that share a message.

      iex> PtcRunner.Shown.both("a", 1)
      {"\\"a\\"", "1"}

  """
  @spec both(term(), term()) :: {String.t(), String.t()}
  def both(left, right), do: {text(left, div(@value, 2)), text(right, div(@value, 2))}

  @doc """
  A text as it is, or its beginning and its size, in at most `limit` bytes.

      iex> PtcRunner.Shown.cut("short")
      "short"

      iex> PtcRunner.Shown.cut(String.duplicate("ä", 1_000), 32)
      "äääääääää… (2000 bytes)"

  """
  @spec cut(binary(), pos_integer()) :: binary()
  def cut(text, limit \\ @message)
  def cut(text, limit) when byte_size(text) <= limit, do: text
  def cut(text, limit), do: cut(text, limit, Size.of(text))

  @doc """
  The name of an operation, a tool or a field.

      iex> PtcRunner.Shown.name("filter")
      "filter"

  """
  @spec name(binary()) :: binary()
  def name(name), do: cut(name, @name)

  # These write out the term that they are about, without a limit.
  @verbose [
    KeyError,
    BadMapError,
    MatchError,
    CaseClauseError,
    WithClauseError,
    TryClauseError,
    BadStructError,
    BadBooleanError,
    BadFunctionError,
    BadArityError,
    Protocol.UndefinedError,
    ErlangError
  ]

  @doc """
  The message of an exception. One of Elixir's own about a large term is shown as the struct that it is.

      iex> PtcRunner.Shown.exception(%ArgumentError{message: "no such thing"})
      "no such thing"

  """
  @spec exception(Exception.t()) :: String.t()
  def exception(%module{} = exception) when module in @verbose do
    if Size.small?(Map.from_struct(exception)),
      do: cut(Exception.message(exception), @value),
      else: text(exception)
  end

  def exception(exception), do: cut(Exception.message(exception), @value)

  @doc """
  The first of many things, each as `show` shows it, and how many more there are.

      iex> PtcRunner.Shown.few(1..22, &to_string/1)
      "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, and 2 more"

  """
  @spec few(Enumerable.t(), (term() -> String.t())) :: String.t()
  def few(things, show) do
    text = things |> Enum.take(@most) |> Enum.map_join(", ", &(&1 |> show.() |> cut(@name)))
    more = Enum.count(things) - @most
    cut(if(more > 0, do: "#{text}, and #{more} more", else: text), @value)
  end

  defp cut(text, limit, size) do
    note = "… (#{size})"
    binary_part(text, 0, boundary(text, limit - byte_size(note), 3)) <> note
  end

  # No character is cut in two.
  defp boundary(text, at, steps) do
    case :binary.at(text, at) do
      byte when byte in 0x80..0xBF and at > 0 and steps > 0 -> boundary(text, at - 1, steps - 1)
      _byte -> at
    end
  end

  # More elements, or characters, than there is room for in any text.
  @infinite 10_000

  defp bounded(%{limit: :infinity} = opts), do: bounded(%{opts | limit: @infinite})

  defp bounded(%{printable_limit: :infinity} = opts),
    do: %{opts | printable_limit: @infinite}

  defp bounded(opts), do: opts

  # `left` is how many bytes may still be shown, never less than what stands in the text already.
  defp show(term, opts, left) do
    if :counters.get(left, 1) <= 0, do: "…", else: part(term, opts, left)
  end

  defp part(%_{} = struct, opts, left) do
    spend(left, 1)
    struct |> Head.struct() |> Inspect.inspect(opts)
  rescue
    # `inspect/2` would show all of the struct in its place.
    error -> if Size.small?(struct), do: reraise(error, __STACKTRACE__), else: @failed
  end

  defp part(term, opts, left) when is_map(term) and map_size(term) > 32 do
    spend(left, 1)
    Head.large_map(term, opts)
  end

  defp part(term, opts, left) when is_list(term) or is_tuple(term) or is_map(term) do
    spend(left, 1)
    term |> Head.of(opts) |> Inspect.inspect(opts)
  end

  defp part(leaf, opts, left) do
    text = leaf(leaf, opts)
    spend(left, byte_size(text) + 1)
    text
  end

  defp leaf(integer, opts) when is_integer(integer) do
    if Size.huge?(integer),
      do: "#Integer<#{Size.bits(integer)} bits>",
      else: Inspect.inspect(integer, opts)
  end

  defp leaf(leaf, opts) do
    case Inspect.inspect(leaf, opts) do
      text when is_binary(text) -> text
      doc -> doc |> Inspect.Algebra.format(:infinity) |> IO.iodata_to_binary()
    end
  end

  defp spend(left, bytes), do: :counters.sub(left, 1, bytes)
end

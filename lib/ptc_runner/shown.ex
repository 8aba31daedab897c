defmodule PtcRunner.Shown do
  @moduledoc false
  # The texts of terms, names and messages for readers, with a limited length, whatever the size of the term.
  #
  #   term ──inspect/1, with `show` for each part──▶ leaf:           its text; its bytes are spent
  #                                                  container:      its head: only the parts that are shown
  #                                                  no bytes left:  "…"
  #        ──▶ text ──cut──▶ at most `limit` bytes
  #
  # The work is proportional to the text, not to the term. The texts are those of `inspect/1`, without the values of
  # firewalled keys in maps, structs and keyword lists, at any depth.

  alias PtcRunner.Json.Values
  alias PtcRunner.Native.NativeRecord
  alias PtcRunner.Shown.{Head, Line, Raised, Size, Small}

  # Maximum bytes of a message, of a value in it, and of a name in it. A message holds one value or two halves.
  @message 4_096
  @value 3_800
  @name 256

  # Maximum bytes of a list of names, and of all errors of a value, and maximum number of errors in feedback.
  @list 3_600
  @errors 1_048_576
  @most 20

  # Maximum parts of character data; parts may be shared.
  @characters 100_000

  # Maximum map entries that are listed for one text, and the index of their counter.
  @listed 20_000
  @entries 2

  # Stands for a concealed value, alone or with the words that are shown instead.
  @concealed {__MODULE__, :concealed}

  @failed "(a term that cannot be shown)"

  @doc "The maximum number of bytes of a message."
  @spec message_limit() :: pos_integer()
  def message_limit, do: @message

  @doc "The maximum number of bytes of a value in a message."
  @spec value_limit() :: pos_integer()
  def value_limit, do: @value

  @doc "The maximum number of bytes of the errors of one value, all together; also in `native/ptc_type/src/error_line.rs`."
  @spec errors_limit() :: pos_integer()
  def errors_limit, do: @errors

  @doc "The maximum number of errors that feedback shows."
  @spec most() :: pos_integer()
  def most, do: @most

  @doc """
  The text of a term, in at most `limit` bytes: that of `inspect/2`, or the beginning of it and
  the size of the term.

  An integer of more than about 10,000 digits is shown by its size. The first 100 elements of a long list
  decide whether it is shown as a keyword list. If maps have more than about 20,000 entries in all, other
  entries come first than with `inspect/2`.

      iex> PtcRunner.Shown.text(%{"n" => 1.5})
      "%{\\"n\\" => 1.5}"

      iex> PtcRunner.Shown.text({"Ada", %{"n" => 1, "_token" => "s3cret"}})
      "{\\"Ada\\", %{\\"_token\\" => …, \\"n\\" => 1}}"

      iex> PtcRunner.Shown.text([Integer.pow(2, 40_000)])
      "[#Integer<40001 bits>]"

      iex> PtcRunner.Shown.text(Enum.to_list(1..40), 64)
      "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1… (a list of 40 elements)"

  """
  @spec text(term(), pos_integer(), keyword()) :: String.t()
  def text(term, limit \\ @value, opts \\ [])

  def text(atom, _limit, _opts) when is_atom(atom), do: inspect(atom)

  def text(term, limit, []) do
    # A text that is much shorter than it may be has all parts of its term.
    case Small.text(term) do
      text when text != nil and 2 * byte_size(text) <= limit -> text
      _other -> whole(term, limit, [])
    end
  end

  def text(term, limit, opts), do: whole(term, limit, opts)

  defp whole(term, limit, opts) do
    text = inspected(term, limit, opts)
    if byte_size(text) <= limit, do: text, else: cut(text, limit, Size.of(term))
  end

  @doc """
  The text of a term for a model: dates, times and decimals are those of JSON, without Elixir's syntax.

      iex> PtcRunner.Shown.plain([~D[2024-02-29], %{"n" => 1}])
      "[2024-02-29, %{\\"n\\" => 1}]"

  """
  @spec plain(term(), pos_integer()) :: String.t()
  def plain(term, limit \\ @value), do: text(term, limit, custom_options: [values: :plain])

  @doc """
  The text of a term with which a larger one begins, whose size is given, in at most `limit` bytes.

      iex> PtcRunner.Shown.beginning([1, %{"_pin" => 2}], 64, "a JSON text of 9000 bytes")
      "[1, %{\\"_pin\\" => …}]… (a JSON text of 9000 bytes)"

      iex> PtcRunner.Shown.beginning(Enum.to_list(1..40), 24, "much more")
      "[1, 2, 3,… (much more)"

  """
  @spec beginning(term(), pos_integer(), String.t()) :: String.t()
  def beginning(term, limit, size) do
    text = inspected(term, limit, [])
    whole = "#{text}… (#{size})"
    if byte_size(whole) <= limit, do: whole, else: cut(text, limit, size)
  end

  # At least the first `limit` bytes.
  defp inspected(term, limit, opts) do
    left = :counters.new(2, [])
    # A leaf counts with half a separator, even if it has none.
    :counters.put(left, 1, limit + 2)
    :counters.put(left, @entries, @listed)
    inspect(Head.ours(term), [{:inspect_fun, &show(&1, bounded(&2), left)} | opts])
  end

  @doc "The term that stands for a concealed value."
  @spec concealed() :: term()
  def concealed, do: @concealed

  @doc """
  The term that stands for a concealed value of which only the kind is shown.

      iex> PtcRunner.Shown.text([PtcRunner.Shown.kind("s3cret"), PtcRunner.Shown.kind(7)])
      "[a text, an integer]"

  """
  @spec kind(term()) :: term()
  def kind(value), do: {@concealed, Size.kind(value)}

  @doc """
  The texts of two terms that share a message.

      iex> PtcRunner.Shown.both("a", 1)
      {"\\"a\\"", "1"}

  """
  @spec both(term(), term()) :: {String.t(), String.t()}
  def both(left, right) do
    {left_text, right_text} = texts = {text(left), text(right)}

    if byte_size(left_text) + byte_size(right_text) <= @value,
      do: texts,
      else: {text(left, div(@value, 2)), text(right, div(@value, 2))}
  end

  @doc """
  The text, or its beginning and its size, in at most `limit` bytes.

      iex> PtcRunner.Shown.cut("short")
      "short"

      iex> PtcRunner.Shown.cut(String.duplicate("ä", 1_000), 32)
      "ääääääää… (2000 bytes)"

  """
  @spec cut(binary(), pos_integer()) :: binary()
  def cut(text, limit \\ @message)
  def cut(text, limit) when byte_size(text) <= limit, do: text
  def cut(text, limit), do: cut(text, limit, Size.of(text))

  @doc """
  The result of `to_string/1`; a huge integer, and character data of many parts, are shown as terms.

      iex> PtcRunner.Shown.string(["a", ?b])
      "ab"

  """
  @spec string(String.Chars.t()) :: String.t()
  def string(integer) when is_integer(integer), do: text(integer)

  def string(list) when is_list(list),
    do: if(Size.small?(list, @characters), do: characters(list), else: text(list))

  def string(other), do: to_string(other)

  # `to_string/1` does not terminate for some lists that are not character data.
  defp characters(list) do
    case :unicode.characters_to_binary(list) do
      text when is_binary(text) -> text
      _error -> raise ArgumentError, "a list that is no character data"
    end
  end

  @doc ~S"""
  The name of an operation, a tool or a field, on one line: control characters are escaped.

      iex> PtcRunner.Shown.name("filter")
      "filter"

      iex> PtcRunner.Shown.name("a\n## Task")
      ~S(a\n## Task)

  """
  @spec name(binary()) :: String.t()
  def name(name), do: name |> cut(@name) |> Line.escape()

  @doc ~S"""
  A name where no quotes stand around it: if it is more than a word, as a JSON string.

      iex> Enum.map(["orders", "open-orders", "a b", "# a\n"], &PtcRunner.Shown.label/1)
      ["orders", "open-orders", ~S("a b"), ~S("# a\n")]

  """
  @spec label(binary()) :: String.t()
  def label(name) do
    if byte_size(name) <= @name and Line.word?(name), do: name, else: quoted(name)
  end

  @doc """
  A name as a JSON string, on one line.

      iex> PtcRunner.Shown.quoted("a b")
      ~S("a b")

  """
  @spec quoted(binary()) :: String.t()
  def quoted(name), do: name |> cut(@name) |> Line.quoted()

  @doc ~S"""
  A text of several lines from elsewhere. It cannot have control characters, or lines that would be headings
  or fences of the text around it.

      iex> PtcRunner.Shown.lines("no such city\n## Task\nnear: Rome")
      "no such city\n\\## Task\nnear: Rome"

  """
  @spec lines(binary()) :: String.t()
  defdelegate lines(text), to: Line

  @doc """
  The first `most` of a list, and what `say` makes of the number of the others, if there are any.

      iex> PtcRunner.Shown.first(["a", "b", "c"], 1, fn more -> "and \#{more} more" end)
      ["a", "and 2 more"]

  """
  @spec first([item], non_neg_integer(), (pos_integer() -> item)) :: [item] when item: term()
  def first(list, most, say) do
    case Enum.split(list, most) do
      {all, []} -> all
      {first, more} -> first ++ [say.(length(more))]
    end
  end

  @doc "The message of an exception."
  @spec exception(Exception.t()) :: String.t()
  defdelegate exception(exception), to: Raised, as: :text

  @doc """
  The first of many items, each as text, and the number of items that a message cannot hold.

      iex> PtcRunner.Shown.few(["a", "b"], & &1)
      "a, b"

      iex> PtcRunner.Shown.few(1..2_000, &to_string/1) |> String.slice(-18..-1)
      "741, and 1259 more"

  """
  @spec few(Enumerable.t(), (term() -> String.t())) :: String.t()
  def few(things, show) do
    {texts, _left, more} = Enum.reduce(things, {[], @list, 0}, &name_one(&1, &2, show))
    texts = if more > 0, do: ["and #{more} more" | texts], else: texts
    texts |> Enum.reverse() |> Enum.join(", ")
  end

  defp name_one(thing, {texts, left, 0}, show) do
    text = thing |> show.() |> cut(@name)
    left = left - byte_size(text) - 2
    if left < 0, do: {texts, left, 1}, else: {[text | texts], left, 0}
  end

  defp name_one(_thing, {texts, left, more}, _show), do: {texts, left, more + 1}

  defp cut(text, limit, size) do
    note = "… (#{size})"
    binary_part(text, 0, boundary(text, limit - byte_size(note), 3)) <> note
  end

  # Does not split a character.
  defp boundary(text, at, steps) do
    case :binary.at(text, at) do
      byte when byte in 0x80..0xBF and at > 0 and steps > 0 -> boundary(text, at - 1, steps - 1)
      _byte -> at
    end
  end

  # More elements, or characters, than any text can hold.
  @infinite 10_000

  defp bounded(%{limit: :infinity} = opts), do: bounded(%{opts | limit: @infinite})

  defp bounded(%{printable_limit: :infinity} = opts),
    do: %{opts | printable_limit: @infinite}

  defp bounded(opts), do: opts

  # `left` counts the bytes that may still be shown, and the map entries that may still be listed. The text
  # has at least as many bytes as were spent.
  defp show(term, opts, left) do
    if :counters.get(left, 1) <= 0, do: "…", else: part(term, opts, left)
  end

  defp part(@concealed, _opts, left), do: words("…", left)
  defp part({@concealed, words}, _opts, left), do: words(words, left)

  defp part(%module{} = value, %{custom_options: [values: :plain]} = opts, left)
       when module in [Date, Time, NaiveDateTime, DateTime, Decimal] do
    case Values.text(value) do
      text when is_binary(text) -> words(text, left)
      _malformed -> shown(value, opts, left)
    end
  end

  # A decimal as its package shows it, whether that is there or not.
  defp part(%{__struct__: Decimal} = decimal, opts, left) do
    with Inspect.Any <- Inspect.impl_for(decimal),
         {:ok, digits} <- Values.decimal(decimal) do
      text = "Decimal.new(\"#{digits}\")"
      spend(left, byte_size(text) + 1)
      text
    else
      _no -> shown(decimal, opts, left)
    end
  end

  # A struct without the fields of its module is shown as a map.
  defp part({Head, %_{} = struct}, opts, left) when map_size(struct) > 32,
    do: struct |> Map.delete(:__struct__) |> shown(opts, left)

  defp part({Head, %_{} = struct}, opts, left) do
    spend(left, container(opts))
    struct |> Head.conceal(@concealed) |> Head.of(opts) |> Inspect.Map.inspect(opts)
  end

  # An implementation of `Inspect` may show any part of a struct.
  defp part(%module{} = struct, opts, left) when is_atom(module) do
    cond do
      not Head.conceals?(struct) -> shown(struct, opts, left)
      not function_exported?(module, :__struct__, 0) -> without_module(struct, opts, left)
      Head.plain?(struct) -> fields(struct, opts, left)
      true -> leaf_of(module, left)
    end
  end

  defp part(map, opts, left) when is_map(map), do: plain(map, opts, left)
  defp part(term, opts, left), do: shown(term, opts, left)

  defp words(words, left) do
    spend(left, byte_size(words) + 1)
    words
  end

  defp without_module(struct, opts, left) when map_size(struct) > 32,
    do: struct |> Map.delete(:__struct__) |> shown(opts, left)

  defp without_module(struct, opts, left), do: plain(struct, opts, left)

  # A struct without an implementation of `Inspect`, as `inspect/1` shows it, with its public values.
  defp fields(struct, opts, left) do
    spend(left, 2)
    struct |> Head.conceal(@concealed) |> Head.fields() |> Inspect.Any.inspect(opts)
  end

  defp plain(map, opts, left), do: map |> Head.conceal(@concealed) |> shown(opts, left)

  defp leaf_of(module, left) do
    text = "#" <> inspect(module) <> "<…>"
    spend(left, byte_size(text) + 1)
    text
  end

  # The specification of `Inspect.inspect/2` before Elixir 1.19 has no document with options.
  @dialyzer {:no_fail_call, shown: 3}

  defp shown(%_{} = struct, opts, left) do
    spend(left, 2)
    struct |> Head.struct(&list?(left, &1)) |> Head.fields() |> Inspect.inspect(opts)
  rescue
    # Its fields are not what its module expects. `inspect/2` would show the whole struct, and a trace of the error.
    _error -> if Size.small?(struct), do: malformed(struct, opts), else: @failed
  end

  defp shown(term, opts, left) when is_map(term) and map_size(term) > 32 do
    spend(left, container(opts))
    Head.large_map(term, opts, list?(left, map_size(term)))
  end

  defp shown(term, opts, left) when is_list(term) or is_tuple(term) or is_map(term) do
    spend(left, if(term in [[], {}, %{}], do: 2, else: container(opts)))
    term |> Head.of(opts) |> Inspect.inspect(opts)
  end

  defp shown(leaf, opts, left) do
    case leaf(leaf, opts) do
      # Since Elixir 1.19 a document may come with the options for what follows.
      {doc, %Inspect.Opts{} = opts} -> {spent(doc, left), opts}
      doc -> spent(doc, left)
    end
  end

  defp malformed(struct, opts), do: Inspect.Map.inspect(Head.fields(struct), opts)

  # Brackets, and three dots if none of the content is shown.
  defp container(%{limit: 0}), do: 5
  defp container(_opts), do: 2

  # Whether the entries of a map may be listed.
  defp list?(left, entries) do
    if :counters.get(left, @entries) >= entries do
      :counters.sub(left, @entries, entries)
      true
    else
      false
    end
  end

  defp leaf(integer, opts) when is_integer(integer) do
    if Size.huge?(integer),
      do: "#Integer<#{Size.bits(integer)} bits>",
      else: Inspect.inspect(integer, opts)
  end

  defp leaf(leaf, opts) do
    if NativeRecord.is?(leaf),
      do: NativeRecord.text(leaf, opts),
      else: Inspect.inspect(leaf, opts)
  end

  defp spent(doc, left) do
    text = format(doc)
    spend(left, byte_size(text) + 1)
    text
  end

  defp format(text) when is_binary(text), do: text
  defp format(doc), do: doc |> Inspect.Algebra.format(:infinity) |> IO.iodata_to_binary()

  defp spend(left, bytes), do: :counters.sub(left, 1, bytes)
end

defmodule PtcRunner.SubAgent.AnswerStream do
  @moduledoc """
  Checks an LLM's answer while it streams, and halts as soon as it cannot become valid.

      iex> alias PtcRunner.SubAgent.AnswerStream
      iex> stream = AnswerStream.new("() -> {rows [{id :int, name :string}]}")
      iex> {:cont, stream} = AnswerStream.feed(stream, ~s({"rows": [{"id": 1, "na))
      iex> {:cont, stream} = AnswerStream.feed(stream, ~s(me": "An))
      iex> AnswerStream.partial(stream)
      {:ok, %{"rows" => [%{"id" => 1, "name" => "An"}]}}
      iex> AnswerStream.feed(stream, ~s(n"}, {"id": "two))
      {:halt, {:error, [%{path: ["rows", 1, "id"], message: "expected int, got string"}]}}
      iex> {:cont, stream} = AnswerStream.feed(stream, ~s(n"}]}))
      iex> AnswerStream.finish(stream)
      {:ok, %{"rows" => [%{"id" => 1, "name" => "Ann"}]}}

  Chunks may end at any byte, also within a character or an escape. Each chunk is read once.
  A stream is a value: feeding it returns a new stream, and the old one can still be fed.
  (Feeding an old stream reads its earlier text once more; feeding the newest one does not.)

  The stream keeps the text as one binary, of at most `:max_bytes`.

  ## When a stream halts

  `finish/1` decides whether an answer is valid, by the rules of `PtcRunner.Agent.answer/3` for the whole text: what stands in thinking
  (`<think>…</think>`) is no answer, and of several values the last one counts if the words before it take back the one before.
  A stream halts where the first value that it meets outside of thinking cannot become valid:

    * in a fence with the tag `json` or without a tag: at the first value of another type, at the end of the first value
      that breaks a rule of its type (an enumeration, a bound, a pattern, a format), that is no date, or that no type
      of a union takes, at a required field that is missing from a complete object, at a key that a closed map must not
      have, at the first byte that is not JSON
    * outside of fences: at the same values, as soon as the text is known to be JSON and not prose in
      brackets. A fence after the wrong JSON could make the answer valid, because
      the fence would count. With `halt: :certain` the stream waits for such a fence, and nothing outside
      of fences halts it.
    * with `prose: false`: at the first byte that is neither JSON nor the beginning of a fence, also of thinking. Use this for
      LLMs in JSON mode.

  So a stream that has halted does not wait for another value that the model could write after the wrong one. Nor can it know
  that the text so far is thinking, if the tag that begins it is a part of the prompt: use `halt: :certain` there. Values that are not in an
  object or a list, as of `:int` or `{name :string}?`, halt no stream.

  `finish/1` checks the values of keys that have escapes or could be another spelling of a field's name
  (`user-id` for `user_id`). It also checks the rules of texts that have escapes or more than 65,536 bytes, of patterns that
  take long, and of unions of more than 32 types, and whether objects and lists in a list with `unique` are different.
  """

  alias PtcRunner.{Aligned, Native, Options, Quanta}
  alias PtcRunner.Native.Panic
  alias PtcRunner.Agent.Answer, as: Whole
  alias PtcRunner.Agent.{Thinking, Wrapper}
  alias PtcRunner.SubAgent.{KeyNormalizer, Signature}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Answer, Place}
  alias PtcRunner.SubAgent.Signature.Base
  require Quanta

  # 16 MiB
  @max_bytes 16_777_216
  # A longer chunk is read in parts: one takes about a millisecond.
  @part 131_072
  @compile {:inline, read: 3, added: 2}

  @options %{
    halt: {:one_of, [:early, :certain]},
    prose: :boolean,
    max_bytes: {:or_infinity, :positive}
  }

  @finish_options %{timeout: :timeout, max_heap: :max_heap}

  # A tag is looked for in so many bytes before the chunk in which it ends.
  @tag_bytes 256
  # Of more texts with tags, the stream waits for the end.
  @rereads 64

  # `asked` is {signature, type, list?, max_bytes, tags}: one field, because each chunk makes a struct. `tags` is the pattern of the
  # bytes that end a tag of thinking. `thought`: whether the text ends in thinking, and how often it was read without it.
  # No NIF receives `text` while it grows; otherwise the VM would copy it for the next chunk.
  @enforce_keys [:asked, :state]
  defstruct [:asked, :state, text: "", taken: 0, thought: {false, 0}]

  @typedoc "A part of an answer; `taken` is the size of its text in bytes."
  @opaque t :: %__MODULE__{
            asked:
              {JsonHandler.signature(), type :: term(), list? :: boolean(),
               max_bytes :: pos_integer() | :infinity, tags :: :binary.cp() | nil},
            state: reference(),
            text: binary(),
            taken: non_neg_integer(),
            thought: {boolean(), non_neg_integer()}
          }

  @typedoc "An error; the path is empty if the error concerns the whole answer."
  @type error :: JsonHandler.validation_error()

  @typedoc "See `new/2`."
  @type option ::
          {:halt, :early | :certain}
          | {:prose, boolean()}
          | {:max_bytes, pos_integer() | :infinity}

  @doc """
  A stream for an answer to this signature, which is a text, a parsed signature, or `nil` for any object.

  ## Options

    * `:halt` - `:early` (default) or `:certain`, see the module's documentation
    * `:prose` - whether prose may come before the JSON, by default `true`
    * `:max_bytes` - the maximum size of the text, or `:infinity`; by default 16,777,216 (16 MiB). A chunk
      that exceeds it halts the stream.

  Without prose, the first character that is not JSON halts the stream:

      iex> stream = PtcRunner.SubAgent.AnswerStream.new(nil, prose: false)
      iex> PtcRunner.SubAgent.AnswerStream.feed(stream, "Sure! ")
      {:halt, {:error, [%{path: [], message: "expected JSON, got prose"}]}}

      iex> stream = PtcRunner.SubAgent.AnswerStream.new("[:int]", max_bytes: 8)
      iex> {:cont, stream} = PtcRunner.SubAgent.AnswerStream.feed(stream, "[1, 2, 3")
      iex> PtcRunner.SubAgent.AnswerStream.feed(stream, "]")
      {:halt, {:error, [%{path: [], message: "expected at most 8 bytes, got more"}]}}

  Raises `ArgumentError` for an invalid signature, an unknown option, or an invalid value
  of an option.
  """
  @spec new(String.t() | JsonHandler.signature(), [option()]) :: t()
  def new(signature, opts \\ [])

  def new(given, opts) when is_binary(given) or is_map(given) or (is_list(given) and given != []),
    do: given |> Signature.parsed!() |> new(opts)

  def new(nil, opts), do: build(nil, :any, false, opts)

  def new({:signature, _, type} = signature, opts) do
    # A value may be bare, or in {"value": ...}: nothing halts it.
    type = if Wrapper.scalar?(type), do: nil, else: type
    build(signature, type, Base.list?(type), opts)
  end

  def new(other, _opts),
    do: raise(ArgumentError, "expected a signature, got: #{PtcRunner.Shown.text(other)}")

  defp build(signature, type, list?, opts) do
    Options.check!(opts, @options, "PtcRunner.SubAgent.AnswerStream.new/2")
    early? = Keyword.get(opts, :halt, :early) == :early
    prose? = type == nil or Keyword.get(opts, :prose, true)
    # What may be a list, or an object, or neither, is read by `finish/1`.
    free? = signature != nil and not list? and (type == nil or Base.takes_list?(type))
    type = if free?, do: :any, else: type
    max_bytes = Keyword.get(opts, :max_bytes, @max_bytes)
    tags = if prose?, do: :binary.compile_pattern([">", "]", <<0xB7>>])

    {:ok, state} = Quanta.run!(Native.stream_new(type, list? or free?, early?, prose?))

    %__MODULE__{asked: {signature, type, list?, max_bytes, tags}, state: state}
  end

  @doc """
  Reads the next chunk of the text.

      iex> stream = PtcRunner.SubAgent.AnswerStream.new("[:int]")
      iex> {:cont, stream} = PtcRunner.SubAgent.AnswerStream.feed(stream, "```json\\n[1, ")
      iex> PtcRunner.SubAgent.AnswerStream.feed(stream, "2.5")
      {:halt, {:error, [%{path: [1], message: "expected int, got float"}]}}

  """
  @spec feed(t(), binary()) :: {:cont, t()} | {:halt, {:error, [error(), ...]}}
  # An integer is less than any atom.
  def feed(%__MODULE__{asked: {_, _, _, max_bytes, _}, taken: taken} = stream, chunk)
      when taken + byte_size(chunk) <= max_bytes do
    chunk = Aligned.text(chunk)

    # The native side looks for the end of a tag in a short chunk.
    if byte_size(chunk) <= @part and not elem(stream.thought, 0),
      do: fed_short(stream, chunk),
      else: fed_long(stream, chunk)
  catch
    :error, :nif_panicked -> halted([], Panic.caught())
  end

  def feed(%__MODULE__{asked: {_, _, _, max_bytes, _}}, chunk) when is_binary(chunk),
    do: halted([], "expected at most #{max_bytes} bytes, got more")

  def feed(%__MODULE__{}, chunk),
    do: raise(ArgumentError, "expected a binary, got: #{PtcRunner.Shown.text(chunk)}")

  def feed(other, _chunk), do: no_stream(other, "feed/2")

  defp fed_short(stream, chunk) do
    %__MODULE__{asked: {_, _, _, _, tags}, thought: {_open?, rereads}} = stream
    looks? = tags != nil and rereads < @rereads

    case Quanta.run(Native.stream_feed(stream.state, stream.taken, chunk, looks?)) do
      :ok ->
        {:cont, added(stream, chunk)}

      :tag ->
        if ends_tag?(stream, chunk), do: reread(stream, chunk), else: fed(stream, chunk)

      {:halt, mistake} ->
        halt(stream, chunk, mistake)

      :fork ->
        feed_again(stream, chunk)
    end
  end

  defp fed_long(stream, chunk) do
    cond do
      tag?(stream, chunk) -> reread(stream, chunk)
      elem(stream.thought, 0) -> {:cont, added(stream, chunk)}
      true -> fed(stream, chunk)
    end
  end

  defp fed(stream, chunk) do
    case read(stream.state, stream.taken, chunk) do
      :ok -> {:cont, added(stream, chunk)}
      {:halt, mistake} -> halt(stream, chunk, mistake)
      :fork -> feed_again(stream, chunk)
    end
  end

  defp added(stream, chunk),
    do: %{stream | text: stream.text <> chunk, taken: stream.taken + byte_size(chunk)}

  # Whether a tag of thinking ends in the chunk.
  defp tag?(%{asked: {_, _, _, _, tags}, thought: {_open?, rereads}} = stream, chunk)
       when tags != nil and rereads < @rereads do
    :binary.match(chunk, tags) != :nomatch and ends_tag?(stream, chunk)
  end

  defp tag?(_stream, _chunk), do: false

  defp ends_tag?(%{text: text, taken: taken}, chunk) do
    size = min(taken, @tag_bytes)
    text |> binary_part(taken - size, size) |> Thinking.ends_tag?(chunk)
  end

  # The text without its thinking, with blanks in its place, is read from its start.
  defp reread(%{thought: {_open?, rereads}} = stream, chunk) do
    {text, open?} = Thinking.so_far(stream.text <> chunk)
    {:ok, state} = Native.stream_again(stream.state, "")
    # After many tags nothing is read until the end.
    open? = open? or rereads + 1 == @rereads

    case read(state, 0, text) do
      :ok -> {:cont, added(%{stream | state: state, thought: {open?, rereads + 1}}, chunk)}
      {:halt, mistake} -> halt(stream, chunk, mistake)
    end
  end

  defp without_thinking(%{thought: {_open?, 0}, text: text}), do: text
  defp without_thinking(%{text: text}), do: text |> Thinking.so_far() |> elem(0)

  defp read(state, taken, chunk) when byte_size(chunk) <= @part,
    do: Quanta.run(Native.stream_feed(state, taken, chunk, false))

  defp read(state, taken, chunk), do: read_parts(state, taken, chunk)

  defp read_parts(state, taken, <<part::binary-size(@part), rest::binary>>) do
    with :ok <- read(state, taken, part), do: read(state, taken + @part, rest)
  end

  # The state was already used for another stream value: this one gets its own state.
  defp feed_again(%{text: text, taken: taken}, _chunk) when byte_size(text) != taken,
    do: raise(ArgumentError, "expected a stream of #{taken} bytes, got #{byte_size(text)}")

  defp feed_again(stream, chunk) do
    {:ok, state} = Native.stream_again(stream.state, "")
    :ok = read(state, 0, without_thinking(stream))
    fed(%{stream | state: state}, chunk)
  end

  defp halt(_stream, _chunk, {path, message}) when is_list(path), do: halted(path, message)
  defp halt(stream, chunk, {:rule, path}), do: {:halt, {:error, [broken(stream, chunk, path)]}}
  defp halt(_stream, _chunk, :prose), do: halted([], "expected JSON, got prose")
  defp halt(_stream, _chunk, reason) when is_atom(reason), do: halted([], Answer.message(reason))

  defp halt(stream, chunk, {:syntax, offset}) do
    place = Place.describe(stream.text <> chunk, {:unexpected_token, offset})
    halted([], "#{Answer.message(:invalid_json)} at #{place}")
  end

  # The native side knows that a rule is broken. The validation of the value so far has the words: its error is at the
  # same place, or near it in a union or a list.
  defp broken(stream, chunk, path) do
    with {:ok, value} <- partial(%{stream | text: stream.text <> chunk}),
         {:error, [_ | _] = errors} <- Answer.judged(value, signature(stream)) do
      Enum.min_by(errors, &distance(&1.path, path))
    else
      _other -> %{path: path, message: "expected a value that keeps the rules of its type"}
    end
  end

  defp distance([part | path], [part | other]), do: distance(path, other)
  defp distance(path, other), do: length(path) + length(other)

  defp signature(%{asked: {signature, _type, _list?, _max_bytes, _tags}}), do: signature

  defp halted(path, message), do: {:halt, {:error, [%{path: path, message: message}]}}

  @doc """
  The value of the complete text, or all errors.

  The value is that of `PtcRunner.Agent.answer/3` for a text that is valid as it stands, without thinking, and the one of several values that counts: texts of dates and decimals become
  these, missing fields and null have the default if there is one, and objects of `{:struct, Module, type}` are structs. A value of a type with
  defaults, structs or decimals has no undeclared keys, and floats for integers where the type is `:float`. Nothing else is converted: a text is no number, another spelling of an enumeration's value or of a field's name is an error, and nothing is repaired. For that, give the
  whole text to `PtcRunner.Agent.answer/3`.

      iex> signature = PtcRunner.SubAgent.Signature.annotate!("{n :int, unit :string}", "unit", default: "kg")
      iex> stream = PtcRunner.SubAgent.AnswerStream.new(signature)
      iex> {:cont, stream} = PtcRunner.SubAgent.AnswerStream.feed(stream, ~s({"n": 3}))
      iex> PtcRunner.SubAgent.AnswerStream.finish(stream)
      {:ok, %{"n" => 3, "unit" => "kg"}}

  Options: `:timeout` in milliseconds, by default 5,000, and `:max_heap` in words, as for
  `PtcRunner.SubAgent.JsonParser.parse/2`. The errors count for `:max_heap` too.

      iex> stream = PtcRunner.SubAgent.AnswerStream.new("{total :int}")
      iex> {:cont, stream} = PtcRunner.SubAgent.AnswerStream.feed(stream, "I do not know.")
      iex> PtcRunner.SubAgent.AnswerStream.finish(stream)
      {:error, [%{path: [], message: "No valid JSON found in response"}]}

  """
  @spec finish(t(), timeout: timeout(), max_heap: non_neg_integer()) ::
          {:ok, term()} | {:error, [error(), ...]}
  def finish(stream, opts \\ [])

  def finish(%__MODULE__{text: text} = stream, opts) do
    Options.check!(opts, @finish_options, "PtcRunner.SubAgent.AnswerStream.finish/2")
    Whole.exactly(text, signature(stream), opts)
  end

  def finish(other, _opts), do: no_stream(other, "finish/2")

  # Mostly what `feed/2` returned.
  @spec no_stream(term(), String.t()) :: no_return()
  defp no_stream(other, function) do
    what =
      case other do
        {:halt, {:error, [%{message: message} | _]}} when is_binary(message) ->
          "the stream has halted (#{message}): it takes no more text. A new answer needs a new stream"

        {:cont, %__MODULE__{}} ->
          "it takes the stream itself, and not the tuple {:cont, stream} of feed/2"

        other ->
          "it takes a stream of new/2, got: #{PtcRunner.Shown.text(other, 200)}"
      end

    raise ArgumentError, "PtcRunner.SubAgent.AnswerStream.#{function}: #{what}"
  end

  @doc """
  The value received so far, for display: the first one that does not stand in thinking. Open objects and lists are closed, and a string ends where the
  text ends. Returns `:none` before the JSON begins. The value is not validated. Takes linear time.

      iex> stream = PtcRunner.SubAgent.AnswerStream.new("{title :string, tags [:string]}")
      iex> {:cont, stream} = PtcRunner.SubAgent.AnswerStream.feed(stream, ~s(Here: {"title": "On the w))
      iex> PtcRunner.SubAgent.AnswerStream.partial(stream)
      {:ok, %{"title" => "On the w"}}

  """
  @spec partial(t()) :: {:ok, term()} | :none
  def partial(%__MODULE__{asked: {signature, _, list?, _, _}} = stream) do
    {state, text} = shown(stream)

    case Quanta.run(Native.stream_partial(state, text)) do
      {:ok, %{"items" => items}} when list? and is_list(items) -> {:ok, normalized(items)}
      {:ok, value} -> {:ok, value |> normalized() |> Wrapper.shown(signature)}
      :none -> :none
    end
  catch
    :error, :nif_panicked ->
      _text = Panic.caught()
      :none
  end

  def partial(other), do: no_stream(other, "partial/1")

  defp shown(%{thought: {_open?, 0}, state: state, text: text}), do: {state, text}

  defp shown(stream) do
    text = without_thinking(stream)
    {:ok, state} = Native.stream_again(stream.state, "")
    _read = read(state, 0, text)
    {state, text}
  end

  defp normalized(value), do: KeyNormalizer.normalize_keys(value)

  # Without the text, which may be long and have firewalled fields.
  defimpl Inspect do
    def inspect(stream, _opts),
      do: "#PtcRunner.SubAgent.AnswerStream<#{stream.taken} bytes>"
  end
end

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

  `finish/1` decides whether an answer is valid. Its result is that of
  `PtcRunner.SubAgent.Loop.JsonHandler.handle_json_answer/4` for the whole text. A stream halts
  only if this result is certain:

    * in a fence with the tag `json` or without a tag: at the first value of another type, at the end of the first value
      that breaks a rule of its type (an enumeration, a bound, a pattern, a format), that is no date, or that no type
      of a union takes, at a required field that is missing from a complete object, at a key that a closed map must not
      have, at the first byte that is not JSON
    * outside of fences: at the same values, as soon as the text is known to be JSON and not prose in
      brackets. There is one exception: a fence after the wrong JSON could make the answer valid, because
      the fence would count. With `halt: :certain` the stream waits for such a fence, and nothing outside
      of fences halts it.
    * with `prose: false`: at the first byte that is neither JSON nor the beginning of a fence. Use this for
      LLMs in JSON mode.

  `finish/1` checks the values of keys that have escapes or could be another spelling of a field's name
  (`user-id` for `user_id`). It also checks the rules of texts that have escapes or more than 65,536 bytes, of patterns that
  take long, and of unions of more than 32 types, and whether objects and lists in a list with `unique` are different.
  """

  alias PtcRunner.{Aligned, Native, Options, Quanta}
  alias PtcRunner.Native.Panic
  alias PtcRunner.SubAgent.{KeyNormalizer, Signature}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Answer, Place}
  alias PtcRunner.SubAgent.Signature.Base
  require Quanta

  # 16 MiB
  @max_bytes 16_777_216
  # A longer chunk is read in parts: one takes about a millisecond.
  @part 131_072
  @compile {:inline, read: 3}

  @options %{
    halt: {:one_of, [:early, :certain]},
    prose: :boolean,
    max_bytes: {:or_infinity, :positive}
  }

  @finish_options %{timeout: :timeout, max_heap: :max_heap}

  # `asked` is {signature, type, list?, max_bytes}: one field, because each chunk makes a struct.
  # No NIF receives `text` while it grows; otherwise the VM would copy it for the next chunk.
  @enforce_keys [:asked, :state]
  defstruct [:asked, :state, text: "", taken: 0]

  @typedoc "A part of an answer; `taken` is the size of its text in bytes."
  @opaque t :: %__MODULE__{
            asked:
              {JsonHandler.signature(), type :: term(), list? :: boolean(),
               max_bytes :: pos_integer() | :infinity},
            state: reference(),
            text: binary(),
            taken: non_neg_integer()
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

  def new({:signature, _, type} = signature, opts),
    do: build(signature, type, Base.list?(type), opts)

  def new(other, _opts),
    do: raise(ArgumentError, "expected a signature, got: #{PtcRunner.Shown.text(other)}")

  defp build(signature, type, list?, opts) do
    Options.check!(opts, @options, "PtcRunner.SubAgent.AnswerStream.new/2")
    early? = Keyword.get(opts, :halt, :early) == :early
    prose? = Keyword.get(opts, :prose, true)
    max_bytes = Keyword.get(opts, :max_bytes, @max_bytes)

    {:ok, state} = Quanta.run!(Native.stream_new(type, list?, early?, prose?))

    %__MODULE__{asked: {signature, type, list?, max_bytes}, state: state}
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
  def feed(%__MODULE__{asked: {_, _, _, max_bytes}, text: text, taken: taken} = stream, chunk)
      when taken + byte_size(chunk) <= max_bytes do
    chunk = Aligned.text(chunk)

    case read(stream.state, taken, chunk) do
      :ok -> {:cont, %{stream | text: text <> chunk, taken: taken + byte_size(chunk)}}
      {:halt, mistake} -> halt(stream, chunk, mistake)
      :fork -> feed_again(stream, chunk)
    end
  catch
    :error, :nif_panicked -> halted([], Panic.caught())
  end

  def feed(%__MODULE__{asked: {_, _, _, max_bytes}}, chunk) when is_binary(chunk),
    do: halted([], "expected at most #{max_bytes} bytes, got more")

  def feed(%__MODULE__{}, chunk),
    do: raise(ArgumentError, "expected a binary, got: #{PtcRunner.Shown.text(chunk)}")

  def feed(other, _chunk), do: no_stream(other, "feed/2")

  defp read(state, taken, chunk) when byte_size(chunk) <= @part,
    do: Quanta.run(Native.stream_feed(state, taken, chunk))

  defp read(state, taken, chunk), do: read_parts(state, taken, chunk)

  defp read_parts(state, taken, <<part::binary-size(@part), rest::binary>>) do
    with :ok <- read(state, taken, part), do: read(state, taken + @part, rest)
  end

  # The state was already used for another stream value: this one gets its own state.
  defp feed_again(%{text: text, taken: taken}, _chunk) when byte_size(text) != taken,
    do: raise(ArgumentError, "expected a stream of #{taken} bytes, got #{byte_size(text)}")

  defp feed_again(stream, chunk) do
    {:ok, state} = Native.stream_again(stream.state, "")
    :ok = read(state, 0, stream.text)
    feed(%{stream | state: state}, chunk)
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

  defp signature(%{asked: {signature, _type, _list?, _max_bytes}}), do: signature

  defp halted(path, message), do: {:halt, {:error, [%{path: path, message: message}]}}

  @doc """
  The value of the complete text, or all errors.

  The value is the same as that of `PtcRunner.Agent.answer/3` for a text that is valid as it stands: texts of dates and decimals become
  these, missing fields with a default have it, and objects of `{:struct, Module, type}` are structs. A value of a type with
  defaults, structs or decimals has no undeclared keys, and floats for integers where the type is `:float`. Nothing else is converted: a text is no number, another spelling of an enumeration's value is an error, and nothing is repaired. For that, give the
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

  def finish(%__MODULE__{asked: {signature, _type, _list?, _max_bytes}, text: text}, opts) do
    Options.check!(opts, @finish_options, "PtcRunner.SubAgent.AnswerStream.finish/2")

    case Answer.read_all(text, signature, opts) do
      {:ok, value, _found} -> {:ok, Answer.made(value, signature)}
      {:invalid, {errors, _more}, _line, _found} -> {:error, errors}
      {:error, reason, _found} -> {:error, [%{path: [], message: Answer.message(reason)}]}
    end
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
  The value received so far, for display. Open objects and lists are closed, and a string ends where the
  text ends. Returns `:none` before the JSON begins. The value is not validated. Takes linear time.

      iex> stream = PtcRunner.SubAgent.AnswerStream.new("{title :string, tags [:string]}")
      iex> {:cont, stream} = PtcRunner.SubAgent.AnswerStream.feed(stream, ~s(Here: {"title": "On the w))
      iex> PtcRunner.SubAgent.AnswerStream.partial(stream)
      {:ok, %{"title" => "On the w"}}

  """
  @spec partial(t()) :: {:ok, term()} | :none
  def partial(%__MODULE__{asked: {_, _, list?, _}, state: state, text: text}) do
    case Quanta.run(Native.stream_partial(state, text)) do
      {:ok, %{"items" => items}} when list? and is_list(items) -> {:ok, normalized(items)}
      {:ok, value} -> {:ok, normalized(value)}
      :none -> :none
    end
  catch
    :error, :nif_panicked ->
      _text = Panic.caught()
      :none
  end

  def partial(other), do: no_stream(other, "partial/1")

  defp normalized(value), do: KeyNormalizer.normalize_keys(value)

  # Without the text, which may be long and have firewalled fields.
  defimpl Inspect do
    def inspect(stream, _opts),
      do: "#PtcRunner.SubAgent.AnswerStream<#{stream.taken} bytes>"
  end
end

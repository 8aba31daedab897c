defmodule PtcRunner.SubAgent.AnswerStream do
  @moduledoc """
  An LLM's answer while it comes in: stops as soon as it cannot be right any more.

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

  Chunks may end anywhere, within a character or an escape too. Each is looked at once, whatever
  came before. A stream is a value: feeding it gives a new one, and the old one can still be fed.
  (Going on from an old one reads what it had taken once more; the usual way, from one to the next,
  does not.)

  The text is kept, as one binary, until the stream is no longer used; it ends at `:max_bytes`.

  ## When it stops

  What an answer is in the end is said by `finish/1`: the very verdict of
  `PtcRunner.SubAgent.Loop.JsonHandler.handle_json_answer/4` on the whole text. So a stream stops
  only where that verdict is known:

    * in a fence that says `json`, or nothing: at the first value of another type, at a required
      field that is missing from a complete object, at a key that a closed map must not have, at
      the first byte that is no JSON
    * outside of fences: at the same values, once it is clear that this is JSON and no prose in
      brackets. There is one way how such an answer could still have become right: with a fence that
      comes after the wrong JSON, since that would be taken instead. An app that wants to wait for
      that says `halt: :certain`; then nothing outside of fences stops the stream.
    * with `prose: false`: at the first byte that is neither JSON nor the beginning of a fence. For
      LLMs in JSON mode.

  Where a key could be another way of writing a field's name (`user-id` for `user_id`), and where it
  has escapes, its value is left to `finish/1`, and so are dates.
  """

  alias PtcRunner.{Aligned, Native, Options, Quanta}
  alias PtcRunner.Native.Panic
  alias PtcRunner.SubAgent.{KeyNormalizer, Signature}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Answer, Place}
  require Quanta

  # 16 MiB
  @max_bytes 16_777_216

  @options %{
    halt: {:one_of, [:early, :certain]},
    prose: :boolean,
    max_bytes: {:or_infinity, :positive}
  }

  @finish_options %{timeout: :timeout, max_heap: :max_heap}

  # `asked` is {signature, type, list?, max_bytes}: in one place, since each chunk makes a struct.
  # No NIF gets to see `text` while it grows, or the VM would copy it for the next chunk.
  @enforce_keys [:asked, :state]
  defstruct [:asked, :state, text: "", taken: 0]

  @typedoc "An answer so far; `taken` is the size of its text in bytes."
  @opaque t :: %__MODULE__{
            asked:
              {JsonHandler.signature(), type :: term(), list? :: boolean(),
               max_bytes :: pos_integer() | :infinity},
            state: reference(),
            text: binary(),
            taken: non_neg_integer()
          }

  @typedoc "What is wrong; the path is empty where it is about the answer as a whole."
  @type error :: JsonHandler.validation_error()

  @typedoc "See `new/2`."
  @type option ::
          {:halt, :early | :certain}
          | {:prose, boolean()}
          | {:max_bytes, pos_integer() | :infinity}

  @doc """
  A stream for an answer to this signature: as text, parsed, or `nil` for any object.

  ## Options

    * `:halt` - `:early` (default) or `:certain`, see above
    * `:prose` - whether prose may come before the JSON, by default `true`
    * `:max_bytes` - how long the text may be, or `:infinity`; by default 16,777,216 (16 MiB). A chunk
      that makes it longer halts the stream.

  Without prose, the first character that is no JSON ends it:

      iex> stream = PtcRunner.SubAgent.AnswerStream.new(nil, prose: false)
      iex> PtcRunner.SubAgent.AnswerStream.feed(stream, "Sure! ")
      {:halt, {:error, [%{path: [], message: "expected JSON, got prose"}]}}

      iex> stream = PtcRunner.SubAgent.AnswerStream.new("[:int]", max_bytes: 8)
      iex> {:cont, stream} = PtcRunner.SubAgent.AnswerStream.feed(stream, "[1, 2, 3")
      iex> PtcRunner.SubAgent.AnswerStream.feed(stream, "]")
      {:halt, {:error, [%{path: [], message: "expected at most 8 bytes, got more"}]}}

  Raises `ArgumentError` for a signature that is none, for an option that there is not, and for a value
  that an option does not take.
  """
  @spec new(String.t() | JsonHandler.signature(), [option()]) :: t()
  def new(signature, opts \\ [])

  def new(text, opts) when is_binary(text) do
    case Signature.parse(text) do
      {:ok, signature} -> new(signature, opts)
      {:error, message} -> raise ArgumentError, message
    end
  end

  def new(nil, opts), do: build(nil, :any, false, opts)

  def new({:signature, _, {:list, _} = type} = signature, opts),
    do: build(signature, type, true, opts)

  def new({:signature, _, type} = signature, opts), do: build(signature, type, false, opts)

  def new(other, _opts),
    do: raise(ArgumentError, "expected a signature, got: #{PtcRunner.Shown.text(other)}")

  defp build(signature, type, list?, opts) do
    Options.check!(opts, @options, "PtcRunner.SubAgent.AnswerStream.new/2")
    early? = Keyword.get(opts, :halt, :early) == :early
    prose? = Keyword.get(opts, :prose, true)
    max_bytes = Keyword.get(opts, :max_bytes, @max_bytes)

    {:ok, state} = Quanta.run(Native.stream_new(type, list?, early?, prose?))

    %__MODULE__{asked: {signature, type, list?, max_bytes}, state: state}
  catch
    :error, :nif_panicked -> Panic.raise!()
  end

  @doc """
  Takes the next chunk of the text.

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

    case Quanta.run(Native.stream_feed(stream.state, taken, chunk)) do
      {:ok, taken} -> {:cont, %{stream | text: text <> chunk, taken: taken}}
      {:halt, mistake} -> halt(stream, chunk, mistake)
      :fork -> feed_again(stream, chunk)
    end
  catch
    :error, :nif_panicked -> halted([], Panic.caught())
  end

  def feed(%__MODULE__{asked: {_, _, _, max_bytes}}, chunk) when is_binary(chunk),
    do: halted([], "expected at most #{max_bytes} bytes, got more")

  def feed(%__MODULE__{}, chunk),
    do: raise(ArgumentError, "expected a binary, got: #{inspect(chunk)}")

  # The reference went on with another value: this one gets its own.
  defp feed_again(%{text: text, taken: taken}, _chunk) when byte_size(text) != taken,
    do: raise(ArgumentError, "expected a stream of #{taken} bytes, got #{byte_size(text)}")

  defp feed_again(stream, chunk) do
    {:ok, state} = Native.stream_again(stream.state, stream.text)
    feed(%{stream | state: state}, chunk)
  end

  defp halt(_stream, _chunk, {path, message}) when is_list(path), do: halted(path, message)
  defp halt(_stream, _chunk, :prose), do: halted([], "expected JSON, got prose")
  defp halt(_stream, _chunk, reason) when is_atom(reason), do: halted([], Answer.message(reason))

  defp halt(stream, chunk, {:syntax, offset}) do
    place = Place.describe(stream.text <> chunk, {:unexpected_token, offset})
    halted([], "#{Answer.message(:invalid_json)} at #{place}")
  end

  defp halted(path, message), do: {:halt, {:error, [%{path: path, message: message}]}}

  @doc """
  The value, now that the text is complete, or all that is wrong with it.

  Options: `:timeout` in milliseconds, by default 5,000, and `:max_heap` in words, as for
  `PtcRunner.SubAgent.JsonParser.parse/2`.

      iex> stream = PtcRunner.SubAgent.AnswerStream.new("{total :int}")
      iex> {:cont, stream} = PtcRunner.SubAgent.AnswerStream.feed(stream, "I do not know.")
      iex> PtcRunner.SubAgent.AnswerStream.finish(stream)
      {:error, [%{path: [], message: "No valid JSON found in response"}]}

  """
  @spec finish(t(), timeout: timeout(), max_heap: non_neg_integer()) ::
          {:ok, term()} | {:error, [error(), ...]}
  def finish(%__MODULE__{asked: {signature, type, list?, _max_bytes}, text: text}, opts \\ []) do
    Options.check!(opts, @finish_options, "PtcRunner.SubAgent.AnswerStream.finish/2")

    case Answer.native(text, type, list?, opts) do
      {:ok, value} -> {:ok, value}
      {:invalid, errors, _line} -> {:error, errors}
      {:map, map} -> map |> JsonHandler.atomize_keys(signature) |> validated(signature)
      {:list, list} -> list |> JsonHandler.atomize_list(signature) |> validated(signature)
      {:error, reason} -> {:error, [%{path: [], message: Answer.message(reason)}]}
    end
  end

  defp validated(value, signature) do
    with :ok <- JsonHandler.validate_return(%{parsed_signature: signature}, value),
         do: {:ok, KeyNormalizer.normalize_keys(value)}
  end

  @doc """
  The value as far as it has come, for showing it: what is open is closed, a string ends where the
  text does. `:none` before the JSON begins. Nothing is validated; linear in the value.

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

  defp normalized(value), do: KeyNormalizer.normalize_keys(value)
end

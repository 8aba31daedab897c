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
  (Going on from an old one copies what it had taken; the usual way, from one to the next, does not.)

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

  alias PtcRunner.Native
  alias PtcRunner.SubAgent.{KeyNormalizer, Signature}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Answer, Place}

  # `asked` is {signature, type, list?}: in one place, since each chunk makes a struct.
  @enforce_keys [:asked, :state]
  defstruct [:asked, :state, taken: 0]

  @typedoc "An answer so far. `taken` counts bytes."
  @opaque t :: %__MODULE__{
            asked: {JsonHandler.signature(), type :: term(), list? :: boolean()},
            state: reference(),
            taken: non_neg_integer()
          }

  @typedoc "What is wrong; the path is empty where it is about the answer as a whole."
  @type error :: JsonHandler.validation_error()

  @doc """
  A stream for an answer to this signature: as text, parsed, or `nil` for any object.

  Options: `:halt`, `:early` (default) or `:certain`; `:prose`, whether prose may come before the
  JSON, by default `true`. See above.

      iex> stream = PtcRunner.SubAgent.AnswerStream.new(nil, prose: false)
      iex> PtcRunner.SubAgent.AnswerStream.feed(stream, "Sure! ")
      {:halt, {:error, [%{path: [], message: "expected JSON, got prose"}]}}

  Raises `ArgumentError` for a signature that is none.
  """
  @spec new(String.t() | JsonHandler.signature(), halt: :early | :certain, prose: boolean()) ::
          t()
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
    early? = early?(Keyword.get(opts, :halt, :early))
    prose? = Keyword.get(opts, :prose, true)

    state =
      with :busy <- Native.stream_new(type, list?, early?, prose?),
           do: Native.stream_new_dirty(type, list?, early?, prose?)

    %__MODULE__{asked: {signature, type, list?}, state: state}
  end

  defp early?(:early), do: true
  defp early?(:certain), do: false

  @doc """
  Takes the next chunk of the text.

      iex> stream = PtcRunner.SubAgent.AnswerStream.new("[:int]")
      iex> {:cont, stream} = PtcRunner.SubAgent.AnswerStream.feed(stream, "```json\\n[1, ")
      iex> PtcRunner.SubAgent.AnswerStream.feed(stream, "2.5")
      {:halt, {:error, [%{path: [1], message: "expected int, got float"}]}}

  """
  @spec feed(t(), binary()) :: {:cont, t()} | {:halt, {:error, [error(), ...]}}
  def feed(%__MODULE__{state: state, taken: taken} = stream, chunk) do
    case Native.stream_feed(state, taken, chunk) do
      taken when is_integer(taken) -> {:cont, %{stream | taken: taken}}
      {:halt, mistake} -> halt(stream, chunk, mistake)
      other -> feed_otherwise(other, stream, chunk)
    end
  end

  defp feed_otherwise(:fork, stream, chunk),
    do: feed(%{stream | state: Native.stream_fork(stream.state, stream.taken)}, chunk)

  defp feed_otherwise(:busy, stream, chunk) do
    case Native.stream_feed_dirty(stream.state, stream.taken, chunk) do
      taken when is_integer(taken) -> {:cont, %{stream | taken: taken}}
      {:halt, mistake} -> halt(stream, chunk, mistake)
      :fork -> feed_otherwise(:fork, stream, chunk)
    end
  end

  defp halt(_stream, _chunk, {path, message}) when is_list(path), do: halted(path, message)
  defp halt(_stream, _chunk, :prose), do: halted([], "expected JSON, got prose")
  defp halt(_stream, _chunk, reason) when is_atom(reason), do: halted([], Answer.message(reason))

  defp halt(stream, chunk, {:syntax, offset}) do
    text = Native.stream_text(stream.state, stream.taken + byte_size(chunk))
    place = Place.describe(text, {:unexpected_token, offset})
    halted([], "#{Answer.message(:invalid_json)} at #{place}")
  end

  defp halted(path, message), do: {:halt, {:error, [%{path: path, message: message}]}}

  @doc """
  The value, now that the text is complete, or all that is wrong with it.

      iex> stream = PtcRunner.SubAgent.AnswerStream.new("{total :int}")
      iex> {:cont, stream} = PtcRunner.SubAgent.AnswerStream.feed(stream, "I do not know.")
      iex> PtcRunner.SubAgent.AnswerStream.finish(stream)
      {:error, [%{path: [], message: "No valid JSON found in response"}]}

  """
  @spec finish(t()) :: {:ok, term()} | {:error, [error(), ...]}
  def finish(%__MODULE__{asked: {signature, type, list?}, state: state, taken: taken}) do
    answer =
      with :busy <- Native.stream_finish(state, taken, type, list?),
           do: Native.stream_finish_dirty(state, taken, type, list?)

    case Answer.outcome(answer, type) do
      {:ok, value} -> {:ok, value}
      {:invalid, errors, _line} -> {:error, errors}
      {:map, map} -> map |> JsonHandler.atomize_keys(signature) |> validated(signature)
      {:list, list} -> list |> JsonHandler.atomize_list(signature) |> validated(signature)
      {:error, message} -> {:error, [%{path: [], message: message}]}
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
  def partial(%__MODULE__{asked: {_, _, list?}, state: state, taken: taken}) do
    partial =
      with :busy <- Native.stream_partial(state, taken),
           do: Native.stream_partial_dirty(state, taken)

    case partial do
      {:ok, %{"items" => items}} when list? and is_list(items) -> {:ok, normalized(items)}
      {:ok, value} -> {:ok, normalized(value)}
      :none -> :none
    end
  end

  defp normalized(value), do: KeyNormalizer.normalize_keys(value)
end

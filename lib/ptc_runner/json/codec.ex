defmodule PtcRunner.Json.Codec do
  @moduledoc """
  Converts JSON text to terms and back, natively.

  | Elixir | JSON |
  |---|---|
  | `nil`, `true`, `false` | `null`, `true`, `false` |
  | integer, up to a million digits | number without fraction and exponent |
  | float | the shortest number that reads back as the same float: `1.0`, `0.001`, `1.0e22` |
  | string (UTF-8) | string; only `"`, `\\` and control characters are escaped |
  | any other atom | its name as a string: `"ok"`, `"Elixir.String"` |
  | proper list | array |
  | map with keys that are strings, atoms or numbers | object |
  | `Decimal` | its digits as a string: `"12.50"` |
  | everything else | the result of `PtcRunner.Json.Encoder` |

  Reading makes `nil`, booleans, integers, floats, strings, lists and maps with string keys; of equal
  keys in one object the first one counts. Integers of more than a million digits are errors,
  as are floats that are too large. A text never creates atoms. The grammar is strict
  (RFC 8259), positions in errors are zero-based byte offsets, and deep nesting of a value needs no
  additional stack in either direction.

  Neither direction holds a scheduler for longer than about a millisecond. A long text is read, and
  written, in quanta, which share the dirty schedulers fairly. Both stop at `:timeout` and `:max_heap`, and
  when the calling process is killed.
  """

  alias PtcRunner.Json.Codec.{DecodeError, EncodeError, Reading}
  alias PtcRunner.Json.{Deadline, Encoder, Limits, Values}
  alias PtcRunner.{Native, Options, Quanta}
  alias PtcRunner.Native.Panic
  alias PtcRunner.Sandbox.Modules
  require Quanta

  # A small term with shared parts can have an endless text.
  @max_bytes 1_073_741_824

  @limits %{timeout: :timeout, max_heap: :max_heap}
  @encode_options Map.merge(@limits, %{as: {:one_of, [:binary, :iodata]}, max_bytes: :positive})
  @decode_options Map.merge(@limits, %{depth: {:or_infinity, :count}})

  @typedoc "See `encode/2`: milliseconds, words, bytes."
  @type encode_option ::
          {:as, :binary | :iodata}
          | {:max_bytes, pos_integer()}
          | {:timeout, timeout()}
          | {:max_heap, non_neg_integer()}

  @typedoc "See `decode/2`: nested brackets, milliseconds, words."
  @type decode_option ::
          {:depth, non_neg_integer() | :infinity}
          | {:timeout, timeout()}
          | {:max_heap, non_neg_integer()}

  @doc """
  Writes a term as JSON text.

  Options:

    * `:as` - `:binary` (the default), or `:iodata`, which saves a copy if the text consists
      of several parts: if the term contains structs
    * `:max_bytes` - a longer text is an error, by default 1 GiB. Applies to each struct separately.
    * `:timeout` - milliseconds or `:infinity`, by default #{Limits.text_timeout()}
    * `:max_heap` - words that the text may take while it is written, by default 0 for no limit but
      `:max_bytes`. Applies to each struct separately.

  Errors are a `Protocol.UndefinedError` with the offending value at any depth: a tuple,
  pid, function, reference, port or bitstring, an improper list, a struct without an encoding, a key
  that is not a string, atom or number; and `PtcRunner.Json.Codec.EncodeError` for a string
  that is not UTF-8, for a text that is too long, and for one that takes too much time or memory.

      iex> PtcRunner.Json.Codec.encode(%{"a" => [1, 2.5, nil, :ok, ~D[2025-11-20]]})
      {:ok, ~s({"a":[1,2.5,null,"ok","2025-11-20"]})}

      iex> {:error, error} = PtcRunner.Json.Codec.encode([1, %{"x" => {2, 3}}])
      iex> {error.__struct__, error.value}
      {Protocol.UndefinedError, {2, 3}}

      iex> {:error, error} = PtcRunner.Json.Codec.encode(["ok", <<"ab", 0xFF>>])
      iex> Exception.message(error)
      "invalid UTF-8 at byte 2 of the string <<97, 98, 255>>"

  """
  @spec encode(term(), [encode_option()]) ::
          {:ok, String.t() | iodata()} | {:error, Exception.t()}
  def encode(term, opts \\ []) do
    {:ok, encode!(term, opts)}
  rescue
    error in [Protocol.UndefinedError, EncodeError] -> {:error, error}
  end

  @doc """
  Writes a term as JSON text, or raises the error that `encode/2` returns.

      iex> PtcRunner.Json.Codec.encode!(%{1 => "one", "b" => 1.0e22})
      ~s({"1":"one","b":1.0e22})

      iex> PtcRunner.Json.Codec.encode!([~T[12:00:00], 1], as: :iodata) |> IO.iodata_to_binary()
      ~s(["12:00:00",1])

      iex> try do
      ...>   PtcRunner.Json.Codec.encode!(%{{1, 2} => 3})
      ...> rescue
      ...>   error in Protocol.UndefinedError -> error.value
      ...> end
      {1, 2}

  """
  @spec encode!(term(), [encode_option()]) :: String.t() | iodata()
  def encode!(term, opts \\ []) do
    Options.check!(opts, @encode_options, "PtcRunner.Json.Codec.encode/2")
    limits = {Keyword.get(opts, :max_bytes, @max_bytes), writing(opts), nil}

    case Keyword.get(opts, :as, :binary) do
      :binary -> term |> write(limits) |> IO.iodata_to_binary()
      :iodata -> write(term, limits)
    end
  end

  @doc """
  Reads a JSON text.

  Options:

    * `:depth` - maximum nesting of arrays and objects, by default `:infinity`
    * `:timeout` - milliseconds or `:infinity`, by default #{Limits.text_timeout()}. An idle machine reads
      about 500 MB of text in that time.
    * `:max_heap` - words that the terms may take, 0 for no limit; by default 16 for each byte of the
      text, or 1,250,000 if that is more. The densest text becomes three words a byte. While the text is decoded, the
      terms and the collection of garbage take at most three times the limit.

  Keys become strings, `null` becomes `nil`; errors have a position:

      iex> PtcRunner.Json.Codec.decode(~s({"a": [1, 2.5, null, "\\\\u00e4"]}))
      {:ok, %{"a" => [1, 2.5, nil, "ä"]}}

      iex> {:error, error} = PtcRunner.Json.Codec.decode("[1,]")
      iex> {error.reason, error.position, Exception.message(error)}
      {:unexpected_token, 3, "Unexpected token at position 3"}

      iex> {:error, error} = PtcRunner.Json.Codec.decode("[[[]]]", depth: 2)
      iex> Exception.message(error)
      "Nesting exceeds 2 levels at position 2"

      iex> {:error, error} = PtcRunner.Json.Codec.decode("[" <> String.duplicate("1,", 10_000), max_heap: 1_000)
      iex> Exception.message(error)
      "The value takes more than 1000 words"

  """
  @spec decode(String.t(), [decode_option()]) :: {:ok, term()} | {:error, DecodeError.t()}
  def decode(text, opts \\ []) when is_binary(text) do
    Options.check!(opts, @decode_options, "PtcRunner.Json.Codec.decode/2")
    {timeout, max_heap} = Limits.of_text(opts, byte_size(text))
    depth = Keyword.get(opts, :depth, :infinity)

    case Reading.read(text, {depth, timeout, max_heap}) do
      {:ok, term} ->
        {:ok, term}

      {:error, :timeout} ->
        {:error, %DecodeError{reason: :timeout, limit: timeout}}

      {:error, :memory_exceeded} ->
        {:error, %DecodeError{reason: :memory_exceeded, limit: max_heap}}

      {:error, detail} ->
        {:error, DecodeError.new(detail)}
    end
  catch
    :error, :nif_panicked ->
      {:error, %DecodeError{reason: :failed, position: 0, text: Panic.caught()}}
  end

  @doc """
  Reads a JSON text, or raises `PtcRunner.Json.Codec.DecodeError`.

      iex> PtcRunner.Json.Codec.decode!("[1, 2]")
      [1, 2]

      iex> PtcRunner.Json.Codec.decode!("[1")
      ** (PtcRunner.Json.Codec.DecodeError) Unexpected end of input at position 2

  """
  @spec decode!(String.t(), [decode_option()]) :: term()
  def decode!(text, opts \\ []) do
    case decode(text, opts) do
      {:ok, term} -> term
      {:error, error} -> raise error
    end
  end

  defp writing([]), do: {Limits.text_timeout(), 0}
  defp writing(opts), do: Limits.of_text(Keyword.put_new(opts, :max_heap, 0), 0)

  # The native side would return a struct at once, so its encoder is called first.
  defp write(%module{} = struct, limits) when is_atom(module),
    do: foreign(struct, started(limits))

  defp write(term, {max_bytes, {_timeout, max_heap}, _deadline} = limits) do
    given = {left(limits), max_heap}

    case Quanta.native(Native.json_encode(term, max_bytes, given)) do
      {:ok, text} -> text
      reply -> reply |> Quanta.finish() |> written(limits)
    end
  catch
    :error, :nif_panicked -> raise EncodeError, reason: :failed, value: Panic.caught()
  end

  # A long text is a list of parts. The VM joins them, and it can suspend this work.
  defp written({:ok, text}, _limits), do: IO.iodata_to_binary(text)
  defp written({:partial, pieces}, limits), do: fill(pieces, started(limits))
  defp written({:error, {:foreign, term}}, _limits), do: refuse(term)

  defp written({:error, {:not_utf8, string, position}}, _limits),
    do: raise(EncodeError, reason: :not_utf8, value: string, position: position)

  defp written({:error, reason}, {max_bytes, {timeout, max_heap}, _deadline}) do
    limits = %{too_long: max_bytes, timeout: timeout, memory_exceeded: max_heap}
    raise(EncodeError, reason: reason, limit: Map.fetch!(limits, reason))
  end

  # A term without structs is one native call, which has its own clock.
  defp started({max_bytes, {timeout, _max_heap} = given, nil}),
    do: {max_bytes, given, Deadline.from_now(timeout)}

  defp started(limits), do: limits

  defp left({_max_bytes, {timeout, _max_heap}, nil}), do: timeout
  defp left({_max_bytes, _given, deadline}), do: Deadline.left(deadline)

  defp fill([text], _limits), do: [text]

  defp fill([text, term | pieces], limits),
    do: [text, foreign(term, limits) | fill(pieces, limits)]

  defp foreign(term, limits) do
    case Modules.implementation(Encoder, term, nil) do
      nil -> term |> without_encoder(limits)
      encoder -> write(encoder.encode(term), limits)
    end
  end

  # The package Decimal is no dependency, so its structs are known by name.
  defp without_encoder(%{__struct__: Decimal} = decimal, limits) do
    case Values.exact_text(decimal) do
      {:ok, text} -> write(text, limits)
      :error -> of_jason(decimal)
    end
  end

  defp without_encoder(%_module{} = struct, _limits), do: of_jason(struct)
  defp without_encoder(term, _limits), do: refuse(term)

  # Jason raises for a struct that it does not know.
  defp of_jason(struct) do
    if Modules.loaded?(Jason.Encoder),
      do: apply(Jason, :encode_to_iodata!, [struct]),
      else: refuse(struct)
  end

  @spec refuse(term()) :: no_return()
  defp refuse(term) do
    raise Protocol.UndefinedError,
      protocol: Encoder,
      value: term,
      description:
        "JSON has only nil, booleans, numbers, texts in UTF-8, lists and maps, whose keys are texts, atoms or numbers"
  end
end

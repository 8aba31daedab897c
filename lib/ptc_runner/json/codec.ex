defmodule PtcRunner.Json.Codec do
  @moduledoc """
  JSON text to terms and back, natively.

  | Elixir | JSON |
  |---|---|
  | `nil`, `true`, `false` | `null`, `true`, `false` |
  | integer, up to a million digits | number without fraction and exponent |
  | float | the shortest number that reads back as the same float: `1.0`, `0.001`, `1.0e22` |
  | string (UTF-8) | string; only `"`, `\\` and control characters are escaped |
  | any other atom | its name as a string: `"ok"`, `"Elixir.String"` |
  | proper list | array |
  | map with keys that are strings, atoms or numbers | object |
  | everything else | what `PtcRunner.Json.Encoder` says |

  Reading gives `nil`, booleans, integers, floats, strings, lists and maps with string keys; of equal
  keys in one object the first one counts. Integers of more than a million digits are refused where they
  stand, as are floats that are too large. No atom is ever made of a text. The grammar is strict
  (RFC 8259), positions in errors are zero-based byte offsets, and neither direction needs more
  stack for a value that nests deeper.

  Work that could hold a scheduler for longer than about a millisecond is done on a dirty one.
  """

  alias PtcRunner.Json.Codec.{DecodeError, EncodeError}
  alias PtcRunner.Json.Encoder
  alias PtcRunner.Native

  # A longer text would hold a scheduler for too long.
  @long_text 65_536
  # A term whose parts are shared can be small and its text endless.
  @max_bytes 1_073_741_824

  @type encode_option :: {:as, :binary | :iodata} | {:max_bytes, pos_integer()}
  @type decode_option :: {:depth, non_neg_integer() | :infinity}

  @doc """
  Writes a term as JSON text.

  Options:

    * `:as` - `:binary` (the default), or `:iodata`, which saves a copy where a text is put together
      of several: where structs stand in the term
    * `:max_bytes` - a longer text is an error, by default 1 GiB. Of structs each one counts by itself.

  Errors are a `Protocol.UndefinedError` with the offending value, however deep it stands: a tuple,
  pid, function, reference, port or bitstring, an improper list, a struct without an encoding, a key
  that is none of strings, atoms and numbers; and `PtcRunner.Json.Codec.EncodeError` for a string
  that is not UTF-8 and for a text that is too long.

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
  Writes a term as JSON text, or raises the error that `encode/2` gives.

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
    max_bytes = Keyword.get(opts, :max_bytes, @max_bytes)

    case Keyword.get(opts, :as, :binary) do
      :binary -> term |> write(max_bytes) |> IO.iodata_to_binary()
      :iodata -> write(term, max_bytes)
    end
  end

  @doc """
  Reads a JSON text.

  Options:

    * `:depth` - how many arrays and objects may stand inside one another, by default `:infinity`

      iex> PtcRunner.Json.Codec.decode(~s({"a": [1, 2.5, null, "\\\\u00e4"]}))
      {:ok, %{"a" => [1, 2.5, nil, "ä"]}}

      iex> {:error, error} = PtcRunner.Json.Codec.decode("[1,]")
      iex> {error.reason, error.position, Exception.message(error)}
      {:unexpected_token, 3, "Unexpected token at position 3"}

      iex> {:error, error} = PtcRunner.Json.Codec.decode("[[[]]]", depth: 2)
      iex> Exception.message(error)
      "Nesting exceeds 2 levels at position 2"

  """
  @spec decode(String.t(), [decode_option()]) :: {:ok, term()} | {:error, DecodeError.t()}
  def decode(text, opts \\ []) when is_binary(text) do
    case read(text, depth(opts)) do
      {:ok, term} -> {:ok, term}
      {:error, detail} -> {:error, DecodeError.new(detail)}
    end
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

  # A struct would be handed back at once: it is asked for its encoding first.
  defp write(%module{} = struct, max_bytes) when is_atom(module), do: foreign(struct, max_bytes)

  defp write(term, max_bytes) do
    with :busy <- Native.json_encode(term, max_bytes) do
      Native.json_encode_dirty(term, max_bytes)
    end
    |> written(max_bytes)
  end

  defp written({:ok, text}, _max_bytes), do: text
  defp written({:partial, pieces}, max_bytes), do: fill(pieces, max_bytes)
  defp written({:error, {:foreign, term}}, _max_bytes), do: refuse(term)
  defp written(:busy, max_bytes), do: raise(EncodeError, reason: :too_long, limit: max_bytes)

  defp written({:error, {:not_utf8, string, position}}, _max_bytes),
    do: raise(EncodeError, reason: :not_utf8, value: string, position: position)

  defp fill([text], _max_bytes), do: [text]

  defp fill([text, term | pieces], max_bytes),
    do: [text, foreign(term, max_bytes) | fill(pieces, max_bytes)]

  defp foreign(term, max_bytes) do
    case Encoder.impl_for(term) do
      nil -> without_encoder(term)
      encoder -> write(encoder.encode(term), max_bytes)
    end
  end

  # Jason raises for a struct that it does not know either.
  defp without_encoder(%_module{} = struct) do
    if Code.ensure_loaded?(Jason.Encoder),
      do: apply(Jason, :encode_to_iodata!, [struct]),
      else: refuse(struct)
  end

  defp without_encoder(term), do: refuse(term)

  @spec refuse(term()) :: no_return()
  defp refuse(term) do
    raise Protocol.UndefinedError,
      protocol: Encoder,
      value: term,
      description: "JSON has no form for it, or not where it stands"
  end

  defp depth(opts) do
    case Keyword.get(opts, :depth, :infinity) do
      :infinity ->
        :infinity

      depth when is_integer(depth) and depth >= 0 ->
        depth

      other ->
        raise ArgumentError,
              ":depth is a non-negative integer or :infinity, got: #{PtcRunner.Shown.text(other)}"
    end
  end

  defp read(text, depth) when byte_size(text) > @long_text,
    do: Native.json_decode_dirty(text, depth)

  defp read(text, depth), do: Native.json_decode(text, depth)
end

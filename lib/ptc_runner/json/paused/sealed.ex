defmodule PtcRunner.Json.Paused.Sealed do
  @moduledoc false
  # A term as one text that its holder can neither read nor change:
  #
  #   version, 1 byte │ id of the key, 8 │ until when, 8 │ nonce, 12 │ tag, 16 │ the term, encrypted with AES-256-GCM
  #
  # The bytes before the tag are authenticated, with the kind of the term and the digest of who may open it. The number of the bytes is
  # a multiple of 3, so that no two texts in Base64 stand for the same bytes.

  alias PtcRunner.Json.Paused.Base64
  alias PtcRunner.{Options, Shown}

  @version 1
  @cipher :aes_256_gcm
  @key_bytes 32
  @tag_bytes 16
  # What is authenticated, and the tag: whole groups of Base64.
  @first_bytes 45
  @first_chars 60

  # A larger text is refused before anything of it is decoded.
  @most_bytes 8_000_000

  # The end of the year 9999, in milliseconds.
  @most_time 253_402_300_799_999

  @typedoc "What names a text and when it ends: what `PtcRunner.Json.Paused.Used` is asked about."
  @type claim :: {id :: binary(), DateTime.t()}

  @doc """
  Seals a term. `kind` names what it is, and `function` the function whose options these are.

      iex> alias PtcRunner.Json.Paused.Sealed
      iex> key = :crypto.strong_rand_bytes(32)
      iex> text = Sealed.seal("run", %{"n" => 1}, [key], [bind: "ada", ttl: 1_000], "f/3")
      iex> {:ok, term, {_id, _until}} = Sealed.open("run", text, [key], "ada")
      iex> {term, Sealed.open("loop", text, [key], "ada"), Sealed.open("run", text, [key], "eve")}
      {%{"n" => 1}, :error, :error}

  """
  @spec seal(String.t(), term(), term(), keyword(), String.t()) :: String.t()
  def seal(kind, term, keys, opts, function) do
    Options.check!(opts, %{bind: :any, ttl: :positive}, function)
    [key | _] = keys!(keys, function)
    bind = required!(opts, :bind, function)
    until = min(now() + required!(opts, :ttl, function), @most_time)

    header =
      <<@version, id(key)::binary, until::unsigned-64, :crypto.strong_rand_bytes(12)::binary>>

    <<_before::binary-size(17), nonce::binary>> = header
    plain = padded(:erlang.term_to_binary(term, minor_version: 2))
    more = authenticated(kind, header, bind)

    {sealed, tag} =
      :crypto.crypto_one_time_aead(@cipher, key, nonce, plain, more, @tag_bytes, true)

    Base.url_encode64(<<header::binary, tag::binary, sealed::binary>>) |> sized!(function)
  end

  defp sized!(text, _function) when byte_size(text) <= @most_bytes, do: text

  defp sized!(text, function) do
    raise ArgumentError,
          "#{function} makes texts of at most #{@most_bytes} bytes, and this run needs #{byte_size(text)}: " <>
            "keep it in a database, and give away its name"
  end

  # The padding stands first, because it says where the term begins.
  defp padded(binary) do
    padding = 2 - rem(byte_size(binary), 3)
    <<padding, 0::size(padding)-unit(8), binary::binary>>
  end

  @doc "The term of a text of this kind that is bound to this term, and what names the text."
  @spec open(String.t(), term(), [binary()], term()) :: {:ok, term(), claim()} | :error
  def open(kind, text, keys, bind)
      when is_binary(text) and byte_size(text) > @first_chars and byte_size(text) <= @most_bytes and
             rem(byte_size(text), 4) == 0 do
    # A text that cannot be opened with these keys now is not decoded as a whole.
    with {:ok, <<@version, id::binary-size(8), until::unsigned-64, nonce::binary-size(12)>>} <-
           header(text),
         {:ok, key} <- key(keys, id),
         true <- until > now() and until <= @most_time,
         {:ok, <<header::binary-size(29), tag::binary-size(@tag_bytes), sealed::binary>>} <-
           Base64.decode(text),
         more = authenticated(kind, header, bind),
         plain when is_binary(plain) <-
           :crypto.crypto_one_time_aead(@cipher, key, nonce, sealed, more, tag, false),
         do:
           {:ok, term(plain),
            {<<id::binary, nonce::binary>>, DateTime.from_unix!(until, :millisecond)}},
         else: (_other -> :error)
  rescue
    # Its term has an atom that is not known here.
    ArgumentError -> :error
  end

  def open(_kind, _text, _keys, _bind), do: :error

  defp header(<<first::binary-size(@first_chars), _rest::binary>>) do
    with {:ok, <<header::binary-size(29), _tag::binary>> = bytes}
         when byte_size(bytes) == @first_bytes <-
           Base64.decode(first),
         do: {:ok, header}
  end

  defp term(<<padding, rest::binary>>) when padding in 0..2 do
    true = binary_part(rest, 0, padding) == :binary.copy(<<0>>, padding)
    rest |> binary_part(padding, byte_size(rest) - padding) |> :erlang.binary_to_term([:safe])
  end

  @doc "The options of a function that opens texts: the keys, who the text is bound to, and who is asked whether it was used."
  @spec opening!(term(), keyword(), String.t()) :: {[binary()], term(), module() | nil}
  def opening!(keys, opts, function) do
    Options.check!(opts, %{bind: :any, used: :any}, function)
    {keys!(keys, function), required!(opts, :bind, function), used!(opts[:used], function)}
  end

  defp used!(module, function) when is_atom(module) do
    if module == nil or (Code.ensure_loaded?(module) and function_exported?(module, :claim, 2)),
      do: module,
      else: no_module!(module, function)
  end

  defp used!(other, function), do: no_module!(other, function)

  @spec no_module!(term(), String.t()) :: no_return()
  defp no_module!(other, function) do
    raise ArgumentError,
          "option :used of #{function} must be a module with the function claim/2 of " <>
            "PtcRunner.Json.Paused.Used, got: #{Shown.text(other, 200)}"
  end

  defp required!(opts, name, function) do
    case List.keyfind(opts, name, 0) do
      {_name, value} -> value
      nil -> raise ArgumentError, "#{function} needs the option #{inspect(name)}"
    end
  end

  # A key is never shown.
  defp keys!([_ | _] = keys, function) do
    if List.improper?(keys), do: wrong_keys!("an improper list", function)

    for {key, at} <- Enum.with_index(keys),
        not (is_binary(key) and byte_size(key) == @key_bytes) do
      what = if is_binary(key), do: "has #{byte_size(key)} bytes", else: "is no binary"
      wrong_keys!("one whose element #{at} #{what}", function)
    end

    keys
  end

  defp keys!([], function), do: wrong_keys!("an empty list", function)
  defp keys!(_other, function), do: wrong_keys!("no list", function)

  @spec wrong_keys!(String.t(), String.t()) :: no_return()
  defp wrong_keys!(got, function) do
    raise ArgumentError,
          "the keys of #{function} must be a list of binaries of #{@key_bytes} bytes, " <>
            "as :crypto.strong_rand_bytes(#{@key_bytes}) makes them, got: #{got}"
  end

  defp key(keys, id) do
    case Enum.find(keys, &(id(&1) == id)) do
      nil -> :error
      key -> {:ok, key}
    end
  end

  # It says nothing about the key.
  defp id(key), do: binary_part(:crypto.hash(:sha256, ["ptc_runner key", key]), 0, 8)

  defp authenticated(kind, header, bind) do
    bind = :erlang.term_to_binary(bind, [:deterministic, minor_version: 2])
    [kind, 0, header, :crypto.hash(:sha256, bind)]
  end

  defp now, do: System.system_time(:millisecond)
end

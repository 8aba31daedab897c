defmodule PtcRunner.Json.Plan.Digest do
  @moduledoc false
  # Digests of terms that are the same on each node and in each release of Erlang/OTP.

  alias PtcRunner.Json.{Codec, Program}
  alias PtcRunner.Native

  @doc """
  The digest of a term: 64 hexadecimal digits.

      iex> of = &PtcRunner.Json.Plan.Digest.of/1
      iex> {of.(%{"a" => 1, "b" => [nil]}) == of.(%{"b" => [nil], "a" => 1}), of.(1) == of.(1.0), byte_size(of.(1))}
      {true, false, 64}

  """
  @spec of(term()) :: String.t()
  def of(term), do: term |> canonical() |> of_bytes()

  @doc """
  The digest of a term whose canonical bytes are given. Of the text of a program, `native/ptc_program/src/plan/canonical.rs` makes them.

      iex> PtcRunner.Json.Plan.Digest.of_bytes("s1:x") == PtcRunner.Json.Plan.Digest.of("x")
      true

  """
  @spec of_bytes(iodata()) :: String.t()
  def of_bytes(bytes), do: :sha256 |> :crypto.hash(bytes) |> Base.encode16(case: :lower)

  @doc """
  The digest of the text of a program; nil of one that was given as a term. Programs with the same text are the same, and it costs far less than `program/1`.

      iex> of = &PtcRunner.Json.Plan.Digest.text/1
      iex> text = ~s({"program": {"op": "load", "name": "n"}})
      iex> {:ok, compiled} = PtcRunner.Json.compile(text)
      iex> {of.(text) == of.(compiled), of.(text) == of.(text <> " "), of.(%{"op" => "load"})}
      {true, false, nil}

  """
  @spec text(PtcRunner.Json.program() | Program.source()) :: String.t() | nil
  def text(%Program{source: source}), do: text(source)
  def text(text) when is_binary(text), do: of_bytes(text)
  def text(_term), do: nil

  @doc """
  The digest of a program. A text and what it stands for have the same one.

      iex> text = ~s({"program": {"op": "load",  "name": "n"}})
      iex> [digest | others] = for program <- [text, PtcRunner.Json.Codec.decode!(text), elem(PtcRunner.Json.compile(text), 1)], do: PtcRunner.Json.Plan.Digest.program(program)
      iex> others == [digest, digest]
      true

  """
  @spec program(PtcRunner.Json.program() | Program.source()) :: String.t()
  def program(%Program{source: source}), do: program(source)
  def program({:checked, node}), do: of(node)

  def program(text) when is_binary(text) do
    case Codec.decode(text) do
      {:ok, decoded} -> program(decoded)
      # It is deeper than what is decoded, and stands for itself.
      {:error, _error} -> of(text)
    end
  end

  def program(%{"program" => node}), do: of(node)
  def program(other), do: of(other)

  @doc """
  The digest of a program and that of its text. `bytes` are those of `of_bytes/1`; nil where they were not made. A compiled program keeps the digest
  for its text.

      iex> {:ok, compiled} = PtcRunner.Json.compile(~s({"program": {"op": "count"}}))
      iex> {digest, _text} = both = PtcRunner.Json.Plan.Digest.of_source(compiled, "m1:s2:ops5:count")
      iex> {digest == PtcRunner.Json.Plan.Digest.program(compiled), PtcRunner.Json.Plan.Digest.of_source(compiled, nil) == both}
      {true, true}

  """
  @spec of_source(Program.t() | Program.source(), iodata() | nil) ::
          {String.t(), String.t() | nil}
  def of_source(source, bytes) do
    text = text(source)
    {known(source, bytes, text), text}
  end

  defp known(%Program{handle: handle} = program, nil, text) when text != nil,
    do: kept(handle, text) || program(program)

  defp known(source, nil, _text), do: program(source)
  defp known(%Program{handle: handle}, bytes, text), do: keep(handle, text, of_bytes(bytes))
  defp known(_source, bytes, _text), do: of_bytes(bytes)

  defp kept(handle, text) do
    Native.kept_digest(handle, text)
  rescue
    # The handle is that of another node.
    ArgumentError -> nil
  end

  defp keep(handle, text, digest) do
    Native.keep_digest(handle, text, digest)
    digest
  rescue
    ArgumentError -> digest
  end

  # Each part begins with its kind and ends where its length says, so that no two terms have the same bytes.
  defp canonical(text) when is_binary(text),
    do: [?s, Integer.to_string(byte_size(text)), ?:, text]

  defp canonical(number) when is_integer(number), do: [?i, Integer.to_string(number), ?;]
  defp canonical(number) when is_float(number), do: [?f, <<number::float>>]
  defp canonical(atom) when is_atom(atom), do: [?a | atom |> Atom.to_string() |> canonical()]

  defp canonical(list) when is_list(list) do
    if List.improper?(list),
      do: [?t, canonical_term(list)],
      else: [?l, Integer.to_string(length(list)), ?: | Enum.map(list, &canonical/1)]
  end

  # Texts have one order everywhere; keys of other kinds are ordered by their bytes.
  defp canonical(map) when is_map(map) do
    entries = :maps.to_list(map)

    entries =
      if texts?(entries),
        do: entries |> :lists.sort() |> pairs(),
        else: entries |> Enum.sort_by(&key/1) |> pairs()

    [?m, Integer.to_string(map_size(map)), ?: | entries]
  end

  defp canonical(tuple) when is_tuple(tuple),
    do: [?u | tuple |> Tuple.to_list() |> canonical()]

  defp canonical(other), do: [?t, canonical_term(other)]

  defp texts?([{key, _value} | rest]) when is_binary(key), do: texts?(rest)
  defp texts?(rest), do: rest == []

  defp key({key, _value}), do: key |> canonical() |> IO.iodata_to_binary()

  defp pairs([{key, value} | rest]), do: [canonical(key), canonical(value) | pairs(rest)]
  defp pairs([]), do: []

  # No program has these, except one that is given as a term.
  defp canonical_term(term) do
    bytes = :erlang.term_to_binary(term, minor_version: 2)
    [Integer.to_string(byte_size(bytes)), ?:, bytes]
  end
end

defmodule PtcRunner.Json.Kept do
  @moduledoc false
  # Terms as JSON values, exactly: what is decoded is the term that was encoded, by `===`. What JSON has stands for itself.
  # Everything else is an object with the key "$ptc", which names its kind.
  #
  # Functions, processes, ports and references mean something only where they were made, and cannot be kept.

  @tag "$ptc"

  # Databases and JSON libraries write larger floats without a fraction as integers.
  @largest_float 1.0e15

  @doc """
  A term as a JSON value, or the kind of its part that cannot be kept.

      iex> PtcRunner.Json.Kept.encode(%{"n" => [1, 2.5, nil, "é"]})
      {:ok, %{"n" => [1, 2.5, nil, "é"]}}

      iex> PtcRunner.Json.Kept.encode({:ok, <<255>>})
      {:ok, %{"$ptc" => "tuple", "is" => [%{"$ptc" => "atom", "is" => "ok"}, %{"$ptc" => "bytes", "is" => "/w=="}]}}

      iex> PtcRunner.Json.Kept.encode([self()])
      {:error, "a process"}

  """
  @spec encode(term()) :: {:ok, term()} | {:error, String.t()}
  def encode(term) do
    {:ok, kept(term)}
  catch
    {@tag, kind} -> {:error, kind}
  end

  @doc "Whether a term can be kept."
  @spec check(term()) :: :ok | {:error, String.t()}
  def check(term), do: with({:ok, _json} <- encode(term), do: :ok)

  defp kept(term) when is_integer(term) or term in [nil, true, false], do: term
  defp kept(atom) when is_atom(atom), do: tagged("atom", Atom.to_string(atom))

  defp kept(float) when is_float(float) do
    if abs(float) >= @largest_float or negative_zero?(float),
      do: tagged("float", Float.to_string(float)),
      else: float
  end

  defp kept(text) when is_binary(text),
    do: if(String.valid?(text), do: text, else: tagged("bytes", Base.encode64(text)))

  defp kept(bits) when is_bitstring(bits) do
    size = bit_size(bits)
    padding = 8 - rem(size, 8)

    "bits"
    |> tagged(Base.encode64(<<bits::bitstring, 0::size(padding)>>))
    |> Map.put("size", size)
  end

  defp kept([]), do: []
  defp kept([_ | _] = list), do: list(list, [])

  defp kept(tuple) when is_tuple(tuple), do: tagged("tuple", kept(Tuple.to_list(tuple)))

  defp kept(map) when is_map(map) do
    entries = :maps.to_list(map)

    if Enum.all?(entries, fn {key, _value} -> plain_key?(key) end),
      do: Map.new(entries, fn {key, value} -> {key, kept(value)} end),
      else: tagged("map", for({key, value} <- Enum.sort(entries), do: [kept(key), kept(value)]))
  end

  defp kept(other), do: throw({@tag, kind(other)})

  defp list([first | rest], done), do: list(rest, [kept(first) | done])
  defp list([], done), do: Enum.reverse(done)

  defp list(tail, done),
    do: "list" |> tagged(Enum.reverse(done)) |> Map.put("tail", kept(tail))

  defp plain_key?(key), do: is_binary(key) and key != @tag and String.valid?(key)

  defp tagged(kind, is), do: %{@tag => kind, "is" => is}

  defp negative_zero?(float), do: float == 0.0 and <<float::float>> != <<0.0::float>>

  defp kind(fun) when is_function(fun), do: "a function"
  defp kind(pid) when is_pid(pid), do: "a process"
  defp kind(port) when is_port(port), do: "a port"
  defp kind(ref) when is_reference(ref), do: "a reference"
  defp kind(_unknown), do: "a term of an unknown kind"

  @doc """
  The term of a JSON value that `encode/1` has made, or what is wrong with it. No atom is made: those that the VM does not
  have are an error.

      iex> PtcRunner.Json.Kept.decode(%{"$ptc" => "tuple", "is" => [1, %{"$ptc" => "atom", "is" => "ok"}]})
      {:ok, {1, :ok}}

      iex> PtcRunner.Json.Kept.decode(%{"$ptc" => "atom", "is" => "no_such_atom_in_this_vm"})
      {:error, ~S(there is no atom "no_such_atom_in_this_vm" in this VM)}

  """
  @spec decode(term()) :: {:ok, term()} | {:error, String.t()}
  def decode(json) do
    {:ok, term(json)}
  catch
    {@tag, sentence} -> {:error, sentence}
  end

  defp term(%{@tag => kind, "is" => is} = tagged), do: term(kind, is, tagged)
  defp term(%{@tag => _kind}), do: wrong("an object with \"$ptc\" needs \"is\"")

  defp term(map) when is_map(map) and not is_struct(map),
    do: Map.new(map, fn {key, value} -> {key, term(value)} end)

  defp term(list) when is_list(list), do: terms(list)

  defp term(leaf) when is_binary(leaf) or is_number(leaf) or leaf in [nil, true, false], do: leaf
  defp term(other), do: wrong("#{PtcRunner.Shown.text(other, 100)} is not JSON")

  defp term("atom", name, _tagged) when is_binary(name) do
    String.to_existing_atom(name)
  rescue
    ArgumentError -> wrong("there is no atom #{PtcRunner.Shown.quoted(name)} in this VM")
  end

  defp term("float", text, _tagged) when is_binary(text) do
    case Float.parse(text) do
      {float, ""} -> float
      _other -> wrong("no float: #{PtcRunner.Shown.quoted(text)}")
    end
  end

  defp term("bytes", text, _tagged) when is_binary(text), do: bytes(text)

  defp term("bits", text, %{"size" => size}) when is_binary(text) and is_integer(size) do
    # Elixir 1.20 wants a variable of outside to be pinned in a size, and Elixir 1.14 does not know that.
    case {size, <<size::64, bytes(text)::binary>>} do
      {size, <<length::64, bits::bitstring-size(length), _padding::bitstring>>}
      when size == length ->
        bits

      _other ->
        wrong("bits of another size")
    end
  end

  defp term("tuple", list, _tagged) when is_list(list), do: list |> terms() |> List.to_tuple()

  defp term("list", list, %{"tail" => tail}) when is_list(list),
    do: list |> terms() |> Enum.reverse() |> Enum.reduce(term(tail), &[&1 | &2])

  defp term("map", pairs, _tagged) when is_list(pairs), do: Map.new(pairs, &pair/1)

  defp term(kind, _is, _tagged),
    do: wrong("unknown or wrong \"$ptc\": #{PtcRunner.Shown.text(kind, 100)}")

  defp pair([key, value]), do: {term(key), term(value)}
  defp pair(_other), do: wrong("an entry of a map must be [key, value]")

  defp terms(list) do
    if List.improper?(list), do: wrong("an improper list is not JSON")
    Enum.map(list, &term/1)
  end

  defp bytes(text) do
    case Base.decode64(text) do
      {:ok, bytes} -> bytes
      :error -> wrong("no Base64: #{PtcRunner.Shown.quoted(text)}")
    end
  end

  @spec wrong(String.t()) :: no_return()
  defp wrong(sentence), do: throw({@tag, sentence})
end

defmodule PtcRunner.Json.Paused.Packed do
  @moduledoc false
  # The journal of a paused run as one binary: by columns, which repeat names of tools and arguments, and compressed.

  alias PtcRunner.Json.Entry

  # No text becomes larger by more than this when it is unpacked: the limit of the format.
  @most_times 1_040

  @doc """
  The binary of entries, and back.

      iex> entries = [{1, "rate", %{}, {:ok, 1.25, 2}}, {2, "pay", %{}, {:failed, "no"}}]
      iex> entries |> PtcRunner.Json.Paused.Packed.pack() |> PtcRunner.Json.Paused.Packed.unpack()
      {:ok, [{1, "rate", %{}, {:ok, 1.25, 2}}, {2, "pay", %{}, {:failed, "no"}}]}

  """
  @spec pack([Entry.t()]) :: binary()
  def pack(entries) do
    {ids, tools, args, outcomes} = columns(entries, {[], [], [], []})
    # Without ids these are 1, 2, 3, …
    ids = if ids == Enum.to_list(1..length(ids)//1), do: length(ids), else: ids
    {kinds, values} = outcomes |> Enum.map(&kind/1) |> Enum.unzip()
    :erlang.term_to_binary({ids, tools, args, kinds, values}, compressed: 6, minor_version: 2)
  end

  defp columns([{id, tool, args, outcome} | rest], {ids, tools, all, outcomes}),
    do: columns(rest, {[id | ids], [tool | tools], [args | all], [outcome | outcomes]})

  defp columns([], {ids, tools, args, outcomes}),
    do: {Enum.reverse(ids), Enum.reverse(tools), Enum.reverse(args), Enum.reverse(outcomes)}

  # Words that are not known are weighed when they are needed.
  defp kind({:ok, value, nil}), do: {2, {:ok, value, nil}}
  defp kind({:ok, value, words}), do: {words + 3, value}
  defp kind({:failed, text}), do: {1, text}
  defp kind(other), do: {2, other}

  @doc "The entries of such a binary; an error if it has none, or others than `pack/1` could have got."
  @spec unpack(term()) :: {:ok, [Entry.t()]} | {:error, String.t()}
  def unpack(binary) do
    true = is_binary(binary) and believable?(binary)
    {ids, tools, args, kinds, values} = :erlang.binary_to_term(binary, [:safe])
    ids = if is_integer(ids), do: Enum.to_list(1..ids//1), else: ids
    {:ok, entries(ids, tools, args, kinds, values)}
  rescue
    _not_packed -> {:error, "The journal of the paused run cannot be read here"}
  end

  # The VM reserves as much memory as the binary says.
  defp believable?(<<131, 80, size::32, _packed::binary>> = binary),
    do: size <= @most_times * byte_size(binary)

  defp believable?(_not_compressed), do: true

  defp entries([id | ids], [tool | tools], [args | all], [kind | kinds], [value | values]) do
    entry = {id, tool, args, outcome(kind, value)}
    true = Entry.sound?(entry)
    [entry | entries(ids, tools, all, kinds, values)]
  end

  defp entries([], [], [], [], []), do: []

  defp outcome(kind, value) when is_integer(kind) and kind > 2, do: {:ok, value, kind - 3}
  defp outcome(1, text), do: {:failed, text}
  defp outcome(2, other), do: other
end

defmodule PtcRunner.Json.Paused.Packed do
  @moduledoc false
  # The journal of a paused run as one binary: by columns. A column of equal values is a tuple of one, and what is large is compressed.

  alias PtcRunner.Json.Entry

  # Bytes of what is kept as it is: to begin with a compressed binary takes longer than to read all of these.
  @small 1_000

  # More than the words of any answer, and 3.
  @most_words Entry.most_words()

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
    {kinds, values} = outcomes |> Enum.map(&kind/1) |> Enum.unzip()
    columns = {ids(ids), column(tools), column(args), column(kinds), values}

    case :erlang.term_to_binary(columns, minor_version: 2) do
      plain when byte_size(plain) <= @small -> plain
      _large -> :erlang.term_to_binary(columns, compressed: 6, minor_version: 2)
    end
  end

  # Without ids these are 1, 2, 3, …; with the number of a loop, those of the first calls of its rounds.
  defp ids([{loop, 0, 1} | _] = ids) do
    if ids == of_loop(loop, length(ids)), do: {loop}, else: ids
  end

  defp ids(ids), do: if(ids == Enum.to_list(1..length(ids)//1), do: length(ids), else: ids)

  defp of_loop(loop, count), do: for(round <- 0..(count - 1)//1, do: {loop, round, 1})

  defp column([value, _ | _] = values) do
    if Enum.all?(values, &(&1 === value)), do: {value}, else: values
  end

  defp column(values), do: values

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
    # No column is longer than that of the values, which has each of them.
    count = length(values)
    [tools, args, kinds] = for column <- [tools, args, kinds], do: all(column, count)
    {:ok, ids |> numbered(count) |> entries(tools, args, kinds, values)}
  rescue
    _not_packed -> {:error, "The journal of the paused run cannot be read here"}
  end

  defp numbered(count, count), do: Enum.to_list(1..count//1)

  defp numbered({loop}, count) when is_integer(loop) and loop > 0 and count > 0,
    do: of_loop(loop, count)

  defp numbered(ids, _count) when is_list(ids) do
    true = Enum.all?(ids, &Entry.sound_id?/1)
    ids
  end

  defp all({value}, count), do: List.duplicate(value, count)
  defp all(values, _count), do: values

  # The VM reserves as much memory as the binary says.
  defp believable?(<<131, 80, size::32, _packed::binary>> = binary),
    do: size <= @most_times * byte_size(binary)

  defp believable?(_not_compressed), do: true

  # Most calls have worked.
  defp entries([id | ids], [tool | tools], [args | all], [kind | kinds], [value | values])
       when is_binary(tool) and is_integer(kind) and kind > 2 and kind < @most_words,
       do: [{id, tool, args, {:ok, value, kind - 3}} | entries(ids, tools, all, kinds, values)]

  defp entries([id | ids], [tool | tools], [args | all], [kind | kinds], [value | values]) do
    entry = {id, tool, args, outcome(kind, value)}
    true = Entry.sound?(entry)
    [entry | entries(ids, tools, all, kinds, values)]
  end

  defp entries([], [], [], [], []), do: []

  defp outcome(1, text), do: {:failed, text}
  defp outcome(2, other), do: other
end

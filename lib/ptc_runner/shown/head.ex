defmodule PtcRunner.Shown.Head do
  @moduledoc false
  # The part of a list, tuple or map that `inspect/2` shows. The rest is never read.

  import Inspect.Algebra, only: [concat: 1]

  alias Inspect.Algebra
  alias PtcRunner.Native.NativeRecord
  alias PtcRunner.SubAgent.Signature.Firewall

  # Number of elements that decide whether a list is a keyword list, and of entries that decide whether all
  # keys are atoms.
  @telling 100

  # A map of more entries than this is a hash map, and keeps its order when entries are removed.
  @flat 32

  # No struct that a module defines has more fields than this.
  @fields 1_000

  @doc """
  A list, tuple or small map, reduced to the elements that are shown and one more, so that `inspect/2` marks
  the omission.

      iex> PtcRunner.Shown.Head.of({1, 2, 3, 4}, %Inspect.Opts{limit: 2})
      {1, 2, 3}

  """
  @spec of(list() | tuple() | map(), Inspect.Opts.t()) :: list() | tuple() | map()
  def of(list, %Inspect.Opts{limit: limit, printable_limit: printable} = opts)
      when is_list(list) do
    cond do
      charlist?(list, opts) ->
        # `inspect/2` fails, or does not terminate, if no character follows the printable ones.
        first(list, printable, ?…)

      keyword?(list, @telling) ->
        list |> first(limit, {:more, nil}) |> all_ours()

      true ->
        list |> first(limit, nil) |> all_ours()
    end
  end

  # An entry of a keyword list, or of a map.
  def of({key, value} = pair, %Inspect.Opts{}),
    do: if(hidden?(key), do: pair(pair), else: {ours(key), ours(value)})

  def of(tuple, %Inspect.Opts{limit: limit}) when is_tuple(tuple) do
    if tuple_size(tuple) > limit,
      do: for(at <- 0..limit, do: ours(elem(tuple, at))) |> List.to_tuple(),
      else: tuple |> Tuple.to_list() |> all_ours() |> List.to_tuple()
  end

  def of(map, _opts) when map_size(map) <= @flat do
    entries = :maps.to_list(map)

    if Enum.any?(entries, fn {key, value} -> is_struct(key) or is_struct(value) end),
      do: Map.new(entries, fn {key, value} -> {ours(key), ours(value)} end),
      else: map
  end

  @doc "A struct, with those of its fields marked that `inspect/2` would not pass on."
  @spec fields(struct()) :: struct()
  def fields(struct) do
    case for {key, %_{} = value} <- Map.from_struct(struct), do: {key, ours(value)} do
      [] -> struct
      marked -> Map.merge(struct, Map.new(marked))
    end
  end

  # Only the values of a keyword list are passed on.
  defp all_ours([{key, value} | rest]) when is_atom(key) and key != __MODULE__,
    do: [{key, ours(value)} | all_ours(rest)]

  defp all_ours([element | rest]), do: [ours(element) | all_ours(rest)]
  defp all_ours(tail), do: ours(tail)

  @doc """
  A map of more than 32 entries, as an algebra document.

  Its first entries are the last ones of an iterator, so all are listed if `list?` allows it.
  """
  @spec large_map(map(), Inspect.Opts.t(), boolean()) ::
          Inspect.Algebra.t() | {Inspect.Algebra.t(), Inspect.Opts.t()}
  def large_map(map, opts, list?) do
    shown = opts.limit + 1
    entries = if list?, do: Map.to_list(map), else: first_entries(map, max(shown, @telling))
    entry = if keyword?(entries, @telling), do: &keyword/2, else: &arrow/2

    entries =
      for {key, value} <- entries |> Enum.take(shown) |> concealed(), do: {ours(key), ours(value)}

    container("%{", entries, "}", opts, entry, break: :strict)
  end

  defp concealed(entries), do: Enum.map(entries, &pair/1)

  defp pair({key, _value} = pair),
    do: if(hidden?(key), do: {key, PtcRunner.Shown.concealed()}, else: pair)

  defp pair(other), do: other

  @doc """
  A struct; a large set is reduced if its entries may not be listed.
  """
  @spec struct(struct(), (non_neg_integer() -> boolean())) :: struct()
  def struct(%MapSet{map: map} = set, list?) when map_size(map) > @telling,
    do: if(list?.(map_size(map)), do: set, else: %{set | map: few(map)})

  def struct(struct, _list?), do: struct

  @doc "Whether a struct has firewalled fields, other than those of the language."
  @spec conceals?(struct()) :: boolean()
  def conceals?(struct) when map_size(struct) > @fields, do: true

  def conceals?(struct) do
    struct |> Map.keys() |> Enum.any?(&hidden?/1)
  end

  @doc "Whether a struct is shown by its fields, because its module does not implement `Inspect`."
  @spec plain?(struct()) :: boolean()
  def plain?(struct), do: map_size(struct) <= @flat and Inspect.impl_for(struct) == Inspect.Any

  @doc "Whether a key of a map, struct or keyword list is firewalled; those of the language are not."
  @spec hidden?(term()) :: boolean()
  def hidden?(key) when key in [:__struct__, :__exception__], do: false
  def hidden?(key), do: Firewall.hidden?(key)

  @doc """
  Whether nothing in a small term stands under a firewalled key.

      iex> Enum.map([%{"a" => [{1, 2}]}, [{:ok, %{"_pin" => 1}}], [_pin: 1]], &PtcRunner.Shown.Head.open?/1)
      [true, false, false]

  """
  @spec open?(term()) :: boolean()
  def open?(term), do: all_open?([term])

  defp all_open?([]), do: true
  defp all_open?([[] | todo]), do: all_open?(todo)
  defp all_open?([[first | rest] | todo]), do: all_open?([first, rest | todo])

  defp all_open?([{key, value} | todo]),
    do: not hidden?(key) and all_open?([key, value | todo])

  defp all_open?([tuple | todo]) when is_tuple(tuple),
    do: all_open?([Tuple.to_list(tuple) | todo])

  defp all_open?([map | todo]) when is_map(map), do: all_open?([:maps.to_list(map) | todo])

  defp all_open?([leaf | todo]) do
    cond do
      not NativeRecord.is?(leaf) -> all_open?(todo)
      Enum.any?(NativeRecord.names(leaf), &hidden?/1) -> false
      true -> all_open?([NativeRecord.values(leaf) | todo])
    end
  end

  @doc """
  A map with `mark` instead of the values of firewalled keys. Large maps are unchanged: `large_map/3`
  conceals the values that it shows.

      iex> PtcRunner.Shown.Head.conceal(%{_a: 1, b: 2}, :mark)
      %{_a: :mark, b: 2}

  """
  @spec conceal(map(), term()) :: map()
  def conceal(map, _mark) when map_size(map) > @flat, do: map

  def conceal(map, mark) do
    case for {key, _value} <- Map.to_list(map),
             hidden?(key),
             do: {key, mark} do
      [] -> map
      concealed -> Map.merge(map, Map.new(concealed))
    end
  end

  defp few(map), do: map |> first_entries(@telling) |> Map.new()
  defp first_entries(map, count), do: map |> :maps.iterator() |> entries(count)

  defp charlist?([], _opts), do: false
  defp charlist?(_list, %{charlists: :as_lists}), do: false
  defp charlist?(_list, %{charlists: :as_charlists}), do: true
  defp charlist?(list, opts), do: List.ascii_printable?(list, opts.printable_limit)

  # The first `limit` elements, and `more` instead of all others.
  defp first([_ | _], 0, more), do: [more]
  defp first([element | rest], limit, more), do: [pair(element) | first(rest, limit - 1, more)]
  defp first(tail, _limit, _more), do: tail

  defp entries(_iterator, 0), do: []

  defp entries(iterator, left) do
    case :maps.next(iterator) do
      {key, value, iterator} -> [{key, value} | entries(iterator, left - 1)]
      :none -> []
    end
  end

  # As `inspect/2` decides it, but without the elements after the first `left`.
  defp keyword?([{key, _value} | rest], left) when is_atom(key) and left > 0,
    do: not alias?(key) and keyword?(rest, left - 1)

  defp keyword?(rest, left), do: left == 0 or rest == []

  defp alias?(key), do: match?("Elixir." <> _, Atom.to_string(key))

  # Since Elixir 1.20, `inspect/2` shows a struct that has not the fields of its module as a map, and does not ask the
  # function for terms. Such a struct is marked.
  @doc "The term, or a pair of this module and the term if it is a struct that `inspect/2` would not pass on."
  @spec ours(term()) :: term()
  if Version.match?(System.version(), ">= 1.19.0-dev") do
    def ours(%module{} = struct) when is_atom(module),
      do: if(whole?(module, struct), do: struct, else: {__MODULE__, struct})

    def ours(term), do: term

    defp whole?(module, struct) do
      case module.__info__(:struct) do
        fields when is_list(fields) ->
          length(fields) == map_size(struct) - 1 and
            Enum.all?(fields, &is_map_key(struct, &1.field))

        nil ->
          false
      end
    rescue
      _no_module -> false
    end
  else
    def ours(term), do: term
  end

  # Since Elixir 1.19 documents come with the options for what follows: the limit is that of the whole text.
  if Code.ensure_loaded?(Algebra) and function_exported?(Algebra, :container_doc_with_opts, 6) do
    defp container(left, entries, right, opts, entry, more),
      do: Algebra.container_doc_with_opts(left, entries, right, opts, entry, more)

    defp keyword({key, value}, opts) do
      {value, opts} = Algebra.to_doc_with_opts(value, opts)
      {concat([Macro.inspect_atom(:key, key), " ", value]), opts}
    end

    defp arrow({key, value}, opts) do
      {key, opts} = Algebra.to_doc_with_opts(key, opts)
      {value, opts} = Algebra.to_doc_with_opts(value, opts)
      {concat([key, " => ", value]), opts}
    end
  else
    defp container(left, entries, right, opts, entry, more),
      do: Algebra.container_doc(left, entries, right, opts, entry, more)

    defp keyword({key, value}, opts),
      do: concat([Macro.inspect_atom(:key, key), " ", Algebra.to_doc(value, opts)])

    defp arrow({key, value}, opts),
      do: concat([Algebra.to_doc(key, opts), " => ", Algebra.to_doc(value, opts)])
  end
end

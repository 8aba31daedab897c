defmodule PtcRunner.Lisp.FaultWords.Arguments do
  @moduledoc false
  # The errors of arguments: their number, and what they are.

  alias PtcRunner.Lisp.FaultWords
  alias PtcRunner.Lisp.FaultWords.Reasons
  alias PtcRunner.Lisp.{Function, Text, Words}

  # Built-ins that refuse collections without an order.
  @no_sets ~w(first last reverse distinct flatten sort)
  @no_maps ~w(first last reverse distinct)
  @of_lists "Use (keys m), (vals m), or (entries m) to get a sorted list"

  # Built-ins that take any number of arguments, whose wrong operands are errors at run time.
  @any_number ~w(conj union intersection difference disj)

  # Built-ins that take the collection last.
  @collection_last ~w(map mapv filter filterv remove reduce keep mapcat)

  @most 20

  @spec words(atom(), String.t(), String.t() | nil, [term()]) :: FaultWords.words() | nil
  def words(:arity, name, _detail, [got, least, most]),
    do: {:arity_error, "#{name} expects #{number(least, most)}, got #{got}"}

  def words(:at_least_one, name, _detail, [got | _]),
    do: {:arity_error, "#{name} requires at least 1 argument, got #{got}"}

  def words(:at_least, name, _detail, [got, least | _]),
    do: {:arity_error, "#{name} requires at least #{Words.count(least, "argument")}, got #{got}"}

  def words(:argument, name, expected, [place | terms]) do
    argument = Enum.at(terms, if(length(terms) == 1, do: 0, else: place - 1))

    hint(name, terms) ||
      {:type_error, "#{name}: arg #{place} expected #{expected}, got #{given(argument)}"}
  end

  def words(:invalid_types, name, _detail, terms) do
    hint(name, terms) || {reason(name), "#{name}: invalid argument types: #{types(terms)}"}
  end

  def words(:answered, _name, _detail, [reason, text]), do: {Reasons.named(reason), text}

  def words(_code, _name, _detail, _terms), do: nil

  @doc """
  The error of a value that is no collection.

      iex> PtcRunner.Lisp.FaultWords.Arguments.expected_collection(5)
      {:type_error, "expected a collection, got number 5"}

  """
  @spec expected_collection(term()) :: FaultWords.words()
  def expected_collection(value) do
    if Words.function?(value) do
      {:type_error,
       "expected a collection, got a function — collection operations like filter/map/reduce take the collection last; " <>
         "arguments may be swapped"}
    else
      {:type_error, "expected a collection, got #{Words.type(value)} #{looks(value)}"}
    end
  end

  # Special numbers are atoms there.
  defp looks(atom) when is_atom(atom), do: inspect(atom)
  defp looks(value), do: Words.shown(value)

  # The checks of arguments know functions of the library, and no other values that can be called.
  defp given(%Function{kind: :closure}), do: "unknown"
  defp given(value), do: Words.type(value)

  defp number(least, most) when most < 0, do: "at least #{Words.count(least, "argument")}"
  defp number(least, least), do: "#{least} argument(s)"
  defp number(least, most) when most == least + 1, do: "#{least} or #{most} argument(s)"
  defp number(least, most), do: "#{Enum.map_join(least..most, ", ", &to_string/1)} argument(s)"

  defp reason(name) when name in @any_number, do: :runtime_error
  defp reason(_name), do: :type_error

  defp types(terms) do
    case Enum.split(terms, @most) do
      {all, []} -> Enum.map_join(all, ", ", &Words.type/1)
      {first, more} -> "#{Enum.map_join(first, ", ", &Words.type/1)}, and #{length(more)} more"
    end
  end

  # What the program has probably meant.
  defp hint(name, [number, %MapSet{}])
       when name in ["take", "drop", "take-last"] and is_integer(number),
       do: no_sets(name)

  defp hint(name, [%MapSet{}]) when name in @no_sets, do: no_sets(name)
  defp hint("sort", [_comparator, %MapSet{}]), do: no_sets("sort")

  defp hint(name, [%{} = map | _]) when name in @no_maps and not is_struct(map) do
    {:type_error, "#{name} does not support maps (maps are unordered). #{@of_lists}"}
  end

  defp hint("update-vals", [function, %{} = map]) when not is_struct(map) do
    if Words.function?(function) do
      {:type_error,
       "update-vals expects (map, function) but got (function, map). Use -> (thread-first) instead of ->> (thread-last) with update-vals"}
    end
  end

  defp hint("sort-by", [key, coll, comparator]) do
    if collection?(coll) and (Words.function?(comparator) or comparator in [:asc, :desc]) do
      {:type_error,
       "sort-by expects (key, comparator, collection) but got (key, collection, comparator). " <>
         "Try: (sort-by #{Text.brief(key)} #{Text.brief(comparator)} collection)"}
    end
  end

  # A collection stands where the function belongs, and a function where the collection belongs.
  defp hint(name, [first | others]) when name in @collection_last and others != [] do
    function = List.last(others)
    if collection?(first) and Words.function?(function), do: expected_collection(function)
  end

  defp hint(_name, _terms), do: nil

  defp no_sets(name),
    do: {:type_error, "#{name} does not support sets (sets are unordered)"}

  defp collection?(%MapSet{}), do: true
  defp collection?(map) when is_map(map), do: not is_struct(map)
  defp collection?(value), do: is_list(value) or is_binary(value)
end

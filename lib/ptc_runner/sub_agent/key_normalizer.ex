defmodule PtcRunner.SubAgent.KeyNormalizer do
  @moduledoc """
  Normalizes the keys of programs, LLMs and Elixir to one form: strings with underscores.

      iex> PtcRunner.SubAgent.KeyNormalizer.normalize_keys(%{"user-id" => 1, name: "Ann"})
      %{"name" => "Ann", "user_id" => 1}

  If two keys become equal, the last in term order wins: of two strings the one with underscores,
  and a string over an atom.
  """

  alias PtcRunner.{Native, Quanta}
  require Quanta

  @doc """
  Normalizes one key: atoms and strings become strings with `_` for `-`, other terms are unchanged.

      iex> PtcRunner.SubAgent.KeyNormalizer.normalize_key(:"was-improved")
      "was_improved"

      iex> PtcRunner.SubAgent.KeyNormalizer.normalize_key(1)
      1

  """
  @spec normalize_key(term()) :: term()
  def normalize_key(key) when is_atom(key), do: key |> Atom.to_string() |> underscored()
  def normalize_key(key) when is_binary(key), do: underscored(key)
  def normalize_key(key), do: key

  @doc """
  Normalizes all keys of all maps in a value, except inside structs and tuples. An unchanged part is returned
  as the same term, and shared parts stay shared.

      iex> PtcRunner.SubAgent.KeyNormalizer.normalize_keys([%{"a-b" => %{c: 1}}, {:"a-b", 2}])
      [%{"a_b" => %{"c" => 1}}, {:"a-b", 2}]

  """
  @spec normalize_keys(term()) :: term()
  def normalize_keys(term) when is_map(term) or is_list(term), do: in_form(term, :keys)
  def normalize_keys(other), do: other

  @doc """
  A cache key that is equal for tool calls with the same meaning: normalized keys, lists for tuples, and
  integers for whole floats.

      iex> alias PtcRunner.SubAgent.KeyNormalizer
      iex> KeyNormalizer.canonical_cache_key("get", %{"page-size": 10.0})
      {"get", %{"page_size" => 10}}

      iex> PtcRunner.SubAgent.KeyNormalizer.canonical_cache_key("get", [1])
      {"get", {:non_map, [1]}}

  """
  @spec canonical_cache_key(String.t(), term()) :: {String.t(), term()}
  def canonical_cache_key(name, args) when is_binary(name) and is_map(args),
    do: {name, in_form(args, :cache_key)}

  def canonical_cache_key(name, args) when is_binary(name), do: {name, {:non_map, args}}

  # Native: one walk, which visits shared parts once.
  defp in_form(term, form) do
    case Quanta.run!(Native.normalize(term, form)) do
      {:ok, value} -> value
      {:improper, tail} -> each(tail, & &1)
    end
  end

  defp underscored(key) do
    case :binary.match(key, "-") do
      :nomatch -> key
      _found -> swapped(key, ?-, ?_)
    end
  end

  @doc false
  # The names that mean a declared one, best first; natively `signature/names.rs` has the rule.
  def spellings(name) do
    low = underscored(name)
    Enum.uniq([low, name, swapped(low, ?_, ?-)])
  end

  # `:binary.replace/4` takes a hundred bytes for each match.
  defp swapped(name, from, to),
    do: for(<<byte <- name>>, into: "", do: if(byte == from, do: <<to>>, else: <<byte>>))

  @doc false
  # A map with other keys and values; of equal keys the last in term order wins.
  def rekey(map, key_fun, value_fun) do
    pairs = :maps.to_list(map)
    new = Map.new(pairs, fn {key, value} -> {key_fun.(key), value_fun.(value)} end)

    if map_size(new) == map_size(map),
      do: new,
      else: Map.new(Enum.sort(pairs), fn {key, value} -> {key_fun.(key), value_fun.(value)} end)
  end

  # An improper list has no clause.
  defp each([first | rest], fun), do: [fun.(first) | each(rest, fun)]
  defp each([], _fun), do: []
end

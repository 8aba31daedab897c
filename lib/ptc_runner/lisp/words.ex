defmodule PtcRunner.Lisp.Words do
  @moduledoc false
  # The words of messages for values: what they are, and how they look.

  alias PtcRunner.Lisp.{Duration, Function, Keyword, Regex, Symbol, Text, Var}
  alias PtcRunner.Shown

  # Maximum parts and bytes of a value that is shown as Elixir inspects it.
  @parts 50
  @bytes 1_000

  @doc """
  The word for what a value is.

      iex> for value <- [nil, true, 1, 1.5, "a", :count, [], %{}, MapSet.new(), {1}], do: PtcRunner.Lisp.Words.type(value)
      ["nil", "boolean", "number", "number", "string", "keyword", "list", "map", "set", "unknown"]

  """
  @spec type(term()) :: String.t()
  def type(nil), do: "nil"
  def type(bool) when is_boolean(bool), do: "boolean"
  def type(atom) when is_atom(atom), do: "keyword"
  def type(number) when is_number(number), do: "number"
  def type(text) when is_binary(text), do: "string"
  def type(list) when is_list(list), do: "list"
  def type(%MapSet{}), do: "set"
  def type(%Keyword{}), do: "keyword"
  def type(%Function{}), do: "function"
  def type(%module{}) when module in [Regex, Var, Symbol], do: "unknown"
  def type(map) when is_map(map), do: "map"
  def type(_other), do: "unknown"

  @doc """
  Whether a value is a function. The functions of a run are data in messages, see `PtcRunner.Lisp.Inside`.

      iex> PtcRunner.Lisp.Words.function?(%PtcRunner.Lisp.Function{kind: :builtin})
      true

  """
  @spec function?(term()) :: boolean()
  def function?(value), do: is_struct(value, Function)

  @doc """
  The word for what a value is in the messages of methods.

      iex> for value <- [nil, 1, 1.5, "a", [], ~D[2024-01-31], %{}, :count], do: PtcRunner.Lisp.Words.java(value)
      ["nil", "integer", "float", "string", "list", "LocalDate", "map", "non-string"]

  """
  @spec java(term()) :: String.t()
  def java(nil), do: "nil"
  def java(list) when is_list(list), do: "list"
  def java(%Duration{}), do: "Duration"
  def java(%Date{}), do: "LocalDate"
  def java(%DateTime{}), do: "DateTime"
  def java(map) when is_map(map), do: "map"
  def java(integer) when is_integer(integer), do: "integer"
  def java(float) when is_float(float), do: "float"
  def java(text) when is_binary(text), do: "string"
  def java(_other), do: "non-string"

  @doc """
  The text of a value in a message. Numbers, strings, nil and lists of these are as Elixir shows them, other values as the language
  prints them.

      iex> for value <- [nil, 1, "a", [1, "a"], :count, %{"a" => [1, 2]}], do: PtcRunner.Lisp.Words.shown(value)
      ["nil", "1", ~S("a"), ~S([1, "a"]), ":count", ~S({"a" [1 2]})]

  """
  @spec shown(term()) :: String.t()
  def shown(value), do: if(plain?(value, @parts), do: plain(value), else: Text.brief(value))

  defp plain(value), do: Shown.text(value, @bytes, charlists: :as_lists)

  defp plain?(nil, _parts), do: true
  defp plain?(value, _parts) when is_number(value) or is_binary(value), do: true

  defp plain?([item | rest], parts) when parts > 0,
    do: plain?(item, parts) and plain?(rest, parts - 1)

  defp plain?(list, _parts), do: list == []

  @doc """
  The text of a value that cannot be called: at most three of its parts.

      iex> PtcRunner.Lisp.Words.few([1, 2, 3, 4])
      "[1, 2, 3, ...]"

      iex> PtcRunner.Lisp.Words.few(5)
      "5"

  """
  @spec few(term()) :: String.t()
  def few(value) when is_list(value) do
    if plain?(value, 4),
      do: Shown.text(value, @bytes, limit: 3, charlists: :as_lists),
      else: few_items(value)
  end

  def few(value), do: shown(value)

  defp few_items(list) do
    if plain?(first(list, 3), 4),
      do: Shown.text(list, @bytes, limit: 3, charlists: :as_lists),
      else: Text.brief(list)
  end

  # The first items of a list that may be improper.
  defp first([item | rest], count) when count > 0, do: [item | first(rest, count - 1)]
  defp first(_rest, _count), do: []

  @doc """
  A number of things in words.

      iex> {PtcRunner.Lisp.Words.count(1, "argument"), PtcRunner.Lisp.Words.count(2, "argument")}
      {"1 argument", "2 arguments"}

  """
  @spec count(integer(), String.t()) :: String.t()
  def count(1, word), do: "1 #{word}"
  def count(number, word), do: "#{number} #{word}s"
end

defmodule PtcRunner.Lisp.Text do
  @moduledoc false
  # The texts of values, as `str` and `pr-str` give them, for messages and for what Elixir evaluates of a run. Natively, the family of
  # texts has them for programs.

  alias PtcRunner.Lisp.{Duration, Function, Keyword, Regex, Symbol, Var}
  alias PtcRunner.Shown

  # The parts of a text without a limit, in a message, and of the reason of a tool; the bytes of a string there.
  @all 0x7FF_FFFF_FFFF
  @few 60
  @bytes 1_000
  @reason 400

  # Digits before the point with which Erlang still writes decimals.
  @large 1.0e22

  @doc """
  The text of a value as `pr-str` prints it.

      iex> PtcRunner.Lisp.Text.pr(%{"a" => [1, 2.5, nil, :count, true]})
      ~S({"a" [1 2.5 nil :count true]})

      iex> PtcRunner.Lisp.Text.pr(0.1 + 0.2)
      "0.3"

  """
  @spec pr(term()) :: String.t()
  def pr(value), do: text(value, @all, {@all, :shown})

  @doc """
  The text of a value as `str` prints it.

      iex> for value <- [nil, "a", :count, 1.0e20, :nan, [nil, "a"]], do: PtcRunner.Lisp.Text.str(value)
      ["", "a", ":count", "1.0e20", "NaN", ~S([nil "a"])]

  """
  @spec str(term()) :: String.t()
  def str(nil), do: ""
  def str(text) when is_binary(text), do: text
  def str(:infinity), do: "Infinity"
  def str(:negative_infinity), do: "-Infinity"
  def str(:nan), do: "NaN"
  def str(float) when is_float(float), do: inspect(float)
  def str(%Symbol{name: name}), do: name
  def str(%module{} = date) when module in [Date, DateTime], do: iso8601(date) || pr(date)
  def str(value), do: pr(value)

  @doc """
  The text of a value in a message: that of `pr-str`, or its beginning.

      iex> PtcRunner.Lisp.Text.brief([1, "a"])
      ~S([1 "a"])

      iex> PtcRunner.Lisp.Text.brief(Enum.to_list(1..1_000)) |> String.slice(-10, 10)
      "7 58 59 …]"

  """
  @spec brief(term()) :: String.t()
  def brief(value), do: text(value, @few, {@bytes, :hidden})

  @doc """
  The text of a reason that a tool has given: that of `pr-str`, or its beginning. What is no value of the language is shown as Elixir
  shows it.

      iex> PtcRunner.Lisp.Text.reason(%{"code" => {:http, 404}})
      ~S({"code" {:http, 404}})

  """
  @spec reason(term()) :: String.t()
  def reason(value), do: text(value, @reason, {@bytes, :shown})

  @doc """
  The text of a list of values, each like `brief/1`.

      iex> PtcRunner.Lisp.Text.list(["x", "&", "r"])
      "x & r"

  """
  @spec list([String.t()]) :: String.t()
  def list(names), do: Enum.join(names, " ")

  defp text(value, parts, style) do
    {text, _left} = put(value, parts, style)
    IO.iodata_to_binary(text)
  end

  # The text of a value, and how many parts may still follow.
  defp put(nil, left, _style), do: {"nil", left - 1}
  defp put(true, left, _style), do: {"true", left - 1}
  defp put(false, left, _style), do: {"false", left - 1}
  defp put(:infinity, left, _style), do: {"##Inf", left - 1}
  defp put(:negative_infinity, left, _style), do: {"##-Inf", left - 1}
  defp put(:nan, left, _style), do: {"##NaN", left - 1}
  defp put(atom, left, _style) when is_atom(atom), do: {[?:, Atom.to_string(atom)], left - 1}
  defp put(text, left, style) when is_binary(text), do: {string(text, style), left - 1}
  defp put(float, left, _style) when is_float(float), do: {decimal(float), left - 1}

  defp put(integer, left, style) when is_integer(integer) do
    # An integer of so many words has more digits than a message has room for.
    if limited?(style) and :erts_debug.flat_size(integer) > div(@bytes, 16),
      do: {"(a long integer)", left - 1},
      else: {Integer.to_string(integer), left - 1}
  end

  defp put(list, left, style) when is_list(list) do
    {items, left} = items(list, left - 1, style, [])
    {[?[, items, ?]], left}
  end

  defp put(%MapSet{map: members}, left, style) when is_map(members) do
    {items, left} = items(Map.keys(members), left - 1, style, [])
    {["\#{", items, ?}], left}
  end

  defp put(%Keyword{name: name}, left, style), do: {[?:, named(name, style)], left - 1}
  defp put(%Var{name: name}, left, style), do: {["#'", named(name, style)], left - 1}
  defp put(%Symbol{name: name}, left, style), do: {[?', named(name, style)], left - 1}

  defp put(%Regex{source: source}, left, style),
    do: {["#\"", named(source, style), ?"], left - 1}

  defp put(%Duration{milliseconds: ms}, left, _style), do: {"#duration[#{ms}ms]", left - 1}
  defp put(%Function{} = function, left, _style), do: {function(function), left - 1}

  defp put(%module{} = date, left, style) when module in [Date, DateTime] do
    case iso8601(date) do
      nil -> {opaque(date, style), left - 1}
      text -> {inspect(text), left - 1}
    end
  end

  defp put(%_struct{} = struct, left, style), do: {opaque(struct, style), left - 1}

  defp put(map, left, style) when is_map(map) do
    {entries, left} = map |> sorted(left) |> entries(left - 1, style, [])
    {[?{, entries, ?}], left}
  end

  # A tool as a value, see `PtcRunner.Lisp.Inside`.
  defp put({:tool, name}, left, _style) when is_binary(name), do: {["tool/", name], left - 1}
  defp put(other, left, style), do: {opaque(other, style), left - 1}

  defp items([_ | _], left, _style, made) when left <= 0, do: {Enum.reverse(["…" | made]), left}

  defp items([item | rest], left, style, made) do
    {text, left} = put(item, left, style)
    items(rest, left, style, if(rest == [], do: [text | made], else: [[text, ?\s] | made]))
  end

  defp items([], left, _style, made), do: {Enum.reverse(made), left}

  defp items(tail, left, style, made),
    do: {Enum.reverse([["| ", opaque(tail, style)] | made]), left - 1}

  defp entries([_ | _], left, _style, made) when left <= 0, do: {Enum.reverse(["…" | made]), left}

  defp entries([{key, value} | rest], left, style, made) do
    {key, left} = key(key, left, style)
    {value, left} = put(value, left, style)
    text = if rest == [], do: [key, ?\s, value], else: [key, ?\s, value, ?\s]
    entries(rest, left, style, [text | made])
  end

  defp entries([], left, _style, made), do: {Enum.reverse(made), left}

  # Atoms print as keywords there, whatever they mean.
  defp key(atom, left, _style) when is_atom(atom), do: {[?:, Atom.to_string(atom)], left - 1}
  defp key(key, left, style), do: put(key, left, style)

  # The names of the language are short, but the struct may be from outside.
  defp named(name, {bytes, _opaque}) when is_binary(name) and byte_size(name) <= bytes, do: name

  defp named(name, {bytes, _opaque}) when is_binary(name),
    do: [String.slice(binary_part(name, 0, bytes), 0, div(bytes, 4)), "…"]

  defp named(_no_name, _style), do: "?"

  # A struct of this name may have any fields.
  defp iso8601(%module{} = date) do
    module.to_iso8601(date)
  rescue
    _not_a_date in [ArgumentError, FunctionClauseError, KeyError, UndefinedFunctionError] -> nil
  end

  defp string(text, {bytes, _opaque}) when byte_size(text) <= bytes,
    do: inspect(text, printable_limit: :infinity)

  defp string(text, {bytes, _opaque}),
    do: [inspect(String.slice(binary_part(text, 0, bytes), 0, div(bytes, 4))), "…"]

  defp limited?({bytes, _opaque}), do: bytes != @all

  # The entries of a map by their keys; of a map with more entries than the text has room for, some of them.
  defp sorted(map, left) when map_size(map) <= left or left > @reason,
    do: map |> :maps.to_list() |> Enum.sort()

  defp sorted(map, left), do: map |> :maps.iterator() |> some(left + 1, [])

  defp some(_iterator, 0, entries), do: Enum.sort(entries)

  defp some(iterator, left, entries) do
    {key, value, iterator} = :maps.next(iterator)
    some(iterator, left - 1, [{key, value} | entries])
  end

  # Up to ten decimals.
  defp decimal(float) when abs(float) >= @large, do: [Integer.to_string(trunc(float)), ".0"]
  defp decimal(float), do: :erlang.float_to_binary(float, [:compact, decimals: 10])

  defp function(%Function{kind: :closure, params: params}) when is_list(params),
    do: ["#fn[", params |> Enum.filter(&is_binary/1) |> list(), ?]]

  defp function(%Function{kind: :builtin}), do: "#<builtin>"
  defp function(%Function{kind: :juxt}), do: "#<fn>"
  defp function(%Function{}), do: "#fn[...]"

  # What is no value of the language: a pid, a tuple, a struct.
  defp opaque(term, {_bytes, :shown}), do: Shown.text(term)
  defp opaque(_term, {_bytes, :hidden}), do: "#<value>"
end

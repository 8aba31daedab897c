defmodule PtcRunner.Test.Oracle.Text do
  @moduledoc false
  # The operations on texts. Case, trimming and graphemes are those of `String`.

  import PtcRunner.Test.Oracle.Added, only: [input: 3]
  import PtcRunner.Test.Oracle.Fail, only: [fail: 1, proper_list?: 1, shown: 1]

  alias PtcRunner.Test.Oracle.{Current, Eval, Pattern}

  @doc "Runs one of these operations."
  @spec run(String.t(), map(), Eval.environment()) :: term()
  def run("text", %{"parts" => %{} = parts} = node, env) do
    list = Eval.template(parts, env)
    unless proper_list?(list), do: fail("text requires a list, got #{shown(list)}")
    list |> Enum.map(&part(&1, "text")) |> Enum.join(Map.get(node, "separator", ""))
  end

  def run("text", node, env) do
    node["parts"]
    |> Enum.map(&(&1 |> Eval.template(env) |> part("text")))
    |> Enum.join(Map.get(node, "separator", ""))
  end

  def run("matches", node, env) do
    text = Current.left("matches", node, env)
    is_binary(text) and Pattern.matches?(node["pattern"], text)
  end

  def run(op, node, env) when op in ["starts_with", "ends_with"] do
    text = Current.left(op, node, env)
    value = Eval.template(node["value"], env)

    is_binary(text) and is_binary(value) and
      if op == "starts_with",
        do: String.starts_with?(text, value),
        else: String.ends_with?(text, value)
  end

  def run("to_number", node, env), do: "to_number" |> input(node, env) |> number()

  def run(op, node, env) do
    case input(op, node, env) do
      nil -> nil
      value -> of(op, value, node, env)
    end
  end

  defp of("to_text", value, %{"decimals" => places}, _env) when places != nil,
    do: fixed(value, places)

  defp of("to_text", value, _node, _env), do: part(value, "to_text")

  defp of("length", text, _node, _env) when is_binary(text), do: String.length(text)
  defp of("length", map, _node, _env) when is_map(map), do: map_size(map)

  defp of("length", value, _node, _env) do
    if proper_list?(value),
      do: length(value),
      else: fail("length requires a string, a list or a map, got #{shown(value)}")
  end

  defp of(op, value, _node, _env) when not is_binary(value),
    do: fail("#{op} requires a string, got #{shown(value)}")

  defp of("upper", text, _node, _env), do: String.upcase(text)
  defp of("lower", text, _node, _env), do: String.downcase(text)
  defp of("trim", text, _node, _env), do: String.trim(text)
  defp of("split", text, node, env), do: String.split(text, operand("split", "by", node, env))

  defp of("replace", text, node, env) do
    find = operand("replace", "find", node, env)
    String.replace(text, find, operand("replace", "with", node, env))
  end

  defp of("extract", text, node, _env) do
    if String.valid?(text),
      do: Pattern.extract(node["pattern"], text, Map.get(node, "all", false)),
      else: fail("extract requires a string, got #{shown(text)}")
  end

  # A text, or a node that gives one; only `with` may be empty.
  defp operand(op, name, node, env) do
    case node[name] do
      text when is_binary(text) -> text
      part -> part |> Eval.eval(env) |> operand!(op, name)
    end
  end

  defp operand!("", op, name) when name != "with",
    do: fail("#{op} requires a non-empty string in '#{name}'")

  defp operand!(text, _op, _name) when is_binary(text), do: text

  defp operand!(other, op, name),
    do: fail("#{op} requires a string in '#{name}', got #{shown(other)}")

  ## Numbers with so many digits after the point

  # Half away from zero, of the number that a float is.
  defp fixed(value, places) do
    {top, bottom} = ratio(value)
    digits = div(2 * abs(top) * Integer.pow(10, places) + bottom, 2 * bottom)
    text = digits |> Integer.to_string() |> String.pad_leading(places + 1, "0")
    {whole, fraction} = String.split_at(text, byte_size(text) - places)
    sign = if top < 0 and digits > 0, do: "-", else: ""
    sign <> whole <> if(places > 0, do: "." <> fraction, else: "")
  end

  defp ratio(integer) when is_integer(integer), do: {integer, 1}
  defp ratio(float) when is_float(float), do: Float.ratio(float)

  defp ratio(%{__struct__: Decimal, sign: sign, coef: coef, exp: exp}) when is_integer(coef) do
    if exp >= 0,
      do: {sign * coef * Integer.pow(10, exp), 1},
      else: {sign * coef, Integer.pow(10, -exp)}
  end

  defp ratio(other), do: fail("to_text with 'decimals' requires a number, got: #{shown(other)}")

  ## Values as text

  defp part(nil, _op), do: ""
  defp part(text, _op) when is_binary(text), do: text

  defp part(value, op) do
    value |> json() |> IO.iodata_to_binary()
  catch
    :no_json -> fail("#{op} does not support this value: #{shown(value)}")
  end

  defp json(nil), do: "null"
  defp json(boolean) when is_boolean(boolean), do: Atom.to_string(boolean)
  defp json(integer) when is_integer(integer), do: Integer.to_string(integer)
  defp json(float) when is_float(float), do: Float.to_string(float)

  defp json(text) when is_binary(text),
    do: if(String.valid?(text), do: [?", escaped(text), ?"], else: throw(:no_json))

  defp json(map) when is_map(map) and not is_struct(map) do
    entries = for {key, value} <- map |> Map.to_list() |> Enum.sort(), do: entry(key, value)
    [?{, Enum.intersperse(entries, ?,), ?}]
  end

  defp json(list) do
    if proper_list?(list),
      do: [?[, list |> Enum.map(&json/1) |> Enum.intersperse(?,), ?]],
      else: throw(:no_json)
  end

  defp entry(key, value) when is_binary(key), do: [json(key), ?:, json(value)]
  defp entry(_key, _value), do: throw(:no_json)

  @escapes %{?" => ~S(\"), ?\\ => ~S(\\), ?\b => ~S(\b), ?\f => ~S(\f), ?\n => ~S(\n)}
           |> Map.merge(%{?\r => ~S(\r), ?\t => ~S(\t)})

  defp escaped(text) do
    for <<char::utf8 <- text>>, into: "" do
      case @escapes do
        %{^char => escape} -> escape
        _ when char < 0x20 -> "\\u00" <> Base.encode16(<<char>>, case: :lower)
        _ -> <<char::utf8>>
      end
    end
  end

  ## Texts as numbers

  @number ~r/\A\+?-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?\z/

  defp number(number) when is_number(number), do: number

  defp number(text) when is_binary(text) do
    text = String.trim(text)

    if text =~ @number and not String.starts_with?(text, "+-"),
      do: text |> String.trim_leading("+") |> parsed(),
      else: nil
  end

  defp number(_other), do: nil

  # Too large a float is no JSON number that a program can have.
  defp parsed(text) do
    case PtcRunner.Native.json_decode(text, :infinity, {:infinity, 0}) do
      {:ok, number} -> number
      _ -> nil
    end
  end
end

defmodule PtcRunner.SubAgent.Signature.RuleText do
  @moduledoc false
  # The messages about values that break a rule of their type.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.{Base, ErrorText, Renderer}

  # Maximum bytes of a value, and of each value of an enumeration.
  @value 200

  @formats %{
    date: "a date (YYYY-MM-DD)",
    datetime: "a date and time with an offset (YYYY-MM-DDThh:mm:ssZ)",
    time: "a time (hh:mm:ss)",
    full_time: "a time with an offset (hh:mm:ssZ)",
    email: "an email address",
    uri: "a URI with its scheme",
    uuid: "a UUID"
  }

  @doc """
  The message for a value that breaks the rule; `hidden?`: the value is not shown.

      iex> PtcRunner.SubAgent.Signature.RuleText.message({:min, 0}, -5, false)
      "expected at least 0, got -5"

      iex> PtcRunner.SubAgent.Signature.RuleText.message({:enum, ["open", "closed"]}, "opne", false)
      ~s(expected one of "open", "closed", got "opne")

      iex> PtcRunner.SubAgent.Signature.RuleText.message({:min_length, 3}, "ab", true)
      "expected at least 3 characters, got 2"

  """
  @spec message({atom(), term()}, term(), boolean()) :: String.t()
  def message(rule, value, hidden?),
    do: "expected #{wanted(rule)}, got #{got(rule, value, hidden?)}"

  @doc """
  What a rule wants, in words.

      iex> PtcRunner.SubAgent.Signature.RuleText.wanted({:multiple_of, 5})
      "a multiple of 5"

  """
  @spec wanted({atom(), term()}) :: String.t()
  def wanted({:min, bound}), do: "at least #{number(bound)}"
  def wanted({:max, bound}), do: "at most #{number(bound)}"
  def wanted({:exclusive_min, bound}), do: "more than #{number(bound)}"
  def wanted({:exclusive_max, bound}), do: "less than #{number(bound)}"
  def wanted({:multiple_of, unit}), do: "a multiple of #{number(unit)}"
  def wanted({:min_length, count}), do: "at least #{count(count, "character")}"
  def wanted({:max_length, count}), do: "at most #{count(count, "character")}"
  def wanted({:pattern, pattern}), do: "a text that matches #{Shown.text(pattern, @value)}"
  def wanted({:format, format}), do: Map.fetch!(@formats, format)
  def wanted({:enum, values}), do: "one of " <> Shown.few(values, &shown/1)
  def wanted({:one_of, []}), do: "no value"
  def wanted({:one_of, types}), do: "one of " <> Shown.few(types, &type/1) <> told_by(types)
  def wanted({:unique, true}), do: "different items"
  def wanted({:min_items, count}), do: "at least #{count(count, "item")}"
  def wanted({:max_items, count}), do: "at most #{count(count, "item")}"

  defp type(type), do: type |> Base.unnamed() |> Renderer.render_type() |> Shown.cut(@value)

  defp number(%{__struct__: _module} = number), do: PtcRunner.Json.Values.text(number)
  defp number(number), do: Shown.text(number, @value)

  defp count(1, thing), do: "1 #{thing}"
  defp count(count, thing), do: "#{Shown.text(count, @value)} #{thing}s"

  # A number of characters or items is no part of the value.
  defp got({rule, _count}, text, _hidden?) when rule in [:min_length, :max_length],
    do: "#{code_points(text, 0)}"

  defp got({rule, _count}, list, _hidden?) when rule in [:min_items, :max_items],
    do: "#{length(list)}"

  defp got({:unique, true}, _list, true), do: "an item twice"
  defp got({:unique, true}, list, false), do: "#{list |> twice() |> shown()} twice"
  defp got(_rule, value, true), do: ErrorText.kind(value)
  defp got(_rule, %{__struct__: Decimal} = value, false), do: number(value)
  defp got(_rule, value, false), do: shown(value)

  defp shown(value), do: Shown.plain(value, @value)

  defp code_points(<<_::utf8, rest::binary>>, count), do: code_points(rest, count + 1)

  # The second and further bytes of a character do not count in a text that is not UTF-8.
  defp code_points(<<byte, rest::binary>>, count) when byte in 0x80..0xBF,
    do: code_points(rest, count)

  defp code_points(<<_byte, rest::binary>>, count), do: code_points(rest, count + 1)
  defp code_points(<<>>, count), do: count

  # The first item that is equal to an earlier one. Equal numbers of different kinds are found by the sorted list.
  defp twice(list) do
    case Enum.reduce_while(list, %{}, &seen/2) do
      {:twice, item} -> item
      _all_different -> list |> Enum.sort() |> neighbours()
    end
  end

  defp seen(item, seen) do
    if is_map_key(seen, item), do: {:halt, {:twice, item}}, else: {:cont, Map.put(seen, item, 0)}
  end

  defp neighbours([a, b | _rest]) when a == b, do: b
  defp neighbours([_a | rest]), do: neighbours(rest)
  defp neighbours([]), do: nil

  # The field by whose value the types are told apart, and its values.
  defp told_by(types) do
    tags = Enum.map(types, &tags/1)

    with [first | rest] <- tags,
         [name | _] <-
           for({name, _value} <- first, Enum.all?(rest, &List.keymember?(&1, name, 0)), do: name) do
      values = for fields <- tags, {^name, value} <- fields, uniq: true, do: value
      " (by #{Shown.name(name)}: #{Shown.few(values, &Shown.text(&1, 100))})"
    else
      _none -> ""
    end
  end

  defp tags({:where, type, _rules}), do: tags(type)
  defp tags({:struct, _module, type}), do: tags(type)

  defp tags({kind, fields}) when kind in [:map, :closed_map] and is_list(fields),
    do:
      for({name, {:where, _type, rules}} <- fields, [value] <- [rules[:enum]], do: {name, value})

  defp tags(_type), do: []
end

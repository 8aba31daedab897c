defmodule PtcRunner.SubAgent.Signature.Schema.Rules do
  @moduledoc false
  # The rules of a type as keywords of JSON Schema, as far as a provider takes them, and the others in words.

  alias PtcRunner.SubAgent.Signature.RuleText
  alias PtcRunner.SubAgent.Signature.Schema.{Pattern, Provider, Value}

  @numbers %{
    min: "minimum",
    max: "maximum",
    exclusive_min: "exclusiveMinimum",
    exclusive_max: "exclusiveMaximum",
    multiple_of: "multipleOf"
  }

  @counts %{
    min_length: "minLength",
    max_length: "maxLength",
    min_items: "minItems",
    max_items: "maxItems"
  }

  @formats %{
    date: "date",
    datetime: "date-time",
    time: "time",
    full_time: "time",
    email: "email",
    uri: "uri",
    uuid: "uuid"
  }

  # Rules that are about coercion only.
  @silent [:ignore_case, :aliases, :description, :yes_no, :struct, :whole]

  @doc """
  The keywords of these rules beside a type, and what the provider cannot be told, in words.

      iex> alias PtcRunner.SubAgent.Signature.Schema.{Provider, Rules}
      iex> Rules.keywords([min: 0, multiple_of: 0.5, unique: true], :float, Provider.of(:gemini, false))
      {%{"minimum" => 0}, ["a multiple of 0.5", "different items"]}

  """
  @spec keywords(keyword(), term(), Provider.t()) :: {map(), [String.t()]}
  def keywords(rules, type, provider) do
    {keywords, words} =
      Enum.reduce(rules, {%{}, []}, fn rule, done -> rule(rule, type, provider, done) end)

    {keywords, Enum.reverse(words)}
  end

  defp rule({silent, _value}, _type, _provider, done) when silent in @silent, do: done

  # The text of a decimal has no bounds.
  defp rule({rule, _bound} = all, :decimal, _provider, done) when is_map_key(@numbers, rule),
    do: said(done, all)

  defp rule({rule, bound} = all, type, provider, done) when is_map_key(@numbers, rule) do
    case Value.number(bound) do
      {:ok, number} -> bound(all, number, type, provider, done)
      :error -> said(done, all)
    end
  end

  defp rule({:min_items, count} = all, _type, %{most_min_items: most} = provider, done)
       when count > most,
       do: done |> put("minItems", most, provider) |> said(all)

  defp rule({rule, count} = all, _type, provider, done) when is_map_key(@counts, rule),
    do: put(done, @counts[rule], count, provider, all)

  defp rule({:pattern, pattern} = all, _type, provider, done) do
    case Pattern.written(provider.patterns, pattern) do
      {:ok, written} -> put(done, "pattern", written, provider, all)
      :error -> said(done, all)
    end
  end

  defp rule({:format, format} = all, _type, provider, done) do
    name = Map.fetch!(@formats, format)
    if name in provider.formats, do: put(done, "format", name, provider), else: said(done, all)
  end

  defp rule({:unique, true} = all, _type, provider, done),
    do: put(done, "uniqueItems", true, provider, all)

  defp rule({:enum, values} = all, _type, provider, done) do
    case enum(values) do
      [] ->
        said(done, all)

      values ->
        if Enum.all?(values, &(Value.type(&1) in provider.enums)),
          do: put_elem(done, 0, Map.put(elem(done, 0), "enum", values)),
          else: said(done, {:enum, values})
    end
  end

  defp rule({:default, value} = all, _type, %{required: :declared} = provider, done) do
    case Value.json(value) do
      {:ok, json} -> put(done, "default", json, provider, all)
      :error -> said(done, all)
    end
  end

  defp rule({:default, _value} = all, _type, _provider, done), do: said(done, all)

  # Where exclusive bounds are not taken, the inclusive one that is nearest is.
  defp bound({rule, _bound} = all, number, type, provider, done)
       when rule in [:exclusive_min, :exclusive_max] do
    inclusive = if rule == :exclusive_min, do: "minimum", else: "maximum"

    cond do
      takes?(provider, @numbers[rule]) -> put(done, @numbers[rule], number, provider)
      not takes?(provider, inclusive) -> said(done, all)
      type == :int and is_integer(number) -> put(done, inclusive, next(rule, number), provider)
      true -> done |> put(inclusive, number, provider) |> said(all)
    end
  end

  defp bound({rule, _bound} = all, number, _type, provider, done),
    do: put(done, @numbers[rule], number, provider, all)

  defp next(:exclusive_min, number), do: number + 1
  defp next(:exclusive_max, number), do: number - 1

  @doc """
  Whether a schema tells a rule: those about coercion are not for the one who writes the value.

      iex> PtcRunner.SubAgent.Signature.Schema.Rules.told?({:ignore_case, true})
      false

  """
  @spec told?({atom(), term()}) :: boolean()
  def told?({rule, _value}), do: rule not in @silent

  @doc """
  The values of an enumeration as JSON; an atom and its name are one.

      iex> PtcRunner.SubAgent.Signature.Schema.Rules.enum([:a, "a", 1, {2}])
      ["a", 1]

  """
  @spec enum([term()]) :: [term()]
  def enum(values) do
    found = for value <- values, {:ok, json} <- [Value.json(value)], do: json
    Enum.uniq(found)
  end

  @doc """
  A rule in words, in full: a schema must not lose any of it.

      iex> PtcRunner.SubAgent.Signature.Schema.Rules.words({:default, "open"})
      ~s(by default "open")

  """
  @spec words({atom(), term()}) :: String.t()
  def words({:pattern, pattern}), do: "a text that matches " <> Value.text(pattern)
  def words({:enum, values}), do: "one of " <> Enum.map_join(values, ", ", &Value.text/1)
  def words({:default, value}), do: "by default " <> Value.text(value)
  def words(rule), do: RuleText.wanted(rule)

  defp takes?(provider, keyword), do: keyword in provider.keywords

  # Two bounds can become the same keyword.
  defp put({keywords, words} = done, keyword, value, provider) do
    if takes?(provider, keyword),
      do: {Map.update(keywords, keyword, value, &tighter(keyword, &1, value)), words},
      else: done
  end

  defp put(done, keyword, value, provider, rule) do
    if takes?(provider, keyword),
      do: put(done, keyword, value, provider),
      else: said(done, rule)
  end

  defp tighter("minimum", a, b), do: max(a, b)
  defp tighter("maximum", a, b), do: min(a, b)
  defp tighter(_keyword, _a, b), do: b

  defp said({keywords, words}, rule), do: {keywords, [words(rule) | words]}
end

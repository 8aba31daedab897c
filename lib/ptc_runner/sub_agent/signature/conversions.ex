defmodule PtcRunner.SubAgent.Signature.Conversions do
  @moduledoc false
  # The Elixir part of a native coercion: conversions that need Elixir's calendars, and the texts of
  # failed conversions.
  #
  #   walk ──{:ask, questions}──▶ answers ──▶ the same walk again, with the answers
  #
  # A second walk is needed only if a value has dates, or texts that must be dates.

  alias PtcRunner.IsoTime
  alias PtcRunner.Json.Values
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.{Decimals, RuleText, UnknownType}

  @doc "The answers to the questions of a walk."
  @spec answers([tuple()]) :: [{:ok, term(), [String.t()]} | {:error, String.t()}]
  def answers(questions) do
    # Whether there is `Decimal` is asked once.
    loaded? = List.keymember?(questions, :decimal, 0) and Decimals.loaded?()

    Enum.map(questions, fn
      {:decimal, value, hidden?} -> Decimals.decimal(value, hidden?, loaded?)
      question -> convert(question)
    end)
  end

  @doc "The documented result of a coercion."
  def result({:ok, _value, _warnings} = done), do: done
  def result({:refused, failure, hidden?}), do: {:error, reason(failure, hidden?)}
  def result(:too_much), do: {:error, "too many warnings"}
  def result({:unknown, type}), do: UnknownType.raise!(type)

  # `hidden?` marks values in firewalled fields: the texts name their kind, but do not show them.
  defp convert({:datetime, text, hidden?}), do: date_time(text, hidden?)
  defp convert({:date, text, hidden?}), do: date(text, hidden?)
  defp convert({:string, struct, _hidden?}), do: iso8601(struct)
  defp convert({:map, module, _hidden?}), do: template(module)

  # The struct whose fields are replaced by those of a map.
  defp template(module) do
    {:ok, module.__struct__(), []}
  rescue
    _error -> {:error, "#{inspect(module)} is not a struct"}
  end

  defp date(text, hidden?) do
    case Date.from_iso8601(text) do
      {:ok, date} -> {:ok, date, []}
      {:error, _reason} -> {:error, "invalid date#{shown(text, hidden?)}: expected YYYY-MM-DD"}
    end
  end

  defp date_time(text, hidden?) do
    case IsoTime.datetime(text) do
      {:ok, date_time, 0} ->
        {:ok, date_time, ["normalized to UTC"]}

      {:ok, date_time, _offset} ->
        {:ok, date_time, ["normalized to UTC", "non-UTC offset in datetime, normalized to UTC"]}

      {:error, :missing_offset} ->
        {:error,
         "datetime requires a timezone offset (got naive ISO 8601#{shown(text, hidden?)}); " <>
           ~s(use "...Z" or "...+HH:MM")}

      {:error, reason} ->
        {:error, "invalid datetime#{shown(text, hidden?)}: #{reason}"}
    end
  end

  defp shown(_text, true), do: ""
  defp shown(text, false), do: " " <> Shown.text(text)

  defp iso8601(%{__struct__: Decimal} = decimal) do
    case Values.exact_text(decimal) do
      {:ok, text} -> {:ok, text, ["coerced Decimal to string"]}
      :error -> {:error, "cannot coerce to string"}
    end
  end

  # A map that is not a valid date has no ISO 8601 text.
  defp iso8601(%module{} = struct) do
    name = module |> Module.split() |> List.last()
    {:ok, module.to_iso8601(struct), ["coerced #{name} to ISO 8601 string"]}
  rescue
    _ -> {:error, "cannot coerce to string"}
  end

  defp reason({:answered, {rule, value}}, hidden?), do: RuleText.message(rule, value, hidden?)
  defp reason({:answered, reason}, _hidden?), do: reason
  defp reason({:missing, name}, _hidden?), do: "missing required field \"#{Shown.name(name)}\""
  defp reason({:unexpected, _keys}, true), do: "unexpected field(s)"

  defp reason({:unexpected, keys}, false) do
    keys = keys |> Enum.map(&Shown.text(&1, 256)) |> Enum.sort()
    "unexpected field(s): " <> Shown.few(keys, & &1)
  end

  defp reason(:unsupported, _hidden?), do: "unsupported type"

  defp reason({:datetime, _value}, _hidden?) do
    "cannot coerce to datetime — expected ISO 8601 string with offset " <>
      ~s[(e.g. "2026-05-03T09:14:00Z") or %DateTime{}]
  end

  defp reason({:date, _value}, _hidden?),
    do: "cannot coerce to date — expected ISO 8601 (e.g. \"2026-05-03\") or %Date{}"

  defp reason({target, text}, hidden?)
       when is_binary(text) and target in [:int, :float, :bool, :keyword] do
    shown = if hidden?, do: "", else: ~s("#{Shown.cut(text, Shown.value_limit())}" )
    "cannot coerce string #{shown}to #{name(target)}"
  end

  defp reason({target, _value}, _hidden?), do: "cannot coerce to #{name(target)}"

  defp name(:int), do: "integer"
  defp name(:bool), do: "boolean"
  defp name(target), do: Atom.to_string(target)
end

defmodule PtcRunner.Test.SignatureOracle.Coerce do
  @moduledoc false
  # Coercion: returns the value and its warnings, or throws the first reason for failure.

  alias PtcRunner.Test.SignatureOracle.Validate

  @calendars [DateTime, NaiveDateTime, Date, Time]

  def coerce(nil, {:optional, _type}), do: {nil, []}
  def coerce(value, {:optional, type}), do: coerce(value, type)

  def coerce(value, {:list, type}) when is_list(value) do
    if List.improper?(value), do: refuse("cannot coerce to list")
    {values, warnings} = value |> Enum.map(&coerce(&1, type)) |> Enum.unzip()
    {values, Enum.concat(warnings)}
  end

  def coerce(_value, {:list, _type}), do: refuse("cannot coerce to list")

  def coerce(value, {kind, fields})
      when kind in [:map, :closed_map] and is_map(value) and is_list(fields) do
    {result, warnings} =
      Enum.reduce(fields, {%{}, []}, fn {name, type}, {result, warnings} ->
        case {key(value, name), type} do
          {{:ok, key}, type} ->
            {field, more} = field(name, Map.fetch!(value, key), type)
            {Map.put(result, key, field), warnings ++ more}

          {:error, {:optional, _}} ->
            {result, warnings}

          {:error, _} ->
            refuse("missing required field \"#{name}\"")
        end
      end)

    extra = Map.keys(value) -- Map.keys(result)

    if kind == :closed_map and extra != [] do
      refuse(
        "unexpected field(s): " <>
          (extra |> Enum.map(&inspect/1) |> Enum.sort() |> Enum.join(", "))
      )
    end

    {result, warnings}
  end

  def coerce(_value, {kind, _fields}) when kind in [:map, :closed_map],
    do: refuse("cannot coerce to map")

  def coerce(value, :any), do: {value, []}
  def coerce(value, :map) when is_map(value), do: {value, []}
  def coerce(value, :string) when is_binary(value), do: {value, []}

  def coerce(value, :string) when is_atom(value),
    do: {Atom.to_string(value), ["coerced keyword to string"]}

  def coerce(%module{} = value, :string) when module in @calendars do
    {module.to_iso8601(value), ["coerced #{inspect(module)} to ISO 8601 string"]}
  end

  def coerce(value, :int) when is_integer(value), do: {value, []}

  def coerce(value, :int) when is_binary(value) do
    if value =~ ~r/\A[+-]?[0-9]+\z/, do: converted(value, String.to_integer(value), "integer")
    refuse("cannot coerce string \"#{value}\" to integer")
  catch
    {:converted, result} -> result
  end

  def coerce(value, :float) when is_float(value), do: {value, []}

  def coerce(value, :float) when is_integer(value) do
    {value * 1.0, []}
  rescue
    ArithmeticError -> refuse("cannot coerce to float")
  end

  def coerce(value, :float) when is_binary(value) do
    case float(String.trim(value)) do
      {:ok, float} -> converted(value, float, "float")
      :error -> refuse("cannot coerce string \"#{value}\" to float")
    end
  catch
    {:converted, result} -> result
  end

  def coerce(value, :bool) when is_boolean(value), do: {value, []}

  def coerce(value, :bool) when value in ["true", "false"],
    do: {value == "true", ["coerced string \"#{value}\" to boolean"]}

  def coerce(value, :bool) when is_binary(value),
    do: refuse("cannot coerce string \"#{value}\" to boolean")

  def coerce(value, :keyword) when is_atom(value), do: {value, []}

  def coerce(value, :keyword) when is_binary(value) do
    {String.to_existing_atom(value), ["coerced string \"#{value}\" to keyword"]}
  rescue
    _ in [ArgumentError, SystemLimitError] ->
      refuse("cannot coerce string \"#{value}\" to keyword")
  end

  def coerce(value, :datetime) when is_struct(value, DateTime), do: {value, []}

  def coerce(value, :datetime) when is_binary(value) do
    case DateTime.from_iso8601(value) do
      {:ok, at, 0} -> {at, ["normalized to UTC"]}
      {:ok, at, _} -> {at, ["normalized to UTC", "non-UTC offset in datetime, normalized to UTC"]}
      {:error, :missing_offset} -> refuse(naive(value))
      {:error, reason} -> refuse("invalid datetime #{inspect(value)}: #{reason}")
    end
  end

  def coerce(_value, :datetime) do
    refuse(
      "cannot coerce to datetime — expected ISO 8601 string with offset " <>
        ~s[(e.g. "2026-05-03T09:14:00Z") or %DateTime{}]
    )
  end

  def coerce(_value, :int), do: refuse("cannot coerce to integer")
  def coerce(_value, :bool), do: refuse("cannot coerce to boolean")

  def coerce(_value, scalar) when scalar in [:string, :float, :keyword, :map],
    do: refuse("cannot coerce to #{scalar}")

  def coerce(_value, _type), do: refuse("unsupported type")

  # Texts about values in a firewalled field do not show them.
  defp field(name, value, type) do
    {field, warnings} = coerce(value, type)
    {field, if(Validate.hidden?([name]), do: Enum.map(warnings, &hide/1), else: warnings)}
  catch
    {:refused, reason} -> refuse(if(Validate.hidden?([name]), do: hide(reason), else: reason))
  end

  @shown [
    {~r/\A(cannot coerce string|coerced string) ".*" (to \w+)\z/s, "\\1 \\2"},
    {~r/\A(invalid datetime) .*(: \w+)\z/s, "\\1\\2"},
    {~r/\A(.*naive ISO 8601) .*(\); use )/s, "\\1\\2"},
    {~r/\A(unexpected field\(s\)): .*\z/s, "\\1"}
  ]

  @doc "A warning or reason without the value."
  def hide(text),
    do: Enum.reduce(@shown, text, fn {regex, by}, text -> Regex.replace(regex, text, by) end)

  defp naive(value) do
    "datetime requires a timezone offset (got naive ISO 8601 #{inspect(value)}); " <>
      ~s(use "...Z" or "...+HH:MM")
  end

  defp float(text) do
    case Regex.run(~r/\A([+-]?[0-9]+)(\.[0-9]+)?([eE][+-]?[0-9]+)?\z/, text) do
      nil ->
        :error

      [_, whole | rest] ->
        fraction = Enum.find(rest, ".0", &String.starts_with?(&1, "."))
        exponent = Enum.find(rest, "", &String.starts_with?(&1, ["e", "E"]))
        {:ok, :erlang.binary_to_float(whole <> fraction <> exponent)}
    end
  rescue
    ArgumentError -> :error
  end

  defp key(map, name) do
    atom = Enum.find(Map.keys(map), &(is_atom(&1) and Atom.to_string(&1) == name))

    cond do
      atom != nil or (name == "nil" and is_map_key(map, nil)) -> {:ok, atom}
      is_map_key(map, name) -> {:ok, name}
      true -> :error
    end
  end

  defp converted(value, result, target),
    do: throw({:converted, {result, ["coerced string \"#{value}\" to #{target}"]}})

  defp refuse(reason), do: throw({:refused, reason})
end

defmodule PtcRunner.SubAgent.Loop.JsonHandler.Atomizer do
  @moduledoc false
  # Converts keys to existing atoms, and strings to dates and decimals if the type has them.

  alias PtcRunner.IsoTime
  alias PtcRunner.SubAgent.KeyNormalizer
  alias PtcRunner.SubAgent.Loop.JsonHandler.Union
  alias PtcRunner.SubAgent.Signature.{Decimals, Exact}

  # A JSON object never becomes a struct.
  @struct_key "__struct__"

  def safe_to_atom(text) when is_binary(text) do
    String.to_existing_atom(text)
  rescue
    # no such atom, not a text, or longer than any atom
    _error in [ArgumentError, SystemLimitError] -> text
  end

  # Without a signature, a key at the top must be an atom or a string.
  def top(map) when is_map(map) and not is_struct(map),
    do: rekey(map, &top_key/1, &value(&1, nil))

  def top(map) when is_struct(map), do: map |> pairs() |> top()

  # Whether there is `Decimal` is asked once, and only for a type that has decimals.
  def value(value, type) do
    loaded? = Exact.within?(type) and Decimals.loaded?()
    value(value, type, %{loaded: loaded?})
  end

  # `names`: the types of the names around, which are texts; and under an atom, whether there is `Decimal`.
  defp value(map, {:closed_map, fields}, names) when is_map(map),
    do: value(map, {:map, fields}, names)

  defp value(map, {:map, fields}, names) when is_map(map) and not is_struct(map) do
    types = Map.new(fields)

    map
    |> Map.new(fn {key, value} -> {key, value(value, field_type(types, key), names)} end)
    |> rekey(&key/1, & &1)
  end

  defp value(list, {:list, type}, names) when is_list(list), do: each(list, type, names)
  defp value(value, {:optional, type}, names), do: value(value, type, names)

  # A member of an enumeration is compared with all its keys, and not by declared names.
  defp value(value, {:where, type, rules}, names) when is_map(value) or is_list(value) do
    made = value(value, type, names)
    if values = Union.enumeration(rules), do: as_member(made, values), else: made
  end

  defp value(value, {:where, type, _rules}, names), do: value(value, type, names)
  defp value(value, {:struct, _module, type}, names), do: value(value, type, names)

  defp value(map, {:map_of, type}, names) when is_map(map) and not is_struct(map),
    do: rekey(map, &key/1, &value(&1, type, names))

  defp value(value, {:defs, inner, type}, names) when is_map(inner),
    do: value(value, type, Map.merge(names, inner))

  defp value(value, {:ref, name}, names), do: value(value, Union.resolved(name, names), names)

  # A number that was read with its digits.
  defp value(%{__struct__: Decimal} = decimal, {:one_of, _types, _field}, _names), do: decimal

  defp value(value, {:one_of, types, field}, names) when is_list(types) do
    if is_map(value) or is_list(value),
      do: value(value, Union.chosen(value, types, field, names), names),
      else: Union.first(types, names, value, &value(value, &1, names))
  end

  defp value(text, :datetime, _names) when is_binary(text) do
    case IsoTime.datetime(text) do
      {:ok, datetime, _offset} -> datetime
      {:error, _reason} -> text
    end
  end

  defp value(text, :date, _names) when is_binary(text) do
    case Date.from_iso8601(text) do
      {:ok, date} -> date
      {:error, _reason} -> text
    end
  end

  defp value(value, :decimal, names) when is_binary(value) or is_number(value) do
    case Decimals.decimal(value, true, names.loaded) do
      {:ok, decimal, _warnings} -> decimal
      {:error, _reason} -> value
    end
  end

  defp value(%DateTime{} = datetime, :datetime, _names), do: datetime
  defp value(%Date{} = date, :date, _names), do: date
  defp value(%{__struct__: Decimal} = decimal, :decimal, _names), do: decimal

  defp value(struct, type, names) when is_struct(struct),
    do: struct |> pairs() |> value(type, names)

  defp value(map, _type, _names) when is_map(map), do: rekey(map, &key/1, &value(&1, nil, %{}))
  defp value(list, _type, _names) when is_list(list), do: each(list, nil, %{})
  defp value(other, _type, _names), do: other

  # Its keys are texts, as in JSON, whichever atoms exist; unless the enumeration has it with atoms.
  defp as_member(made, values) do
    named = named(made)
    if named !== made and :lists.member(made, values), do: made, else: named
  end

  defp named(map) when is_map(map) and not is_struct(map), do: rekey(map, &name/1, &named/1)
  defp named(list) when is_list(list), do: Enum.map(list, &named/1)
  defp named(other), do: other

  defp name(key) when is_atom(key), do: Atom.to_string(key)
  defp name(key), do: key

  defp field_type(types, key), do: Map.get(types, to_string(key)) || Map.get(types, key)

  defp each([first | rest], type, names),
    do: [value(first, type, names) | each(rest, type, names)]

  defp each([], _type, _names), do: []

  defp rekey(map, key_fun, value_fun), do: KeyNormalizer.rekey(map, key_fun, value_fun)

  defp key(@struct_key), do: @struct_key
  defp key(key) when is_binary(key), do: safe_to_atom(key)
  defp key(key), do: key

  defp top_key(key) do
    case key do
      atom when is_atom(atom) -> atom
      text when is_binary(text) -> key(text)
    end
  end

  # A struct is taken for what it enumerates, as `Map.new/2` does: most raise that they enumerate nothing.
  defp pairs(struct), do: Map.new(struct, fn {key, value} -> {key, value} end)
end

defmodule PtcRunner.Test.AnswerOracle.Fit do
  @moduledoc false
  # Converts keys to atoms and strings to dates, validates, and converts keys to strings again.

  alias PtcRunner.Test.SignatureOracle

  def fit(value, nil), do: {:ok, normal(atoms(value, nil))}

  def fit(value, {:signature, _params, type}) do
    value = atoms(value, type)
    with :ok <- SignatureOracle.validate(value, type), do: {:ok, normal(value)}
  end

  def atoms(value, {:optional, type}), do: atoms(value, type)
  def atoms(list, {:list, type}) when is_list(list), do: Enum.map(list, &atoms(&1, type))

  def atoms(map, {kind, fields}) when is_map(map) and kind in [:map, :closed_map] do
    types = Map.new(fields)
    in_order(map, fn {key, value} -> {atom(key), atoms(value, types[key])} end)
  end

  def atoms(text, :datetime) when is_binary(text) do
    case DateTime.from_iso8601(text) do
      {:ok, datetime, _} -> datetime
      _error -> text
    end
  end

  def atoms(map, _type) when is_map(map),
    do: in_order(map, fn {key, value} -> {atom(key), atoms(value, nil)} end)

  def atoms(list, _type) when is_list(list), do: Enum.map(list, &atoms(&1, nil))
  def atoms(other, _type), do: other

  defp atom("__struct__"), do: "__struct__"

  defp atom(key) do
    String.to_existing_atom(key)
  rescue
    _none -> key
  end

  defp normal(struct) when is_struct(struct), do: struct

  defp normal(map) when is_map(map) do
    in_order(map, fn {key, value} ->
      {key |> to_text() |> String.replace("-", "_"), normal(value)}
    end)
  end

  defp normal(list) when is_list(list), do: Enum.map(list, &normal/1)
  defp normal(other), do: other

  defp to_text(key) when is_atom(key), do: Atom.to_string(key)
  defp to_text(key), do: key

  defp in_order(map, fun), do: map |> Enum.sort() |> Enum.map(fun) |> Enum.into(%{})
end

defmodule PtcRunner.Firewall.Reads do
  @moduledoc false
  # Which names of data a program reads.

  alias PtcRunner.Shown.{Budget, Head}
  alias PtcRunner.SubAgent.Signature.Firewall

  # The fields of an operation that name entries of data.
  @names ["field", "path", "fields", "name", "key"]

  # The fields of `join` that name entries of data; of other operations `left` and `right` are values.
  @joined ["on", "left", "right"]

  # Operations whose value shows fields that the program does not name; `get` does so with a computed key.
  @revealing ["entries", "text", "to_text"]

  # Stands among the names if the program reveals fields, and the data have firewalled ones.
  @fields :fields

  @input "__input"

  # Compared with a constant.
  @compared ~w(eq neq gt gte lt lte contains in)

  @doc "What stands among the names if the program shows fields that it does not name, and the data have firewalled ones."
  @spec fields() :: :fields
  def fields, do: @fields

  @doc "Whether a part of a program shows fields that it does not name."
  @spec revealed?(term(), Budget.t()) :: boolean()
  def revealed?(node, left), do: any?(node, left, &revealing?/1)

  defp revealing?(%{"op" => op}) when op in @revealing, do: true
  defp revealing?(%{"op" => "get", "key" => key}), do: is_map(key) or is_list(key)
  defp revealing?(_node), do: false

  @doc "Whether a part of a program compares a value with one that is not constant."
  @spec compares?(term(), Budget.t()) :: boolean()
  def compares?(node, left), do: any?(node, left, &comparing?/1)

  defp comparing?(%{"op" => op, "value" => value}) when op in @compared,
    do: is_map(value) or is_list(value)

  defp comparing?(_node), do: false

  # Whether something holds for one of the objects in a part of a program.
  defp any?(node, left, holds?) when is_map(node) do
    Budget.spend!(left)
    holds?.(node) or Enum.any?(:maps.values(node), &any?(&1, left, holds?))
  end

  defp any?([first | rest], left, holds?) do
    Budget.spend!(left)
    any?(first, left, holds?) or any?(rest, left, holds?)
  end

  defp any?(_constant, _left, _holds?), do: false

  @doc "The texts in a part of a program, keys too, with those that are known."
  @spec texts(term(), %{String.t() => true}, Budget.t()) :: %{String.t() => true}
  def texts(text, known, _left) when is_binary(text), do: Map.put(known, text, true)

  def texts(map, known, left) when is_map(map) do
    Budget.spend!(left)

    Enum.reduce(:maps.to_list(map), known, fn {key, value}, known ->
      texts(value, texts(key, known, left), left)
    end)
  end

  def texts([first | rest], known, left) do
    Budget.spend!(left)
    texts(rest, texts(first, known, left), left)
  end

  def texts(_other, known, _left), do: known

  @doc "Whether a part of a program reads one of these names, or a firewalled one."
  @spec touches?(term(), [String.t() | :fields], Budget.t()) :: boolean()
  def touches?(%{"op" => "literal"}, names, _left), do: @input in names

  def touches?(node, names, left) when is_map(node) do
    Budget.spend!(left)
    operation?(node, names, left) or Enum.any?(:maps.values(node), &touches?(&1, names, left))
  end

  def touches?([first | rest], names, left) do
    Budget.spend!(left)
    touches?(first, names, left) or touches?(rest, names, left)
  end

  def touches?(_constant, _names, _left), do: false

  defp operation?(%{"op" => op} = node, names, left) when is_binary(op) do
    @input in names or
      (@fields in names and revealing?(node)) or
      Enum.any?(@names, &named?(Map.get(node, &1), names)) or
      (op == "join" and Enum.any?(@joined, &named?(Map.get(node, &1), names))) or
      (op == "rename" and renames?(node["fields"], names)) or
      (op == "sort_by" and sorts?(node["by"], names)) or
      (op in @compared and (guess?(node["value"], left) or guess?(node["left"], left)))
  end

  defp operation?(_object, names, _left), do: @input in names

  defp renames?(%{} = fields, names), do: Enum.any?(:maps.keys(fields), &named?(&1, names))
  defp renames?(_other, _names), do: false

  defp sorts?([%{"field" => name} | rest], names), do: named?(name, names) or sorts?(rest, names)
  defp sorts?([_other | rest], names), do: sorts?(rest, names)
  defp sorts?(_other, _names), do: false

  defp named?([name | rest], names), do: named?(name, names) or named?(rest, names)
  defp named?(@input, names), do: @input in names
  defp named?(name, names), do: name in names or Firewall.hidden?(name)

  @doc "Whether a constant has a firewalled key: comparing with it would test a guess."
  @spec guess?(term(), Budget.t()) :: boolean()
  def guess?(map, left) when is_map(map) do
    Budget.spend!(left)

    Enum.any?(:maps.to_list(map), fn {key, value} ->
      (key != @input and Head.hidden?(key)) or guess?(value, left)
    end)
  end

  def guess?([first | rest], left) do
    Budget.spend!(left)
    guess?(first, left) or guess?(rest, left)
  end

  def guess?(_leaf, _left), do: false
end

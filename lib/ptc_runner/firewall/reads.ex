defmodule PtcRunner.Firewall.Reads do
  @moduledoc false
  # Which names of data a program reads.

  alias PtcRunner.Schema.Table
  alias PtcRunner.Shown.{Budget, Head}
  alias PtcRunner.SubAgent.Signature.Firewall

  # The fields of an operation that name entries of data.
  @names ["field", "path", "fields", "name", "key"]

  # The fields of operations that join two lists; of other operations `left` and `right` are values.
  @joined ["on", "left", "right"]

  # Operations of these shapes show fields that the program does not name. One that reads at a computed key does, too.
  @revealing ["entries", "shown"]

  # Stands among the names if the program reveals fields, and the data have firewalled ones.
  @fields :fields

  @input "__input"

  @doc "What stands among the names if the program shows fields that it does not name, and the data have firewalled ones."
  @spec fields() :: :fields
  def fields, do: @fields

  @doc "Whether a part of a program shows fields that it does not name."
  @spec revealed?(term(), Budget.t()) :: boolean()
  def revealed?(node, left), do: any?(node, left, &revealing?/1)

  defp revealing?(%{"op" => op} = node) do
    case {Table.shape(op), node} do
      {{shape, _fields}, _node} when shape in @revealing -> true
      {{"read", _fields}, %{"key" => key}} -> is_map(key) or is_list(key)
      _other -> false
    end
  end

  defp revealing?(_node), do: false

  @doc "The names of the operations that show fields that a program does not name, each in quotes, as texts of programs have them."
  @spec revealing_names() :: [String.t()]
  def revealing_names, do: Enum.map(Table.of_shapes(@revealing), &~s("#{&1}"))

  @doc "Whether a part of a program compares a value with one that is not constant."
  @spec compares?(term(), Budget.t()) :: boolean()
  def compares?(node, left), do: any?(node, left, &comparing?/1)

  defp comparing?(%{"op" => op, "value" => value}),
    do: (is_map(value) or is_list(value)) and compared?(op)

  defp comparing?(_node), do: false

  # Whether an operation compares any values, and not only texts.
  defp compared?(op), do: match?({"compared", fields} when is_list(fields), Table.shape(op))

  # Whether something holds for one of the objects in a part of a program. Nothing inside of an object is looked at of which it says
  # `:constant`.
  defp any?(node, left, holds?) when is_map(node) do
    Budget.spend!(left)

    case holds?.(node) do
      :constant -> false
      holds -> holds or Enum.any?(:maps.values(node), &any?(&1, left, holds?))
    end
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
  def touches?(node, names, left) do
    any?(node, left, fn object ->
      cond do
        not constant?(object) -> operation?(object, names, left)
        @input in names -> true
        true -> :constant
      end
    end)
  end

  defp constant?(%{"op" => op}), do: match?({"constant", _fields}, Table.shape(op))
  defp constant?(_object), do: false

  defp operation?(%{"op" => op} = node, names, left) when is_binary(op) do
    shape = with {shape, _fields} <- Table.shape(op), do: shape

    @input in names or
      (@fields in names and revealing?(node)) or
      Enum.any?(@names, &named?(Map.get(node, &1), names)) or
      (shape == "joined" and Enum.any?(@joined, &named?(Map.get(node, &1), names))) or
      (shape == "renamed" and renames?(node["fields"], names)) or
      (shape == "sorted" and sorts?(node["by"], names)) or
      (compared?(op) and (guess?(node["value"], left) or guess?(node["left"], left)))
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
  def guess?(constant, left) do
    any?(constant, left, fn object ->
      Enum.any?(:maps.keys(object), &(&1 != @input and Head.hidden?(&1)))
    end)
  end
end

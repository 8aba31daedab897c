defmodule PtcRunner.SubAgent.Signature.FromSchema.Discriminator do
  @moduledoc false
  # The field that tells of which type of a union a value is.

  @doc """
  The field of all types that take maps, each of which has other values there; nil if there is none.

      iex> types = for kind <- ["card", "iban"], do: {:map, [{"kind", {:where, :string, [enum: [kind]]}}]}
      iex> PtcRunner.SubAgent.Signature.FromSchema.Discriminator.of(types)
      "kind"

  """
  @spec of([term()]) :: String.t() | nil
  def of(types) do
    case for type <- types, maps?(type), do: fields(type) do
      [[_ | _] = first, _ | _] = maps ->
        if Enum.all?(maps),
          do: Enum.find_value(first, fn {name, _type} -> if tells?(name, maps), do: name end)

      _few ->
        nil
    end
  end

  defp maps?({:where, type, _rules}), do: maps?(type)
  defp maps?({:list, _type}), do: false
  defp maps?(type), do: type not in [:string, :int, :float, :number, :bool]

  defp fields({:where, type, _rules}), do: fields(type)
  defp fields({:open_map, fields, _others}), do: fields
  defp fields({kind, fields}) when kind in [:map, :closed_map], do: fields
  defp fields(_type), do: nil

  defp tells?(name, maps) do
    values =
      Enum.map(maps, fn fields ->
        case List.keyfind(fields, name, 0) do
          {_name, {:where, _type, rules}} -> rules[:enum]
          _other -> nil
        end
      end)

    Enum.all?(values) and
      (
        all = Enum.concat(values)
        Enum.all?(all, &is_binary/1) and all == Enum.uniq(all)
      )
  end
end

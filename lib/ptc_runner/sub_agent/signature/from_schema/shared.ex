defmodule PtcRunner.SubAgent.Signature.FromSchema.Shared do
  @moduledoc false
  # The fields that a value of a type may have, where the type is one of several objects.

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.FromSchema.{Opened, Size}
  alias PtcRunner.SubAgent.Signature.Type

  # Parts of named types that may be repeated around the fields of an object.
  @most 20_000

  @doc """
  The fields of a type. One that not all of the objects require may be missing.

      iex> card = {:map, [{"kind", {:where, :string, [enum: ["card"]]}}, {"no", :string}]}
      iex> cash = {:closed_map, [{"kind", {:where, :string, [enum: ["cash"]]}}]}
      iex> PtcRunner.SubAgent.Signature.FromSchema.Shared.fields({:one_of, [card, cash], "kind"})
      [{"kind", {:where, :string, [enum: ["card", "cash"]]}}, {"no", {:optional, :string}}]

  """
  @spec fields(Opened.type()) :: [{String.t(), Signature.type()}]
  def fields(type), do: type |> objects(%{}, 0) |> joined()

  # The fields of each of the objects; the names that types have are defined around theirs.
  defp objects(_type, _names, 200), do: [[]]
  defp objects({:where, type, _}, names, depth), do: objects(type, names, depth + 1)

  defp objects({:defs, inner, type}, names, depth),
    do: objects(type, Map.merge(names, inner), depth + 1)

  defp objects({:ref, name}, names, depth),
    do: objects(Map.get(names, name, :any), names, depth + 1)

  defp objects({:one_of, types, _field}, names, depth),
    do: Enum.flat_map(types, &objects(&1, names, depth + 1))

  defp objects({:open_map, fields, _others}, names, _depth), do: [around(fields, names)]

  defp objects({kind, fields}, names, _depth) when kind in [:map, :closed_map],
    do: [around(fields, names)]

  defp objects(_any, _names, _depth), do: [[]]

  defp around(fields, names) do
    fields = for {name, type} <- fields, do: {name, Opened.bare(type)}
    named = Enum.count(fields, fn {_name, type} -> names != %{} and named?(type) end)

    if named * parts(names) > @most do
      for {name, type} <- fields, do: {name, unnamed(type)}
    else
      names = Map.new(names, fn {name, type} -> {name, Opened.bare(type)} end)
      for {name, type} <- fields, do: {name, defined(type, names)}
    end
  end

  # The parts of the types of names, counted to the limit.
  defp parts(names) do
    Enum.reduce_while(names, 0, fn {_name, type}, parts ->
      case Size.left(type, @most - parts) do
        :larger -> {:halt, @most + 1}
        left -> {:cont, @most - left}
      end
    end)
  end

  # What has a name is any value: the whole type, which calls are checked against, has the rest.
  defp unnamed({:ref, _name}), do: :any
  defp unnamed(type), do: Type.map(type, &unnamed/1)

  defp defined(type, names) when names == %{}, do: type
  defp defined({:optional, type}, names), do: {:optional, defined(type, names)}
  defp defined(type, names), do: if(named?(type), do: {:defs, names, type}, else: type)

  defp named?(type), do: Type.any?(type, &match?({:ref, _name}, &1))

  defp joined([fields]), do: fields

  defp joined(all) do
    count = length(all)

    all
    |> Enum.concat()
    |> Enum.group_by(&elem(&1, 0), &elem(&1, 1))
    |> Enum.map(fn {name, types} -> {name, field(types, count)} end)
    |> Enum.sort_by(&elem(&1, 0))
  end

  defp field(types, count) do
    optional? = length(types) < count or Enum.any?(types, &match?({:optional, _}, &1))
    type = types |> Enum.map(&Type.required/1) |> Enum.uniq() |> one()
    if optional?, do: {:optional, type}, else: type
  end

  defp one([type]), do: type

  defp one(types) do
    case Enum.map(types, &enumerated/1) do
      [{type, _values} | _] = all ->
        if Enum.all?(all, &match?({^type, _}, &1)),
          do: {:where, type, [enum: all |> Enum.flat_map(&elem(&1, 1)) |> Enum.uniq()]},
          else: {:one_of, types, nil}

      _other ->
        {:one_of, types, nil}
    end
  end

  defp enumerated({:where, type, rules}) do
    case Keyword.delete(rules, :description) do
      [enum: values] -> {type, values}
      _others -> nil
    end
  end

  defp enumerated(_type), do: nil
end

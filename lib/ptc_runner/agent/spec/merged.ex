defmodule PtcRunner.Agent.Spec.Merged do
  @moduledoc false
  # One type for the members of a union, or for the clauses of a spec, as far as there is one.

  alias PtcRunner.SubAgent.Signature.Type

  @typedoc "See `PtcRunner.Agent.Spec`: a type, and how a value is passed."
  @type member :: {term(), term()}

  @doc """
  The type and the form of a union. Maps of known keys become one map, in which a key that is not required by each
  of them may be missing.

      iex> PtcRunner.Agent.Spec.Merged.of([{:keyword, {:atoms, [:open]}}, {:keyword, {:atoms, [:closed]}}])
      {:keyword, {:atoms, [:open, :closed]}}

      iex> PtcRunner.Agent.Spec.Merged.of([{:int, :same}, {:string, :same}])
      {:any, :same}

      iex> id = {{:map, [{"id", :int}]}, {:map, nil, [{"id", :id, :same, false, false}]}}
      iex> name = {{:map, [{"name", :string}]}, {:map, nil, [{"name", :name, :same, false, false}]}}
      iex> PtcRunner.Agent.Spec.Merged.of([id, name])
      {{:map, [{"id", {:optional, :int}}, {"name", {:optional, :string}}]},
       {:map, nil, [{"id", :id, :same, true, false}, {"name", :name, :same, true, false}]}}

  """
  @spec of([member(), ...]) :: member()
  def of([member]), do: member

  def of(members) do
    cond do
      match?([_], Enum.uniq(members)) -> hd(members)
      Enum.all?(members, &match?({:keyword, {:atoms, _}}, &1)) -> {:keyword, atoms(members)}
      same_struct?(members) -> maps(members)
      true -> {:any, :same}
    end
  end

  defp atoms(members) do
    atoms = Enum.flat_map(members, fn {_type, {:atoms, atoms}} -> atoms end)
    {:atoms, Enum.uniq(atoms)}
  end

  defp same_struct?([{_type, {:map, struct, _}} | _] = members),
    do: Enum.all?(members, &match?({{:map, _}, {:map, ^struct, _}}, &1))

  defp same_struct?(_members), do: false

  defp maps([{_type, {:map, struct, _}} | _] = members) do
    fields = for {{:map, types}, {:map, _, forms}} <- members, do: Enum.zip(types, forms)
    all = Enum.concat(fields)
    count = length(members)

    {types, forms} =
      all
      |> Enum.uniq_by(fn {{name, _type}, _form} -> name end)
      |> Enum.map(fn {{name, _type}, _form} ->
        all |> Enum.filter(fn {{other, _}, _} -> other == name end) |> field(count)
      end)
      |> Enum.unzip()

    {{:map, types}, {:map, struct, forms}}
  end

  defp field([{{name, _type}, {name, key, _form, _missing?, _nil?}} | _] = found, count) do
    {type, form} =
      of(for {{_, type}, {_, _, form, _, _}} <- found, do: {Type.required(type), form})

    missing? = length(found) < count or Enum.any?(found, fn {_, field} -> elem(field, 3) end)
    nil? = type == :any or Enum.any?(found, fn {_, field} -> elem(field, 4) end)
    type = if missing? or nil?, do: optional(type), else: type
    {{name, type}, {name, key, form, missing?, nil?}}
  end

  defp optional(:any), do: :any
  defp optional(type), do: {:optional, type}
end

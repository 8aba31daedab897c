defmodule PtcRunner.SubAgent.Signature.FromSchema.Opened do
  @moduledoc false
  # Types in which an object may have other fields of a type: `{:open_map, fields, others}`. No signature has them. A value is
  # checked against the type without the others, and then these are.

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Coercion, Type, Validator}

  @type type :: Signature.type() | {:open_map, [{String.t(), term()}], term()} | term()

  # Maximum number of errors about other fields.
  @most 20

  @doc """
  The type without the others.

      iex> PtcRunner.SubAgent.Signature.FromSchema.Opened.bare({:list, {:open_map, [{"a", :int}], :string}})
      {:list, {:map, [{"a", :int}]}}

  """
  @spec bare(type()) :: Signature.type()
  def bare(type), do: map(type, fn {:open_map, fields, _others} -> {:map, fields} end)

  @doc "Whether a type has such objects."
  @spec any?(type()) :: boolean()
  def any?(type), do: Type.any?(type, &match?({:open_map, _fields, _others}, &1))

  defp map({:open_map, fields, others}, fun), do: fun.({:open_map, fields(fields, fun), others})
  defp map(type, fun), do: Type.map(type, &map(&1, fun))

  defp fields(fields, fun), do: for({name, type} <- fields, do: {name, map(type, fun)})

  @doc """
  A valid value of the type without the others, with its other fields coerced; or the errors of these.

      iex> alias PtcRunner.SubAgent.Signature.FromSchema.Opened
      iex> type = {:map, [{"by", {:open_map, [{"a", :int}], :int}}]}
      iex> Opened.coerced(%{"by" => %{"a" => 1, "b" => "2"}}, type)
      {:ok, %{"by" => %{"a" => 1, "b" => 2}}}
      iex> Opened.coerced(%{"by" => %{"a" => 1, "b" => "x"}}, type)
      {:error, [%{path: ["by", "b"], message: "expected int, got string"}]}

  """
  @spec coerced(term(), type()) :: {:ok, term()} | {:error, [map()]}
  def coerced(value, type) do
    case walk(value, type, %{}, [], []) do
      {value, []} -> {:ok, value}
      {_value, errors} -> {:error, errors |> Enum.reverse() |> Enum.take(@most)}
    end
  end

  defp walk(nil, {:optional, _type}, _names, _at, errors), do: {nil, errors}
  defp walk(value, {:optional, type}, names, at, errors), do: walk(value, type, names, at, errors)
  defp walk(value, {:where, type, _}, names, at, errors), do: walk(value, type, names, at, errors)

  defp walk(value, {:defs, inner, type}, names, at, errors),
    do: walk(value, type, Map.merge(names, inner), at, errors)

  defp walk(value, {:ref, name}, names, at, errors),
    do: walk(value, Map.get(names, name, :any), names, at, errors)

  defp walk(value, {:one_of, types, _field}, names, at, errors) do
    around = &if(names == %{}, do: &1, else: {:defs, names, &1})

    case Enum.find(types, &(Validator.exact(value, &1 |> around.() |> bare()) == :ok)) do
      nil -> {value, errors}
      type -> walk(value, type, names, at, errors)
    end
  end

  defp walk([_ | _] = list, {:list, type}, names, at, errors) do
    if any?(type) or match?({:ref, _}, type) do
      {items, {errors, _}} =
        Enum.map_reduce(list, {errors, 0}, fn item, {errors, index} ->
          {item, errors} = walk(item, type, names, [index | at], errors)
          {item, {errors, index + 1}}
        end)

      {items, errors}
    else
      {list, errors}
    end
  end

  defp walk(%{} = map, {:map_of, type}, names, at, errors),
    do: each(map, fn _key -> type end, names, at, errors)

  defp walk(%{} = map, {:open_map, fields, others}, names, at, errors) do
    known = Map.new(fields)
    declared? = &is_map_key(known, key(&1))
    {map, errors} = each(map, &if(declared?.(&1), do: known[key(&1)]), names, at, errors)

    Enum.reduce(map, {map, errors}, fn {key, value}, {map, errors} ->
      if declared?.(key) or length(errors) > @most,
        do: {map, errors},
        else: other(map, key, value, {:defs, names, others}, {at, errors})
    end)
  end

  defp walk(%{} = map, {kind, fields}, names, at, errors) when kind in [:map, :closed_map] do
    known = Map.new(fields)
    each(map, &Map.get(known, key(&1)), names, at, errors)
  end

  defp walk(value, _type, _names, _at, errors), do: {value, errors}

  defp each(map, type_of, names, at, errors) when not is_struct(map) do
    Enum.reduce(map, {map, errors}, fn {key, value}, {map, errors} ->
      case walk(value, type_of.(key), names, [key | at], errors) do
        {^value, errors} -> {map, errors}
        {value, errors} -> {Map.put(map, key, value), errors}
      end
    end)
  end

  defp each(map, _type_of, _names, _at, errors), do: {map, errors}

  # The value of another field.
  defp other(map, key, value, {:defs, names, others}, {at, errors}) do
    type = if names == %{}, do: bare(others), else: bare({:defs, names, others})

    with {:ok, made, _warnings} <- Coercion.data(value, type),
         {made, errors} <- walk(made, others, names, [key | at], errors) do
      {if(made === value, do: map, else: Map.put(map, key, made)), errors}
    else
      {:error, found} ->
        path = Enum.reverse([key | at])
        found = if is_binary(found), do: [%{path: [], message: found}], else: found
        {map, for(error <- found, do: %{error | path: path ++ error.path}) ++ errors}
    end
  end

  defp key(atom) when is_atom(atom), do: Atom.to_string(atom)
  defp key(key), do: key
end

defmodule PtcRunner.Json.Check.Constants do
  @moduledoc false
  # Constants in the result of a program that break a rule of its type, or are no dates or decimals. The native check knows
  # the kinds of values and the enumerations.

  alias PtcRunner.SubAgent.Signature.{Base, Coercion, Validator}

  # Maximum number of findings, and nesting of types that are looked at.
  @most 20
  @deepest 100

  @made [:date, :datetime, :decimal]

  @typedoc "Whether it is certain, the path in the result, and the message of the validation."
  @type found :: {:error | :warning, [String.t() | :each], String.t()}

  @doc """
  The constants that do not fit, by the type that the program has and the type that its result must have.

      iex> has = {:map, [{"n", {:literal, 0}}, {"at", {:union, [{:literal, "2024-02-30"}, {:literal, "2024-02-29"}]}}]}
      iex> PtcRunner.Json.Check.Constants.found(has, {:map, [{"n", {:where, :int, [min: 1]}}, {"at", :date}]})
      [{:error, ["n"], "expected at least 1, got 0"}, {:warning, ["at"], "expected a date, got \\"2024-02-30\\""}]

  """
  @spec found(term(), term()) :: [found()]
  def found(has, type), do: has |> walk(type, %{}, {[], 0}) |> Enum.take(@most)

  @doc """
  Whether a type has rules, dates or decimals.

      iex> PtcRunner.Json.Check.Constants.concern?({:map, [{"at", {:optional, :date}}]})
      true

      iex> PtcRunner.Json.Check.Constants.concern?({:list, {:map, [{"id", :int}]}})
      false

  """
  @spec concern?(term()) :: boolean()
  def concern?({:where, _type, _rules}), do: true

  def concern?({:defs, names, type}),
    do: concern?(type) or Enum.any?(Map.values(names), &concern?/1)

  def concern?({:struct, _module, type}), do: concern?(type)
  def concern?({:one_of, types, _field}), do: Enum.any?(types, &concern?/1)
  def concern?({kind, type}) when kind in [:optional, :list, :map_of], do: concern?(type)

  def concern?({kind, fields}) when kind in [:map, :closed_map],
    do: Enum.any?(fields, fn {_name, type} -> concern?(type) end)

  def concern?(type), do: type in @made

  defp walk(_has, _type, _names, {_path, depth}) when depth > @deepest, do: []

  defp walk(has, {:defs, inner, type}, names, at) when is_map(inner),
    do: walk(has, type, Map.merge(names, inner), deeper(at))

  defp walk(has, {:ref, name}, names, at), do: walk(has, Map.get(names, name), names, deeper(at))
  defp walk({:literal, nil}, {:optional, _type}, _names, _at), do: []

  defp walk({:literal, nil} = has, {:where, type, rules}, names, at) do
    if Keyword.has_key?(rules, :default), do: [], else: walk(has, type, names, deeper(at))
  end

  defp walk(has, {:optional, type}, names, at), do: walk(has, type, names, deeper(at))
  defp walk({:optional, has}, type, names, at), do: has |> walk(type, names, at) |> maybe()

  defp walk({:union, members}, type, names, at) do
    case Enum.map(members, &walk(&1, type, names, deeper(at))) do
      all when all == [] -> []
      all -> if Enum.all?(all, &certain?/1), do: hd(all), else: all |> Enum.concat() |> maybe()
    end
  end

  defp walk({:literal, value}, type, names, {path, _depth}),
    do: for(message <- judged(value, type, names), do: {:error, Enum.reverse(path), message})

  # No value of this kind becomes a date or a decimal.
  defp walk(has, type, _names, {path, _depth}) when type in @made do
    if kind = other(has, type),
      do: [{:error, Enum.reverse(path), "expected a #{type}, got #{kind}"}],
      else: []
  end

  defp walk(has, {:where, type, _rules}, names, at), do: walk(has, type, names, deeper(at))
  defp walk(has, {:struct, _module, type}, names, at), do: walk(has, type, names, deeper(at))

  # A list may have no items.
  defp walk({:list, has}, {:list, type}, names, {path, depth}),
    do: has |> walk(type, names, {[:each | path], depth + 1}) |> maybe()

  defp walk({kind, fields}, {of, types}, names, {path, depth})
       when kind in [:map, :open_map] and of in [:map, :closed_map] do
    for {name, has} <- fields,
        {^name, type} <- [List.keyfind(types, name, 0)],
        found <- walk(has, type, names, {[name | path], depth + 1}),
        do: found
  end

  defp walk({kind, fields}, {:map_of, type}, names, {path, depth})
       when kind in [:map, :open_map] do
    for {name, has} <- fields,
        found <- walk(has, type, names, {[name | path], depth + 1}),
        do: found
  end

  defp walk(_has, _type, _names, _at), do: []

  # What a value is that cannot be converted; nil if it may be. A map without fields may be a struct.
  defp other(:bool, _type), do: "a boolean"
  defp other({:list, _type}, _made), do: "a list"
  defp other({kind, [_ | _]}, _made) when kind in [:map, :closed_map], do: "an object"
  defp other(:int, type) when type != :decimal, do: "an integer"
  defp other(:float, type) when type != :decimal, do: "a number"
  defp other(_has, _type), do: nil

  defp deeper({path, depth}), do: {path, depth + 1}

  defp certain?(found), do: Enum.any?(found, &match?({:error, _path, _message}, &1))
  defp maybe(found), do: for({_certain, path, message} <- found, do: {:warning, path, message})

  # The messages about a constant whose kind is right.
  defp judged(value, type, names) do
    case plain(type, names, @deepest) do
      scalar when scalar in @made -> made(value, scalar, around(type, names))
      scalar when is_atom(scalar) and scalar != nil -> ruled(value, scalar, around(type, names))
      _other -> []
    end
  end

  defp made(value, scalar, type) do
    case Coercion.coerce(value, scalar) do
      {:ok, made, _warnings} -> messages(made, type)
      {:error, _reason} -> ["expected a #{scalar}, got #{shown(value)}"]
    end
  end

  defp ruled(value, scalar, type),
    do: if(Validator.validate(value, scalar) == :ok, do: messages(value, type), else: [])

  defp messages(value, type) do
    case Validator.validate(value, type) do
      :ok -> []
      {:error, errors} -> errors |> Enum.take(1) |> Enum.map(& &1.message)
    end
  end

  defp shown(value), do: PtcRunner.Shown.text(value, 200)

  defp around(type, names) when names == %{}, do: type
  defp around(type, names), do: {:defs, names, type}

  # The type without rules and names; nil if it has parts.
  defp plain(_type, _names, 0), do: nil
  defp plain({:ref, name}, names, left), do: plain(Map.get(names, name), names, left - 1)
  defp plain({:optional, type}, names, left), do: plain(type, names, left - 1)
  defp plain({:where, type, _rules}, names, left), do: plain(type, names, left - 1)
  defp plain(type, _names, _left), do: if(is_atom(Base.bare(type)), do: Base.bare(type))
end

defmodule PtcRunner.Test.SignatureOracle.Input do
  @moduledoc false
  # Coerces and validates arguments of a tool together.

  alias PtcRunner.Test.SignatureOracle.{Coerce, Validate}

  @doc """
  The value, its warnings and its errors; `path` is its path, innermost first, `key` finds the key of a name.
  """
  def walk(value, type, path, key \\ &Validate.key/2)

  def walk(nil, {:optional, _type}, _path, _key), do: {nil, [], []}
  def walk(value, {:optional, type}, path, key), do: walk(value, type, path, key)

  def walk(value, {:list, type}, path, key) when is_list(value) do
    if List.improper?(value) do
      {value, [], Validate.errors(value, {:list, type}, path)}
    else
      walked =
        for {element, index} <- Enum.with_index(value),
            do: walk(element, type, [index | path], key)

      {for({value, _, _} <- walked, do: value), Enum.flat_map(walked, &elem(&1, 1)),
       Enum.flat_map(walked, &elem(&1, 2))}
    end
  end

  def walk(value, {kind, fields}, path, key)
      when kind in [:map, :closed_map] and is_map(value) and not is_struct(value) do
    found = for {name, type} <- fields, do: {name, type, key.(value, name)}

    {result, warnings, errors} =
      Enum.reduce(found, {%{}, [], []}, fn
        {_name, {:optional, _}, :error}, walked ->
          walked

        {name, _type, :error}, {result, warnings, errors} ->
          {result, warnings, errors ++ [Validate.missing([name | path])]}

        {name, type, {:ok, found}}, {result, warnings, errors} ->
          {field, more, wrong} = walk(Map.fetch!(value, found), type, [name | path], key)
          {Map.put(result, found, field), warnings ++ more, errors ++ wrong}
      end)

    {result, warnings, errors ++ Validate.extra(kind, found, value, path)}
  end

  def walk(value, {kind, _} = type, path, _key) when kind in [:list, :map, :closed_map],
    do: {value, [], Validate.errors(value, type, path)}

  def walk(value, :map, path, _key), do: {value, [], Validate.errors(value, :map, path)}

  def walk(value, scalar, path, _key) do
    {value, warnings} = Coerce.coerce(value, scalar)
    {value, said(warnings, path), []}
  catch
    {:refused, _reason} -> {value, [], [Validate.refused(path, wanted(scalar), value)]}
  end

  defp said(warnings, path),
    do: if(Validate.hidden?(path), do: Enum.map(warnings, &Coerce.hide/1), else: warnings)

  defp wanted(:datetime), do: "datetime (%DateTime{})"
  defp wanted(scalar), do: Atom.to_string(scalar)
end

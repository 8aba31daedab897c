defmodule PtcRunner.Test.SignatureOracle.Validate do
  @moduledoc false
  # Validation: all errors, with their paths.

  @unexpected "unexpected field — schema disallows additional properties"

  @doc "The errors of a value; `path` is its path, innermost first."
  def errors(nil, {:optional, _type}, _path), do: []
  def errors(value, {:optional, type}, path), do: errors(value, type, path)

  def errors(value, {:list, type}, path) when is_list(value) do
    if List.improper?(value) do
      [error(path, "expected list, got improper list")]
    else
      value
      |> Enum.with_index()
      |> Enum.flat_map(fn {element, index} -> errors(element, type, [index | path]) end)
    end
  end

  def errors(value, {:list, _type}, path), do: [refused(path, "list", value)]

  def errors(value, {kind, fields}, path)
      when kind in [:map, :closed_map] and is_map(value) and not is_struct(value) do
    found = for {name, type} <- fields, do: {name, type, key(value, name)}
    Enum.flat_map(found, &field(&1, value, path)) ++ extra(kind, found, value, path)
  end

  def errors(value, {kind, _fields}, path) when kind in [:map, :closed_map],
    do: [refused(path, "map", value)]

  def errors(value, :datetime, path) do
    if is_struct(value, DateTime),
      do: [],
      else: [refused(path, "datetime (%DateTime{})", value)]
  end

  def errors(value, scalar, path) do
    if accepts?(scalar, value), do: [], else: [refused(path, Atom.to_string(scalar), value)]
  end

  defp field({name, type, {:ok, key}}, map, path),
    do: errors(Map.fetch!(map, key), type, [name | path])

  defp field({_name, {:optional, _}, :error}, _map, _path), do: []
  defp field({name, _type, :error}, _map, path), do: [missing([name | path])]

  @doc "The error of a missing field."
  def missing(path), do: error(path, "expected field, got nil")

  @doc "One error for each undeclared key of a closed map."
  def extra(:map, _found, _map, _path), do: []

  def extra(:closed_map, found, map, path) do
    known = for {_, _, {:ok, key}} <- found, do: key
    keys = for key <- Map.keys(map), key not in known, do: key

    # An undeclared key is part of a firewalled value.
    if hidden?(path),
      do: for(_key <- keys, do: error(["…" | path], @unexpected)),
      else: unexpected(keys, path)
  end

  defp unexpected(keys, path) do
    for key <- Enum.sort_by(keys, &inspect/1) do
      segment = if is_binary(key) or is_atom(key), do: to_string(key), else: inspect(key)
      error([segment | path], @unexpected)
    end
  end

  @doc "The key of a map that a declared name refers to."
  def key(map, name), do: map |> keys(name) |> first()

  @doc "The same without atoms that have hyphens and are not the name."
  def spelled_key(map, name) do
    hyphened? = &(is_atom(&1) and Atom.to_string(&1) != name and Atom.to_string(&1) =~ "-")
    map |> keys(name) |> Enum.reject(hyphened?) |> first()
  end

  defp first([key | _]), do: {:ok, key}
  defp first([]), do: :error

  defp keys(map, name) do
    low = String.replace(name, "-", "_")
    names = [low, name, String.replace(low, "_", "-")]

    for name <- names,
        atom? <- [true, false],
        key <- Map.keys(map),
        key?(key, name, atom?),
        do: key
  end

  defp key?(key, name, true), do: is_atom(key) and Atom.to_string(key) == name
  defp key?(key, name, false), do: key === name

  defp accepts?(:string, value), do: is_binary(value)
  defp accepts?(:int, value), do: is_integer(value)
  defp accepts?(:float, value), do: is_number(value)
  defp accepts?(:bool, value), do: is_boolean(value)

  defp accepts?(:keyword, value) when is_binary(value),
    do: value =~ ~r/\A[a-zA-Z0-9+\-*<=>?!_]+\z/

  defp accepts?(:keyword, value), do: is_atom(value)
  defp accepts?(:any, _value), do: true
  defp accepts?(:map, value), do: is_map(value) and not is_struct(value)

  @doc "The error of a value of another type."
  def refused(path, wanted, value) do
    got = if hidden?(path), do: kind(value), else: got(value)
    error(path, "expected #{wanted}, got #{got}")
  end

  @doc "Whether a path leads into a firewalled field."
  def hidden?(path), do: Enum.any?(path, &(is_binary(&1) and String.starts_with?(&1, ["_", "-"])))

  defp kind(%module{}), do: "struct #{inspect(module)}"
  defp kind(value) when is_tuple(value), do: "tuple"

  defp kind(value)
       when is_pid(value) or is_reference(value) or is_function(value) or is_port(value) or
              (is_bitstring(value) and not is_binary(value)),
       do: "term"

  defp kind(value), do: got(value)

  defp error(path, message), do: %{path: Enum.reverse(path), message: message}

  defp got(value) when is_binary(value), do: "string"
  defp got(value) when is_integer(value), do: "int"
  defp got(value) when is_float(value), do: "float"
  defp got(value) when is_boolean(value), do: "bool"
  defp got(value) when is_atom(value), do: "keyword"
  defp got(value) when is_list(value), do: "list"
  defp got(value) when is_map(value) and not is_struct(value), do: "map"
  defp got(value), do: value |> concealed() |> inspect() |> String.replace(~s(:"…"), "…")

  # Firewalled values are never shown, at any position.
  defp concealed(%module{} = struct) when is_atom(module) do
    if function_exported?(module, :__struct__, 0), do: struct, else: concealed_map(struct)
  end

  defp concealed(map) when is_map(map), do: concealed_map(map)
  defp concealed([head | tail]), do: [concealed(head) | concealed(tail)]

  defp concealed(tuple) when is_tuple(tuple),
    do: tuple |> Tuple.to_list() |> Enum.map(&concealed/1) |> List.to_tuple()

  defp concealed(other), do: other

  defp concealed_map(map) do
    for {key, value} <- Map.to_list(map), into: %{} do
      if key != :__struct__ and PtcRunner.SubAgent.Signature.Firewall.hidden?(key),
        do: {key, :"…"},
        else: {key, concealed(value)}
    end
  end
end

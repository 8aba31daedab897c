defmodule PtcRunner.Agent.Uncoerced do
  @moduledoc false
  # The errors of an answer that coercion does not remove: the model is told only these. The errors of validation are those
  # of the values as they are written, of which coercion takes more.

  alias PtcRunner.SubAgent.Signature.{Coercion, Type, Validator}

  # Maximum number of errors that are looked at.
  @most 200

  @doc """
  The errors that are left, and of a value whose coerced form breaks a rule that error. If coercion removes all of them,
  all are left.

      iex> errors = [%{path: ["n"], message: "expected int, got string"}, %{path: ["k"], message: "expected int, got string"}]
      iex> type = {:map, [{"n", :int}, {"k", {:optional, {:where, :int, [min: 1]}}}]}
      iex> PtcRunner.Agent.Uncoerced.left(errors, %{"n" => "7", "k" => "0"}, type)
      [%{path: ["k"], message: "expected at least 1, got 0"}]

  """
  @spec left([map(), ...], term(), term()) :: [map(), ...]
  def left(errors, value, type) do
    {first, more} = Enum.split(errors, @most)

    case Enum.flat_map(first, &kept(&1, value, type)) ++ more do
      [] -> errors
      left -> left
    end
  end

  defp kept(%{path: [_ | _] = path} = error, value, type) do
    with false <- Enum.any?(path, &hidden?/1),
         {:ok, value, type} <- at(path, value, type, %{}) do
      case Coercion.json(value, type) do
        {:ok, _coerced, _warnings} -> []
        {:error, _reason} -> [broken(error, value, type)]
      end
    else
      _unknown -> [error]
    end
  end

  defp kept(error, _value, _type), do: [error]

  # Of a value that is converted, and then breaks a rule, the rule is told.
  defp broken(error, value, type) do
    with {:ok, bare} <- unruled(type),
         {:ok, converted, _warnings} <- Coercion.json(value, bare),
         {:error, [%{path: [], message: message} | _more]} <- Validator.validate(converted, type) do
      %{error | message: message}
    else
      _other -> error
    end
  end

  defp unruled({:optional, type}), do: unruled(type)
  defp unruled({:where, type, _rules}), do: {:ok, type}

  defp unruled({:defs, names, type}),
    do: with({:ok, type} <- unruled(type), do: {:ok, {:defs, names, type}})

  defp unruled(_type), do: :error

  defp hidden?(part), do: is_binary(part) and String.starts_with?(part, "_")

  # The value at a path and its type, with the names around it.
  defp at([], value, type, names) when names == %{}, do: {:ok, value, type}
  defp at([], value, type, names), do: {:ok, value, {:defs, names, type}}

  defp at([part | path], value, type, names) do
    {core, names} = Type.core(type, names)

    with {:ok, value, type} <- step(part, value, core), do: at(path, value, type, names)
  end

  defp step(index, list, {:list, type}) when is_integer(index) and is_list(list) do
    case Enum.drop(list, index) do
      [item | _rest] -> {:ok, item, type}
      _none -> :error
    end
  end

  defp step(name, map, {kind, fields}) when kind in [:map, :closed_map] do
    with {_name, type} <- List.keyfind(fields, name, 0),
         %{^name => value} <- map,
         do: {:ok, value, type},
         else: (_none -> :error)
  end

  defp step(name, map, {:map_of, type}) do
    case map do
      %{^name => value} -> {:ok, value, type}
      _none -> :error
    end
  end

  defp step(_part, _value, _type), do: :error
end

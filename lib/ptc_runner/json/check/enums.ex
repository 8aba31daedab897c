defmodule PtcRunner.Json.Check.Enums do
  @moduledoc false
  # The enumerations of a tool's arguments, as types: a union of the values that are allowed.

  alias PtcRunner.SubAgent.Signature.Annotations

  @doc """
  The parameters with their enumerations.

      iex> PtcRunner.Json.Check.Enums.typed([{"status", {:optional, :string}}], %{enums: %{"status" => ["open", "paid"]}})
      [{"status", {:optional, {:union, [{:literal, "open"}, {:literal, "paid"}]}}}]

      iex> PtcRunner.Json.Check.Enums.typed([{"n", :int}], nil)
      [{"n", :int}]

  """
  @spec typed([{String.t(), term()}], Annotations.t() | nil) :: [{String.t(), term()}]
  def typed(params, nil), do: params
  def typed(params, %{enums: enums}) when enums == %{}, do: params
  def typed(params, %{enums: enums}), do: fields(params, "", enums)

  defp fields(fields, path, enums) do
    for {name, type} <- fields, do: {name, type(type, Annotations.join(path, name), enums)}
  end

  defp type({:optional, type}, path, enums), do: {:optional, type(type, path, enums)}
  defp type({:list, type}, path, enums), do: {:list, type(type, path, enums)}

  defp type({kind, fields}, path, enums) when kind in [:map, :closed_map],
    do: {kind, fields(fields, path, enums)}

  # Of values that are no constants of programs nothing is known.
  defp type(scalar, path, enums) do
    case enums do
      %{^path => values} when scalar in [:string, :int] ->
        known? = if scalar == :string, do: &is_binary/1, else: &is_integer/1

        if Enum.all?(values, known?),
          do: {:union, for(value <- Enum.uniq(values), do: {:literal, value})},
          else: scalar

      %{} ->
        scalar
    end
  end
end

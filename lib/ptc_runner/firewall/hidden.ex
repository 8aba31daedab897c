defmodule PtcRunner.Firewall.Hidden do
  @moduledoc false
  # Whether data, or the answers of tools, may have firewalled fields.

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Firewall.Redacted
  alias PtcRunner.Json.{Codec, Text}
  alias PtcRunner.Shown.{Budget, Head}
  alias PtcRunner.SubAgent.Signature.Firewall

  # Maximum number of parts of the data that are looked at; data with more parts may have such fields.
  @parts 1_000_000
  # Of a text that is decoded to be looked at.
  @words_per_part 8

  @doc """
  Whether a value has a firewalled field, at any depth. Names of data and of memory are not fields.

      iex> rows = [%{"id" => 1}, %{"id" => 2, "_pin" => 4711}]
      iex> {PtcRunner.Firewall.Hidden.in?([rows]), PtcRunner.Firewall.Hidden.in?([Enum.take(rows, 1)])}
      {true, false}

  """
  @spec in?([term()]) :: boolean()
  def in?(values), do: Budget.within(@parts, true, &any?(values, &1))

  # A text that is wrong has no fields; one that is too large to be decoded here may have such fields.
  defp any?(%Text{binary: binary} = text, left) do
    with true <- Text.hidden?(text),
         {:ok, value} <- Codec.decode(binary, max_heap: @words_per_part * @parts) do
      any?(value, left)
    else
      false -> false
      {:error, %{reason: reason}} -> reason in [:timeout, :memory_exceeded]
    end
  end

  defp any?(%_struct{} = struct, left),
    do: Redacted.names(struct) != [] or struct |> Map.from_struct() |> any?(left)

  defp any?(map, left) when is_map(map) do
    Budget.spend!(left)
    pairs = :maps.to_list(map)
    Enum.any?(pairs, fn {key, value} -> Head.hidden?(key) or any?(value, left) end)
  end

  defp any?([first | rest], left) do
    Budget.spend!(left)
    any?(first, left) or any?(rest, left)
  end

  defp any?(tuple, left) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> any?(left)
  defp any?(_leaf, _left), do: false

  @doc """
  Whether an answer of one of these tools may have a firewalled field: its signature says so, or does not say which
  fields there are.
  """
  @spec answered?([Tool.t()]) :: boolean()
  def answered?(tools), do: Enum.any?(tools, &answer?(&1.signature))

  defp answer?({:signature, _params, returns}), do: open?(returns)
  defp answer?(_none), do: true

  @doc """
  Whether a value of a type may have a firewalled field.

      iex> Enum.map([:int, :map, {:map, [{"_pin", :int}]}], &PtcRunner.Firewall.Hidden.open?/1)
      [false, true, true]

  """
  @spec open?(term()) :: boolean()
  def open?(type) when type in [:any, :map], do: true
  def open?({:list, type}), do: open?(type)
  def open?({:optional, type}), do: open?(type)

  def open?({:where, type, _rules}), do: open?(type)

  def open?({kind, fields}) when kind in [:map, :closed_map] and is_list(fields),
    do: Enum.any?(fields, fn {name, type} -> Firewall.hidden?(name) or open?(type) end)

  def open?(type), do: not is_atom(type)
end

defmodule PtcRunner.Agent.Plain do
  @moduledoc false
  # Ordinary Elixir data as programs read it: structs as maps of their fields, dates and decimals as text,
  # associations that are not loaded as nil. For the texts that a model is shown.

  alias PtcRunner.Firewall.Redacted
  alias PtcRunner.Json.{Encodable, Values}
  alias PtcRunner.Shown.Budget
  alias PtcRunner.SubAgent.Signature.Firewall

  @doc """
  A term that can be encoded, without firewalled fields; `:error` if it has more than `limit` parts.

      iex> PtcRunner.Agent.Plain.term(%{at: [~D[2024-02-29]], _pin: 1}, 10)
      %{at: ["2024-02-29"]}

      iex> PtcRunner.Agent.Plain.term(Enum.to_list(1..10), 10)
      :error

  """
  @spec term(term(), pos_integer()) :: term() | :error
  def term(term, limit), do: Budget.within(limit, :error, &plain(term, &1))

  defp plain(term, left) do
    Budget.spend!(left)
    part(term, left)
  end

  defp part(%module{} = struct, left) when is_atom(module) do
    cond do
      Values.value?(struct) -> Values.text(struct)
      Values.unloaded?(struct) -> nil
      true -> struct |> Values.fields() |> Redacted.without(struct) |> part(left)
    end
  end

  defp part(map, left) when is_map(map) do
    for {key, value} <- :maps.to_list(map), not Firewall.hidden?(key), into: %{} do
      key = if is_binary(key) or is_atom(key), do: key, else: Encodable.term(key)
      {key, plain(value, left)}
    end
  end

  defp part([], _left), do: []
  defp part([item | rest], left), do: items(rest, [plain(item, left)], left)
  defp part(other, _left) when is_tuple(other) or is_function(other), do: Encodable.term(other)
  defp part(other, _left), do: other

  # Not a list comprehension, because the list may be improper.
  defp items([item | rest], done, left), do: items(rest, [plain(item, left) | done], left)
  defp items([], done, _left), do: Enum.reverse(done)
  defp items(_tail, _done, left), do: Budget.exceeded!(left)
end

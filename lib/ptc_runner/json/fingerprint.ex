defmodule PtcRunner.Json.Fingerprint do
  @moduledoc false
  # A short text for the parts of a context that a program names. The same data has the same fingerprint on every node, in
  # every release of Erlang/OTP and of this library.

  alias PtcRunner.Native

  @range 4_294_967_296

  @doc "The fingerprint of a context, for a program with these native parts."
  @spec of(reference(), tuple(), map(), any_keys? :: boolean()) :: String.t()
  def of(handle, consts, context, any_keys?) do
    of_parts(
      for name <- handle |> Native.context_names(consts) |> Enum.uniq() |> Enum.sort(),
          do: {name, part(context, name, any_keys?)}
    )
  end

  @doc """
  The fingerprint of names in their order, with their values.

      iex> parts = [{"n", {:ok, 1}}, {"x", :error}]
      iex> PtcRunner.Json.Fingerprint.of_parts(parts) == PtcRunner.Json.Fingerprint.of_parts(parts)
      true

  """
  @spec of_parts([{term(), {:ok, term()} | :error}]) :: String.t()
  def of_parts(parts) do
    hash = :erlang.phash2(parts, @range)
    Base.encode16(<<hash::32, :erlang.phash2({hash, parts}, @range)::32>>, case: :lower)
  end

  defp part(context, name, _any_keys?) when is_map_key(context, name),
    do: {:ok, Map.fetch!(context, name)}

  defp part(context, name, true) when is_binary(name) do
    context |> Map.fetch(String.to_existing_atom(name))
  rescue
    ArgumentError -> :error
  end

  defp part(_context, _name, _any_keys?), do: :error
end

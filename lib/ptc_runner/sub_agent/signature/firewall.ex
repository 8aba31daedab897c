defmodule PtcRunner.SubAgent.Signature.Firewall do
  @moduledoc false
  # Fields whose name starts with an underscore: visible to Elixir, hidden from LLMs and parent agents.

  alias PtcRunner.{Native, Quanta}
  require Quanta

  @doc "Whether a name or key is hidden; a leading hyphen counts as an underscore."
  @spec hidden?(term()) :: boolean()
  def hidden?(<<first, _::binary>>), do: first in [?_, ?-]
  def hidden?(key) when is_atom(key), do: key |> Atom.to_string() |> hidden?()

  def hidden?(%{__struct__: PtcRunner.Lisp.Keyword, name: name}) when is_binary(name),
    do: hidden?(name)

  def hidden?(_key), do: false

  @doc "Whether a path leads through a hidden field."
  @spec below?([term()]) :: boolean()
  def below?(path), do: Enum.any?(path, &hidden?/1)

  @doc "A signature without hidden parameters and fields."
  @spec view(term()) :: term()
  def view({:signature, params, returns}) do
    {:map, params} = public({:map, params})
    {:signature, params, public(returns)}
  end

  defp public(type) do
    {:ok, type} = Quanta.run!(Native.signature_public(type))
    type
  end

  @doc "A value without hidden keys, at any depth."
  @spec data(term()) :: term()
  def data(term) do
    {:ok, value} = Quanta.run!(Native.normalize(term, :public))
    value
  end
end

defmodule PtcRunner.Firewall.Marks do
  @moduledoc false
  # The names in a memory whose values come from firewalled fields. They stand in the memory itself, under a
  # firewalled name, so that they stay with it where it is stored.

  alias PtcRunner.Firewall.Shape
  alias PtcRunner.SubAgent.Signature.Firewall

  @key "_concealed"

  @doc """
  The names.

      iex> PtcRunner.Firewall.Marks.names(%{"pins" => [4711], "_concealed" => ["pins"]})
      ["pins"]

  """
  @spec names(term()) :: [String.t()]
  def names(%{@key => [_ | _] = names}),
    do: if(List.improper?(names), do: [], else: Enum.filter(names, &is_binary/1))

  def names(_memory), do: []

  @doc """
  The memory after a program with a value of this shape; `before` is the memory that it ran with.

      iex> PtcRunner.Firewall.Marks.put(%{"n" => 1, "pin" => 2}, %{"n" => 1, "pin" => 2}, {:object, %{"pin" => :secret}}, %{})
      %{"n" => 1, "pin" => 2, "_concealed" => ["pin"]}

  """
  @spec put(map(), map(), Shape.t(), map()) :: map()
  def put(memory, delta, shape, before) do
    stay = for name <- names(before), not is_map_key(delta, name), do: name
    store(memory, stay ++ if(shape == :clear, do: [], else: secret(delta, shape)))
  end

  # Firewalled names need no mark.
  defp secret(delta, shape) do
    for name <- :maps.keys(delta),
        is_binary(name) and (name == "__input" or not Firewall.hidden?(name)),
        Shape.entry(shape, name) != :clear,
        do: name
  end

  @doc "The memory without a name and its mark."
  @spec delete(map(), String.t()) :: map()
  def delete(memory, name) do
    rest = Map.delete(memory, name)
    if names(memory) == [], do: rest, else: store(rest, names(memory) -- [name])
  end

  defp store(memory, []), do: if(names(memory) == [], do: memory, else: Map.delete(memory, @key))
  defp store(memory, names), do: Map.put(memory, @key, names)
end

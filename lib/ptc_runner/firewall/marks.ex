defmodule PtcRunner.Firewall.Marks do
  @moduledoc false
  # The names in a memory whose values come from firewalled fields. They stand in the memory itself, under
  # firewalled names, so that they stay with it where it is stored: `"_concealed"` has the names of all values that are not shown to a
  # model, `"_decided"` those of them that firewalled data have only decided about, so that they may go into tools, and `"_unnamed"` those
  # of them that no program has written, so that they may be firewalled themselves: keys that `index_by` makes of firewalled values.

  alias PtcRunner.Firewall.Shape
  alias PtcRunner.SubAgent.Signature.Firewall

  @concealed "_concealed"
  @decided "_decided"
  @unnamed "_unnamed"
  @keys [@concealed, @decided, @unnamed]

  @doc """
  The names of the values that are not shown.

      iex> PtcRunner.Firewall.Marks.names(%{"pins" => [4711], "_concealed" => ["pins"]})
      ["pins"]

  """
  @spec names(term()) :: [String.t()]
  def names(memory), do: at(memory, @concealed)

  @doc """
  The names of the values that may not go into tools.

      iex> memory = %{"pins" => [4711], "rich" => true, "_concealed" => ["pins", "rich"], "_decided" => ["rich"]}
      iex> PtcRunner.Firewall.Marks.flowing(memory)
      ["pins"]

  """
  @spec flowing(term()) :: [String.t()]
  def flowing(memory), do: names(memory) -- at(memory, @decided)

  @doc "The names that are not shown, with their values."
  @spec unnamed(term()) :: [String.t()]
  def unnamed(memory), do: at(memory, @unnamed)

  defp at(%{@concealed => [_ | _]} = memory, key) do
    case memory do
      %{^key => [_ | _] = names} ->
        if List.improper?(names), do: [], else: Enum.filter(names, &is_binary/1)

      _none ->
        []
    end
  end

  defp at(_memory, _key), do: []

  @typedoc "What is told of a name: whether firewalled data flow into its value, and whether the program has it."
  @type told :: {(String.t() -> boolean()), (() -> (String.t() -> boolean()))}

  @doc """
  The memory after a program with a value of this shape; `before` is the memory that it ran with. `flows?` tells of a name whether
  firewalled data flow into its value; `written` gives a function that tells whether the program has it.

      iex> now = %{"n" => 1, "pin" => 2, "rich" => true}
      iex> shape = {:object, %{"pin" => :secret, "rich" => :secret}}
      iex> PtcRunner.Firewall.Marks.put(now, now, shape, {&(&1 == "pin"), fn -> fn _name -> true end end}, %{})
      %{"n" => 1, "pin" => 2, "rich" => true, "_concealed" => ["pin", "rich"], "_decided" => ["rich"]}

  """
  @spec put(map(), map(), Shape.t(), told(), map()) :: map()
  def put(memory, delta, shape, {flows?, written}, before) do
    {flowing, decided} = secret(delta, shape, flows?)
    concealed = flowing ++ decided
    unnamed = if concealed == [], do: [], else: Enum.reject(concealed, written.())
    more = [concealed, decided, unnamed]

    lists =
      for {key, more} <- Enum.zip(@keys, more),
          do: Enum.reject(at(before, key), &is_map_key(delta, &1)) ++ more

    store(memory, lists)
  end

  # Firewalled names need no mark. Those into which firewalled data flow, and those about which such data decide.
  defp secret(delta, shape, flows?) do
    names =
      for key <- :maps.keys(delta),
          name = name(key),
          name == "__input" or not Firewall.hidden?(name),
          uniq: true,
          do: name

    {flowing, others} = Enum.split_with(names, flows?)
    {flowing, Enum.filter(others, &(Shape.entry(shape, &1) != :clear))}
  end

  # The fields of a struct have atoms for names, which programs may read as texts.
  defp name(key) when is_binary(key), do: key
  defp name(key) when is_atom(key), do: Atom.to_string(key)
  defp name(_other), do: nil

  @doc "The memory without a name and its marks."
  @spec delete(map(), String.t()) :: map()
  def delete(memory, name) do
    rest = Map.delete(memory, name)

    if names(memory) == [],
      do: rest,
      else: store(rest, for(key <- @keys, do: at(memory, key) -- [name]))
  end

  # A program cannot write the marks.
  defp store(memory, lists) do
    marks = for {key, [_ | _] = names} <- Enum.zip(@keys, lists), into: %{}, do: {key, names}
    memory |> Map.drop(@keys) |> Map.merge(marks)
  end
end

defmodule PtcRunner.Firewall.Shape do
  @moduledoc false
  # Which parts of a value come from firewalled fields: all of it, none of it, or parts of its items or entries.

  alias PtcRunner.Shown.Budget

  @concealed "…"

  # Maximum number of parts of a shape; one of more parts is secret as a whole. Parts may be shared, and comparing
  # two shapes looks at all of them.
  @most 200

  # Maximum number of parts of a value that are concealed one by one.
  @parts 200_000

  @type t :: :clear | :secret | {:items, t()} | {:object, %{term() => t()}}

  @doc """
  The shape of an object; entries without a shape are clear.

      iex> PtcRunner.Firewall.Shape.object(%{"id" => :clear, "pin" => :secret})
      {:object, %{"pin" => :secret}}

  """
  @spec object(%{term() => t()}) :: t()
  def object(fields) do
    case Map.reject(fields, &match?({_name, :clear}, &1)) do
      none when none == %{} -> :clear
      fields -> bounded({:object, fields})
    end
  end

  @doc "The shape of a list whose items have this shape."
  @spec items(t()) :: t()
  def items(:clear), do: :clear
  def items(shape), do: bounded({:items, shape})

  @doc """
  The shape of a value that may be one or the other.

      iex> PtcRunner.Firewall.Shape.join({:object, %{"a" => :secret}}, {:object, %{"b" => :secret}})
      {:object, %{"a" => :secret, "b" => :secret}}

      iex> PtcRunner.Firewall.Shape.join({:items, :secret}, {:object, %{"b" => :secret}})
      :secret

  """
  @spec join(t(), t()) :: t()
  def join(same, same), do: same
  def join(:clear, shape), do: shape
  def join(shape, :clear), do: shape
  def join({:items, a}, {:items, b}), do: items(join(a, b))

  def join({:object, a}, {:object, b}),
    do: bounded({:object, Map.merge(a, b, fn _name, a, b -> join(a, b) end)})

  def join(_a, _b), do: :secret

  @doc "The shape of an item of a list."
  @spec item(t()) :: t()
  def item(:clear), do: :clear
  def item({:items, shape}), do: shape
  def item(_shape), do: :secret

  @doc "The shape of an entry that is not firewalled."
  @spec entry(t(), term()) :: t()
  def entry(:clear, _name), do: :clear
  def entry({:object, fields}, name), do: Map.get(fields, name, :clear)
  def entry(_shape, _name), do: :secret

  @doc """
  A value with `"…"` instead of its secret parts.

      iex> PtcRunner.Firewall.Shape.conceal([%{"id" => 1, "pin" => 4711}], {:items, {:object, %{"pin" => :secret}}})
      [%{"id" => 1, "pin" => "…"}]

  """
  @spec conceal(term(), t()) :: term()
  def conceal(value, :clear), do: value

  def conceal(value, shape),
    do: Budget.within(@parts, @concealed, &concealed(value, shape, &1))

  defp concealed(value, :clear, _left), do: value

  defp concealed(list, {:items, shape}, left) when is_list(list) do
    if List.improper?(list),
      do: @concealed,
      else: Enum.map(list, &concealed_item(&1, shape, left))
  end

  defp concealed(map, {:object, fields}, left) when is_map(map) and not is_struct(map) do
    Budget.spend!(left, map_size(map))

    Map.new(map, fn {name, value} ->
      {name, concealed(value, Map.get(fields, name, :clear), left)}
    end)
  end

  defp concealed(_value, _shape, _left), do: @concealed

  defp concealed_item(item, shape, left) do
    Budget.spend!(left)
    concealed(item, shape, left)
  end

  @doc """
  Errors about a value of this shape: those about secret parts do not show what was found, and their path ends where
  the secret part begins. Equal ones are told once, because their number may be secret too. `wanted` gives what is expected at a path, in
  words.

      iex> error = %{path: ["pin", "x"], message: "expected int, got string"}
      iex> for wanted <- [fn ["pin"] -> ~s(one of "a") end, fn _path -> nil end],
      ...>   do: PtcRunner.Firewall.Shape.errors([error], {:object, %{"pin" => :secret}}, wanted)
      [[%{path: ["pin"], message: ~s[expected one of "a" (its value is not shown)]}],
       [%{path: ["pin"], message: "expected another value (its value is not shown)"}]]

  """
  @spec errors([map()], t(), ([String.t() | integer()] -> String.t() | nil)) :: [map()]
  def errors(errors, :clear, _wanted), do: errors

  def errors(errors, shape, wanted),
    do: errors |> Enum.map(&error(&1, shape, wanted)) |> Enum.uniq()

  # The message of an error has values in it, and is not looked into.
  defp error(%{path: path} = error, shape, wanted) do
    case public(path, shape, []) do
      :clear ->
        error

      path ->
        words = wanted.(path) || "another value"
        %{error | path: path, message: "expected #{words} (its value is not shown)"}
    end
  end

  defp public(_path, :clear, _seen), do: :clear
  defp public(path, shape, seen) when path == [] or shape == :secret, do: Enum.reverse(seen)

  defp public([index | rest], shape, seen) when is_integer(index),
    do: public(rest, item(shape), [index | seen])

  defp public([name | rest], shape, seen), do: public(rest, entry(shape, name), [name | seen])

  defp bounded(shape), do: if(parts([shape], @most) > 0, do: shape, else: :secret)

  # Counts the parts, and stops when there are too many.
  defp parts([], left), do: left
  defp parts(_shapes, 0), do: 0
  defp parts([{:items, shape} | rest], left), do: parts([shape | rest], left - 1)

  defp parts([{:object, fields} | rest], left) do
    if map_size(fields) >= left, do: 0, else: parts(:maps.values(fields) ++ rest, left - 1)
  end

  defp parts([_leaf | rest], left), do: parts(rest, left - 1)
end

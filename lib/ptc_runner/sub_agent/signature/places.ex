defmodule PtcRunner.SubAgent.Signature.Places do
  @moduledoc false
  # Follows several paths into the same value, with a memo: a list becomes a tuple at its first visit, for
  # access by index, and the keys that a name may stand for are computed once.

  alias PtcRunner.SubAgent.KeyNormalizer
  alias PtcRunner.SubAgent.Loop.JsonHandler.Atomizer

  # A place is {value, the elements if it is a visited list, the places below}.
  # `exact?`: keys are as they are declared.
  @enforce_keys [:root, :keys, :exact?]
  defstruct [:root, :keys, :exact?]

  @type t :: %__MODULE__{}

  @spec new(term(), boolean()) :: t()
  def new(value, exact? \\ false),
    do: %__MODULE__{root: place(value), keys: %{}, exact?: exact?}

  defp place(value), do: {value, nil, %{}}

  @doc "The value at a path; keys are looked up as in the validation."
  @spec fetch(t(), [String.t() | non_neg_integer()]) :: {{:ok, term()} | :error, t()}
  def fetch(%__MODULE__{root: root, keys: keys} = places, path) do
    keys = if places.exact?, do: Enum.reduce(path, keys, &own/2), else: keys
    {found, root, keys} = follow(root, path, keys)
    {found, %{places | root: root, keys: keys}}
  end

  # Of twins, which differ only in hyphens and underscores, each has its own key.
  defp own(name, keys) when is_binary(name), do: Map.put(keys, name, [name])
  defp own(_index, keys), do: keys

  defp follow({value, _, _} = place, [], keys), do: {{:ok, value}, place, keys}

  defp follow({value, elements, below}, [segment | path], keys) do
    case step(value, elements, below, segment, keys) do
      {:ok, next, elements, keys} ->
        {found, next, keys} = follow(next, path, keys)
        {found, {value, elements, Map.put(below, segment, next)}, keys}

      {:error, elements, keys} ->
        {:error, {value, elements, below}, keys}
    end
  end

  defp step(_value, elements, below, segment, keys) when is_map_key(below, segment),
    do: {:ok, Map.fetch!(below, segment), elements, keys}

  defp step(value, nil, below, index, keys) when is_list(value) and is_integer(index) do
    elements = if List.improper?(value), do: {}, else: List.to_tuple(value)
    step(value, elements, below, index, keys)
  end

  defp step(_value, elements, _below, index, keys)
       when is_tuple(elements) and is_integer(index) and index in 0..(tuple_size(elements) - 1)//1,
       do: {:ok, place(elem(elements, index)), elements, keys}

  defp step(map, elements, _below, name, keys) when is_map(map) and is_binary(name) do
    keys = Map.put_new_lazy(keys, name, fn -> candidates(name) end)

    case Enum.find(Map.fetch!(keys, name), &is_map_key(map, &1)) do
      nil -> {:error, elements, keys}
      key -> {:ok, place(Map.fetch!(map, key)), elements, keys}
    end
  end

  defp step(_value, elements, _below, _segment, keys), do: {:error, elements, keys}

  # By precedence: underscores, the name itself, hyphens; for each the atom, the string and then the
  # keyword of PTC-Lisp.
  defp candidates(name) do
    name
    |> KeyNormalizer.spellings()
    |> Enum.flat_map(&[Atomizer.safe_to_atom(&1), &1, keyword(&1)])
  end

  defp keyword(name), do: %{__struct__: PtcRunner.Lisp.Keyword, name: name}
end

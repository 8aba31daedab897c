defmodule PtcRunner.Test.Flowing.Types do
  @moduledoc "What the generator of flows knows of values: see `t:PtcRunner.Test.Flowing.Data.type/0`."

  alias PtcRunner.Test.Flowing.Data

  @type type :: Data.type()

  @doc "A value that is known, with what it comes from."
  @spec leaf(atom(), boolean()) :: type()
  def leaf(kind, secret? \\ false), do: {:leaf, kind, secret?}

  @doc "Whether any part of a value comes from a firewalled field."
  @spec secret?(type()) :: boolean()
  def secret?({:leaf, _kind, secret?}), do: secret?
  def secret?({:list, item, counted?}), do: counted? or secret?(item)
  def secret?({:dict, value, keys?}), do: keys? or secret?(value)
  def secret?({:obj, fields}), do: Enum.any?(Map.values(fields), &secret?/1)

  @doc "Whether the number of its parts, or its kind, comes from a firewalled field."
  @spec counted?(type()) :: boolean()
  def counted?({:leaf, _kind, secret?}), do: secret?
  def counted?({:list, _item, counted?}), do: counted?
  def counted?({:dict, _value, keys?}), do: keys?
  def counted?({:obj, _fields}), do: false

  @doc "A value that is one or the other."
  @spec join(type(), type()) :: type()
  def join(same, same), do: same
  def join({:leaf, :null, a}, other), do: with_secret(other, a)
  def join(other, {:leaf, :null, a}), do: with_secret(other, a)
  def join({:leaf, kind, a}, {:leaf, kind, b}), do: {:leaf, kind, a or b}
  def join({:list, a, c}, {:list, b, d}), do: {:list, join(a, b), c or d}
  def join({:dict, a, c}, {:dict, b, d}), do: {:dict, join(a, b), c or d}

  def join({:obj, a}, {:obj, b}) do
    # Fields that a firewalled object does not have are a part of the secret: nothing is read of a value that may be one.
    if hidden?(a) or hidden?(b), do: leaf(:any, true), else: {:obj, joined(a, b)}
  end

  def join(a, b), do: leaf(:any, secret?(a) or secret?(b))

  @doc "The fields of two objects, each of which may come from either or be missing."
  @spec joined(%{String.t() => type()}, %{String.t() => type()}) :: %{String.t() => type()}
  def joined(a, b) do
    none = leaf(:null)

    Map.new(
      Map.keys(a) ++ Map.keys(b),
      &{&1, join(Map.get(a, &1, none), Map.get(b, &1, none))}
    )
  end

  defp with_secret(type, false), do: type
  defp with_secret({:leaf, kind, _}, true), do: {:leaf, kind, true}
  defp with_secret(type, true), do: join(type, leaf(:any, true))

  @doc "Whether each field of an object comes from a firewalled one, so that the object may stand under a firewalled name itself."
  @spec hidden?(%{String.t() => type()}) :: boolean()
  def hidden?(fields), do: fields != %{} and public(fields) == []

  @doc "The names of an object's fields that no part of a firewalled field stands in."
  @spec public(%{String.t() => type()}) :: [String.t()]
  def public(fields), do: for({name, type} <- fields, not secret?(type), do: name)

  @doc "The others."
  @spec secret(%{String.t() => type()}) :: [String.t()]
  def secret(fields), do: for({name, type} <- fields, secret?(type), do: name)
end

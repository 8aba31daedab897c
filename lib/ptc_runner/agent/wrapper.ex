defmodule PtcRunner.Agent.Wrapper do
  @moduledoc false
  # The object around a value that is not an object or list: an interface for structured output, and a text around the JSON, allow
  # nothing else. Here a value is wrapped and unwrapped, as text, so that numbers keep their digits.

  alias PtcRunner.Agent.Parts
  alias PtcRunner.Json.{Codec, Limits}
  alias PtcRunner.SubAgent.{JsonParser, Signature}
  alias PtcRunner.SubAgent.Signature.Base

  # The key of the object.
  @value "value"

  @items ~r/\A\{\s*"items"\s*:\s*/

  defguardp is_other(object)
            when is_map(object) and not is_map_key(object, @value) and map_size(object) > 0

  @doc """
  The signature for the model.

      iex> PtcRunner.Agent.Wrapper.wrapped({:signature, [], :int})
      {:signature, [], {:map, [{"value", :int}]}}

      iex> PtcRunner.Agent.Wrapper.wrapped({:signature, [], :map})
      {:signature, [], :map}

  """
  @spec wrapped(Signature.t() | nil) :: Signature.t() | nil
  def wrapped({:signature, params, type} = signature),
    do: if(scalar?(type), do: {:signature, params, {:map, [{@value, type}]}}, else: signature)

  def wrapped(nil), do: nil

  @doc """
  Whether values of a type are wrapped: they need not be objects or lists.

      iex> PtcRunner.Agent.Wrapper.scalar?({:optional, {:map, [{"n", :int}]}})
      true

  """
  @spec scalar?(term()) :: boolean()
  def scalar?({:optional, _type}), do: true

  def scalar?({:where, :any, rules}),
    do: rules[:enum] != nil and not Enum.any?(rules[:enum], &(is_map(&1) or is_list(&1)))

  def scalar?({:where, type, _rules}), do: scalar?(type)
  def scalar?({:defs, names, type}), do: type |> named(names) |> scalar?()
  def scalar?({:one_of, types, _field}), do: Enum.any?(types, &scalar?/1)

  def scalar?(type),
    do: type in [:string, :int, :float, :number, :bool, :keyword, :datetime, :date, :decimal]

  @doc "The value of a wrapped one."
  @spec unwrapped(map()) :: term()
  def unwrapped(object), do: Map.get(object, @value)

  @doc """
  A part of an answer as it is shown while it streams: without the wrapper, if values of the signature are wrapped.

      iex> PtcRunner.Agent.Wrapper.shown(%{"value" => 5}, {:signature, [], :int})
      5

  """
  @spec shown(term(), Signature.t() | nil) :: term()
  def shown(%{@value => value} = object, {:signature, _params, type}),
    do: if(scalar?(type), do: value, else: object)

  def shown(value, _signature), do: value

  @doc """
  The text of a wrapped value, if the text is a value that stands for itself; otherwise the text.

      iex> PtcRunner.Agent.Wrapper.around("1.50", {:optional, :float}, [])
      ~s({"value": 1.50})

      iex> PtcRunner.Agent.Wrapper.around(~s({"value": 1.50}), {:optional, :float}, [])
      ~s({"value": 1.50})

  """
  @spec around(String.t(), term(), keyword()) :: String.t()
  def around(text, type, limits) do
    {timeout, max_heap} = Limits.of_text(limits, byte_size(text))
    bare = String.trim(text)

    with {:ok, value} <- Codec.decode(bare, timeout: timeout, max_heap: max_heap),
         {:ok, inner} <- bare(value, type),
         do: text(bare, value, inner),
         else: (_wrapped_or_none -> text)
  end

  @doc """
  The text of a value that was found in a text; `:error` if the value is wrapped.
  """
  @spec around_found(String.t(), term(), term(), keyword()) :: {:ok, String.t()} | :error
  def around_found(_text, %{@value => _}, _type, _limits), do: :error

  def around_found(text, value, type, limits) do
    with true <- not is_list(value) or Base.takes_list?(type),
         {:ok, inner} <- bare(value, type) do
      case JsonParser.find(text, limits) do
        {:ok, json} -> {:ok, text(json, value, inner)}
        {:error, _reason} -> {:ok, Codec.encode!(%{@value => inner})}
      end
    else
      _wrapped -> :error
    end
  end

  defp text(json, same, same), do: ~s({"#{@value}": #{json}})

  defp text(json, _whole, items) do
    with [{0, at}] <- Regex.run(@items, json, return: :index),
         list = binary_part(json, at, byte_size(json) - at),
         size when size != nil <- Parts.size(list),
         do: ~s({"#{@value}": #{binary_part(list, 0, size)}}),
         else: (_other_keys -> Codec.encode!(%{@value => items}))
  end

  # The value that stands for itself. An object does if the type takes objects, as in `{name :string}?`, or if it would be
  # lost; one without keys does if the type takes it. A list may be under `"items"`.
  defp bare(value, _type) when not is_map(value), do: {:ok, value}
  defp bare(%{@value => _}, _type), do: :error

  defp bare(value, type) do
    case {value, inside(type)} do
      {%{"items" => items}, {:list, _type}} when is_list(items) -> {:ok, items}
      {object, inner} when object == %{} -> if empty?(inner), do: {:ok, value}, else: :error
      {_object, inner} -> if object?(inner) or absent?(type), do: {:ok, value}, else: :error
    end
  end

  @doc """
  An object that is not the wrapper stands for itself, if without the wrapper's key it would be null or a default.

      iex> PtcRunner.Agent.Wrapper.object(%{"a" => 1}, {:where, :int, [default: 5]})
      %{"value" => %{"a" => 1}}

  """
  @spec object(term(), term()) :: term()
  def object(object, type) when is_other(object),
    do: if(absent?(type), do: %{@value => object}, else: object)

  def object(value, _type), do: value

  # Whether an object without the wrapper's key would be of the type.
  defp absent?({:optional, _type}), do: true
  defp absent?({:where, type, rules}), do: List.keymember?(rules, :default, 0) or absent?(type)
  defp absent?({:defs, _names, type}), do: absent?(type)
  defp absent?(_type), do: false

  defp inside({:optional, type}), do: inside(type)
  defp inside({:where, type, _rules}), do: inside(type)
  defp inside({:defs, names, type}), do: type |> named(names) |> inside()
  defp inside(type), do: type

  defp object?(type) do
    case inside(type) do
      {:one_of, types, _field} -> Enum.any?(types, &object?/1)
      {kind, _fields} when kind in [:map, :closed_map, :map_of] -> true
      {:struct, _module, _type} -> true
      type -> type in [:map, :any]
    end
  end

  # Whether an object without keys is of the type.
  defp empty?(type) do
    case inside(type) do
      {:one_of, types, _field} -> Enum.any?(types, &empty?/1)
      {kind, fields} when kind in [:map, :closed_map] -> Enum.all?(fields, &absent?(elem(&1, 1)))
      {:map_of, _type} -> true
      {:struct, _module, type} -> empty?(type)
      type -> type in [:map, :any]
    end
  end

  @doc """
  The value of an answer: a list may be under `"items"`, and in a schema for a provider a union is a property of an object.

      iex> PtcRunner.Agent.Wrapper.inner(%{"items" => [1]}, {:list, :int})
      [1]

  """
  @spec inner(term(), term()) :: term()
  def inner(value, {:where, type, _rules}), do: inner(value, type)
  def inner(value, {:defs, names, type}), do: inner(value, named(type, names))
  def inner(%{"items" => items}, {:list, _type}) when is_list(items), do: items

  def inner(%{@value => value} = whole, {:one_of, types, _field})
      when is_map(value) and map_size(whole) == 1,
      do: if(Enum.any?(types, &value_field?/1), do: whole, else: value)

  def inner(value, _type), do: value

  # A name may stand for anything.
  defp value_field?({kind, fields}) when kind in [:map, :closed_map],
    do: List.keymember?(fields, @value, 0)

  defp value_field?({:where, type, _rules}), do: value_field?(type)
  defp value_field?({:struct, _module, type}), do: value_field?(type)
  defp value_field?(_other), do: true

  # What a name stands for; a name may stand for a name.
  defp named({:ref, name}, names) when is_map_key(names, name) do
    {type, names} = Map.pop!(names, name)
    named(type, names)
  end

  defp named(type, _names), do: type
end

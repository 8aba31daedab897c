defmodule PtcRunner.SubAgent.Signature.Base do
  @moduledoc false
  # Types without what the syntax of signatures cannot say, for code that asks only for the kinds of values.

  alias PtcRunner.SubAgent.JsonRepair.Names
  alias PtcRunner.SubAgent.Signature.{Coercion, Type}

  # A word that `checked/1` does not replace.
  defguardp is_same(type) when is_atom(type) and type not in [:date, :decimal, :number]

  # Of more names than this, each is looked up once.
  @many 8

  @doc """
  A type without its rules; a struct is a map of its fields.

      iex> PtcRunner.SubAgent.Signature.Base.bare({:where, {:struct, Range, {:map, [{"first", :int}]}}, [default: nil]})
      {:map, [{"first", :int}]}

      iex> PtcRunner.SubAgent.Signature.Base.bare(:int)
      :int

  """
  @spec bare(term()) :: term()
  def bare({:where, type, _rules}), do: bare(type)
  def bare({:struct, _module, type}), do: type
  def bare({:defs, _names, type}), do: bare(type)
  def bare(type), do: type

  @doc """
  Whether values of a type are lists.

      iex> PtcRunner.SubAgent.Signature.Base.list?({:where, {:list, :int}, [min_items: 1]})
      true

      iex> PtcRunner.SubAgent.Signature.Base.list?({:defs, %{"Rows" => {:list, :map}}, {:ref, "Rows"}})
      true

      iex> PtcRunner.SubAgent.Signature.Base.list?({:optional, {:list, :int}})
      false

  """
  @spec list?(term()) :: boolean()
  def list?({:list, _type}), do: true
  def list?({:where, type, _rules}), do: list?(type)

  # A name is looked up once: it cannot stand for itself.
  def list?({:defs, names, {:ref, name}}) when is_map(names) do
    case Map.pop(names, name) do
      {nil, _names} -> false
      {type, others} -> list?({:defs, others, type})
    end
  end

  def list?({:defs, names, {:where, type, _rules}}), do: list?({:defs, names, type})
  def list?({:defs, _names, type}), do: list?(type)
  def list?(_type), do: false

  @doc """
  Whether a list may be a value of a type.

      iex> alias PtcRunner.SubAgent.Signature.Base
      iex> Enum.map([:any, :int, {:one_of, [:string, {:list, :int}], nil}], &Base.takes_list?/1)
      [true, false, true]

  """
  @spec takes_list?(term()) :: boolean()
  def takes_list?({kind, type}) when kind in [:optional, :list],
    do: kind == :list or takes_list?(type)

  def takes_list?({:where, type, _rules}), do: takes_list?(type)
  def takes_list?({:one_of, types, _field}), do: Enum.any?(types, &takes_list?/1)

  # A name is looked up once, as in `list?/1`.
  def takes_list?({:defs, names, type}), do: names |> named(type) |> takes_list?()
  # What a name within a union stands for is not looked up.
  def takes_list?({:ref, _name}), do: true
  def takes_list?(type), do: type == :any

  defp named(names, {:ref, name}) when is_map_key(names, name),
    do: {:defs, Map.delete(names, name), names[name]}

  defp named(_names, type), do: type

  @doc """
  A type as programs are checked against it: at any depth without rules, except that an enumeration of texts or integers is a
  union of its values.

      iex> PtcRunner.SubAgent.Signature.Base.checked({:list, {:where, :string, [max_length: 9, enum: ["a", "b"]]}})
      {:list, {:union, [{:literal, "a"}, {:literal, "b"}]}}

      iex> PtcRunner.SubAgent.Signature.Base.checked({:defs, %{"T" => {:map, [{"t", {:optional, {:ref, "T"}}}]}}, {:ref, "T"}})
      {:map, [{"t", {:optional, {:map, [{"t", {:optional, :any}}]}}}]}

      iex> PtcRunner.SubAgent.Signature.Base.checked({:map, [{"n", {:optional, {:where, :int, [min: 0]}}}, {"by", {:map_of, :int}}]})
      {:map, [{"n", {:optional, :int}}, {"by", :map}]}

      iex> PtcRunner.SubAgent.Signature.Base.checked({:map, [{"n", {:where, :int, [default: 1]}}]})
      {:map, [{"n", {:optional, :int}}]}

  """
  @spec checked(term()) :: term()
  def checked({kind, type}) when kind in [:optional, :list], do: {kind, checked(type)}

  def checked({kind, [_ | _] = fields} = type) when kind in [:map, :closed_map],
    do: if(plain?(fields), do: type, else: {kind, Enum.map(fields, &checked_field/1)})

  # Arguments are coerced: other spellings of the values of an enumeration are right.
  def checked({:signature, params, returns}),
    do: {:signature, for(param <- params, do: checked_field(spelled(param))), checked(returns)}

  def checked({:where, type, rules}) when is_list(rules), do: listed(checked(type), rules[:enum])
  def checked({:struct, _module, type}), do: checked(type)
  def checked({:map_of, _type}), do: :map
  def checked({:one_of, [], _field}), do: :any
  def checked({:one_of, types, _field}), do: {:union, Enum.map(types, &checked/1)}
  def checked({:defs, names, type}) when is_map(names), do: type |> unfolded(names) |> checked()
  def checked({:ref, _name}), do: :any
  def checked(type) when type in [:date, :decimal], do: :any
  def checked(:number), do: :float
  def checked(type), do: type

  # Whether all fields have types that stay as they are: most objects.
  defp plain?([{_name, type} | fields]) when is_same(type), do: plain?(fields)

  defp plain?([{_name, {:optional, type}} | fields]) when is_same(type), do: plain?(fields)

  defp plain?(fields), do: fields == []

  # A name stands for its type, and in that once more, unless there are many names.
  defp unfolded(type, names),
    do: unfolded(type, names, if(map_size(names) > @many, do: 1, else: 2))

  defp unfolded({:ref, _name}, _names, 0), do: :any

  defp unfolded({:ref, name}, names, left),
    do: unfolded(Map.get(names, name, :any), names, left - 1)

  defp unfolded({:struct, _module, type}, names, left), do: unfolded(type, names, left)

  defp unfolded({:defs, inner, type}, names, left) when is_map(inner),
    do: unfolded(type, Map.merge(names, inner), left)

  defp unfolded(type, names, left), do: Type.map(type, &unfolded(&1, names, left))

  # A type without the enumerations whose values have other spellings.
  defp spelled({:where, type, rules}) when is_list(rules) do
    rules =
      if rules[:ignore_case] || rules[:aliases], do: Keyword.take(rules, [:default]), else: rules

    {:where, whole(type, rules), rules}
  end

  defp spelled({name, type}) when is_binary(name), do: {name, spelled(type)}
  defp spelled(type), do: Type.map(type, &spelled/1)

  # An integer of a JSON Schema may be written as 2.0.
  defp whole(:int, rules), do: if(rules[:whole], do: :whole, else: :int)
  defp whole(type, _rules), do: spelled(type)

  # A field with a default may be missing.
  defp checked_field({name, {:where, _type, rules} = type}) when is_list(rules) do
    if Keyword.has_key?(rules, :default),
      do: {name, {:optional, checked(type)}},
      else: {name, checked(type)}
  end

  defp checked_field({name, type}), do: {name, checked(type)}
  defp checked_field(other), do: other

  defp listed(type, [_ | _] = values) when type in [:string, :int, :whole] do
    known? = if type == :string, do: &is_binary/1, else: &is_integer/1

    if Enum.all?(values, known?),
      do: {:union, for(value <- Enum.uniq(values), do: {:literal, value})},
      else: type
  end

  defp listed(type, _values), do: type

  @doc """
  A type without the names that are defined around it, for a text that shows it.

      iex> PtcRunner.SubAgent.Signature.Base.unnamed({:list, {:ref, "Tree"}})
      {:list, :any}

  """
  @spec unnamed(term()) :: term()
  def unnamed({:ref, _name}), do: :any
  def unnamed({:defs, _names, type}), do: unnamed(type)
  def unnamed({:where, type, _rules}), do: unnamed(type)
  def unnamed({:one_of, _types, _field}), do: :any

  def unnamed(type), do: Type.map(type, &unnamed/1)

  @doc """
  Whether coercion changes values that are valid: it fills in defaults, and makes structs and decimals.

      iex> PtcRunner.SubAgent.Signature.Base.makes?({:map, [{"n", {:optional, {:where, :int, [default: 1]}}}]})
      true

      iex> PtcRunner.SubAgent.Signature.Base.makes?({:list, {:where, :int, [min: 1]}})
      false

  """
  @spec makes?(term()) :: boolean()
  def makes?(type) do
    Type.any?(type, fn
      {:where, _type, rules} -> List.keymember?(rules, :default, 0)
      {:struct, _module, _type} -> true
      type -> type == :decimal
    end)
  end

  @doc """
  A valid value with its defaults, structs and decimals. Its keys become the declared ones.

      iex> PtcRunner.SubAgent.Signature.Base.made(%{}, {:map, [{"n", {:where, :int, [default: 1]}}]})
      %{"n" => 1}

      iex> PtcRunner.SubAgent.Signature.Base.made(%{"a_b" => 2}, {:map, [{"n", {:where, :int, [default: 1]}}, {"a-b", {:optional, :int}}]})
      %{"a-b" => 2, "n" => 1}

  """
  @spec made(term(), term()) :: term()
  def made(value, type) do
    with true <- makes?(type),
         {:ok, made, _warnings} <- value |> Names.hyphenated(type) |> Coercion.coerce(type) do
      made
    else
      _unchanged -> value
    end
  end
end

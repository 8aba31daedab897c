defmodule PtcRunner.SubAgent.Signature.Type do
  @moduledoc false
  # Which types a type has in it, and how a value is walked along its type. Code that asks something of each part of a type, or of a
  # value, uses these functions and names only the kinds that are special to it.

  alias PtcRunner.SubAgent.KeyNormalizer
  alias PtcRunner.SubAgent.Loop.JsonHandler.Union

  # Maximum number of wrappers and names that stand for each other.
  @steps 200

  @typedoc "The keys above a value, the outermost first; an index for an item of a list."
  @type path :: [String.t() | non_neg_integer()]

  @typedoc "What a walk does with an object, before its fields are walked: its new form, and what is told of it."
  @type visit :: (map(), fields :: [{String.t(), term()}], path() -> {map(), told :: [term()]})

  @doc """
  The types that stand directly in a type.

      iex> PtcRunner.SubAgent.Signature.Type.children({:map, [{"n", :int}, {"tags", {:list, :string}}]})
      [:int, {:list, :string}]

      iex> PtcRunner.SubAgent.Signature.Type.children({:where, {:one_of, [:int, {:ref, "T"}], nil}, [default: 1]})
      [{:one_of, [:int, {:ref, "T"}], nil}]

  """
  @spec children(term()) :: [term()]
  def children({kind, fields}) when kind in [:map, :closed_map] and is_list(fields),
    do: for({_name, type} <- fields, do: type)

  # An object of a JSON Schema, and the type of its other fields.
  def children({:open_map, fields, others}), do: [others | for({_name, type} <- fields, do: type)]
  def children({kind, type}) when kind in [:optional, :list, :map_of], do: [type]
  def children({:where, type, _rules}), do: [type]
  def children({:struct, _module, type}), do: [type]
  def children({:one_of, types, _field}) when is_list(types), do: types
  def children({:defs, names, type}) when is_map(names), do: [type | Map.values(names)]
  def children(_type), do: []

  @doc """
  A type with other types in the place of its children.

      iex> PtcRunner.SubAgent.Signature.Type.map({:map, [{"n", :int}]}, &{:optional, &1})
      {:map, [{"n", {:optional, :int}}]}

      iex> PtcRunner.SubAgent.Signature.Type.map(:int, &{:optional, &1})
      :int

  """
  @spec map(term(), (term() -> term())) :: term()
  def map({kind, fields}, fun) when kind in [:map, :closed_map] and is_list(fields),
    do: {kind, for({name, type} <- fields, do: {name, fun.(type)})}

  def map({:open_map, fields, others}, fun),
    do: {:open_map, for({name, type} <- fields, do: {name, fun.(type)}), fun.(others)}

  def map({kind, type}, fun) when kind in [:optional, :list, :map_of], do: {kind, fun.(type)}
  def map({:where, type, rules}, fun), do: {:where, fun.(type), rules}
  def map({:struct, module, type}, fun), do: {:struct, module, fun.(type)}

  def map({:one_of, types, field}, fun) when is_list(types),
    do: {:one_of, Enum.map(types, fun), field}

  def map({:defs, names, type}, fun) when is_map(names),
    do: {:defs, Map.new(names, fn {name, type} -> {name, fun.(type)} end), fun.(type)}

  def map(type, _fun), do: type

  @doc """
  An accumulator after a type and all types in it, the outer ones first. A name is not followed.

      iex> PtcRunner.SubAgent.Signature.Type.reduce({:list, {:optional, :int}}, [], &[&1 | &2])
      [:int, {:optional, :int}, {:list, {:optional, :int}}]

  """
  @spec reduce(term(), acc, (term(), acc -> acc)) :: acc when acc: term()
  def reduce(type, acc, fun),
    do: type |> children() |> Enum.reduce(fun.(type, acc), &reduce(&1, &2, fun))

  @doc """
  Whether something holds for a type or for a type in it.

      iex> PtcRunner.SubAgent.Signature.Type.any?({:list, {:optional, :int}}, &(&1 == :int))
      true

  """
  @spec any?(term(), (term() -> boolean())) :: boolean()
  def any?(type, fun), do: fun.(type) or type |> children() |> Enum.any?(&any?(&1, fun))

  @doc """
  The type of a value that may be missing.

      iex> Enum.map([:int, {:optional, :int}], &PtcRunner.SubAgent.Signature.Type.optional/1)
      [optional: :int, optional: :int]

  """
  @spec optional(term()) :: {:optional, term()}
  def optional({:optional, _type} = type), do: type
  def optional(type), do: {:optional, type}

  @doc """
  The type of a value that is there.

      iex> Enum.map([:int, {:optional, :int}], &PtcRunner.SubAgent.Signature.Type.required/1)
      [:int, :int]

  """
  @spec required(term()) :: term()
  def required({:optional, type}), do: type
  def required(type), do: type

  @doc """
  A type without rules of its own, with these rules.

      iex> Enum.map([[], [min: 1]], &PtcRunner.SubAgent.Signature.Type.where(:int, &1))
      [:int, {:where, :int, [min: 1]}]

  """
  @spec where(term(), keyword()) :: term()
  def where(type, []), do: type
  def where(type, rules), do: {:where, type, rules}

  @doc """
  The type that says what a value is made of, without wrappers, rules and names, and the names that are known in it.

      iex> names = %{"T" => {:where, {:list, {:ref, "T"}}, [min_items: 1]}}
      iex> PtcRunner.SubAgent.Signature.Type.core({:optional, {:ref, "T"}}, names) == {{:list, {:ref, "T"}}, names}
      true

  """
  @spec core(term(), map()) :: {term(), map()}
  def core(type, names), do: core(type, names, @steps)

  defp core(_type, names, 0), do: {nil, names}
  defp core({:optional, type}, names, steps), do: core(type, names, steps - 1)
  defp core({:where, type, _rules}, names, steps), do: core(type, names, steps - 1)
  defp core({:struct, _module, type}, names, steps), do: core(type, names, steps - 1)

  defp core({:defs, inner, type}, names, steps) when is_map(inner),
    do: core(type, Map.merge(names, inner), steps - 1)

  defp core({:ref, name}, names, steps), do: core(Map.get(names, name), names, steps - 1)
  defp core(type, names, _steps), do: {type, names}

  @doc """
  The type of what stands at a path of a value; nil where the type does not tell.

      iex> type = {:map, [{"rows", {:list, {:optional, {:map, [{"n", :int}]}}}}]}
      iex> for path <- [["rows", 0, "n"], ["rows"], ["n"]], do: PtcRunner.SubAgent.Signature.Type.at(type, path)
      [:int, {:list, {:optional, {:map, [{"n", :int}]}}}, nil]

  """
  @spec at(term(), path()) :: term() | nil
  def at(type, path), do: at(type, path, %{})

  defp at(type, path, names) do
    {core, names} = core(type, names)

    case {core, path} do
      {core, []} ->
        core

      {{:list, item}, [index | path]} when is_integer(index) ->
        at(item, path, names)

      {{:map_of, value}, [name | path]} when is_binary(name) ->
        at(value, path, names)

      {{kind, fields}, [name | path]} when kind in [:map, :closed_map] ->
        at_field(fields, name, path, names)

      _other ->
        nil
    end
  end

  defp at_field(fields, name, path, names) do
    with {_name, type} <- List.keyfind(fields, name, 0), do: at(type, path, names)
  end

  @doc """
  Whether values of a type have no objects with declared fields in them.

      iex> Enum.map([{:list, :int}, {:map_of, {:optional, :string}}, {:list, {:map, []}}], &PtcRunner.SubAgent.Signature.Type.plain?/1)
      [true, true, false]

  """
  @spec plain?(term()) :: boolean()
  def plain?({kind, type}) when kind in [:optional, :list, :map_of], do: plain?(type)
  def plain?({:where, type, _rules}), do: plain?(type)
  def plain?(type), do: is_atom(type)

  @doc """
  The key that a field has in an object, by the rules of validation; nil if it is absent.

      iex> PtcRunner.SubAgent.Signature.Type.key(%{"user-id" => 1}, "user_id")
      "user-id"

  """
  @spec key(map(), String.t()) :: String.t() | nil
  def key(map, name) when is_map_key(map, name), do: name
  def key(map, name), do: Enum.find(KeyNormalizer.spellings(name), &is_map_key(map, &1))

  @doc """
  A value after a visit to each object in it that has declared fields, and what the visits tell, in their order. An object of one of several types has
  the fields of the one that it certainly is of.

      iex> type = {:list, {:map, [{"n", :int}]}}
      iex> visit = fn map, [{name, _type}], path -> {Map.put_new(map, name, 0), path} end
      iex> PtcRunner.SubAgent.Signature.Type.walk([%{"n" => 1}, %{}], type, visit)
      {[%{"n" => 1}, %{"n" => 0}], [0, 1]}

  """
  @spec walk(term(), term(), visit()) :: {term(), [term()]}
  def walk(value, type, visit) do
    {value, told} = walk(value, type, {%{}, []}, visit, [])
    {value, Enum.reverse(told)}
  end

  # `around`: the names that are known, and the path, the innermost key first. `told`: the last first.
  defp walk(value, type, {names, path}, visit, told) when is_map(value) or is_list(value) do
    {type, names} = core(type, names)
    if is_struct(value), do: {value, told}, else: parts(value, type, {names, path}, visit, told)
  end

  defp walk(value, _type, _around, _visit, told), do: {value, told}

  defp parts([_ | _] = list, {:list, type}, {names, path}, visit, told) do
    if plain?(type) or List.improper?(list) do
      {list, told}
    else
      {list, {told, _length}} =
        Enum.map_reduce(list, {told, 0}, fn value, {told, index} ->
          {value, told} = walk(value, type, {names, [index | path]}, visit, told)
          {value, {told, index + 1}}
        end)

      {list, told}
    end
  end

  defp parts(map, {:map_of, type}, around, visit, told) when is_map(map) do
    if plain?(type),
      do: {map, told},
      else: Enum.reduce(Map.keys(map), {map, told}, &part(&1, &1, type, around, visit, &2))
  end

  defp parts(map, {:one_of, types, field}, {names, _path} = around, visit, told)
       when is_map(map) do
    {map, more} = Union.spelled(map, types, field, names, &walk(&1, &2, around, visit, []))
    {map, more ++ told}
  end

  defp parts(list, {:one_of, types, field}, {names, _path} = around, visit, told),
    do: walk(list, Union.chosen(list, types, field, names), around, visit, told)

  defp parts(map, {kind, fields}, {_names, path} = around, visit, told)
       when kind in [:map, :closed_map] and is_map(map) do
    {map, more} = visit.(map, fields, Enum.reverse(path))

    Enum.reduce(fields, {map, Enum.reverse(more, told)}, fn {name, type}, {map, _told} = walked ->
      key = if not plain?(type), do: key(map, name)
      if key == nil, do: walked, else: part(key, name, type, around, visit, walked)
    end)
  end

  defp parts(value, _type, _around, _visit, told), do: {value, told}

  defp part(key, name, type, {names, path}, visit, {map, told}) do
    {value, told} = walk(Map.fetch!(map, key), type, {names, [name | path]}, visit, told)
    {%{map | key => value}, told}
  end
end

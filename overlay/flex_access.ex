defmodule PtcRunner.Lisp.Runtime.FlexAccess do
  @moduledoc false
  # Look-ups that take a name in any of its spellings: atom, string, keyword of PTC-Lisp, with
  # hyphens or underscores. Takes the place of the module of `ptc_runner`, which raises and rescues
  # an exception for each name that is no atom; that costs a read of the caller's whole stack.
  #
  # No exception on any path, and no atom is made: the native side compares the names of a map's
  # keys in one go.

  alias PtcRunner.Native

  @type path :: [term()] | nil

  defguardp is_keyword(map) when :erlang.map_get(:__struct__, map) == PtcRunner.Lisp.Keyword
  defguardp is_mapset(map) when :erlang.map_get(:__struct__, map) == MapSet
  defguardp is_plain(map) when is_map(map) and not is_struct(map)
  # What the native side takes: no atom has a longer name. The text of nil is empty.
  defguardp is_short(name) when is_binary(name) and byte_size(name) <= 1020
  defguardp is_name(key) when is_atom(key) and key != nil
  defguardp is_index(term) when is_integer(term) and term >= 0

  @doc "The value at a key or path, `nil` if there is none."
  @spec flex_get(term(), term()) :: term()
  def flex_get(map, key) when is_plain(map) and is_short(key) do
    case map do
      %{^key => value} -> value
      _ when map_size(map) == 0 -> nil
      _ -> Native.name_twin_value(map, key, :string)
    end
  end

  def flex_get(map, key) when is_plain(map) and is_name(key) do
    case map do
      %{^key => value} -> value
      _ when map_size(map) == 0 -> nil
      _ -> Native.name_twin_value(map, key, :atom)
    end
  end

  def flex_get(map, %{__struct__: PtcRunner.Lisp.Keyword, name: name} = key)
      when is_plain(map) and is_short(name) do
    case map do
      %{^key => value} -> value
      _ -> Native.name_twin_value(map, name, :keyword)
    end
  end

  def flex_get(map, _key) when is_map(map) and (is_mapset(map) or is_keyword(map)), do: nil
  def flex_get(map, path) when is_plain(map) and is_list(path), do: flex_get_in(map, path)
  def flex_get(map, key) when is_plain(map), do: value_or_nil(find(map, key))
  def flex_get(list, index) when is_list(list) and is_index(index), do: Enum.at(list, index)
  def flex_get(list, _key) when is_list(list), do: nil
  def flex_get(nil, _key), do: nil

  @doc "The same as `{:ok, value}` or `:error`."
  @spec flex_fetch(term(), term()) :: {:ok, term()} | :error
  def flex_fetch(map, _key) when is_map(map) and (is_mapset(map) or is_keyword(map)), do: :error
  def flex_fetch(map, path) when is_plain(map) and is_list(path), do: flex_fetch_in(map, path)
  def flex_fetch(map, key) when is_plain(map), do: find(map, key)
  def flex_fetch(list, index) when is_list(list) and is_index(index), do: Enum.fetch(list, index)
  def flex_fetch(list, _key) when is_list(list), do: :error
  def flex_fetch(nil, _key), do: :error

  defp value_or_nil({:ok, value}), do: value
  defp value_or_nil(:error), do: nil

  # The spellings of a key, in order: the first key that is there counts.

  defp find(map, key) do
    with :error <- exactly(map, key), do: other_spelling(map, key)
  end

  # An empty map is not worth a call.
  defp other_spelling(map, key) when map_size(map) == 0 and not is_map(key), do: :error
  defp other_spelling(map, key) when is_binary(key), do: twin(map, key, :string)
  defp other_spelling(map, nil), do: twin(map, "", :atom)
  defp other_spelling(map, key) when is_atom(key), do: Native.name_twin(map, key, :atom)

  defp other_spelling(map, %{__struct__: PtcRunner.Lisp.Keyword, name: name})
       when is_binary(name),
       do: twin(map, name, :keyword)

  # A keyword whose name is no string is looked for as it stands, and then there is no clause.
  defp other_spelling(map, %{__struct__: PtcRunner.Lisp.Keyword, name: name}) do
    with :error <- exactly(map, name),
         do: raise(FunctionClauseError, module: __MODULE__, function: :flex_fetch, arity: 2)
  end

  defp other_spelling(_map, _key), do: :error

  defp twin(map, name, of) when is_short(name), do: Native.name_twin(map, name, of)

  # A name longer than any atom's: as a string, as a keyword, with underscores.
  defp twin(map, name, of) do
    with :error <- if(of == :string, do: :error, else: exactly(map, name)),
         :error <- if(of == :keyword, do: :error, else: exactly(map, keyword(name))),
         do: exactly(map, :binary.replace(name, "-", "_", [:global]))
  end

  defp keyword(name), do: %{__struct__: PtcRunner.Lisp.Keyword, name: name}

  defp exactly(map, key) do
    case map do
      %{^key => value} -> {:ok, value}
      _ -> :error
    end
  end

  # Paths

  @doc "The value at the end of a path, `nil` if there is none."
  @spec flex_get_in(term(), path()) :: term()
  def flex_get_in(data, path), do: value_or_nil(fetch_in(data, path, nil))

  @doc "The same as `{:ok, value}` or `:error`."
  @spec flex_fetch_in(term(), path()) :: {:ok, term()} | :error
  def flex_fetch_in(data, path), do: fetch_in(data, path, :error)

  # `beyond`: what stands beyond the end of a list, `nil` (which can be gone on from) or nothing.
  defp fetch_in(data, path, _beyond) when path == [] or path == nil, do: {:ok, data}
  defp fetch_in(nil, _path, _beyond), do: :error

  defp fetch_in(map, [key | rest], beyond) when is_map(map) do
    case flex_fetch(map, key) do
      {:ok, value} -> fetch_in(value, rest, beyond)
      :error -> :error
    end
  end

  defp fetch_in(list, [index | rest], beyond) when is_list(list) and is_index(index) do
    case Enum.fetch(list, index) do
      {:ok, value} -> fetch_in(value, rest, beyond)
      :error when beyond == nil -> fetch_in(nil, rest, beyond)
      :error -> :error
    end
  end

  defp fetch_in(_data, _path, _beyond), do: :error

  @doc "The data with a value at the end of a path; keys are written as they are given."
  @spec flex_put_in(term(), [term()], term()) :: term()
  def flex_put_in(_data, [], value), do: value
  def flex_put_in(nil, path, value), do: flex_put_in(%{}, path, value)
  def flex_put_in(map, [key], value) when is_map(map), do: Map.put(map, key, value)

  def flex_put_in(map, [key | rest], value) when is_map(map),
    do: Map.put(map, key, flex_put_in(inner(map, key), rest, value))

  def flex_put_in(list, [index | rest], value) when is_list(list) and is_index(index) do
    case at(list, index) do
      {:ok, element} -> List.replace_at(list, index, flex_put_in(element, rest, value))
      {:error, ^index} -> list ++ [flex_put_in(%{}, rest, value)]
      {:error, length} -> out_of_bounds!(index, length)
    end
  end

  @doc "The data with what the function makes of the value at the end of a path."
  @spec flex_update_in(term(), [term()], (term() -> term())) :: term()
  def flex_update_in(data, [], fun), do: fun.(data)
  def flex_update_in(nil, path, fun), do: flex_update_in(%{}, path, fun)

  def flex_update_in(map, [key], fun) when is_map(map),
    do: Map.put(map, key, fun.(flex_get(map, key)))

  def flex_update_in(map, [key | rest], fun) when is_map(map),
    do: Map.put(map, key, flex_update_in(inner(map, key), rest, fun))

  def flex_update_in(list, [index | rest], fun) when is_list(list) and is_index(index) do
    case at(list, index) do
      {:ok, element} -> List.replace_at(list, index, flex_update_in(element, rest, fun))
      {:error, length} -> out_of_bounds!(index, length)
    end
  end

  # What stands at a key that more keys follow.
  defp inner(map, key) do
    case flex_fetch(map, key) do
      {:ok, inner} when is_map(inner) or is_list(inner) ->
        inner

      {:ok, _value} ->
        raise ArgumentError,
              "could not put/update key #{inspect(key)} on a non-map value"

      :error ->
        %{}
    end
  end

  # An improper list has no length: ArgumentError.
  defp at(list, index) do
    case length(list) do
      length when index < length -> {:ok, Enum.at(list, index)}
      length -> {:error, length}
    end
  end

  defp out_of_bounds!(index, length) do
    raise ArgumentError, "index #{index} out of bounds for list of length #{length}"
  end
end

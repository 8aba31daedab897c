defmodule PtcRunner.Agent.Nearly do
  @moduledoc false
  # Values of an answer that have one obvious meaning beside their type: null where there is a default, one object in a list or under
  # a key, a number with grouping signs, a time with more digits than a datetime has.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.Base

  @time ~r/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{7,}(?:Z|[+-]\d\d:?\d\d)/

  @doc """
  A value with the defaults of its type in the place of null, and a warning for each.

      iex> PtcRunner.Agent.Nearly.defaults(%{"n" => nil, "m" => nil}, {:map, [{"n", {:where, :int, [default: 5]}}, {"m", {:optional, :int}}]})
      {%{"n" => 5, "m" => nil}, ["took the default of \\"n\\" for null"]}

  """
  @spec defaults(term(), term()) :: {term(), [String.t()]}
  def defaults(value, type) do
    if Base.makes?(type) do
      {value, warnings} = filled(value, type, [], [])
      {value, Enum.reverse(warnings)}
    else
      {value, []}
    end
  end

  defp filled(value, {:optional, type}, path, told), do: filled(value, type, path, told)
  defp filled(value, {:where, type, _rules}, path, told), do: filled(value, type, path, told)

  defp filled(map, {kind, fields}, path, told)
       when kind in [:map, :closed_map] and is_map(map) and is_list(fields) do
    Enum.reduce(fields, {map, told}, fn {name, type}, {map, told} ->
      case {map, default(type)} do
        {%{^name => nil}, {:ok, default}} ->
          place = [name | path] |> Enum.reverse() |> Enum.join(".")

          {%{map | name => default},
           ["took the default of #{Shown.quoted(place)} for null" | told]}

        {%{^name => value}, _default} ->
          {value, told} = filled(value, type, [name | path], told)
          {%{map | name => value}, told}

        _missing ->
          {map, told}
      end
    end)
  end

  defp filled([_ | _] = list, {:list, type}, path, told) do
    if List.improper?(list),
      do: {list, told},
      else: Enum.map_reduce(list, told, &filled(&1, type, path, &2))
  end

  defp filled(value, _type, _path, told), do: {value, told}

  # A type that has null as a value keeps it.
  defp default({:optional, type}), do: default(type)
  defp default({:where, {:optional, _type}, _rules}), do: :error

  defp default({:where, type, rules}) when is_list(rules),
    do: with(:error <- Keyword.fetch(rules, :default), do: default(type))

  defp default(_type), do: :error

  @doc """
  The object that stands alone in a list or under a key that the type does not have, and a warning.

      iex> PtcRunner.Agent.Nearly.object([%{"n" => 1}], {:map, [{"n", :int}]})
      {%{"n" => 1}, "took the only object of the list"}

      iex> PtcRunner.Agent.Nearly.object(%{"Order" => %{"n" => 1}}, {:map, [{"n", :int}]})
      {%{"n" => 1}, "took the object under \\"Order\\""}

      iex> PtcRunner.Agent.Nearly.object(%{"n" => %{"n" => 1}}, {:map, [{"n", :int}]})
      nil

  """
  @spec object(term(), term()) :: {map(), String.t()} | nil
  def object(value, type) do
    case {value, Base.bare(type)} do
      {[%{} = object], {kind, _fields}} when kind in [:map, :closed_map] ->
        {object, "took the only object of the list"}

      {%{} = outer, {kind, fields}}
      when kind in [:map, :closed_map] and is_list(fields) and map_size(outer) == 1 ->
        [{name, inner}] = Map.to_list(outer)

        if is_map(inner) and
             not Enum.any?(fields, fn {field, _type} -> spelled(field) == spelled(name) end),
           do: {inner, "took the object under #{Shown.quoted(name)}"}

      _other ->
        nil
    end
  end

  # A key in another spelling is the field.
  defp spelled(name), do: name |> String.replace(["_", "-", " "], "") |> String.downcase()

  @doc """
  A value with the text of a number in its place: one with grouping signs is the same error in quotes and without.

      iex> repairs = [%{kind: :thousands, path: ["rows", 0, "n"]}]
      iex> PtcRunner.Agent.Nearly.ungrouped(%{"rows" => [%{"n" => 1234}]}, repairs)
      %{"rows" => [%{"n" => "1234"}]}

      iex> PtcRunner.Agent.Nearly.ungrouped(%{}, [])
      nil

  """
  @spec ungrouped(term(), [map()]) :: term()
  def ungrouped(value, repairs) do
    case for %{kind: :thousands, path: path} <- repairs, do: path do
      [] -> nil
      paths -> Enum.reduce(paths, value, &text_at(&2, &1))
    end
  end

  defp text_at(number, []) when is_number(number), do: to_string(number)

  defp text_at(map, [name | path]) when is_map_key(map, name),
    do: Map.update!(map, name, &text_at(&1, path))

  defp text_at(list, [index | path]) when is_list(list) and is_integer(index),
    do: List.update_at(list, index, &text_at(&1, path))

  defp text_at(value, _path), do: value

  @doc """
  A warning for each time of a text that was read as a datetime and has more than six digits of a second.

      iex> PtcRunner.Agent.Nearly.cut_times(%{"at" => ~U[2024-01-01 00:00:00.123456Z]}, ~s({"at": "2024-01-01T00:00:00.1234567Z"}))
      ["cut \\"2024-01-01T00:00:00.1234567Z\\" to microseconds"]

  """
  @spec cut_times(term(), String.t()) :: [String.t()]
  def cut_times(value, text) do
    for [time] <- @time |> Regex.scan(text) |> Enum.uniq(),
        {:ok, read, _offset} <- [DateTime.from_iso8601(time)],
        holds?(value, read),
        do: "cut #{Shown.quoted(time)} to microseconds"
  end

  defp holds?(same, same), do: true

  defp holds?(map, time) when is_map(map) and not is_struct(map),
    do: Enum.any?(map, fn {_name, value} -> holds?(value, time) end)

  defp holds?([first | rest], time), do: holds?(first, time) or holds?(rest, time)
  defp holds?(_value, _time), do: false
end

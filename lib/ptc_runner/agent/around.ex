defmodule PtcRunner.Agent.Around do
  @moduledoc false
  # What stands around an object where an object is declared: a list of it alone, or an object with it alone, under a key that
  # the type does not have, such as the name of the type. It is removed from the text, so that numbers keep their digits.

  alias PtcRunner.Agent.Parts
  alias PtcRunner.Json.{Codec, Program}
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Loop.JsonHandler.Union
  alias PtcRunner.SubAgent.Signature.{Base, Type}

  # Maximum number of errors, and of the steps of their paths: each step is a look at the value there.
  @errors 20
  @steps 32

  @string ~r/\A"(?:[^"\\]|\\.)*+"/s
  @scalar ~r/\A[^\s,\]}]++/
  @blanks ~r/\A[\s:,]*+/

  @typep path :: [String.t() | non_neg_integer()]
  @typep found :: {removed :: [Parts.span()], warnings :: [String.t()]}

  @doc """
  Whether something may stand around an object at one of the paths, or around the object whose field is there.

      iex> Enum.map([[%{}], %{"a" => %{}}, [%{}, %{}], %{"a" => 1}], &PtcRunner.Agent.Around.any?(%{"x" => &1}, [["x", "y"]]))
      [true, true, false, false]

  """
  @spec any?(term(), [path()]) :: boolean()
  def any?(value, paths) do
    Enum.any?(paths(paths), fn path ->
      Enum.any?([path, Enum.drop(path, -1)], &(value |> Program.inside(&1) |> one?()))
    end)
  end

  defp one?([object]), do: is_map(object)
  defp one?(object) when map_size(object) == 1, do: object |> Map.values() |> hd() |> is_map()
  defp one?(_value), do: false

  defp paths(paths), do: paths |> Enum.take(@errors) |> Enum.filter(&(length(&1) <= @steps))

  @doc """
  A text that is JSON with blanks in the place of what stands around objects, and a warning for each; `nil` if nothing does.
  `paths` are those of the errors: elsewhere nothing is removed, and nothing at a path with fewer steps than `least`.

      iex> type = {:map, [{"n", :int}]}
      iex> PtcRunner.Agent.Around.removed(~s([{"n": 1.50}]), type, [[]])
      {~s( {"n": 1.50} ), ["took the only object of the list"]}

      iex> type = {:map, [{"by", {:map, [{"n", :int}]}}]}
      iex> PtcRunner.Agent.Around.removed(~s({"by": {"Order": {"n": 1}}}), type, [["by", "n"]])
      {~s({"by":           {"n": 1} }), [~s(took the object under "Order" at "by")]}

      iex> PtcRunner.Agent.Around.removed(~s({"n": {"n": 1}}), {:map, [{"n", :int}]}, [["n"]])
      nil

  """
  @spec removed(String.t(), term(), [path()], non_neg_integer()) ::
          {String.t(), [String.t()]} | nil
  def removed(json, type, paths, least \\ 0) do
    wrong =
      for path <- paths(paths),
          place <- [path, Enum.drop(path, -1)],
          length(place) >= least,
          into: MapSet.new(),
          do: place

    ways =
      for path <- wrong, steps <- 0..length(path), into: MapSet.new(), do: Enum.take(path, steps)

    case value({json, wrong, ways}, start(json, 0), type, %{}, [], {[], []}) do
      {[], _warnings} -> nil
      {removed, warnings} -> {Parts.without(json, removed), Enum.reverse(warnings)}
    end
  end

  # The value that begins at `at`, of a type with the names around it. What is not on the way to an error is not looked at.
  @spec value(tuple(), non_neg_integer(), term(), map(), path(), found()) :: found()
  defp value({_json, _wrong, ways} = text, at, type, names, path, found) do
    if path in ways do
      {type, names} = Type.core(type, names)
      typed(text, at, type, names, path, found)
    else
      found
    end
  end

  defp typed(text, at, {kind, fields}, names, path, found) when kind in [:map, :closed_map] do
    object(text, at, fields, path, found, fn at, found ->
      for {key, at} <- members(text, at),
          {name, type} <- Enum.filter(fields, &same?(&1, key)),
          reduce: found,
          do: (found -> value(text, at, type, names, path ++ [name], found))
    end)
  end

  defp typed(text, at, {:map_of, type}, names, path, found) do
    for {key, at} <- members(text, at),
        reduce: found,
        do: (found -> value(text, at, type, names, path ++ [key], found))
  end

  defp typed(text, at, {:list, type}, names, path, found) do
    for {at, index} <- Enum.with_index(elements(text, at)),
        reduce: found,
        do: (found -> value(text, at, type, names, path ++ [index], found))
  end

  # An object of one of several types. A list may be one of them.
  defp typed(text, at, {:one_of, types, _field}, names, path, found) do
    types = for type <- Union.members(types, names), do: Base.bare(type)
    fields = for {kind, fields} <- types, kind in [:map, :closed_map], field <- fields, do: field

    if fields == [] or Enum.any?(types, &(match?({:list, _type}, &1) or &1 == :any)),
      do: found,
      else: object(text, at, fields, path, found, fn _at, found -> found end)
  end

  defp typed(_text, _at, _type, _names, _path, found), do: found

  # `inside` goes on with the fields of the object.
  defp object({_json, wrong, _ways} = text, at, fields, path, {removed, warnings} = found, inside) do
    case path in wrong and alone(text, at, fields) do
      {inner, how} ->
        until = finish(text, at)
        behind = finish(text, inner)
        warning = "took the #{how}#{place(path)}"

        inside.(
          inner,
          {[{at, inner - at}, {behind, until - behind} | removed], [warning | warnings]}
        )

      _no ->
        inside.(at, found)
    end
  end

  # Where the object begins that stands alone in a list or under a key, and what was around it.
  defp alone(text, at, fields) do
    case byte(text, at) do
      ?[ ->
        with [inner] <- elements(text, at),
             ?{ <- byte(text, inner),
             do: {inner, "only object of the list"}

      ?{ ->
        with [{key, inner}] <- members(text, at),
             ?{ <- byte(text, inner),
             false <- Enum.any?(fields, &same?(&1, key)),
             do: {inner, "object under #{Shown.quoted(key)}"}

      _other ->
        nil
    end
  end

  defp place([]), do: ""
  defp place(path), do: " at #{path |> Enum.join(".") |> Shown.quoted()}"

  # A key in another spelling is the field.
  defp same?({name, _type}, key), do: name == key or spelled(name) == spelled(key)
  defp spelled(name), do: name |> String.replace(["_", "-", " "], "") |> String.downcase()

  defp members(text, at) do
    if byte(text, at) == ?{, do: members(text, start(text, at + 1), []), else: []
  end

  defp members(text, at, found) do
    if byte(text, at) == ?" do
      until = finish(text, at)
      value = start(text, until)
      {:ok, key} = text |> part(at, until) |> Codec.decode()
      members(text, start(text, finish(text, value)), [{key, value} | found])
    else
      Enum.reverse(found)
    end
  end

  defp elements(text, at) do
    if byte(text, at) == ?[, do: elements(text, start(text, at + 1), []), else: []
  end

  defp elements(text, at, found) do
    if byte(text, at) in [?], nil],
      do: Enum.reverse(found),
      else: elements(text, start(text, finish(text, at)), [at | found])
  end

  # The next offset that is no blank, colon or comma.
  defp start({json, _, _}, at), do: start(json, at)
  defp start(json, at), do: at + size(json, at, @blanks)

  # The offset after the value at an offset.
  defp finish({json, _, _} = text, at) do
    case byte(text, at) do
      ?" -> at + size(json, at, @string)
      open when open in [?{, ?[] -> at + Parts.size(from(json, at))
      _scalar -> at + size(json, at, @scalar)
    end
  end

  defp size(json, at, pattern) do
    [{0, size}] = Regex.run(pattern, from(json, at), return: :index)
    size
  end

  defp from(json, at), do: binary_part(json, at, byte_size(json) - at)
  defp part({json, _, _}, at, until), do: binary_part(json, at, until - at)

  defp byte({json, _, _}, at), do: if(at < byte_size(json), do: :binary.at(json, at))
end

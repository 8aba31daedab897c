defmodule PtcRunner.Firewall.Inside do
  @moduledoc false
  # Where firewalled fields are inside a value, or inside what a type says. The fields that an Ecto schema redacts are firewalled.

  alias PtcRunner.Firewall.Redacted
  alias PtcRunner.SubAgent.Signature.Base
  alias PtcRunner.Json.{Codec, Plan, Text}
  alias PtcRunner.Shown.{Budget, Head}
  alias PtcRunner.SubAgent.Signature.Firewall

  # Maximum number of parts of a value that are looked at.
  @parts 1_000_000

  @typedoc "The path of a firewalled field; nil if there is none, `:beyond` if the value has more parts than are looked at."
  @type found :: [String.t() | Plan.step()] | :beyond | nil

  @doc """
  The first firewalled field in the part of a value at a path.

      iex> orders = %{"orders" => [%{"id" => 1, "who" => %{"_pin" => 2}}]}
      iex> PtcRunner.Firewall.Inside.value(orders, ["orders", :each])
      ["who", "_pin"]
      iex> PtcRunner.Firewall.Inside.value(orders, ["orders", :each, "id"])
      nil
      iex> PtcRunner.Firewall.Inside.value(orders, ["orders", :each, {:without, ["who"]}])
      nil
      iex> PtcRunner.Firewall.Inside.value([MapSet.new([%{"_pin" => 1}])])
      ["map", "*", "_pin"]

  """
  @spec value(term(), [Plan.step()]) :: found()
  def value(value, path \\ []),
    do: Budget.within(@parts, :beyond, &at(value, path, &1))

  @doc """
  The first firewalled field on the way to the part at a path, which no step names: a redacted field of a struct. What has more parts
  than are looked at has none.

      iex> PtcRunner.Firewall.Inside.through(%{"users" => [%{"id" => 1, "_pin" => 2}]}, ["users", :each])
      nil

  """
  @spec through(term(), [Plan.step()]) :: [String.t() | Plan.step()] | nil
  def through(value, path), do: Budget.within(@parts, nil, &at(value, path ++ [:keys], &1))

  @doc """
  Whether data have anything at a path, null too. Of a path below a firewalled name only the way to that name counts.

      iex> users = %{"users" => [%{"id" => 1, "_who" => nil}, %{"id" => 2}]}
      iex> for path <- [["_who"], ["_who", "name"], ["_pin"]], do: PtcRunner.Firewall.Inside.there?(users, ["users", :each | path])
      [true, true, false]

  """
  @spec there?(term(), [Plan.step()]) :: boolean()
  def there?(value, path),
    do: Budget.within(@parts, :beyond, &at(value, to_hidden(path) ++ [:there], &1)) != nil

  @doc """
  Whether a value of a type may have something at a path. A field that an object's type does not name is none.

      iex> type = {:list, {:map, [{"id", :int}, {"_who", {:map, [{"name", :string}]}}, {"more", :map}]}}
      iex> for path <- [["_who", "at"], ["more", "_pin"], ["_pin"]], do: PtcRunner.Firewall.Inside.named?(type, [:each | path])
      [true, true, false]

  """
  @spec named?(term(), [Plan.step()]) :: boolean()
  def named?(type, path), do: names?(type, to_hidden(path))

  defp names?({:optional, type}, path), do: names?(type, path)
  defp names?({:list, type}, [:each | path]), do: names?(type, path)
  defp names?({:list, type}, [:other | path]), do: names?({:list, type}, path)
  defp names?({:list, _type}, [step | _path]) when not is_binary(step), do: false
  defp names?({:list, type}, path), do: names?(type, path)

  defp names?({kind, _, _} = type, path) when kind in [:where, :struct, :defs],
    do: names?(Base.bare(type), path)

  defp names?({kind, fields}, [step | path])
       when kind in [:map, :closed_map] and is_list(fields) do
    cond do
      step in [:object, :single] or is_tuple(step) -> names?({kind, fields}, path)
      step in [:each, :other] -> false
      not is_binary(step) -> true
      true -> named_field?(List.keyfind(fields, step, 0), path)
    end
  end

  defp names?(_type, _path), do: true

  defp named_field?(nil, _path), do: false
  defp named_field?({_name, type}, path), do: names?(type, path)

  # What a firewalled value does not have is a part of the secret.
  defp to_hidden(path) do
    {open, hidden} = Enum.split_while(path, &(not Firewall.below?([&1])))
    open ++ Enum.take(hidden, 1)
  end

  @doc """
  The names of the fields that structs at a path redact.

      iex> PtcRunner.Firewall.Inside.redacted_names(%{"range" => 1..2}, ["range"])
      []

  """
  @spec redacted_names(term(), [Plan.step()], [String.t()]) :: [String.t()] | :beyond
  def redacted_names(value, path, known \\ []) do
    # Schemas redact few names: each walk finds another one.
    case Budget.within(@parts, :beyond, &at(value, path ++ [{:redacts, known}], &1)) do
      nil -> known
      :beyond -> :beyond
      [name] -> redacted_names(value, path, [name | known])
    end
  end

  defp at(%Text{}, [{:redacts, _known}], _left), do: nil
  defp at(%Text{} = text, path, left), do: text |> decoded() |> at(path, left)

  defp at(map, [{:redacts, known}], left) when is_map(map) do
    Budget.spend!(left)
    names = for name <- redacted(map), do: Atom.to_string(name)
    if new = Enum.find(names, &(&1 not in known)), do: [new]
  end

  defp at(_no_map, [{:redacts, _known}], _left), do: nil
  defp at(value, [], left), do: inside(value, left)

  defp at(list, [:each | path], left) when is_list(list),
    do: items(list, &at(&1, path, left), left)

  defp at(_no_list, [:each | _path], _left), do: nil

  # Names are no secret.
  defp at(_value, [:keys], _left), do: nil
  defp at(_value, [:there], _left), do: []

  defp at(map, [:value | path], left) when is_map(map) do
    Budget.spend!(left)
    redacted = redacted(map)

    map
    |> fields()
    |> Enum.find_value(fn {key, value} ->
      if Head.hidden?(key) or key in redacted, do: [text(key)], else: at(value, path, left)
    end)
  end

  defp at(_no_map, [:value | _path], _left), do: nil

  defp at(map, [:object | path], left) when is_map(map), do: at(map, path, left)
  defp at(_other, [:object | _path], _left), do: nil
  defp at(map, [:other | _path], _left) when is_map(map), do: nil
  defp at(other, [:other | path], left), do: at(other, path, left)
  defp at(list, [:single | _path], _left) when is_list(list), do: nil
  defp at(other, [:single | path], left), do: at(other, path, left)

  defp at(map, [{:without, names} | path], left) when is_map(map) do
    Budget.spend!(left, map_size(map))
    rest = Map.drop(map, names)
    starts = for {:starting, text, atoms?} <- names, do: {text, atoms?}
    rest = if starts == [], do: rest, else: Map.drop(rest, begins(Map.keys(rest), starts))
    at(rest, path, left)
  end

  defp at(_other, [{:without, _names} | _path], _left), do: nil

  defp at(map, [key | path], left) when is_map(map) and is_binary(key) do
    Budget.spend!(left)

    case map do
      %{^key => value} -> at(value, path, left)
      map -> by_text(map, key, path, redacted(map), left)
    end
  end

  defp at(list, [key | _] = path, left) when is_list(list) and is_binary(key),
    do: items(list, &at(&1, path, left), left)

  defp at(value, _path, left), do: inside(value, left)

  # The keys that begin with one of these texts.
  defp begins(keys, starts) do
    for key <- keys, {start, atoms?} <- starts, begins?(key, start, atoms?), uniq: true, do: key
  end

  defp begins?(key, start, _atoms?) when is_binary(key), do: String.starts_with?(key, start)

  defp begins?(key, start, true) when is_atom(key) and key != :__struct__,
    do: begins?(Atom.to_string(key), start, true)

  defp begins?(_key, _start, _atoms?), do: false

  # Programs read atoms as names too, with keys: :any.
  defp by_text(map, key, path, redacted, left) do
    map
    |> fields()
    |> Enum.filter(fn {other, _value} -> is_atom(other) and Atom.to_string(other) == key end)
    |> Enum.find_value(fn {key, value} ->
      if key in redacted, do: [], else: at(value, path, left)
    end)
  end

  defp redacted(%{__struct__: module} = struct) when is_atom(module) do
    case Redacted.names(struct) do
      [] -> []
      names -> Enum.filter(names, &is_map_key(struct, &1))
    end
  end

  defp redacted(_map), do: []

  defp items([first | rest], look, left) do
    Budget.spend!(left)
    look.(first) || items(rest, look, left)
  end

  defp items(_end, _look, _left), do: nil

  defp inside(%Text{} = text, left), do: text |> decoded() |> inside(left)

  defp inside(map, left) when is_map(map) do
    Budget.spend!(left)
    redacted = redacted(map)

    map
    |> fields()
    |> Enum.find_value(fn {key, value} ->
      if Head.hidden?(key) or key in redacted,
        do: [text(key)],
        else: below(text(key), inside(value, left) || inside_key(key, left))
    end)
  end

  defp inside([first | rest], left) do
    Budget.spend!(left)

    case inside(first, left) do
      nil -> inside(rest, left)
      found -> found
    end
  end

  # An entry of a keyword list.
  defp inside({key, value}, left) when is_atom(key) or is_binary(key) do
    if Head.hidden?(key), do: [text(key)], else: inside(value, left)
  end

  defp inside(tuple, left) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> inside(left)
  defp inside(_leaf, _left), do: nil

  # The items of a MapSet are keys.
  defp inside_key(key, left) when is_map(key) or is_list(key) or is_tuple(key),
    do: inside(key, left)

  defp inside_key(_key, _left), do: nil

  # A text is decoded only if it may have such a field. One that is wrong ends the run.
  defp decoded(%Text{binary: binary} = text) do
    with true <- Text.hidden?(text),
         {:ok, value} <- Codec.decode(binary, timeout: :infinity, max_heap: 0, depth: :infinity) do
      value
    else
      _none -> nil
    end
  end

  # Names of a struct with two underscores, such as Ecto's `__meta__`, are of its library and no data.
  defp fields(%_struct{} = struct) do
    for {key, value} <- :maps.to_list(struct), not library?(key), do: {key, value}
  end

  defp fields(map), do: :maps.to_list(map)

  defp library?(key) when is_atom(key), do: match?("__" <> _, Atom.to_string(key))
  defp library?(_key), do: false

  defp below(_key, nil), do: nil
  defp below(key, path), do: [key | path]

  defp text(key) when is_binary(key), do: key
  defp text(key) when is_atom(key), do: Atom.to_string(key)
  defp text(%{name: name}) when is_binary(name), do: name
  defp text(_key), do: "*"

  @doc """
  The first firewalled field that a type names below a path.

      iex> type = {:list, {:map, [{"id", :int}, {"_pin", {:optional, :int}}]}}
      iex> {PtcRunner.Firewall.Inside.type(type, [:each]), PtcRunner.Firewall.Inside.type(type, [:each, "id"])}
      {["_pin"], nil}

  """
  @spec type(term(), [Plan.step()]) :: [Plan.step()] | nil
  def type({:optional, type}, path), do: type(type, path)
  def type({:list, type}, [:each | path]), do: type(type, path)
  def type({:list, type}, [:other | path]), do: type({:list, type}, path)
  def type({:list, _type}, [step | _path]) when not is_binary(step), do: nil
  def type({:list, type}, path), do: type(type, path)

  def type({kind, _, _} = type, path) when kind in [:where, :struct, :defs],
    do: type(Base.bare(type), path)

  def type({kind, fields}, path) when kind in [:map, :closed_map] and is_list(fields) do
    case path do
      [] ->
        Enum.find_value(fields, &field/1)

      [:value | path] ->
        Enum.find_value(fields, &each(&1, path))

      [step | path] when step in [:object, :single] ->
        type({kind, fields}, path)

      [{:without, names} | path] ->
        starts = for {:starting, text, atoms?} <- names, do: {text, atoms?}
        keys = names ++ begins(Enum.map(fields, &elem(&1, 0)), starts)
        type({kind, Enum.reject(fields, &(elem(&1, 0) in keys))}, path)

      [step | _path] when is_atom(step) ->
        nil

      [key | path] ->
        with {_key, type} <- List.keyfind(fields, key, 0), do: type(type, path)
    end
  end

  def type(_type, _path), do: nil

  @doc """
  Whether a type leaves open which fields there are below a path.

      iex> type = {:list, {:map, [{"id", :int}, {"more", :map}]}}
      iex> for path <- [["id"], ["more"], []], do: PtcRunner.Firewall.Inside.open?(type, [:each | path])
      [false, true, true]

  """
  @spec open?(term(), [Plan.step()]) :: boolean()
  def open?(type, _path) when type in [:any, :map], do: true
  def open?({:optional, type}, path), do: open?(type, path)
  def open?({:list, type}, [:each | path]), do: open?(type, path)
  def open?({:list, type}, path), do: open?(type, path)

  def open?({kind, _, _} = type, path) when kind in [:where, :struct, :defs],
    do: open?(Base.bare(type), path)

  def open?({kind, fields}, path) when kind in [:map, :closed_map] and is_list(fields) do
    case path do
      [key | rest] when is_binary(key) ->
        case List.keyfind(fields, key, 0) do
          {_key, type} -> open?(type, rest)
          nil -> true
        end

      [_step | rest] ->
        Enum.any?(fields, fn {_name, type} -> open?(type, rest) end)

      [] ->
        Enum.any?(fields, fn {_name, type} -> open?(type, []) end)
    end
  end

  def open?(type, _path), do: not is_atom(type)

  defp each({name, type}, path),
    do: if(Firewall.hidden?(name), do: [name], else: type(type, path))

  defp field({name, type}) do
    if Firewall.hidden?(name), do: [name], else: below(name, type(type, []))
  end
end

defmodule PtcRunner.Agent.Result do
  @moduledoc false
  # Whether the value of a program fits its signature. Programs are JSON and their quotients are floats, so a float
  # without a fraction fits `:int`, and ISO 8601 text fits `:datetime`. The language has no operation that makes a text of
  # a date, or a number of a decimal: dates, times and decimals fit `:string` as their text, and a decimal fits `:int` and
  # `:float` if it is exactly such a number.

  alias PtcRunner.Agent.Describe
  alias PtcRunner.Firewall.Shape
  alias PtcRunner.IsoTime
  alias PtcRunner.Json.Values
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.{KeyNormalizer, Signature}

  alias PtcRunner.SubAgent.Signature.{
    Annotations,
    Base,
    Coercion,
    Enums,
    Firewall,
    RuleText,
    Type
  }

  # Maximum number of warnings.
  @most 20

  @typedoc "The values that fields may have, and the monotonic milliseconds at which their check ends."
  @type enums :: {%{String.t() => [term()]}, integer() | :infinity}

  @doc """
  The value, converted where it has to be, with warnings; or the errors.

      iex> PtcRunner.Agent.Result.fit(%{"n" => 3.0}, {:signature, [], {:map, [{"n", :int}]}}, {%{}, :infinity})
      {:ok, %{"n" => 3}, ["n: converted 3.0 to an integer"]}

      iex> PtcRunner.Agent.Result.fit(2.5, {:signature, [], :int}, {%{}, :infinity})
      {:error, [%{path: [], message: "expected int, got float"}]}

  """
  @spec fit(term(), Signature.t() | nil, enums(), Shape.t()) ::
          {:ok, term(), warnings :: [String.t()]} | {:error, [map(), ...]}
  def fit(value, signature, enums, shape \\ :clear)

  def fit(value, nil, _enums, _shape), do: {:ok, value, []}

  def fit(value, {:signature, _params, type} = signature, {enums, until}, shape) do
    {value, warnings} =
      case Signature.validate(signature, value) do
        :ok -> {value, []}
        {:error, _errors} -> walk(value, type, [], [])
      end

    with :ok <- Signature.validate(signature, value),
         [] <- Enums.errors(value, type, enums, until) do
      {:ok, Base.made(value, type), first(warnings, shape)}
    else
      {:error, errors} -> {:error, Enums.beside(errors, value, type, enums, until)}
      :timeout -> {:error, [%{path: [], message: "it takes too long to check"}]}
      errors -> {:error, errors}
    end
  end

  @doc """
  What is expected at a path of a result, in words; nil where its type does not tell.

      iex> type = {:map, [{"rows", {:list, {:map, [{"n", :int}, {"status", :string}]}}}]}
      iex> for path <- [["rows", 0, "n"], ["rows", 0, "status"], ["rows"], ["x"]],
      ...>   do: PtcRunner.Agent.Result.wanted(path, {:signature, [], type}, %{"rows.status" => ["open"]})
      ["int", ~s(one of "open"), "list", nil]

  """
  @spec wanted([String.t() | integer()], Signature.t() | nil, %{String.t() => [term()]}) ::
          String.t() | nil
  def wanted(_path, nil, _enums), do: nil

  def wanted(path, {:signature, _params, type}, enums) do
    names = for name <- path, is_binary(name), do: name
    place = Enum.reduce(names, "", &Annotations.join(&2, &1))

    case enums do
      %{^place => values} -> RuleText.wanted({:enum, values})
      _none -> type |> Type.at(path) |> kind()
    end
  end

  defp kind(kind) when is_atom(kind) and kind != nil, do: Atom.to_string(kind)
  defp kind({:list, _type}), do: "list"
  defp kind({kind, _type}) when kind in [:map, :closed_map, :map_of], do: "map"
  defp kind(_other), do: nil

  # Of a value with concealed parts no value is shown.
  defp first(warnings, shape) do
    {first, more} = warnings |> Enum.reverse() |> Enum.split(@most)
    told = for {path, value, what} <- first, do: warning(path, value, what, shape != :clear)
    if more == [], do: told, else: told ++ ["and #{length(more)} values more were converted"]
  end

  # `path` has the innermost name first.
  defp walk(value, {:optional, type}, path, warnings), do: walk(value, type, path, warnings)

  defp walk(value, :int, path, warnings) when is_float(value) do
    if trunc(value) == value,
      do: {trunc(value), [{path, value, "an integer"} | warnings]},
      else: {value, warnings}
  end

  defp walk(value, :datetime, path, warnings) when is_binary(value) do
    case IsoTime.datetime(value) do
      {:ok, datetime, _offset} -> {datetime, [{path, value, "a datetime"} | warnings]}
      {:error, _reason} -> {value, warnings}
    end
  end

  defp walk(value, {kind, _, _} = type, path, warnings) when kind in [:where, :struct, :defs],
    do: walk(value, Base.bare(type), path, warnings)

  defp walk(text, :date, path, warnings) when is_binary(text) do
    case Date.from_iso8601(text) do
      {:ok, date} -> {date, [{path, text, "a date"} | warnings]}
      {:error, _reason} -> {text, warnings}
    end
  end

  defp walk(value, :decimal, path, warnings) when is_number(value) or is_binary(value) do
    case Coercion.coerce(value, :decimal) do
      {:ok, ^value, _warnings} -> {value, warnings}
      {:ok, decimal, _warnings} -> {decimal, [{path, value, "a decimal"} | warnings]}
      {:error, _reason} -> {value, warnings}
    end
  end

  # Samples show atoms of the application, such as those of an enumeration, as texts.
  defp walk(atom, :string, path, warnings)
       when is_atom(atom) and atom not in [nil, true, false],
       do: {Atom.to_string(atom), [{path, atom, "a text"} | warnings]}

  defp walk(%{__struct__: _module} = value, type, path, warnings)
       when type in [:string, :int, :float, :number] do
    {converted, what} = convert(value, type)

    case converted do
      {:ok, converted} -> {converted, [{path, value, what} | warnings]}
      :error -> {value, warnings}
    end
  end

  defp walk([_ | _] = list, {:list, type}, path, warnings) do
    if List.improper?(list) do
      {list, warnings}
    else
      numbered = Enum.with_index(list)

      Enum.map_reduce(numbered, warnings, fn {value, index}, warnings ->
        walk(value, type, [index | path], warnings)
      end)
    end
  end

  defp walk(map, {:map_of, type}, path, warnings) when is_map(map) and not is_struct(map) do
    Enum.reduce(map, {map, warnings}, fn {key, value}, {map, warnings} ->
      field(map, key, value, type, path, warnings)
    end)
  end

  defp walk(map, {kind, fields}, path, warnings)
       when kind in [:map, :closed_map] and is_map(map) and not is_struct(map) do
    types = Map.new(fields, fn {name, type} -> {KeyNormalizer.normalize_key(name), type} end)

    Enum.reduce(map, {map, warnings}, fn {key, value}, {map, warnings} ->
      case types do
        %{^key => type} -> field(map, key, value, type, path, warnings)
        %{} -> named(map, key, value, types, path, warnings)
      end
    end)
  end

  defp walk(value, _type, _path, warnings), do: {value, warnings}

  defp convert(value, :string), do: {Values.exact_text(value), "a text"}
  defp convert(value, :int), do: {Values.integer(value), "an integer"}
  defp convert(value, :float), do: {Values.float(value), "a float"}

  defp convert(value, :number) do
    with :error <- Values.integer(value),
         do: convert(value, :float),
         else: (integer -> {integer, "an integer"})
  end

  # A key in another spelling.
  defp named(map, key, value, types, path, warnings) do
    case Map.fetch(types, KeyNormalizer.normalize_key(key)) do
      {:ok, type} -> field(map, key, value, type, path, warnings)
      :error -> {map, warnings}
    end
  end

  defp field(map, key, value, type, path, warnings) do
    case walk(value, type, [key | path], warnings) do
      {^value, warnings} -> {map, warnings}
      {changed, warnings} -> {Map.put(map, key, changed), warnings}
    end
  end

  defp warning(path, value, what, concealed?) do
    hidden? = concealed? or Firewall.below?(path)
    shown = if hidden?, do: "a value", else: Describe.value(value, 100)

    case path |> Enum.reverse() |> Enum.map_join(".", &part/1) do
      "" -> "converted #{shown} to #{what}"
      path -> "#{Shown.cut(path, 200)}: converted #{shown} to #{what}"
    end
  end

  defp part(index) when is_integer(index), do: "[#{index}]"
  defp part(name), do: to_string(name)

  @doc """
  Whether a result of this type is an object that may have the field.

      iex> PtcRunner.Agent.Result.declares?({:signature, [], {:map, [{"result", :int}]}}, "result")
      true

  """
  @spec declares?(Signature.t() | nil, String.t()) :: boolean()
  def declares?({:signature, params, {:optional, type}}, name),
    do: declares?({:signature, params, type}, name)

  def declares?({:signature, params, {kind, _, _} = type}, name)
      when kind in [:where, :struct, :defs],
      do: declares?({:signature, params, Base.bare(type)}, name)

  def declares?({:signature, _params, {kind, fields}}, name) when kind in [:map, :closed_map],
    do: List.keymember?(fields, name, 0)

  def declares?(_other, _name), do: false

  @doc """
  Raises `ArgumentError` for a signature that no value fits: a field that is declared twice with different types, and an
  enumeration without any value of its field's type.

      iex> PtcRunner.Agent.Result.possible!({:signature, [], {:map, [{"n", :int}]}}, %{"n" => ["one"]})
      ** (ArgumentError) no result can fit: :enums of "n" has no value that fits :int

  """
  @spec possible!(Signature.t(), %{String.t() => [term()]}) :: :ok
  def possible!({:signature, _params, type}, enums) do
    for {path, type} <- Annotations.places(type), do: possible!(type, path, enums)
    :ok
  end

  defp possible!({kind, fields}, _path, _enums) when kind in [:map, :closed_map] do
    types = Enum.group_by(fields, &KeyNormalizer.normalize_key(elem(&1, 0)), &elem(&1, 1))

    for {name, [_, _ | _] = several} <- types, length(Enum.uniq(several)) > 1 do
      impossible("#{inspect(name)} is declared twice, with different types")
    end

    :ok
  end

  defp possible!(type, path, enums) do
    signature = {:signature, [], type}

    with %{^path => values} <- enums,
         false <- Enum.any?(values, &(Signature.validate(signature, &1) == :ok)) do
      shown = signature |> Signature.render() |> String.replace_prefix("-> ", "")
      impossible(":enums of #{inspect(path)} has no value that fits #{shown}")
    else
      _possible -> :ok
    end
  end

  @spec impossible(String.t()) :: no_return()
  defp impossible(why), do: raise(ArgumentError, "no result can fit: #{why}")
end

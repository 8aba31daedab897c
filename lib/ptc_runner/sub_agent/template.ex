defmodule PtcRunner.SubAgent.Template do
  @moduledoc """
  Prompts with placeholders, `{{user.name}}`.

  A placeholder is a path of names between double braces, without spaces; anything else is plain
  text.
  """

  alias PtcRunner.SubAgent.Signature.Base
  alias PtcRunner.{Options, Shown}
  alias PtcRunner.SubAgent.Loop.JsonHandler.Atomizer
  alias PtcRunner.SubAgent.Signature

  # From so many names on, the atom keys of a map are indexed.
  @many 100

  @typedoc "A placeholder: the names of its path."
  @type placeholder :: %{path: [String.t(), ...], type: :simple}

  @doc """
  The placeholders of a text without duplicates, in order of their first appearance.

      iex> PtcRunner.SubAgent.Template.extract_placeholders("Hi {{user.name}}: {{topic}}, {{topic}}")
      [%{path: ["user", "name"], type: :simple}, %{path: ["topic"], type: :simple}]

  """
  @spec extract_placeholders(String.t()) :: [placeholder()]
  def extract_placeholders(text) do
    for name <- extract_placeholder_names(text), do: %{path: path(name), type: :simple}
  end

  @doc """
  The placeholders of a text in their literal form.

      iex> PtcRunner.SubAgent.Template.extract_placeholder_names("{{user.name}} {{ no }} {{topic}}")
      ["user.name", "topic"]

  """
  @spec extract_placeholder_names(String.t()) :: [String.t()]
  def extract_placeholder_names(text) do
    Enum.uniq(for {:placeholder, name} <- parts(text), do: name)
  end

  @doc """
  The names of the parameters in the text of a signature; an empty list if it does not parse.

      iex> PtcRunner.SubAgent.Template.extract_signature_params("(user {name :string}, topic :string) -> :int")
      ["user", "topic"]

  """
  @spec extract_signature_params(term()) :: [String.t()]
  def extract_signature_params(text) do
    case Signature.parse(text) do
      {:ok, {:signature, params, _returns}} -> for {name, _type} <- params, do: name
      {:error, _message} -> []
    end
  end

  @doc """
  Replaces placeholders with values, which are converted by `to_string/1`.

  Keys of the context are atoms or strings. `nil` becomes an empty text. Placeholders in inserted text are
  not replaced.

  ## Options

    * `:on_missing` - `:error` (the default); with any other value, placeholders without a value are not replaced

  Keys of either kind are found, and missing keys are reported:

      iex> context = %{"user" => %{name: "Ada"}, topic: "engines"}
      iex> PtcRunner.SubAgent.Template.expand("{{user.name}} on {{topic}}", context)
      {:ok, "Ada on engines"}
      iex> PtcRunner.SubAgent.Template.expand("{{user.id}} {{x}}", context)
      {:error, {:missing_keys, ["user.id", "x"]}}
      iex> PtcRunner.SubAgent.Template.expand("{{x}} {{topic}}", context, on_missing: :keep)
      {:ok, "{{x}} engines"}

  """
  @spec expand(String.t(), map(), keyword()) ::
          {:ok, String.t()} | {:error, {:missing_keys, [String.t(), ...]}}
  def expand(text, context, opts \\ []) do
    Options.check_close!(opts, %{on_missing: :any}, "PtcRunner.SubAgent.Template.expand/3")
    parts = parts(text)
    names = Enum.uniq(for {:placeholder, name} <- parts, do: name)
    values = resolved(names, context)
    missing = Enum.filter(names, &(values[&1] == :error))

    if missing != [] and Keyword.get(opts, :on_missing, :error) == :error do
      {:error, {:missing_keys, missing}}
    else
      {:ok, parts |> Enum.map(&insert(&1, values)) |> IO.iodata_to_binary()}
    end
  end

  defp insert({:placeholder, name}, values) do
    case Map.fetch!(values, name) do
      {:ok, value} -> to_string(value)
      :error -> ["{{", name, "}}"]
    end
  end

  defp insert(text, _values), do: text

  @doc """
  Checks that the signature has an input for every placeholder. Call it when you register an agent or a
  tool.

      iex> signature = "(user {name :string}, topic :string) -> {count :int}"
      iex> PtcRunner.SubAgent.Template.check_placeholders("{{user.name}} on {{topic}}", signature)
      :ok
      iex> PtcRunner.SubAgent.Template.check_placeholders("{{user.id}} {{x}}", signature)
      {:error, "placeholders {{user.id}}, {{x}} not found in signature"}

  """
  @spec check_placeholders(String.t(), Signature.t() | String.t()) :: :ok | {:error, String.t()}
  def check_placeholders(text, {:signature, params, _returns}) do
    case Enum.reject(extract_placeholder_names(text), &declared?(params, path(&1))) do
      [] ->
        :ok

      names ->
        list = Shown.few(names, &"{{#{&1}}}")
        {:error, "placeholders #{list} not found in signature"}
    end
  end

  def check_placeholders(text, signature) do
    case Signature.parse(signature) do
      {:ok, parsed} -> check_placeholders(text, parsed)
      {:error, message} -> {:error, "invalid signature: #{message}"}
    end
  end

  @doc """
  Checks as `check_placeholders/2` does, and raises `ArgumentError` where that returns an error.

      iex> PtcRunner.SubAgent.Template.validate_placeholders!("{{topic}}", "(topic :string) -> :int")
      :ok

  """
  @spec validate_placeholders!(String.t(), Signature.t() | String.t()) :: :ok
  def validate_placeholders!(text, signature) do
    with {:error, message} <- check_placeholders(text, signature),
         do: raise(ArgumentError, message)
  end

  defp declared?(fields, [name | path]) do
    case List.keyfind(fields, name, 0) do
      {_name, type} -> reaches?(type, path)
      nil -> false
    end
  end

  defp reaches?(_type, []), do: true
  defp reaches?({:optional, type}, path), do: reaches?(type, path)

  defp reaches?({kind, _, _} = type, path) when kind in [:where, :struct, :defs],
    do: reaches?(Base.bare(type), path)

  defp reaches?({:map_of, type}, [_any | path]), do: reaches?(type, path)

  defp reaches?({kind, fields}, path) when kind in [:map, :closed_map],
    do: declared?(fields, path)

  defp reaches?(type, _path), do: type in [:map, :any]

  # A failed look-up of an atom is slow where much data is alive, so the atom keys of a map in which several
  # names are looked up are indexed by their texts.
  defp resolved(names, context) do
    paths = Enum.map(names, &path/1)
    counts = paths |> Enum.flat_map(&above/1) |> Enum.frequencies()

    {values, _indexes} =
      Enum.map_reduce(paths, %{}, fn path, indexes ->
        resolve(context, path, [], counts, indexes)
      end)

    names |> Enum.zip(values) |> Map.new()
  end

  # The paths of the maps in which the names of a path are looked up, innermost first.
  defp above(path), do: path |> Enum.drop(-1) |> Enum.scan([], &[&1 | &2]) |> then(&[[] | &1])

  # Every segment except the last one must lead to a map.
  defp resolve(map, [name | path], above, counts, indexes) when is_map(map) do
    {index, indexes} = index(map, above, counts, indexes)

    case {value(map, index, name), path} do
      {:error, _} -> {:error, indexes}
      {found, []} -> {found, indexes}
      {{:ok, value}, path} -> resolve(value, path, [name | above], counts, indexes)
    end
  end

  defp resolve(_value, _path, _above, _counts, indexes), do: {:error, indexes}

  defp index(map, above, counts, indexes) do
    case indexes do
      %{^above => index} ->
        {index, indexes}

      %{} ->
        index = if indexed?(map_size(map), Map.fetch!(counts, above)), do: atoms(map)
        {index, Map.put(indexes, above, index)}
    end
  end

  defp indexed?(size, names), do: names >= @many or (names > 1 and size <= names)

  defp atoms(map) do
    for {key, value} <- :maps.to_list(map),
        is_atom(key),
        into: %{},
        do: {Atom.to_string(key), value}
  end

  defp value(map, index, name) do
    case {by_atom(map, index, name), Map.fetch(map, name)} do
      {:error, string_value} -> string_value
      {{:ok, value}, {:ok, string_value}} when value in [nil, false] -> {:ok, string_value}
      {{:ok, value}, :error} when value in [nil, false] -> {:ok, nil}
      {atom_value, _} -> atom_value
    end
  end

  defp by_atom(map, nil, name), do: Map.fetch(map, Atomizer.safe_to_atom(name))
  defp by_atom(_map, index, name), do: Map.fetch(index, name)

  defp path(name), do: :binary.split(name, ".", [:global])

  # Plain texts and placeholders, in order.
  defp parts(text), do: parts(text, 0, 0, [])

  defp parts(text, from, at, parts) do
    case :binary.match(text, "{{", scope: {at, byte_size(text) - at}) do
      :nomatch ->
        Enum.reverse([binary_part(text, from, byte_size(text) - from) | parts])

      {open, 2} ->
        case closing(text, open + 2) do
          nil ->
            parts(text, from, open + 1, parts)

          close ->
            plain = binary_part(text, from, open - from)
            name = binary_part(text, open + 2, close - open - 2)
            parts(text, close + 2, close + 2, [{:placeholder, name}, plain | parts])
        end
    end
  end

  # The position where the path that starts here is closed.
  defp closing(text, at) do
    c = byte(text, at)
    if c in ?a..?z or c in ?A..?Z or c == ?_, do: after_name(text, at + 1)
  end

  defp after_name(text, at) do
    case byte(text, at) do
      c when c in ?a..?z or c in ?A..?Z or c in ?0..?9 or c == ?_ -> after_name(text, at + 1)
      ?. -> closing(text, at + 1)
      ?} -> if byte(text, at + 1) == ?}, do: at
      _ -> nil
    end
  end

  defp byte(text, at) when at < byte_size(text), do: :binary.at(text, at)
  defp byte(_text, _at), do: nil
end

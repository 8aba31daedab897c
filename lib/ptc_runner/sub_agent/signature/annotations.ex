defmodule PtcRunner.SubAgent.Signature.Annotations do
  @moduledoc false
  # Annotations of types: the values that a field may have (`:enums`), and the description of a field
  # (`:descriptions`). Both are maps whose keys are paths: the names of fields, joined with dots. The
  # elements of a list have the path of the list.

  alias PtcRunner.Json.Suggestion
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Loop.JsonHandler.Atomizer
  alias PtcRunner.SubAgent.Signature.{ErrorText, Firewall}

  @type t :: %{enums: %{String.t() => [term()]}, descriptions: %{String.t() => String.t()}}

  @doc """
  The annotations among the options, validated against their type.

      iex> type = {:map, [{"rows", {:list, {:map, [{"status", :string}]}}}]}
      iex> PtcRunner.SubAgent.Signature.Annotations.of!([enums: %{"rows.status" => ["open"]}], type)
      %{enums: %{"rows.status" => ["open"]}, descriptions: %{}}

      iex> PtcRunner.SubAgent.Signature.Annotations.of!([enums: %{"rows.stats" => [1]}], {:map, [{"rows", :int}]})
      ** (ArgumentError) :enums has the path "rows.stats", which is none of the type's. Paths: "rows"

  """
  @spec of!(keyword(), term()) :: t()
  def of!(opts, type) do
    enums = given!(opts, :enums, "a list of values", &values?/1)
    descriptions = given!(opts, :descriptions, "a text", &is_binary/1)

    if enums != %{} or descriptions != %{} do
      paths = type |> paths("") |> Enum.uniq()
      for {path, _values} <- enums, do: known!(path, :enums, paths)
      for {path, _text} <- descriptions, do: known!(path, :descriptions, paths)
    end

    %{enums: enums, descriptions: descriptions}
  end

  defp values?([_ | _] = list), do: not List.improper?(list)
  defp values?(_other), do: false

  defp given!(opts, name, wanted, good?) do
    given = Keyword.get(opts, name, %{})

    unless is_map(given) and Enum.all?(given, fn {path, x} -> is_binary(path) and good?.(x) end) do
      raise ArgumentError,
            "option #{inspect(name)} must be a map of paths, each with #{wanted}, " <>
              "got: #{Shown.text(given, 200)}"
    end

    given
  end

  defp known!(path, option, paths) do
    if path not in paths do
      close =
        case Suggestion.closest(path, paths) do
          {:ok, close} -> " Did you mean #{inspect(close)}?"
          :error -> ""
        end

      raise ArgumentError,
            "#{inspect(option)} has the path #{Shown.text(path, 200)}, which is none of the type's." <>
              "#{close} Paths: #{Shown.few(paths -- [""], &inspect/1)}"
    end
  end

  defp paths({:optional, type}, path), do: paths(type, path)
  defp paths({:list, type}, path), do: paths(type, path)

  defp paths({kind, fields}, path) when kind in [:map, :closed_map],
    do: [path | Enum.flat_map(fields, fn {name, type} -> paths(type, join(path, name)) end)]

  defp paths(_scalar, path), do: [path]

  @doc """
  The path of a field below another path.

      iex> PtcRunner.SubAgent.Signature.Annotations.join("rows", "status")
      "rows.status"

  """
  @spec join(String.t(), String.t()) :: String.t()
  def join("", name), do: name
  def join(path, name), do: path <> "." <> name

  @doc """
  An error for each value that is not in the enumeration of its field. Only values that match the type are
  checked.

      iex> type = {:list, {:map, [{"status", {:optional, :string}}]}}
      iex> PtcRunner.SubAgent.Signature.Annotations.errors([%{"status" => "opne"}, %{}], type, %{"status" => ["open"]})
      [%{path: [0, "status"], message: ~s(expected one of "open", got "opne")}]

  """
  @spec errors(term(), term(), %{String.t() => [term()]}) :: [map()]
  def errors(_value, _type, enums) when enums == %{}, do: []
  def errors(value, type, enums), do: value |> walk(type, "", [], enums) |> List.flatten()

  defp walk(nil, {:optional, _type}, _path, _at, _enums), do: []
  defp walk(value, {:optional, type}, path, at, enums), do: walk(value, type, path, at, enums)

  defp walk(values, {:list, type}, path, at, enums) when is_list(values) do
    if concerned?(path, enums) do
      for {value, index} <- Enum.with_index(values),
          do: walk(value, type, path, [index | at], enums)
    else
      []
    end
  end

  defp walk(map, {kind, fields}, path, at, enums)
       when kind in [:map, :closed_map] and is_map(map) do
    for {name, type} <- fields,
        path = join(path, name),
        concerned?(path, enums),
        {:ok, value} <- [fetch(map, name)],
        do: walk(value, type, path, [name | at], enums)
  end

  defp walk(value, _type, path, at, enums) do
    case enums do
      %{^path => values} -> if value in values, do: [], else: [error(value, values, at)]
      %{} -> []
    end
  end

  # Whether a path, or a path below it, has an enumeration.
  defp concerned?("", _enums), do: true

  defp concerned?(path, enums) do
    Enum.any?(enums, fn {known, _values} ->
      known == path or String.starts_with?(known, path <> ".")
    end)
  end

  defp error(value, values, at) do
    got = if Firewall.below?(at), do: ErrorText.kind(value), else: Shown.text(value, 200)
    message = "expected one of #{Shown.few(values, &Shown.text(&1, 200))}, got #{got}"
    %{path: Enum.reverse(at), message: message}
  end

  # Only these spellings of a name are possible in a value that matches its type.
  defp fetch(map, name) do
    with :error <- Map.fetch(map, name), do: Map.fetch(map, Atomizer.safe_to_atom(name))
  end
end

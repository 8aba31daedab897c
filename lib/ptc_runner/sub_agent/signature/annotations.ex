defmodule PtcRunner.SubAgent.Signature.Annotations do
  @moduledoc false
  # Annotations of types: the values that a field may have (`:enums`), and the description of a field
  # (`:descriptions`). Both are maps whose keys are paths: the names of fields, joined with dots. The
  # elements of a list have the path of the list.

  alias PtcRunner.SubAgent.Signature.Base
  alias PtcRunner.Json.Suggestion
  alias PtcRunner.Shown

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
      paths = for {path, _type} <- places(type), uniq: true, do: path
      known = MapSet.new(paths)
      for {path, _values} <- enums, path not in known, do: unknown!(path, :enums, paths)

      for {path, _text} <- descriptions,
          path not in known,
          do: unknown!(path, :descriptions, paths)
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

  defp unknown!(path, option, paths) do
    close = Suggestion.sentence(path, paths, &" Did you mean #{inspect(&1)}?")

    raise ArgumentError,
          "#{inspect(option)} has the path #{Shown.text(path, 200)}, which is none of the type's." <>
            "#{close} Paths: #{Shown.few(paths -- [""], &inspect/1)}"
  end

  @doc """
  The places of a type that annotations name, by their paths, with what stands there without wrappers; the outer ones first.

      iex> alias PtcRunner.SubAgent.Signature.Annotations
      iex> Annotations.places({:list, {:map, [{"a", {:optional, :int}}]}})
      [{"", {:map, [{"a", {:optional, :int}}]}}, {"a", :int}]

  """
  @spec places(term()) :: [{String.t(), term()}]
  def places(type), do: places(type, "")

  defp places({kind, type}, path) when kind in [:optional, :list], do: places(type, path)

  defp places({kind, _, _} = type, path) when kind in [:where, :struct, :defs],
    do: places(Base.bare(type), path)

  defp places({kind, fields} = type, path) when kind in [:map, :closed_map] do
    [
      {path, type}
      | Enum.flat_map(fields, fn {name, type} -> places(type, join(path, name)) end)
    ]
  end

  defp places(type, path), do: [{path, type}]

  @doc """
  The path of a field below another path.

      iex> PtcRunner.SubAgent.Signature.Annotations.join("rows", "status")
      "rows.status"

  """
  @spec join(String.t(), String.t()) :: String.t()
  def join("", name), do: name
  def join(path, name), do: path <> "." <> name
end

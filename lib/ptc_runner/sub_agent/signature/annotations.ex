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
      paths = type |> paths("") |> Enum.uniq()
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

  defp paths({:optional, type}, path), do: paths(type, path)
  defp paths({:list, type}, path), do: paths(type, path)

  defp paths({kind, _, _} = type, path) when kind in [:where, :struct, :defs],
    do: paths(Base.bare(type), path)

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
end

defmodule PtcRunner.SubAgent.Signature.FromEcto.Types do
  @moduledoc false
  # The types of Ecto's fields.

  alias PtcRunner.SubAgent.Signature

  @naive "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?$"
  @without_offset {:where, :string, [pattern: @naive, description: "ISO 8601 without an offset"]}
  @time {:where, :string, [format: :time]}
  @uuid {:where, :string, [format: :uuid]}

  @types %{
    id: :int,
    integer: :int,
    float: :float,
    boolean: :bool,
    string: :string,
    binary_id: @uuid,
    decimal: :decimal,
    map: :map,
    any: :any,
    date: :date,
    time: @time,
    time_usec: @time,
    utc_datetime: :datetime,
    utc_datetime_usec: :datetime,
    naive_datetime: @without_offset,
    naive_datetime_usec: @without_offset
  }

  @doc """
  The type of a field's type: with `:ok`, or what is read next; `own` has the types of the application's own modules. `{:any, why}` if
  a signature does not have it.

      iex> PtcRunner.SubAgent.Signature.FromEcto.Types.of(:utc_datetime_usec, %{})
      {:ok, :datetime}

      iex> PtcRunner.SubAgent.Signature.FromEcto.Types.of({:array, :date}, %{})
      {:list, :date}

  """
  @spec of(term(), %{module() => Signature.type()}) ::
          {:ok, Signature.type()}
          | {:list | :map_of, term()}
          | {:embed, :one | :many, module()}
          | {:any, String.t()}
  def of(type, own) when is_map_key(own, type), do: {:ok, Map.fetch!(own, type)}
  def of(type, _own) when is_map_key(@types, type), do: {:ok, Map.fetch!(@types, type)}
  def of(Ecto.UUID, _own), do: {:ok, @uuid}
  def of({:array, type}, _own), do: {:list, type}
  def of({:map, type}, _own), do: {:map_of, type}
  def of({:maybe, type}, own), do: of(type, own)

  # Since Ecto 3.12 the module and what it was given are one pair.
  def of({:parameterized, {module, given}}, own), do: parameterized(module, given, own)
  def of({:parameterized, module, given}, own), do: parameterized(module, given, own)

  # Before Ecto 3.5, and in changesets.
  def of({:embed, given}, own), do: parameterized(Ecto.Embedded, given, own)
  def of(nil, _own), do: {:any, "its type is not known"}

  def of(module, _own) when is_atom(module) do
    if match?("Elixir." <> _, Atom.to_string(module)),
      do: {:any, own_type(module)},
      else: {:any, "a signature has no type #{inspect(module)}"}
  end

  def of(_other, _own), do: {:any, "its type is not known"}

  defp parameterized(module, _given, own) when is_map_key(own, module),
    do: {:ok, Map.fetch!(own, module)}

  defp parameterized(Ecto.Embedded, %{cardinality: cardinality, related: module}, _own),
    do: {:embed, cardinality, module}

  defp parameterized(Ecto.Enum, %{mappings: [_ | _] = mappings}, _own),
    do: enum(Keyword.keys(mappings))

  # As it was before Ecto 3.6.
  defp parameterized(Ecto.Enum, %{values: [_ | _] = values}, _own), do: enum(values)
  defp parameterized(Ecto.Enum, %{on_dump: %{} = dumped}, _own), do: enum(Map.keys(dumped))
  defp parameterized(module, _given, _own), do: {:any, own_type(module)}

  defp enum(atoms), do: {:ok, {:where, :keyword, [enum: atoms]}}

  defp own_type(module) do
    "#{inspect(module)} is a type of the application: say which one with types: %{#{inspect(module)} => type}"
  end
end

defmodule PtcRunner.SubAgent.Signature.TypeResolver do
  @moduledoc """
  Queries about the parameters of a signature and about types.
  """

  alias PtcRunner.SubAgent.Signature.Base
  alias PtcRunner.SubAgent.Signature

  @scalars [:string, :int, :float, :bool, :keyword, :any, :datetime, :date, :decimal, :number]

  @type resolve_error ::
          :empty_path
          | {:param_not_found, String.t()}
          | {:field_not_found, String.t()}
          | {:cannot_access_field, String.t(), Signature.type()}

  @doc """
  The type at a path: a parameter, then field by field. Lists have no segment of their own.

      iex> {:ok, signature} = PtcRunner.SubAgent.Signature.parse("(rows [{id :int, tags [:string]}]) -> :int")
      iex> PtcRunner.SubAgent.Signature.TypeResolver.resolve_path(signature, ["rows", "tags"])
      {:ok, {:list, :string}}
      iex> PtcRunner.SubAgent.Signature.TypeResolver.resolve_path(signature, ["rows", "name"])
      {:error, {:field_not_found, "name"}}
      iex> PtcRunner.SubAgent.Signature.TypeResolver.resolve_path(signature, ["rows", "id", "x"])
      {:error, {:cannot_access_field, "x", :int}}

  """
  @spec resolve_path(Signature.t() | String.t(), [String.t()]) ::
          {:ok, Signature.type()} | {:error, resolve_error()}
  def resolve_path(_signature, []), do: {:error, :empty_path}

  def resolve_path(text, path) when is_binary(text),
    do: text |> Signature.parsed!() |> resolve_path(path)

  def resolve_path({:signature, params, _returns}, [name | path]) do
    with {:ok, type} <- param(params, name), do: descend(type, path)
  end

  defp descend(type, []), do: {:ok, type}
  defp descend({:list, type}, path), do: descend(type, path)
  defp descend({:optional, type}, path), do: descend(type, path)

  defp descend({kind, _, _} = type, path) when kind in [:where, :struct, :defs],
    do: descend(Base.bare(type), path)

  defp descend({:map_of, type}, [_any | path]), do: descend(type, path)

  defp descend({:map, fields}, [name | path]) do
    case List.keyfind(fields, name, 0) do
      {_name, type} -> descend(type, path)
      nil -> {:error, {:field_not_found, name}}
    end
  end

  defp descend(type, [name | _path]), do: {:error, {:cannot_access_field, name, type}}

  defp param(params, name) do
    case List.keyfind(params, name, 0) do
      {_name, type} -> {:ok, type}
      nil -> {:error, {:param_not_found, name}}
    end
  end

  @doc """
  The type of the elements of a parameter that is a list; an optional list does not count as a list.

      iex> signature = {:signature, [{"ids", {:list, :int}}, {"n", :int}], :any}
      iex> PtcRunner.SubAgent.Signature.TypeResolver.list_element_type(signature, "ids")
      {:ok, :int}
      iex> PtcRunner.SubAgent.Signature.TypeResolver.list_element_type(signature, "n")
      {:error, {:not_a_list, :int}}

  """
  @spec list_element_type(Signature.t() | String.t(), String.t()) ::
          {:ok, Signature.type()}
          | {:error, {:not_a_list, Signature.type()} | {:param_not_found, String.t()}}
  def list_element_type(text, name) when is_binary(text),
    do: text |> Signature.parsed!() |> list_element_type(name)

  def list_element_type({:signature, params, _returns}, name) do
    case param(params, name) do
      {:ok, {:list, type}} -> {:ok, type}
      {:ok, type} -> {:error, {:not_a_list, type}}
      error -> error
    end
  end

  @doc """
  Whether a type is scalar, optional or not. `:map` is not scalar.

      iex> PtcRunner.SubAgent.Signature.TypeResolver.scalar_type?({:optional, :int})
      true
      iex> PtcRunner.SubAgent.Signature.TypeResolver.scalar_type?(:map)
      false

  """
  @spec scalar_type?(term()) :: boolean()
  def scalar_type?({:optional, type}), do: scalar_type?(type)
  def scalar_type?({:where, type, _rules}), do: scalar_type?(type)
  def scalar_type?(type), do: type in @scalars

  @doc """
  Whether values of a type can be enumerated: lists and open maps, optional or not.

      iex> PtcRunner.SubAgent.Signature.TypeResolver.iterable_type?({:list, :int})
      true
      iex> PtcRunner.SubAgent.Signature.TypeResolver.iterable_type?(:string)
      false

  """
  @spec iterable_type?(term()) :: boolean()
  def iterable_type?({:optional, type}), do: iterable_type?(type)
  def iterable_type?({:where, type, _rules}), do: iterable_type?(type)
  def iterable_type?({:map_of, _type}), do: true
  def iterable_type?({kind, _}) when kind in [:list, :map], do: true
  def iterable_type?(type), do: type == :map

  @doc """
  The fields of an open map type, optional or not.

      iex> PtcRunner.SubAgent.Signature.TypeResolver.map_fields({:optional, {:map, [{"id", :int}]}})
      {:ok, [{"id", :int}]}
      iex> PtcRunner.SubAgent.Signature.TypeResolver.map_fields(:map)
      {:error, {:not_a_map, :map}}

  """
  @spec map_fields(term()) ::
          {:ok, [{String.t(), Signature.type()}]} | {:error, {:not_a_map, term()}}
  def map_fields({:map, fields}), do: {:ok, fields}
  def map_fields({:optional, type}), do: map_fields(type)

  def map_fields({kind, _, _} = type) when kind in [:where, :struct, :defs],
    do: map_fields(Base.bare(type))

  def map_fields(type), do: {:error, {:not_a_map, type}}
end

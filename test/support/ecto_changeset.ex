defmodule PtcRunner.Test.EctoChangeset do
  @moduledoc false
  # A stand-in for `Ecto.Changeset`: as much of `cast`, `cast_embed` and the validations as a record needs, with the same public shape of the
  # changeset, and the same demands on parameters and values.

  # The fields of `Ecto.Changeset`.
  defstruct valid?: false,
            data: nil,
            params: nil,
            changes: %{},
            errors: [],
            validations: [],
            required: [],
            prepare: [],
            constraints: [],
            filters: %{},
            action: nil,
            types: %{},
            empty_values: [""],
            repo: nil,
            repo_opts: []

  def cast(%module{} = data, params, names) do
    types = module.__changeset__()
    params = params(params)

    changeset = %__MODULE__{valid?: true, data: data, params: params, types: types}

    Enum.reduce(names, changeset, fn name, changeset ->
      with {:ok, value} <- Map.fetch(params, Atom.to_string(name)) do
        case value(Map.fetch!(types, name), value) do
          {:ok, value} -> change(changeset, name, value)
          :error -> error(changeset, name, "is invalid")
        end
      else
        :error -> changeset
      end
    end)
  end

  # Keys are atoms or texts, not both.
  defp params(%_struct{} = params),
    do: raise(ArgumentError, "expected params to be a :map, got: #{inspect(params)}")

  defp params(params) when is_map(params) do
    case params |> Map.keys() |> Enum.split_with(&is_atom/1) do
      {_, []} ->
        Map.new(params, fn {key, value} -> {Atom.to_string(key), value} end)

      {[], _} ->
        params

      _mixed ->
        raise ArgumentError,
              "expected params to be a map with atoms or string keys, got a map with mixed keys: #{inspect(params)}"
    end
  end

  defp params(params),
    do: raise(ArgumentError, "expected params to be a :map, got: #{inspect(params)}")

  def cast_embed(%{types: types, params: params} = changeset, name, opts \\ []) do
    %{cardinality: cardinality, related: module} = embedded(Map.fetch!(types, name))
    fun = Keyword.get(opts, :with, &module.changeset/2)

    changeset =
      if opts[:required],
        do: %{changeset | required: [name | changeset.required]},
        else: changeset

    case Map.fetch(params, Atom.to_string(name)) do
      {:ok, list} when cardinality == :many and is_list(list) ->
        related(changeset, name, Enum.map(list, &fun.(module.__struct__(), &1)))

      {:ok, %{} = map} when cardinality == :one ->
        related(changeset, name, fun.(module.__struct__(), map))

      {:ok, nil} ->
        changeset

      {:ok, _other} ->
        error(changeset, name, "is invalid")

      :error ->
        if opts[:required], do: error(changeset, name, "can't be blank"), else: changeset
    end
  end

  defp embedded({:parameterized, {Ecto.Embedded, embedded}}), do: embedded
  defp embedded({:parameterized, Ecto.Embedded, embedded}), do: embedded

  defp related(changeset, name, changesets) do
    changeset = change(changeset, name, changesets)
    %{changeset | valid?: changeset.valid? and Enum.all?(List.wrap(changesets), & &1.valid?)}
  end

  def validate_required(changeset, names) do
    changeset = %{changeset | required: names ++ changeset.required}

    Enum.reduce(names, changeset, fn name, changeset ->
      if get(changeset, name) in [nil, ""],
        do: error(changeset, name, "can't be blank"),
        else: changeset
    end)
  end

  def validate_length(changeset, name, opts), do: noted(changeset, name, {:length, opts})
  def validate_number(changeset, name, opts), do: noted(changeset, name, {:number, opts})

  def validate_inclusion(changeset, name, values),
    do: noted(changeset, name, {:inclusion, values})

  def validate_exclusion(changeset, name, values),
    do: noted(changeset, name, {:exclusion, values})

  def validate_subset(changeset, name, values), do: noted(changeset, name, {:subset, values})
  def validate_format(changeset, name, regex), do: noted(changeset, name, {:format, regex})
  def validate_acceptance(changeset, name), do: noted(changeset, name, {:acceptance, []})
  def validate_confirmation(changeset, name), do: noted(changeset, name, {:confirmation, []})

  # `validate_change/4` with metadata of the application's own.
  def noted(changeset, name, metadata),
    do: %{changeset | validations: [{name, metadata} | changeset.validations]}

  def apply_changes(%{changes: changes, data: data}) do
    struct(data, Map.new(changes, fn {name, value} -> {name, applied(value)} end))
  end

  defp applied(%__MODULE__{} = changeset), do: apply_changes(changeset)
  defp applied(list) when is_list(list), do: Enum.map(list, &applied/1)
  defp applied(value), do: value

  defp get(%{changes: changes, data: data}, name),
    do: Map.get(changes, name, Map.fetch!(data, name))

  defp change(changeset, name, value),
    do: %{changeset | changes: Map.put(changeset.changes, name, value)}

  defp error(changeset, name, text),
    do: %{changeset | valid?: false, errors: [{name, {text, []}} | changeset.errors]}

  defp value(_type, nil), do: {:ok, nil}

  defp value(type, value) when type in [:id, :integer],
    do: number(value, &Integer.parse/1, &is_integer/1)

  defp value(:float, value), do: number(value, &Float.parse/1, &is_number/1)

  defp value(type, value) when type in [:string, :binary, :binary_id, Ecto.UUID],
    do: kept(value, is_binary(value))

  defp value(:boolean, value), do: kept(value, is_boolean(value))
  defp value(:any, value), do: {:ok, value}
  defp value(:map, value), do: kept(value, is_map(value) and not is_struct(value))
  defp value(:decimal, %{__struct__: Decimal} = value), do: {:ok, value}

  defp value(:decimal, text) when is_binary(text) do
    case PtcRunner.SubAgent.Signature.Coercion.coerce(text, :decimal) do
      {:ok, decimal, _warnings} -> {:ok, decimal}
      {:error, _why} -> :error
    end
  end

  defp value(:decimal, value), do: kept(value, is_number(value))
  defp value(:date, value), do: dated(Date, value)
  defp value(type, value) when type in [:time, :time_usec], do: dated(Time, value)

  defp value(type, value) when type in [:naive_datetime, :naive_datetime_usec],
    do: dated(NaiveDateTime, value)

  defp value(type, value) when type in [:utc_datetime, :utc_datetime_usec],
    do: dated(DateTime, value)

  defp value({:array, type}, list) when is_list(list) do
    values = Enum.map(list, &value(type, &1))
    if :error in values, do: :error, else: {:ok, Enum.map(values, &elem(&1, 1))}
  end

  defp value({:map, type}, map) when is_map(map) do
    values = for {key, value} <- map, do: {key, value(type, value)}

    if Enum.any?(values, &(elem(&1, 1) == :error)),
      do: :error,
      else: {:ok, Map.new(values, fn {key, {:ok, value}} -> {key, value} end)}
  end

  defp value({:parameterized, {Ecto.Enum, given}}, value), do: enum(given, value)
  defp value({:parameterized, Ecto.Enum, given}, value), do: enum(given, value)
  defp value(_type, _value), do: :error

  defp enum(%{on_cast: texts, on_dump: atoms}, value) do
    case texts do
      %{^value => atom} -> {:ok, atom}
      _no -> kept(value, is_map_key(atoms, value))
    end
  end

  defp kept(value, true), do: {:ok, value}
  defp kept(_value, false), do: :error

  defp number(text, parse, _good?) when is_binary(text) do
    case parse.(text) do
      {number, ""} -> {:ok, number}
      _no -> :error
    end
  end

  defp number(value, _parse, good?), do: kept(value, good?.(value))

  defp dated(module, %module{} = value), do: {:ok, value}

  defp dated(DateTime, text) when is_binary(text) do
    with {:ok, datetime, _offset} <- DateTime.from_iso8601(text), do: {:ok, datetime}
  end

  defp dated(module, text) when is_binary(text) do
    with {:error, _why} <- module.from_iso8601(text), do: :error
  end

  defp dated(_module, _value), do: :error
end

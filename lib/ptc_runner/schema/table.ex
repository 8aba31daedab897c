defmodule PtcRunner.Schema.Table do
  @moduledoc false
  # Converts the native table of operations to Elixir terms. Only this module knows the form of its rows.
  # The native table is next to the validation and the evaluation of the operations.

  alias PtcRunner.Native
  alias PtcRunner.Native.Panic

  @type type ::
          :any
          | :string
          | :map
          | :expr
          | :non_neg_integer
          | {:list, :expr}
          | {:list, :string}
          | :template
          | :text
          | :boolean
          | :percent
          | :pos_integer
          | :cases
          | :sort_keys
          | {:list, :template}
          | {:list_or_node, :template}
          | {:map, :template | :string}

  @typedoc """
  One field. `:kind` is finer than `:type`: an operand is an operation or a bare number. `:presence`
  tells whether a program must have the field; of `:alternative` fields it has one. `:about`
  describes the field, `:values` its possible values, if the type does not tell them (otherwise it is empty), `:choices` lists
  them if they are a few strings.
  """
  @type field :: %{
          name: String.t(),
          type: type(),
          kind: atom(),
          presence: :required | :not_null | :expected | :alternative | :optional | :nullable,
          required?: boolean(),
          about: String.t(),
          values: String.t(),
          choices: [String.t()]
        }

  @typedoc """
  One operation; its fields are sorted by name. `:types` says which types go in and come out, `:shape` what its value is made of
  (`native/ptc_program/src/shape.rs`).
  """
  @type operation :: %{
          name: String.t(),
          category: String.t(),
          description: String.t(),
          types: String.t(),
          shape: String.t(),
          fields: [field()]
        }

  @doc "All operations of an edition in the order of the prompt, grouped by category."
  @spec operations(1 | 2) :: [operation()]
  def operations(edition), do: kept({:operations, edition}, fn -> read(edition) end)

  # The table is large, and each error about an operation or a field asks for it.
  defp kept(what, make) do
    key = {__MODULE__, what}

    with nil <- :persistent_term.get(key, nil) do
      made = make.()
      :persistent_term.put(key, made)
      made
    end
  end

  defp read(edition) do
    for {name, category, description, types, shape, fields} <- Native.operations(edition) do
      %{
        name: name,
        category: category,
        description: description,
        types: types,
        shape: shape,
        fields: Enum.map(fields, &field(&1, edition))
      }
    end
  catch
    :error, :nif_panicked -> Panic.raise!()
  end

  # In edition 2 a comparison may have `left` instead of its field.
  defp field({name, kind, presence, about, values, choices}, edition) do
    required =
      if edition == 1, do: [:required, :not_null, :expected], else: [:required, :not_null]

    %{
      name: name,
      type: type(kind),
      kind: kind,
      presence: presence,
      required?: presence in required,
      about: about,
      values: values,
      choices: choices
    }
  end

  @doc "The names of all operations of an edition, in ascending order."
  @spec names(1 | 2) :: [String.t()]
  def names(edition) do
    kept({:names, edition}, fn ->
      Enum.sort(for operation <- operations(edition), do: operation.name)
    end)
  end

  @doc """
  The shape of the operation with this name, and which of its fields came with edition 2: `:all` if the operation did.

      iex> Enum.map(["count", "range", "loop"], &PtcRunner.Schema.Table.shape/1)
      [{"count", ["where"]}, {"range", :all}, nil]

  """
  @spec shape(term()) :: {String.t(), [String.t()] | :all} | nil
  def shape(op), do: kept(:shapes, &shapes/0)[op]

  defp shapes do
    old = names(1)

    Map.new(operations(2), fn %{name: name, shape: shape} ->
      {name,
       {shape, if(name in old, do: field_names(name, 2) -- field_names(name, 1), else: :all)}}
    end)
  end

  @doc "The names of the operations of these shapes, in the order of the prompt."
  @spec of_shapes([String.t()]) :: [String.t()]
  def of_shapes(shapes),
    do: for(%{name: name, shape: shape} <- operations(2), shape in shapes, do: name)

  @doc "The names of the fields of the operation with this name, in ascending order."
  @spec field_names(String.t(), 1 | 2) :: [String.t()]
  def field_names(op, edition), do: for(field <- fields(op, edition), do: field.name)

  @doc "The names of the fields that the objects in a list field have, in ascending order."
  @spec part_names(String.t(), String.t()) :: [String.t()]
  def part_names(op, list) do
    case Enum.find(fields(op, 2), &(&1.name == list)) do
      %{kind: :cases} -> ["then", "when"]
      %{kind: :sort_keys} -> ["expr", "field", "order"]
    end
  end

  @doc "The name of the field that the operation with this name is normally given, if there is one."
  @spec expected(String.t()) :: String.t() | nil
  def expected(op),
    do: Enum.find_value(fields(op, 1), &if(&1.presence == :expected, do: &1.name))

  defp fields(op, edition) do
    case Enum.find(operations(edition), &(&1.name == op)) do
      nil -> []
      operation -> operation.fields
    end
  end

  @doc "The names of the required fields of an operation."
  @spec required(operation()) :: [String.t()]
  def required(%{fields: fields}), do: for(%{name: name, required?: true} <- fields, do: name)

  @doc "Whether a field contains operations that are evaluated."
  @spec node?(field()) :: boolean()
  def node?(%{type: type}), do: type in [:expr, {:list, :expr}]

  defp type(:operand), do: :expr
  defp type(kind) when kind in [:order, :choice, :pattern], do: :string
  defp type(:non_empty_text), do: :text
  defp type(:positive_integer), do: :pos_integer
  defp type(:places), do: :non_neg_integer
  defp type(:expr_list), do: {:list, :expr}
  defp type(:string_list), do: {:list, :string}
  defp type(:template_list), do: {:list, :template}
  defp type(:parts), do: {:list_or_node, :template}
  defp type(:template_map), do: {:map, :template}
  defp type(:string_map), do: {:map, :string}
  defp type(plain), do: plain
end

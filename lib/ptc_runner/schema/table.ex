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

  @typedoc """
  One field. `:kind` is finer than `:type`: an operand is an operation or a bare number. `:presence`
  tells whether a program must have the field; of `:alternative` fields it has one. `:about`
  describes the field, `:values` its possible values, if the type does not tell them (otherwise it is empty).
  """
  @type field :: %{
          name: String.t(),
          type: type(),
          kind: atom(),
          presence: :required | :not_null | :expected | :alternative | :optional,
          required?: boolean(),
          about: String.t(),
          values: String.t()
        }

  @typedoc "One operation; its fields are sorted by name."
  @type operation :: %{
          name: String.t(),
          category: String.t(),
          description: String.t(),
          fields: [field()]
        }

  @doc "All operations in the order of the prompt, grouped by category."
  @spec operations() :: [operation()]
  def operations do
    for {name, category, description, fields} <- Native.operations(1) do
      %{
        name: name,
        category: category,
        description: description,
        fields: Enum.map(fields, &field/1)
      }
    end
  catch
    :error, :nif_panicked -> Panic.raise!()
  end

  defp field({name, kind, presence, about, values, _choices}) do
    %{
      name: name,
      type: type(kind),
      kind: kind,
      presence: presence,
      required?: presence not in [:alternative, :optional],
      about: about,
      values: values
    }
  end

  @doc "The names of all operations, in ascending order."
  @spec names() :: [String.t()]
  def names, do: Enum.sort(for operation <- operations(), do: operation.name)

  @doc "The names of the fields of the operation with this name, in ascending order."
  @spec field_names(String.t()) :: [String.t()]
  def field_names(op), do: for(field <- fields(op), do: field.name)

  @doc "The name of the field that the operation with this name is normally given, if there is one."
  @spec expected(String.t()) :: String.t() | nil
  def expected(op), do: Enum.find_value(fields(op), &if(&1.presence == :expected, do: &1.name))

  defp fields(op) do
    case Enum.find(operations(), &(&1.name == op)) do
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
  defp type(:order), do: :string
  defp type(:expr_list), do: {:list, :expr}
  defp type(:string_list), do: {:list, :string}
  defp type(plain), do: plain
end

defmodule PtcRunner.Schema.Table do
  @moduledoc false
  # The native table of operations in Elixir's terms: the one place where its rows are taken apart.
  # The table itself stands beside the checks and the evaluation of the operations.

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
  says whether a program gives the field: `:alternative` ones are one another's alternatives. `:about`
  says what it is for, `:values` what may stand there, where the type does not tell (else it is empty).
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

  @typedoc "One operation; its fields stand in ascending order of their names."
  @type operation :: %{
          name: String.t(),
          category: String.t(),
          description: String.t(),
          fields: [field()]
        }

  @doc "All operations in the order of the prompt, those of a category next to each other."
  @spec operations() :: [operation()]
  def operations do
    for {name, category, description, fields} <- Native.operations() do
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

  defp field({name, kind, presence, about, values}) do
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

  @doc "The names of the fields that an operation cannot do without."
  @spec required(operation()) :: [String.t()]
  def required(%{fields: fields}), do: for(%{name: name, required?: true} <- fields, do: name)

  @doc "Whether operations stand in a field, and are evaluated there."
  @spec node?(field()) :: boolean()
  def node?(%{type: type}), do: type in [:expr, {:list, :expr}]

  defp type(:operand), do: :expr
  defp type(:order), do: :string
  defp type(:expr_list), do: {:list, :expr}
  defp type(:string_list), do: {:list, :string}
  defp type(plain), do: plain
end

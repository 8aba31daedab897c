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

  @type field :: {name :: String.t(), type(), required? :: boolean()}

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
      fields = for {field, type, required?} <- fields, do: {field, type(type), required?}
      %{name: name, category: category, description: description, fields: fields}
    end
  catch
    :error, :nif_panicked -> Panic.raise!()
  end

  @doc "The names of the fields that an operation cannot do without."
  @spec required(operation()) :: [String.t()]
  def required(%{fields: fields}), do: for({name, _type, true} <- fields, do: name)

  defp type(:expr_list), do: {:list, :expr}
  defp type(:string_list), do: {:list, :string}
  defp type(plain), do: plain
end

defmodule PtcRunner.Schema do
  @moduledoc """
  The operations of the language as data, as JSON schemas and as a text for prompts.

  All of it is derived from the table that the native validator and evaluator use. The
  schemas describe what a model should write; the validator accepts a little more, such as bare
  numbers as operands of arithmetic and comparisons without a `field`.
  """

  alias PtcRunner.Options
  alias PtcRunner.Schema.{JsonSchema, Prompt, Table}

  @prompt_options %{examples: :count}

  @typedoc """
  The type of a field: `:expr` is an operation or an object of operations, `:any` is any JSON value,
  taken literally.
  """
  @type field_type :: Table.type()

  @typedoc """
  One operation:

      %{
        "description" => String.t(),
        "fields" => %{String.t() => %{"type" => field_type(), "required" => boolean()}}
      }
  """
  @type operation :: %{String.t() => String.t() | %{String.t() => map()}}

  @doc """
  All operations by name.

      iex> operations = PtcRunner.Schema.operations()
      iex> operations["nth"]["fields"]
      %{"index" => %{"type" => :non_neg_integer, "required" => true}}

  """
  @spec operations() :: %{String.t() => operation()}
  def operations, do: Map.new(Table.operations(), &{&1.name, definition(&1)})

  @doc """
  The names of all operations, in ascending order.

      iex> Enum.take(PtcRunner.Schema.valid_operation_names(), 3)
      ["add", "and", "avg"]

  """
  @spec valid_operation_names() :: [String.t()]
  def valid_operation_names, do: Table.names()

  @doc """
  One operation by name.

      iex> {:ok, operation} = PtcRunner.Schema.get_operation("load")
      iex> operation["fields"]
      %{"name" => %{"type" => :string, "required" => true}}

      iex> PtcRunner.Schema.get_operation("fetch")
      :error

  """
  @spec get_operation(term()) :: {:ok, operation()} | :error
  def get_operation(name) do
    case Enum.find(Table.operations(), &(&1.name == name)) do
      nil -> :error
      operation -> {:ok, definition(operation)}
    end
  end

  defp definition(operation) do
    fields =
      Map.new(operation.fields, &{&1.name, %{"type" => &1.type, "required" => &1.required?}})

    %{"description" => operation.description, "fields" => fields}
  end

  @doc """
  A JSON schema (draft 7) of programs, in which operations refer to each other.

      iex> schema = PtcRunner.Schema.to_json_schema()
      iex> schema["required"]
      ["program"]
      iex> length(schema["$defs"]["operation"]["oneOf"]) == length(PtcRunner.Schema.valid_operation_names())
      true

  """
  @spec to_json_schema() :: map()
  def to_json_schema, do: JsonSchema.full()

  @doc """
  A JSON schema of programs without references, for the structured output of models.

  Nested operations are described only for the most frequent ones, and are unrestricted below.

      iex> schema = PtcRunner.Schema.to_llm_schema()
      iex> length(schema["properties"]["program"]["anyOf"]) == length(PtcRunner.Schema.valid_operation_names())
      true

  """
  @spec to_llm_schema() :: map()
  def to_llm_schema, do: JsonSchema.for_llm()

  @doc """
  The description of the language on one page, for the system prompt of a model that writes programs.

  The option `:examples` is the number of examples, 0 to 3 (default).

      iex> prompt = PtcRunner.Schema.to_prompt(examples: 1)
      iex> prompt =~ "Data: load(name), literal(value), var(name)"
      true
      iex> prompt =~ "Count filtered items:"
      true

  """
  @spec to_prompt(examples: non_neg_integer()) :: String.t()
  def to_prompt(opts \\ []) do
    Options.check!(opts, @prompt_options, "PtcRunner.Schema.to_prompt/1")
    Prompt.text(Keyword.get(opts, :examples, 3))
  end
end

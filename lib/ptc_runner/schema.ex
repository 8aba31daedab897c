defmodule PtcRunner.Schema do
  @moduledoc """
  The operations of the language as data, as JSON schemas and as a text for prompts.

  All of it is derived from the table that the native validator and evaluator use. The
  schemas describe what a model should write; the validator accepts a little more, such as fields that hold comments.

  Each function describes edition 1 of the language, unless `edition: 2` is given.
  """

  alias PtcRunner.Options
  alias PtcRunner.Schema.{Editions, Families, JsonSchema, JsonSchema2, Table}

  @edition %{edition: {:maybe, {:one_of, [1, 2]}}}
  @llm_options Map.merge(@edition, %{operations: :any, optional: {:one_of, [:omitted, :null]}})
  @prompt_options Map.merge(@edition, %{operations: :any, examples: :count})

  @typedoc """
  The type of a field: `:expr` is an operation or an object of operations, `:any` is any JSON value, taken
  literally, `:template` is a value with operations at any depth, `:text` a string or an operation,
  `{:list_or_node, :template}` a list of templates or an operation that gives a list.
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

  @typedoc "The edition of the language, by default 1."
  @type edition :: {:edition, 1 | 2 | nil}

  @typedoc """
  A family of operations of edition 2. What every program needs (data, flow, conditions, lists and totals) is always
  included.
  """
  @type family :: Families.family()

  @doc """
  All operations by name.

      iex> operations = PtcRunner.Schema.operations()
      iex> operations["nth"]["fields"]
      %{"index" => %{"type" => :non_neg_integer, "required" => true}}

  """
  @spec operations([edition()]) :: %{String.t() => operation()}
  def operations(opts \\ []) do
    opts
    |> edition("PtcRunner.Schema.operations/1")
    |> Table.operations()
    |> Map.new(&{&1.name, definition(&1)})
  end

  @doc """
  The names of all operations, in ascending order.

      iex> Enum.take(PtcRunner.Schema.valid_operation_names(), 3)
      ["add", "and", "avg"]

  """
  @spec valid_operation_names([edition()]) :: [String.t()]
  def valid_operation_names(opts \\ []),
    do: opts |> edition("PtcRunner.Schema.valid_operation_names/1") |> Table.names()

  @doc """
  One operation by name.

      iex> {:ok, operation} = PtcRunner.Schema.get_operation("load")
      iex> operation["fields"]
      %{"name" => %{"type" => :string, "required" => true}}

      iex> PtcRunner.Schema.get_operation("fetch")
      :error

  """
  @spec get_operation(term(), [edition()]) :: {:ok, operation()} | :error
  def get_operation(name, opts \\ []) do
    edition = edition(opts, "PtcRunner.Schema.get_operation/2")

    case Enum.find(Table.operations(edition), &(&1.name == name)) do
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
  A JSON schema of programs, in which operations refer to each other: draft 7, and draft 2020-12 for edition 2.

      iex> schema = PtcRunner.Schema.to_json_schema()
      iex> schema["required"]
      ["program"]
      iex> length(schema["$defs"]["operation"]["oneOf"]) == length(PtcRunner.Schema.valid_operation_names())
      true

  """
  @spec to_json_schema([edition()]) :: map()
  def to_json_schema(opts \\ []) do
    case edition(opts, "PtcRunner.Schema.to_json_schema/1") do
      1 -> JsonSchema.full()
      2 -> JsonSchema2.full(Table.operations(2))
    end
  end

  @doc """
  A JSON schema of programs, for the structured output of models
  ([which provider takes what](programs.md#structured-outputs)).

  In edition 1 it has no references: nested operations are described only for the most frequent ones, and are unrestricted
  below. In edition 2 it is recursive, each object is closed or has values of one type, each property has a type, and it uses
  only keywords that providers know.

  ## Options

    * `:edition` - 1 (the default) or 2
    * `:operations` - of edition 2: the families of operations that the schema has in addition to what every program needs, by
      default all of them, see `t:family/0`
    * `:optional` - of edition 2: `:omitted` (the default), or `:null` for providers that require every field: a program then writes
      null for each field that it does not use, which counts as absent

  An example:

      iex> schema = PtcRunner.Schema.to_llm_schema()
      iex> length(schema["properties"]["program"]["anyOf"]) == length(PtcRunner.Schema.valid_operation_names())
      true

  """
  @spec to_llm_schema([
          edition() | {:operations, [family()] | :all} | {:optional, :omitted | :null}
        ]) :: map()
  def to_llm_schema(opts \\ []) do
    function = "PtcRunner.Schema.to_llm_schema/1"
    Options.check!(opts, @llm_options, function)
    optional = Keyword.get(opts, :optional, :omitted)
    Editions.for_llm(opts[:edition] || 1, families(opts), optional, function)
  end

  @doc """
  The description of the language on one page, for the system prompt of a model that writes programs: about 4 KB, of
  edition 2 at most 6 KB.

  ## Options

    * `:edition` - 1 (the default) or 2
    * `:examples` - the number of examples, 0 to 3 (default)
    * `:operations` - of edition 2: the families of operations that the text describes in addition to what every program needs, by
      default all of them, see `t:family/0`. A small model gets a small prompt.

  An example:

      iex> prompt = PtcRunner.Schema.to_prompt(examples: 1)
      iex> prompt =~ "Data: load(name), literal(value), var(name)"
      true
      iex> prompt =~ "Count filtered items:"
      true

      iex> all = PtcRunner.Schema.to_prompt(edition: 2)
      iex> some = PtcRunner.Schema.to_prompt(edition: 2, operations: [:text])
      iex> {byte_size(all) <= 6_144, byte_size(some) <= byte_size(all)}
      {true, true}

  """
  @spec to_prompt([
          edition() | {:examples, non_neg_integer()} | {:operations, [family()] | :all}
        ]) :: String.t()
  def to_prompt(opts \\ []) do
    function = "PtcRunner.Schema.to_prompt/1"
    Options.check!(opts, @prompt_options, function)
    examples = Keyword.get(opts, :examples, 3)
    Editions.prompt(opts[:edition] || 1, families(opts), examples, function)
  end

  defp edition(opts, function) do
    Options.check!(opts, @edition, function)
    opts[:edition] || 1
  end

  defp families(opts), do: Keyword.get(opts, :operations, :all)
end

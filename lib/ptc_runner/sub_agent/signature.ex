defmodule PtcRunner.SubAgent.Signature do
  @moduledoc """
  Signatures: the types of the inputs and outputs of agents and tools.

      iex> {:ok, signature} = PtcRunner.SubAgent.Signature.parse("(query :string) -> {total :int, _ids [:int]}")
      iex> PtcRunner.SubAgent.Signature.validate(signature, %{"total" => 2, "_ids" => [7, 9]})
      :ok
      iex> {:error, errors} = PtcRunner.SubAgent.Signature.validate(signature, %{"total" => "2"})
      iex> PtcRunner.SubAgent.Signature.format_errors(errors, %{"total" => "2"})
      "Tool validation errors:\\n- total: expected integer, got string \\"2\\"\\n- _ids: expected field, got nil"

  Parsing, validation, coercion and rendering run natively, on Elixir terms, in one walk
  each; they never create atoms. See the guide *Signatures* for the syntax and for validated
  tool calls.

  ## Firewalled fields

  Fields whose name starts with an underscore or a hyphen are visible to Elixir only: `public_view/1` and
  `public_data/1` return what an LLM or a parent agent may see.
  """

  alias PtcRunner.Options

  alias PtcRunner.SubAgent.Signature.{
    Annotate,
    AnnotatedSchema,
    Base,
    Coercion,
    ErrorText,
    Firewall,
    FromEcto,
    FromSchema,
    Given,
    JsonSchema,
    Parser,
    Renderer,
    Schema,
    ToolCall,
    Validator
  }

  @module "PtcRunner.SubAgent.Signature"

  @typedoc "A parsed signature: parameters and return type."
  @type t :: {:signature, params :: [field()], returns :: type()}

  @typedoc "A signature: parsed, as a text, or as Elixir terms; see `parse/1`."
  @type given ::
          t() | String.t() | keyword() | map() | {keyword() | map(), term()} | nonempty_list()

  @typedoc "A parameter, or a field of a map."
  @type field :: {name :: String.t(), type()}

  @typedoc """
  A type. The syntax of signatures can express those up to `{:map, …}`. The others are written as terms, and come from
  `from_schema/2`, `from_ecto/2` and `annotate/3`; see the guide *Signatures*.
  """
  @type type ::
          :string
          | :int
          | :float
          | :bool
          | :keyword
          | :any
          | :map
          | :datetime
          | {:optional, type()}
          | {:list, type()}
          | {:map, [field()]}
          | {:closed_map, [field()]}
          | {:where, type(), [rule()]}
          | :date
          | :decimal
          | :number
          | {:map_of, type()}
          | {:struct, module(), {:map, [field()]}}
          | {:one_of, [type()], discriminator :: String.t() | nil}
          | {:defs, %{String.t() => type()}, type()}
          | {:ref, name :: String.t()}

  @typedoc """
  A rule of a type; see `annotate/3`. In the type each rule stands once, in this order.
  """
  @type rule ::
          {:min | :max | :exclusive_min | :exclusive_max | :multiple_of, number() | struct()}
          | {:min_length | :max_length, characters :: non_neg_integer()}
          | {:pattern, String.t()}
          | {:format, :date | :datetime | :time | :full_time | :email | :uri | :uuid}
          | {:enum, [term(), ...]}
          | {:ignore_case, true}
          | {:aliases, %{String.t() => term()}}
          | {:default, term()}
          | {:description, String.t()}
          | {:unique, true}
          | {:min_items | :max_items, items :: non_neg_integer()}
          | {:yes_no | :struct | :whole, true}

  @typedoc "A validation error: a path of declared names and indices from 0, and a message."
  @type error :: %{path: [String.t() | non_neg_integer()], message: String.t()}

  @typedoc """
  What a JSON Schema is for, and parts of it that types do not have. The keys of the maps are paths, such as `"rows.status"`.

    * `:for` - who reads the schema, by default `:plain`, which is JSON Schema 2020-12. `:openai_strict`, `:anthropic` and `:gemini`
      have what these providers take where they enforce a schema; the others of the rules are told in the description of the
      field. Raises `ArgumentError` for types that the provider cannot be told, with their places. See the guide *Results that
      providers enforce*, and `unenforced/2`
    * `:strict` - every property is required, optional ones are nullable, as providers of structured
      output require; by default `false`. Raises `ArgumentError` for `:map` and `:any`, which have
      no strict form.
    * `:enums` - the values that a field may have
    * `:descriptions` - descriptions of fields
  """
  @type schema_option ::
          {:for, :plain | :openai_strict | :anthropic | :gemini}
          | {:strict, boolean()}
          | {:enums, %{String.t() => [term(), ...]}}
          | {:descriptions, %{String.t() => String.t()}}

  @typedoc "What of a schema a signature does not keep: the place, the keyword or the validation, and why."
  @type dropped :: %{path: String.t(), keyword: String.t(), reason: String.t()}

  @typedoc "See `call_tool/4`."
  @type call_error ::
          {:invalid_input | :invalid_output, [error()], message :: String.t()}
          | {:tool_error, term()}

  @doc """
  Parses a signature; see `PtcRunner.SubAgent.Signature.Parser.parse/1`.

      iex> PtcRunner.SubAgent.Signature.parse("(id :int) -> [:string]?")
      {:ok, {:signature, [{"id", :int}], {:optional, {:list, :string}}}}

  ## As Elixir terms

  Fields as a keyword list or as a map with atoms, and JSON Schemas as maps with strings, are signatures too, wherever a text is. Alone they
  are the result; `{arguments, result}` is both. The type of a field is a word, a text, fields, `[type]`, a type term or
  `{type, rules}` with the rules of `annotate/3`:

      iex> {:ok, signature} = PtcRunner.SubAgent.Signature.parse(total: {:float, min: 0}, rows: [[id: :int, note: {:optional, :string}]])
      iex> signature
      {:signature, [],
       {:map,
        [
          {"total", {:where, :float, [min: 0]}},
          {"rows", {:list, {:map, [{"id", :int}, {"note", {:optional, :string}}]}}}
        ]}}
      iex> PtcRunner.SubAgent.Signature.parse({[city: :string], %{"type" => "array", "items" => %{"type" => "boolean"}}})
      {:ok, {:signature, [{"city", :string}], {:list, :bool}}}
      iex> PtcRunner.SubAgent.Signature.parse(total: {:string, min: 0})
      {:error, "total: :min does not fit :string"}

  A JSON Schema must be kept whole here; `from_schema/2` also returns a signature without what types cannot say.
  """
  @spec parse(term()) :: {:ok, t()} | {:error, String.t()}
  def parse(text) when is_binary(text), do: Parser.parse(text)
  def parse(given), do: if(Given.given?(given), do: Given.read(given), else: Parser.parse(given))

  @doc """
  Puts rules beside a type of the signature: what the text of a signature cannot say.

      iex> alias PtcRunner.SubAgent.Signature
      iex> {:ok, signature} = Signature.annotate("{rows [{total :float, status :string}]}", "rows.total", min: 0)
      iex> {:ok, signature} = Signature.annotate(signature, "rows.status", enum: ["open", "closed"])
      iex> Signature.validate(signature, %{"rows" => [%{"total" => -1, "status" => "opne"}]})
      {:error,
       [
         %{path: ["rows", 0, "total"], message: "expected at least 0, got -1"},
         %{path: ["rows", 0, "status"], message: ~s(expected one of "open", "closed", got "opne")}
       ]}

  ## Path

  The names of a parameter or of a field of the result and of the fields in it, joined with dots. The items of a list are
  passed through: `"rows.total"`, or explicitly `"rows[].total"`. A name is looked for among the parameters first; `"-> rows"`
  or `"$result.rows"` is always of the result, and `"->"` is the result itself. The path of a list of scalars stands for
  both: `:unique`, `:min_items`, `:max_items`, `:default` and `:description` become rules of the list, the others of its items.

  ## Rules

  | rule | of | |
  |---|---|---|
  | `:min`, `:max`, `:exclusive_min`, `:exclusive_max` | numbers | exact, also between integers and floats |
  | `:multiple_of` | numbers | exact: a float counts as the number of its shortest text |
  | `:min_length`, `:max_length` | `:string` | in code points |
  | `:pattern` | `:string` | a regular expression in linear time, found anywhere in the text |
  | `:format` | `:string` | `:date`, `:datetime` (with an offset), `:time`, `:full_time` (with an offset), `:email`, `:uri`, `:uuid` |
  | `:enum` | scalars | a list of values |
  | `:ignore_case` | with `:enum` | coercion takes a text in another case, with a warning |
  | `:aliases` | scalars | a map of texts to the values that coercion makes of them, with a warning |
  | `:default` | all | coercion puts it in where the field is missing; validation lets the field be missing |
  | `:description` | all | for prompts and schemas |
  | `:unique`, `:min_items`, `:max_items` | lists | equal items are those that are `==` |
  | `:yes_no` | `:bool` | coercion takes yes, no, y, n, on, off, t, f, 1, 0 in any case, with a warning |
  | `:struct` | `:datetime` | the value is a `DateTime` |
  | `:whole` | `:int` | a float without a fraction is an integer, as in JSON Schema; coercion makes an integer of it, with a warning |

  All rules but `:yes_no`, `:struct` and `:whole` fit `:any`; there each concerns the values that it can be about. A value that breaks several
  rules has one error, of the first one in this table. A second call adds rules; of the same rule the last one counts.

  Returns an error that says where and what if there is no such path, or a rule is unknown, does not fit the type, or cannot
  be kept with the others.

      iex> PtcRunner.SubAgent.Signature.annotate("{name :string}", "name", min: 0)
      {:error, ~s("name": :min does not fit :string)}

      iex> PtcRunner.SubAgent.Signature.annotate("{name :string}", "nam", min_length: 1)
      {:error, ~s("nam": there is no field "nam". Did you mean "name"? Fields: "name")}

  """
  @spec annotate(given(), String.t(), [rule()] | map()) ::
          {:ok, t()} | {:error, String.t()}
  def annotate({:signature, _params, _returns} = signature, path, rules),
    do: Annotate.annotate(signature, path, rules)

  def annotate(text, path, rules) do
    with {:ok, signature} <- parse(text), do: annotate(signature, path, rules)
  end

  @doc """
  A signature with rules at a path, as `annotate/3`; it raises `ArgumentError` instead of returning an error.

      iex> alias PtcRunner.SubAgent.Signature
      iex> signature = Signature.annotate!("(city :string, days :int?) -> :any", "days", default: 3, max: 14)
      iex> Signature.call_tool(signature, %{"city" => "Bonn"}, & &1)
      {:ok, %{"city" => "Bonn", "days" => 3}, []}

  """
  @spec annotate!(given(), String.t(), [rule()] | map()) :: t()
  def annotate!(signature, path, rules) do
    case annotate(signature, path, rules) do
      {:ok, signature} -> signature
      {:error, text} -> raise ArgumentError, text
    end
  end

  @doc """
  Validates a value against the return type of the signature.

      iex> PtcRunner.SubAgent.Signature.validate({:signature, [], {:list, :int}}, [1, "2"])
      {:error, [%{path: [1], message: "expected int, got string"}]}

      iex> PtcRunner.SubAgent.Signature.validate("{id :int}", %{"id" => 7})
      :ok

  Here and in the functions below, a signature may also be a text, or a term as `parse/1` takes it. One that does not parse raises
  `ArgumentError`.
  """
  @spec validate(given(), term()) :: :ok | {:error, [error(), ...] | String.t()}
  def validate({:signature, _params, returns}, data), do: Validator.validate(data, returns)
  def validate(text, data) when is_binary(text), do: text |> parsed!() |> validate(data)

  def validate(other, data),
    do:
      if(Given.given?(other), do: other |> parsed!() |> validate(data), else: no_signature(other))

  @doc """
  Validates arguments against the parameters of the signature.

      iex> signature = {:signature, [{"user_id", :int}], :any}
      iex> PtcRunner.SubAgent.Signature.validate_input(signature, %{"user-id" => 1})
      :ok
      iex> PtcRunner.SubAgent.Signature.validate_input(signature, %{})
      {:error, [%{path: ["user_id"], message: "expected field, got nil"}]}

  """
  @spec validate_input(given(), term()) :: :ok | {:error, [error(), ...] | String.t()}
  def validate_input({:signature, params, _returns}, input),
    do: Validator.validate(input, {:map, params})

  def validate_input(text, input) when is_binary(text),
    do: text |> parsed!() |> validate_input(input)

  def validate_input(other, input) do
    if Given.given?(other),
      do: other |> parsed!() |> validate_input(input),
      else: no_signature(other)
  end

  defp no_signature(other),
    do: {:error, "signature must be a parsed signature tuple, got #{PtcRunner.Shown.text(other)}"}

  @doc """
  A signature as text; see `PtcRunner.SubAgent.Signature.Renderer.render/1`.

      iex> PtcRunner.SubAgent.Signature.render({:signature, [{"id", :int}], {:list, :string}})
      "(id :int) -> [:string]"

  """
  @spec render(given()) :: String.t()
  def render(signature), do: signature |> parsed!() |> Renderer.render()

  @doc """
  The JSON Schema of the return type; a list is under `"items"` in an object. For a provider, a value that is neither an object
  nor a list is under `"value"`. `PtcRunner.Agent.answer/3` takes both out again.

      iex> PtcRunner.SubAgent.Signature.to_json_schema({:signature, [], {:map, [{"n", {:optional, :int}}]}})
      %{
        "type" => "object",
        "properties" => %{"n" => %{"type" => "integer"}},
        "required" => [],
        "additionalProperties" => false
      }

      iex> alias PtcRunner.SubAgent.Signature
      iex> signature = Signature.annotate!("{name :string, age :int}", "age", min: 0)
      iex> signature = Signature.annotate!(signature, "name", max_length: 80)
      iex> Signature.to_json_schema(signature, for: :openai_strict)["properties"]
      %{
        "age" => %{"type" => "integer", "minimum" => 0},
        "name" => %{"type" => "string", "description" => "Rules: at most 80 characters"}
      }

  """
  @spec to_json_schema(given(), [schema_option()]) :: map()
  def to_json_schema(signature, opts \\ []) do
    {:signature, _params, returns} = parsed!(signature)
    Schema.of_type(returns, opts, "#{@module}.to_json_schema/2", true)
  end

  @doc """
  The JSON Schema of the parameters, as an object: the form that `ALLM.Tool` and the tools of a
  provider's interface use.

      iex> PtcRunner.SubAgent.Signature.input_json_schema("(city :string, days :int?) -> :any",
      ...>   strict: true, enums: %{"city" => ["Bonn", "Rome"]}, descriptions: %{"days" => "from today"})
      %{
        "type" => "object",
        "properties" => %{
          "city" => %{"type" => "string", "enum" => ["Bonn", "Rome"]},
          "days" => %{"type" => ["integer", "null"], "description" => "from today"}
        },
        "required" => ["city", "days"],
        "additionalProperties" => false
      }

  """
  @spec input_json_schema(given(), [schema_option()]) :: map()
  def input_json_schema(signature, opts \\ []) do
    {:signature, params, _returns} = parsed!(signature)
    Schema.of_type({:map, params}, opts, "#{@module}.input_json_schema/2", false)
  end

  @doc """
  The JSON Schema of a type.

      iex> PtcRunner.SubAgent.Signature.type_to_json_schema({:list, :float})
      %{"type" => "array", "items" => %{"type" => "number"}}

  """
  @spec type_to_json_schema(type(), [schema_option()]) :: map()
  def type_to_json_schema(type, opts \\ []),
    do: Schema.of_type(type, opts, "#{@module}.type_to_json_schema/2", false)

  @doc """
  What of the return type a schema does not make a provider enforce; takes the options of `to_json_schema/2`.

  `told: :description`: the rule is told to the model in the description of the field. `told: :not_at_all`: there is no schema of
  the type, and `to_json_schema/2` raises.

      iex> alias PtcRunner.SubAgent.Signature
      iex> signature = Signature.annotate!("{tags [:string], data :map}", "tags", unique: true, max_items: 3)
      iex> Signature.unenforced(signature, for: :anthropic)
      [
        %{path: "tags", rule: "different items", told: :description},
        %{path: "tags", rule: "at most 3 items", told: :description},
        %{path: "data", rule: ":map, whose fields are not declared", told: :not_at_all}
      ]

  """
  @spec unenforced(given(), [schema_option()]) :: [
          %{path: String.t(), rule: String.t(), told: :description | :not_at_all}
        ]
  def unenforced(signature, opts) do
    {:signature, _params, returns} = parsed!(signature)
    Schema.unenforced(returns, opts, "#{@module}.unenforced/2")
  end

  @doc ~S"""
  The signature of a JSON Schema of draft 2020-12, with its rules, and what of it is not kept.

      iex> alias PtcRunner.SubAgent.Signature
      iex> {:ok, signature, dropped} = Signature.from_schema(%{
      ...>   "type" => "object",
      ...>   "properties" => %{
      ...>     "total" => %{"type" => "number", "minimum" => 0},
      ...>     "code" => %{"type" => "string", "pattern" => "^\\d{3}$"},
      ...>     "rows" => %{"type" => "array", "items" => %{"type" => "boolean"}, "contains" => %{"const" => true}}
      ...>   },
      ...>   "required" => ["total", "code"]
      ...> })
      iex> signature
      {:signature, [],
       {:map,
        [
          {"code", {:where, :string, [pattern: "^[0-9]{3}$"]}},
          {"rows", {:optional, {:list, :bool}}},
          {"total", {:where, :float, [min: 0]}}
        ]}}
      iex> dropped
      [%{path: "#/properties/rows", keyword: "contains", reason: "types have no such rule"}]
      iex> Signature.from_schema(%{"properties" => %{"a" => %{"minimum" => "1"}}})
      {:error, "#/properties/a: \"minimum\" must be a number, got \"1\""}

  If nothing is dropped, the type takes the values that the schema takes, and no others, with these differences:

    * null and a missing field are the same: an optional field may be null, and a nullable field may be missing.
    * Keys are found as in each signature: `user-id` is `user_id`.

  If something is dropped, the type takes more values, never fewer. Titles, examples, comments and keywords that begin with `x-` say nothing
  about values, and are not listed.

  `formats: false`: `format` says nothing about values, as draft 2020-12 has it by default.

  Three functions read JSON Schemas. New code needs only the first one:

  | function | gives | a keyword that types do not have |
  |---|---|---|
  | `from_schema/1`, `from_schema/2` | a signature and a list of what is not kept | is in the list |
  | `from_json_schema/1` | a type, as in PtcRunner | is an error |
  | `from_json_schema/2` with `annotations: true` | a type and options for `type_to_json_schema/2` | is an error, but for enumerations, descriptions and null |

  `from_json_schema/2` without `annotations:` is an old name of `from_schema/2`.
  """
  @spec from_schema(term(), formats: boolean()) ::
          {:ok, t(), dropped :: [dropped()]} | {:error, String.t()}
  def from_schema(schema, opts \\ []) do
    Options.check!(opts, %{formats: :boolean}, "#{@module}.from_schema/2")
    FromSchema.read(schema, opts)
  end

  @doc """
  The type of a JSON Schema, as in PtcRunner. A keyword that types do not have is an error. New code calls `from_schema/2`, which gives a signature.

      iex> PtcRunner.SubAgent.Signature.from_json_schema(%{
      ...>   "type" => "object",
      ...>   "properties" => %{"id" => %{"type" => "integer"}, "name" => %{"type" => "string"}},
      ...>   "required" => ["id"]
      ...> })
      {:ok, {:map, [{"id", :int}, {"name", {:optional, :string}}]}}

      iex> PtcRunner.SubAgent.Signature.from_json_schema(%{"type" => "null"})
      {:error, "unsupported type: \\"null\\""}

  """
  @spec from_json_schema(term()) :: {:ok, type()} | {:error, String.t()}
  def from_json_schema(schema), do: JsonSchema.to_type(schema)

  @doc """
  An old name of `from_schema/2`, which has a table of the functions that read JSON Schemas. With `annotations: true` it gives the type of
  `from_json_schema/1` and what stands beside it: enumerations, descriptions and null are read too, as options of `type_to_json_schema/2`
  that reproduce them.

      iex> PtcRunner.SubAgent.Signature.from_json_schema(%{"type" => "integer"}, [])
      {:ok, {:signature, [], {:where, :int, [whole: true]}}, []}

      iex> PtcRunner.SubAgent.Signature.from_json_schema(%{
      ...>   "type" => "object",
      ...>   "properties" => %{"status" => %{"type" => ["string", "null"], "enum" => ["open", "closed", nil]}},
      ...>   "required" => ["status"]
      ...> }, annotations: true)
      {:ok, {:map, [{"status", {:optional, :string}}]},
       [enums: %{"status" => ["open", "closed"]}, descriptions: %{}]}

  """
  @spec from_json_schema(term(), annotations: boolean(), formats: boolean()) ::
          {:ok, t(), dropped :: [dropped()]}
          | {:ok, type()}
          | {:ok, type(), [schema_option()]}
          | {:error, String.t()}
  def from_json_schema(schema, opts) do
    FromSchema.options(opts)

    case Keyword.fetch(opts, :annotations) do
      {:ok, true} -> AnnotatedSchema.to_type(schema)
      {:ok, false} -> JsonSchema.to_type(schema)
      :error -> FromSchema.read(schema, opts)
    end
  end

  @doc ~S"""
  The signature of an Ecto schema or embedded schema, with the rules of its changeset, and what of them is not kept.

  Ecto is no dependency: the schema is read through `__schema__/1`. The result is a record with the names of the fields as texts, as a
  model writes it, and as the function `cast` of a changeset takes it. Rows of the schema have it too.

      iex> alias PtcRunner.SubAgent.Signature
      iex> Signature.from_ecto(String)
      {:error, "String is no schema of Ecto: it has no function __schema__/1"}

  With this schema

      defmodule Order do
        use Ecto.Schema
        import Ecto.Changeset

        schema "orders" do
          field :number, :string
          field :status, Ecto.Enum, values: [:open, :paid], default: :open
          field :total, :decimal
          field :placed_on, :date
          field :secret, :string, redact: true
          embeds_many :lines, Line
          belongs_to :customer, Customer
        end

        def changeset(order, params) do
          order
          |> cast(params, [:number, :status, :total, :placed_on])
          |> cast_embed(:lines)
          |> validate_required([:number, :total])
          |> validate_format(:number, ~r/\A[A-Z]{2}-\d+\z/)
          |> validate_number(:total, greater_than_or_equal_to: 0)
        end
      end

  this is a way from a text of a model to a row of the database:

      returns = Signature.from_ecto!(Order, generated: false)
      {:ok, record, _warnings} = PtcRunner.Agent.answer(text, returns)
      %Order{} |> Order.changeset(record) |> Repo.insert()

  A list of records is `[Signature.from_ecto!(Order)]`, and the signature of a tool is `{[id: :int], Signature.from_ecto!(Order)}`.

  ## Types

  | field | type |
  |---|---|
  | `:id`, `:integer`, `:float`, `:boolean`, `:string`, `:decimal`, `:date`, `:map`, `:any` | `:int`, `:int`, `:float`, `:bool`, `:string`, `:decimal`, `:date`, `:map`, `:any` |
  | `:utc_datetime`, `:utc_datetime_usec` | `:datetime` |
  | `:naive_datetime`, `:naive_datetime_usec`, `:time`, `:time_usec` | `:string`, in ISO 8601 without an offset |
  | `:binary_id`, `Ecto.UUID` | `:string`, a UUID |
  | `{:array, t}`, `{:map, t}` | `[t]`, a map with values of the type |
  | `Ecto.Enum` | `:keyword` with its values: atoms, also in the text of a model |
  | embedded schemas | a record, or a list of them; one that is within itself has a name |
  | associations | as in `:preload` |
  | `:binary`, a module of the application, others | `:any`, and it is listed. `types: %{Money => [amount: :decimal, currency: :string]}` says what they are |

  A field may be null or missing, unless the changeset requires it. The default of a field fills it in where it is missing.

  ## Validations

  The function `changeset/2` of the schema, and that of each embedded schema, is called once with an empty struct and no parameters. Of
  its changeset are kept

  | validation | rule |
  |---|---|
  | `validate_required`, `cast_embed` with `required: true` | the field is not optional |
  | `validate_length` | `min_length` and `max_length` in code points, `min_items` and `max_items` of lists |
  | `validate_number` | `min`, `max`, `exclusive_min`, `exclusive_max` |
  | `validate_inclusion`, `validate_subset` | `enum`; of a range of numbers `min` and `max` |
  | `validate_format` | `pattern`, without look-around and references to groups; `$` and `\z` are the end of the text, and characters are counted, not bytes |
  | `validate_acceptance` | `enum: [true]` |

  All others that a changeset names are listed as not kept. Those made by `validate_change/3` have no name, and are not seen: cast the
  record in any case.

  ## Options

    * `:only`, `:except` - names of fields of the schema itself
    * `:generated` - `false` leaves out what Ecto makes itself: primary keys and timestamps. By default `true`
    * `:redacted` - `true` includes fields with `redact: true`; by default they are left out, and listed
    * `:preload` - associations, as `preload` of a repository takes them: `[:customer, lines: :product]`
    * `:changeset` - another function than `changeset/2`: `&changeset(&1, &2, scope)`. `%{Line => function}` is by schema, and `false` calls none
    * `:types` - the types of the application's own modules

  What is not kept is a list as in `from_schema/2`, with the path of the field, and the validation or the word `type`, `redact`, `default` or
  `changeset` as its keyword.
  """
  @spec from_ecto(module(), keyword()) ::
          {:ok, t(), dropped :: [dropped()]} | {:error, String.t()}
  def from_ecto(schema, opts \\ []), do: FromEcto.read(schema, opts)

  @doc """
  The signature of `from_ecto/2` alone. Raises `ArgumentError` instead of returning an error.

      iex> PtcRunner.SubAgent.Signature.from_ecto!(String)
      ** (ArgumentError) String is no schema of Ecto: it has no function __schema__/1

  """
  @spec from_ecto!(module(), keyword()) :: t()
  def from_ecto!(schema, opts \\ []) do
    case from_ecto(schema, opts) do
      {:ok, signature, _dropped} -> signature
      {:error, text} -> raise ArgumentError, text
    end
  end

  @doc """
  Whether a signature returns a list.

      iex> PtcRunner.SubAgent.Signature.returns_list?({:signature, [], {:list, :int}})
      true
      iex> PtcRunner.SubAgent.Signature.returns_list?(:int)
      false

  """
  @spec returns_list?(term()) :: boolean()
  def returns_list?({:signature, _params, type}), do: Base.list?(type)
  def returns_list?(text) when is_binary(text), do: text |> parsed!() |> returns_list?()
  def returns_list?(other), do: Given.given?(other) and other |> parsed!() |> returns_list?()

  @doc """
  A type without one level of optional, and whether there was one.

      iex> PtcRunner.SubAgent.Signature.unwrap_optional({:optional, :int})
      {:int, true}

  """
  @spec unwrap_optional(type()) :: {type(), boolean()}
  def unwrap_optional({:optional, type}), do: {type, true}
  def unwrap_optional(type), do: {type, false}

  @doc """
  Formats validation errors for an LLM, with the values found in `data`.

  ## Options

    * `:header` - the first line, by default `Tool validation errors:`

  Values of firewalled fields are omitted. An empty list of errors gives an empty text.

      iex> error = %{path: ["rows", 0, "id"], message: "expected int, got string"}
      iex> PtcRunner.SubAgent.Signature.format_errors([error], %{"rows" => [%{"id" => "abc"}]})
      "Tool validation errors:\\n- rows[0].id: expected integer, got string \\"abc\\""

  """
  @spec format_errors([error()], term(), keyword()) :: String.t()
  def format_errors(errors, data, opts \\ []) do
    Options.check!(opts, %{header: :any}, "PtcRunner.SubAgent.Signature.format_errors/3")
    ErrorText.text(errors, data, opts)
  end

  @doc """
  One validation error as one line.

      iex> error = %{path: ["_token"], message: "expected int, got string"}
      iex> PtcRunner.SubAgent.Signature.format_error(error, %{"_token" => "s3cret"})
      "_token: expected integer, got string"

  """
  @spec format_error(error(), term()) :: String.t()
  def format_error(error, data), do: hd(ErrorText.lines([error], data))

  @doc """
  The signature for LLMs and parent agents: without firewalled parameters and fields.

      iex> {:ok, signature} = PtcRunner.SubAgent.Signature.parse("{summary :string, _raw_data [:map]}")
      iex> signature |> PtcRunner.SubAgent.Signature.public_view() |> PtcRunner.SubAgent.Signature.render()
      "-> {summary :string}"

  """
  @spec public_view(given()) :: t()
  def public_view(signature), do: signature |> parsed!() |> Firewall.view()

  @doc """
  A value for a conversation: without firewalled keys, at any depth. Structs are
  unchanged.

      iex> PtcRunner.SubAgent.Signature.public_data(%{summary: "ok", _raw: [1], rows: [%{"_id" => 7}]})
      %{summary: "ok", rows: [%{}]}

  """
  @spec public_data(term()) :: term()
  def public_data(term), do: Firewall.data(term)

  @doc """
  Does a validated tool call: coerces and validates the arguments, calls `fun` with them, validates
  the result.

  `signature` is a text or parsed; a text that does not parse raises `ArgumentError`.

  ## Options

  `:mode`, by default `:enabled`:

  | mode | arguments | result |
  |---|---|---|
  | `:enabled` | coerced, with warnings | validated |
  | `:warn_only` | coerced, with warnings | errors become warnings and are logged |
  | `:strict` | validated without coercion; undeclared keys are errors | validated in the same way |
  | `:disabled` | unchanged | unchanged |

  ## Returns

    * `{:ok, result, warnings}`; if `fun` returned `{:ok, x}`, the result is this whole tuple
    * `{:error, {:invalid_input, errors, message}}`: `fun` was not called
    * `{:error, {:invalid_output, errors, message}}`: the result of `fun` is invalid
    * `{:error, {:tool_error, reason}}`: `fun` returned `{:error, reason}`

  Exceptions of `fun` are not caught.

      iex> double = fn %{"n" => n} -> n * 2 end
      iex> PtcRunner.SubAgent.Signature.call_tool("(n :int) -> :int", %{"n" => "21"}, double)
      {:ok, 42, ["coerced string \\"21\\" to integer"]}

      iex> {:error, {:invalid_input, _errors, message}} =
      ...>   PtcRunner.SubAgent.Signature.call_tool("(n :int) -> :int", %{"n" => "x"}, & &1)
      iex> message
      "Tool validation errors:\\n- n: expected integer, got string \\"x\\""

  """
  @spec call_tool(given(), term(), (term() -> term()), mode: Coercion.mode()) ::
          {:ok, term(), warnings :: [String.t()]} | {:error, call_error()}
  def call_tool(signature, args, fun, opts \\ []) do
    Options.check!(opts, %{mode: Coercion.mode()}, "PtcRunner.SubAgent.Signature.call_tool/4")
    mode = Keyword.get(opts, :mode, :enabled)
    ToolCall.call(parsed!(signature), args, fun, mode)
  end

  @doc false
  @spec parsed!(given()) :: t()
  def parsed!({:signature, _params, _returns} = signature), do: signature

  def parsed!(text) when is_binary(text), do: Parser.parse!(text)

  def parsed!(other) do
    case parse(other) do
      {:ok, signature} ->
        signature

      {:error, message} ->
        raise ArgumentError, "invalid signature: #{message}#{Given.hint(other)}"
    end
  end
end

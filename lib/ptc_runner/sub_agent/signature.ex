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

  Fields whose name starts with an underscore are visible to Elixir only: `public_view/1` and
  `public_data/1` return what an LLM or a parent agent may see.
  """

  alias PtcRunner.Options

  alias PtcRunner.SubAgent.Signature.{
    AnnotatedSchema,
    Annotations,
    Coercion,
    ErrorText,
    Firewall,
    JsonSchema,
    Parser,
    Renderer,
    ToolCall,
    Validator
  }

  @schema_options %{strict: :boolean, enums: :any, descriptions: :any}

  @typedoc "A parsed signature: parameters and return type."
  @type t :: {:signature, params :: [field()], returns :: type()}

  @typedoc "A parameter, or a field of a map."
  @type field :: {name :: String.t(), type()}

  @typedoc """
  A type. `:closed_map` comes only from `from_json_schema/1`: the signature syntax cannot express it.
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

  @typedoc "A validation error: a path of declared names and indices from 0, and a message."
  @type error :: %{path: [String.t() | non_neg_integer()], message: String.t()}

  @typedoc """
  Parts of a JSON Schema that types do not have. The keys of the maps are paths, such as `"rows.status"`.

    * `:strict` - every property is required, optional ones are nullable, as providers of structured
      output require; by default `false`. Raises `ArgumentError` for `:map` and `:any`, which have
      no strict form.
    * `:enums` - the values that a field may have
    * `:descriptions` - descriptions of fields
  """
  @type schema_option ::
          {:strict, boolean()}
          | {:enums, %{String.t() => [term(), ...]}}
          | {:descriptions, %{String.t() => String.t()}}

  @typedoc "See `call_tool/4`."
  @type call_error ::
          {:invalid_input | :invalid_output, [error()], message :: String.t()}
          | {:tool_error, term()}

  @doc """
  Parses a signature; see `PtcRunner.SubAgent.Signature.Parser.parse/1`.

      iex> PtcRunner.SubAgent.Signature.parse("(id :int) -> [:string]?")
      {:ok, {:signature, [{"id", :int}], {:optional, {:list, :string}}}}

  """
  @spec parse(term()) :: {:ok, t()} | {:error, String.t()}
  defdelegate parse(text), to: Parser

  @doc """
  Validates a value against the return type of the signature.

      iex> PtcRunner.SubAgent.Signature.validate({:signature, [], {:list, :int}}, [1, "2"])
      {:error, [%{path: [1], message: "expected int, got string"}]}

      iex> PtcRunner.SubAgent.Signature.validate("{id :int}", %{"id" => 7})
      :ok

  Here and in the functions below, a signature may also be a text. A text that does not parse raises
  `ArgumentError`.
  """
  @spec validate(t() | String.t(), term()) :: :ok | {:error, [error(), ...] | String.t()}
  def validate({:signature, _params, returns}, data), do: Validator.validate(data, returns)
  def validate(text, data) when is_binary(text), do: text |> parsed!() |> validate(data)
  def validate(other, _data), do: no_signature(other)

  @doc """
  Validates arguments against the parameters of the signature.

      iex> signature = {:signature, [{"user_id", :int}], :any}
      iex> PtcRunner.SubAgent.Signature.validate_input(signature, %{"user-id" => 1})
      :ok
      iex> PtcRunner.SubAgent.Signature.validate_input(signature, %{})
      {:error, [%{path: ["user_id"], message: "expected field, got nil"}]}

  """
  @spec validate_input(t() | String.t(), term()) :: :ok | {:error, [error(), ...] | String.t()}
  def validate_input({:signature, params, _returns}, input),
    do: Validator.validate(input, {:map, params})

  def validate_input(text, input) when is_binary(text),
    do: text |> parsed!() |> validate_input(input)

  def validate_input(other, _input), do: no_signature(other)

  defp no_signature(other),
    do: {:error, "signature must be a parsed signature tuple, got #{PtcRunner.Shown.text(other)}"}

  @doc """
  A signature as text; see `PtcRunner.SubAgent.Signature.Renderer.render/1`.

      iex> PtcRunner.SubAgent.Signature.render({:signature, [{"id", :int}], {:list, :string}})
      "(id :int) -> [:string]"

  """
  @spec render(t() | String.t()) :: String.t()
  def render(signature), do: signature |> parsed!() |> Renderer.render()

  @doc """
  The JSON Schema of the return type; a list is under `"items"` in an object.

      iex> PtcRunner.SubAgent.Signature.to_json_schema({:signature, [], {:map, [{"n", {:optional, :int}}]}})
      %{
        "type" => "object",
        "properties" => %{"n" => %{"type" => "integer"}},
        "required" => [],
        "additionalProperties" => false
      }

  """
  @spec to_json_schema(t() | String.t(), [schema_option()]) :: map()
  def to_json_schema(signature, opts \\ [])

  def to_json_schema({:signature, _params, {:list, _} = returns}, opts) do
    %{
      "type" => "object",
      "properties" => %{"items" => schema(returns, opts, "to_json_schema")},
      "required" => ["items"],
      "additionalProperties" => false
    }
  end

  def to_json_schema({:signature, _params, returns}, opts),
    do: schema(returns, opts, "to_json_schema")

  def to_json_schema(text, opts) when is_binary(text),
    do: text |> parsed!() |> to_json_schema(opts)

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
  @spec input_json_schema(t() | String.t(), [schema_option()]) :: map()
  def input_json_schema(signature, opts \\ []) do
    {:signature, params, _returns} = parsed!(signature)
    schema({:map, params}, opts, "input_json_schema")
  end

  @doc """
  The JSON Schema of a type.

      iex> PtcRunner.SubAgent.Signature.type_to_json_schema({:list, :float})
      %{"type" => "array", "items" => %{"type" => "number"}}

  """
  @spec type_to_json_schema(type(), [schema_option()]) :: map()
  def type_to_json_schema(type, opts \\ []), do: schema(type, opts, "type_to_json_schema")

  defp schema(type, [], _function), do: JsonSchema.of_type(type)

  defp schema(type, opts, function) do
    Options.check!(opts, @schema_options, "PtcRunner.SubAgent.Signature.#{function}/2")
    strict? = Keyword.get(opts, :strict, false)
    AnnotatedSchema.of_type(type, strict?, Annotations.of!(opts, type))
  end

  @doc """
  The type of a JSON Schema, without the parts that types do not have.

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
  The same with `annotations: true`: enumerations, descriptions and null are read too. They are returned as
  options of `type_to_json_schema/2` that reproduce them.

      iex> PtcRunner.SubAgent.Signature.from_json_schema(%{
      ...>   "type" => "object",
      ...>   "properties" => %{"status" => %{"type" => ["string", "null"], "enum" => ["open", "closed", nil]}},
      ...>   "required" => ["status"]
      ...> }, annotations: true)
      {:ok, {:map, [{"status", {:optional, :string}}]},
       [enums: %{"status" => ["open", "closed"]}, descriptions: %{}]}

  """
  @spec from_json_schema(term(), annotations: boolean()) ::
          {:ok, type()} | {:ok, type(), [schema_option()]} | {:error, String.t()}
  def from_json_schema(schema, opts) do
    function = "PtcRunner.SubAgent.Signature.from_json_schema/2"
    Options.check!(opts, %{annotations: :boolean}, function)

    if Keyword.get(opts, :annotations, false),
      do: AnnotatedSchema.to_type(schema),
      else: JsonSchema.to_type(schema)
  end

  @doc """
  Whether a signature returns a list.

      iex> PtcRunner.SubAgent.Signature.returns_list?({:signature, [], {:list, :int}})
      true
      iex> PtcRunner.SubAgent.Signature.returns_list?(:int)
      false

  """
  @spec returns_list?(term()) :: boolean()
  def returns_list?({:signature, _params, {:list, _}}), do: true
  def returns_list?(text) when is_binary(text), do: text |> parsed!() |> returns_list?()
  def returns_list?(_other), do: false

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
  @spec public_view(t() | String.t()) :: t()
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
  @spec call_tool(t() | String.t(), term(), (term() -> term()), mode: Coercion.mode()) ::
          {:ok, term(), warnings :: [String.t()]} | {:error, call_error()}
  def call_tool(signature, args, fun, opts \\ []) do
    Options.check!(opts, %{mode: Coercion.mode()}, "PtcRunner.SubAgent.Signature.call_tool/4")
    mode = Keyword.get(opts, :mode, :enabled)
    ToolCall.call(parsed!(signature), args, fun, mode)
  end

  @doc false
  @spec parsed!(t() | String.t()) :: t()
  def parsed!({:signature, _params, _returns} = signature), do: signature

  def parsed!(text) when is_binary(text), do: Parser.parse!(text)

  def parsed!(other) do
    {:error, message} = parse(other)
    raise ArgumentError, "invalid signature: #{message}"
  end
end

defmodule PtcRunner.SubAgent.Signature do
  @moduledoc """
  Contracts of agents and tools: what they take and what they give.

      iex> {:ok, signature} = PtcRunner.SubAgent.Signature.parse("(query :string) -> {total :int, _ids [:int]}")
      iex> PtcRunner.SubAgent.Signature.validate(signature, %{"total" => 2, "_ids" => [7, 9]})
      :ok
      iex> {:error, errors} = PtcRunner.SubAgent.Signature.validate(signature, %{"total" => "2"})
      iex> PtcRunner.SubAgent.Signature.format_errors(errors, %{"total" => "2"})
      "Tool validation errors:\\n- total: expected integer, got string \\"2\\"\\n- _ids: expected field, got nil"

  Parsing, validation, coercion and rendering run natively, on the terms they are given, in one walk
  each; no atom is ever created. See the guide *Signatures* for the language and the contract of a
  tool call.

  ## Firewalled fields

  Fields whose name starts with an underscore are for Elixir only: `public_view/1` and
  `public_data/1` show what an LLM or a parent agent may see.
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

  @typedoc "A parsed signature: parameters, and the type of what is returned."
  @type t :: {:signature, params :: [field()], returns :: type()}

  @typedoc "A parameter, or a field of a map."
  @type field :: {name :: String.t(), type()}

  @typedoc """
  A type. `:closed_map` comes from `from_json_schema/1` only: it has no text of its own.
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

  @typedoc "One thing that is wrong: declared names and indices from 0, and a text."
  @type error :: %{path: [String.t() | non_neg_integer()], message: String.t()}

  @typedoc """
  What JSON Schema says beyond types; the maps have paths as keys, such as `"rows.status"`.

    * `:strict` - every property is required, optional ones are nullable, as providers of structured
      output ask for; by default `false`. Raises `ArgumentError` for `:map` and `:any`, for which there
      is no strict form.
    * `:enums` - the values that a field may have
    * `:descriptions` - what a field is for
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
  Reads a signature out of text; see `PtcRunner.SubAgent.Signature.Parser.parse/1`.

      iex> PtcRunner.SubAgent.Signature.parse("(id :int) -> [:string]?")
      {:ok, {:signature, [{"id", :int}], {:optional, {:list, :string}}}}

  """
  @spec parse(term()) :: {:ok, t()} | {:error, String.t()}
  defdelegate parse(text), to: Parser

  @doc """
  Checks a value against what the signature returns.

      iex> PtcRunner.SubAgent.Signature.validate({:signature, [], {:list, :int}}, [1, "2"])
      {:error, [%{path: [1], message: "expected int, got string"}]}

      iex> PtcRunner.SubAgent.Signature.validate("{id :int}", %{"id" => 7})
      :ok

  Here and in the functions below, a signature may also be its text; one that does not parse raises
  `ArgumentError`.
  """
  @spec validate(t() | String.t(), term()) :: :ok | {:error, [error(), ...] | String.t()}
  def validate({:signature, _params, returns}, data), do: Validator.validate(data, returns)
  def validate(text, data) when is_binary(text), do: text |> parsed!() |> validate(data)
  def validate(other, _data), do: no_signature(other)

  @doc """
  Checks arguments against the parameters of the signature.

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
  The JSON Schema of what the signature returns; a list stands under `"items"` in an object.

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
  The JSON Schema of what the signature takes, as an object: what `ALLM.Tool` and the tools of a
  provider's interface ask for.

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
  The type of a JSON Schema, as far as types can say it.

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
  The same with `annotations: true`: enumerations, descriptions and null are read too, and come back as
  the options that give them to `type_to_json_schema/2`.

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
  Validation errors as an LLM reads them, with the values found in `data`.

  ## Options

    * `:header` - the first line, by default `Tool validation errors:`

  Values of firewalled fields are left out. No errors are an empty text.

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
  The signature as LLMs and parent agents see it: without firewalled parameters and fields.

      iex> {:ok, signature} = PtcRunner.SubAgent.Signature.parse("{summary :string, _raw_data [:map]}")
      iex> signature |> PtcRunner.SubAgent.Signature.public_view() |> PtcRunner.SubAgent.Signature.render()
      "-> {summary :string}"

  """
  @spec public_view(t() | String.t()) :: t()
  def public_view(signature), do: signature |> parsed!() |> Firewall.view()

  @doc """
  A value as it may go into a conversation: without firewalled keys, at any depth. Structs stay as
  they are.

      iex> PtcRunner.SubAgent.Signature.public_data(%{summary: "ok", _raw: [1], rows: [%{"_id" => 7}]})
      %{summary: "ok", rows: [%{}]}

  """
  @spec public_data(term()) :: term()
  def public_data(term), do: Firewall.data(term)

  @doc """
  Calls a tool under its contract: checks and coerces the arguments, calls `fun` with them, checks
  what it returns.

  `signature` is a text or parsed; a text that does not parse raises `ArgumentError`.

  ## Options

  `:mode`, by default `:enabled`:

  | mode | arguments | result |
  |---|---|---|
  | `:enabled` | coerced, with warnings | checked |
  | `:warn_only` | coerced, with warnings | errors become warnings, and are logged |
  | `:strict` | checked, no coercion, no keys that are not declared | checked in the same way |
  | `:disabled` | passed on | passed on |

  ## Returns

    * `{:ok, result, warnings}`; of `{:ok, x}` that is the whole result
    * `{:error, {:invalid_input, errors, message}}`: `fun` was not called
    * `{:error, {:invalid_output, errors, message}}`: what it returned is refused
    * `{:error, {:tool_error, reason}}`: it returned `{:error, reason}`

  Exceptions of `fun` pass through.

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

  def parsed!(text) do
    case parse(text) do
      {:ok, signature} -> signature
      {:error, message} -> raise ArgumentError, "invalid signature: #{message}"
    end
  end
end

defmodule PtcRunner.SubAgent.Signature.Schema.Provider do
  @moduledoc false
  # What each provider takes of JSON Schema, where it enforces the schema of an answer. As of 2026-11-23, from:
  #
  #   * OpenAI, strict structured outputs and functions: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
  #   * Anthropic, JSON outputs and strict tools: https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
  #   * Gemini, `responseJsonSchema` and `parametersJsonSchema`: https://ai.google.dev/api/generate-content#GenerationConfig and
  #     https://ai.google.dev/gemini-api/docs/structured-output
  #
  # A keyword that a provider is not documented to take is not sent to it.

  alias PtcRunner.SubAgent.Signature.Schema.Pattern

  @typedoc """
    * `keywords` - those about values that it takes; the structure of a schema (`type`, `properties`, `items`, …) is not listed
    * `formats` - the values of `format`
    * `patterns` - which kind of patterns, see `Pattern`
    * `most_min_items` - the greatest `minItems`
    * `enums` - the JSON types whose values may be listed
    * `required` - every property (`:all`, optional ones are nullable), or those that must be there
    * `open` - whether there is a schema for any value: an object (`:object`), a union of some kinds (`:kinds`) or none
    * `map_of` - whether an object may have any keys
    * `refs` - whether keywords may stand beside `$ref`, or it must be alone
    * `cycles` - where a type may contain itself: anywhere, only in properties that are not required, or nowhere
    * `limits` - greatest numbers of parts in one schema
  """
  @type t :: %{
          name: atom(),
          keywords: [String.t()],
          formats: [String.t()],
          patterns: Pattern.kind(),
          most_min_items: non_neg_integer() | :infinity,
          enums: [String.t()],
          required: :all | :declared,
          open: :object | :kinds | :none,
          map_of: boolean(),
          refs: :beside | :alone,
          cycles: :any | :optional | :none,
          limits: %{atom() => pos_integer()}
        }

  @bounds ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
  @items ["minItems", "maxItems"]
  @formats ["date", "date-time", "time", "email", "uri", "uuid"]
  @scalars ["string", "number", "integer", "boolean"]

  @plain %{
    name: :plain,
    keywords:
      @bounds ++
        @items ++
        ["minLength", "maxLength", "pattern", "format", "uniqueItems", "default", "const"],
    formats: ["decimal" | @formats],
    patterns: :unicode,
    most_min_items: :infinity,
    enums: @scalars ++ ["null", "array", "object"],
    required: :declared,
    open: :object,
    map_of: true,
    refs: :beside,
    cycles: :any,
    limits: %{}
  }

  # In OpenAI's list, the formats and bounds of numbers and arrays are supported, lengths of texts and `uniqueItems` are not
  # mentioned. `default` is refused.
  @openai_strict %{
    name: :openai_strict,
    keywords: @bounds ++ @items ++ ["pattern", "format", "const"],
    formats: @formats -- ["uri"],
    patterns: :portable,
    most_min_items: :infinity,
    enums: @scalars ++ ["null"],
    required: :all,
    open: :none,
    map_of: false,
    refs: :alone,
    cycles: :any,
    limits: %{
      properties: 5_000,
      depth: 10,
      enum_values: 1_000,
      enum_characters: 15_000,
      characters: 120_000
    }
  }

  # Of `minItems` only 0 and 1. The limits are of all strict schemas of a request together.
  @anthropic %{
    name: :anthropic,
    keywords: ["minItems", "pattern", "format", "default", "const"],
    formats: @formats,
    patterns: :simple,
    most_min_items: 1,
    enums: @scalars ++ ["null"],
    required: :declared,
    open: :none,
    map_of: false,
    refs: :alone,
    cycles: :none,
    limits: %{optional: 24, unions: 16}
  }

  # Enumerations of texts and numbers; of the keywords about values only these four and `format`.
  @gemini %{
    name: :gemini,
    keywords: @items ++ ["minimum", "maximum", "format"],
    formats: ["date", "date-time", "time"],
    patterns: :none,
    most_min_items: :infinity,
    enums: ["string", "number", "integer"],
    required: :declared,
    open: :kinds,
    map_of: true,
    refs: :alone,
    cycles: :optional,
    limits: %{}
  }

  @all Map.new([@plain, @openai_strict, @anthropic, @gemini], &{&1.name, &1})

  @doc "The names of the providers; `:plain` is JSON Schema itself."
  @spec names() :: [atom()]
  def names, do: [:plain, :openai_strict, :anthropic, :gemini]

  @doc """
  What a provider takes; `strict?`: every property is required.

      iex> PtcRunner.SubAgent.Signature.Schema.Provider.of(:gemini, false).formats
      ["date", "date-time", "time"]

      iex> PtcRunner.SubAgent.Signature.Schema.Provider.of(:plain, true).required
      :all

  """
  @spec of(atom(), boolean()) :: t()
  def of(name, false), do: Map.fetch!(@all, name)
  def of(name, true), do: %{of(name, false) | required: :all, open: :none, map_of: false}
end

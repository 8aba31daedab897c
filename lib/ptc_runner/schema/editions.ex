defmodule PtcRunner.Schema.Editions do
  @moduledoc false
  # The prompt and the schema for structured outputs, of either edition. Of edition 1 there is only the whole.

  alias PtcRunner.Schema.{Families, JsonSchema, JsonSchema2, Prompt, Prompt2}

  @type families :: [Families.family()] | :all

  @doc "The description of the language, with so many examples. `function` is named in errors."
  @spec prompt(1 | 2, families(), non_neg_integer(), String.t()) :: String.t()
  def prompt(1, _families, examples, _function), do: Prompt.text(examples)

  def prompt(2, families, examples, function),
    do: families |> Families.operations!(function) |> Prompt2.text(examples)

  @doc "The schema for structured outputs."
  @spec for_llm(1 | 2, families(), JsonSchema2.optional(), String.t()) :: map()
  def for_llm(1, _families, _optional, _function), do: JsonSchema.for_llm()

  def for_llm(2, families, optional, function),
    do: families |> Families.operations!(function) |> JsonSchema2.for_llm(optional)
end

defmodule PtcRunner.Agent.ToolSchema.Notes do
  @moduledoc false
  # What is said of a place of a tool's schema beside its type: descriptions, and what of it is not validated.

  alias PtcRunner.Agent.ToolSchema.Rules
  alias PtcRunner.Shown

  @doc "A place that is not validated."
  @spec any(String.t(), String.t(), map()) :: {{:any, false}, map()}
  def any(why, path, state), do: {{:any, false}, warned(nil, why, path, state)}

  @doc "Notes what of a place is not validated, and why."
  @spec warned(String.t() | nil, String.t(), String.t(), map()) :: map()
  def warned(part, why, path, state) do
    place = if path == "", do: "the object of arguments", else: Shown.name(path)

    text =
      case part do
        nil -> "#{place} is not validated: #{why}"
        "not all of it" -> "#{place} is not validated by #{why}"
        part -> "#{place}: #{part} are not validated: #{why}"
      end

    %{state | warnings: [text | state.warnings]}
  end

  @doc "Notes the description of a place."
  @spec described(map(), String.t(), map()) :: map()
  def described(%{"description" => text}, path, state) when is_binary(text),
    do: %{state | descriptions: [{path, text} | state.descriptions]}

  def described(_schema, _path, state), do: state

  @doc "A type with the rules of its schema, if these are asked for."
  @spec ruled(term(), map(), String.t(), map()) :: {term(), map()}
  def ruled(type, _schema, _path, %{rules: nil} = state), do: {type, state}

  def ruled(type, schema, path, state) do
    case Rules.of(type, schema) do
      {type, []} -> {type, state}
      {type, keys} -> {type, warned("not all of it", Enum.join(keys, ", "), path, state)}
    end
  end
end

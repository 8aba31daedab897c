defmodule PtcRunner.Json.Message do
  @moduledoc false
  # Converts errors of a run, which are codes and terms, to the documented errors with their text.

  alias PtcRunner.Json.Codec.DecodeError
  alias PtcRunner.Json.Suggestion
  alias PtcRunner.Native.Rules
  alias PtcRunner.Schema.Table
  alias PtcRunner.Shown
  alias PtcRunner.Shown.Line

  @ordinary 8_192

  # What a checked field, the current value or an operand, and an unchecked field must be.
  @fields %{field_not_string: "a string", field_not_list: "a list", field_not_map: "a map"}
  @needs %{
    needs_list: "a list",
    needs_map: "a map",
    needs_list_of_maps: "list of maps",
    needs_numbers: "numeric values",
    needs_map_values: "map values",
    needs_list_values: "list values"
  }
  @unchecked %{
    let_name: "a string",
    not_a_count: "a non-negative integer",
    unchecked_not_list: "a list",
    unchecked_not_map: "a map"
  }

  # Maximum number of names that an unknown tool's name is compared with, and their maximum length in bytes.
  @most_names 1_000
  @long_name 256

  @typedoc "See `t:PtcRunner.Json.error/0`."
  @type error ::
          {:parse_error | :validation_error | :execution_error | :refused, String.t()}
          | {:timeout | :memory_exceeded, non_neg_integer()}

  @typedoc """
  Why a run has no value. A tool that failed has its text from the process it ran in; an unknown tool comes with
  the tools there are. A run that has moved to its tools gives its error three times: with the values, with those that a firewall
  shows, and with their kinds; and its fault with these kinds.
  """
  @type fault ::
          {:parse, atom() | tuple()}
          | {:validation | :execution, atom(), String.t() | nil, String.t() | nil, [term()]}
          | {:expensive_to_inspect, fault()}
          | {:worded, shown :: error(), behind_firewall :: error(), concealed :: error(),
             kinds :: fault()}
          | {:made, fault(), error()}
          | {:tool_failed, String.t()}
          | {:unknown_tool, term(), map()}
          | error()

  @doc """
  The documented error for a fault. An error that is already documented is returned unchanged.

      iex> PtcRunner.Json.Message.error({:execution, :needs_list, "count", nil, [42]})
      {:execution_error, "count requires a list, got 42"}

      iex> PtcRunner.Json.Message.error({:parse, {:unexpected_token, 3}})
      {:parse_error, "JSON decode error: Unexpected token at position 3"}

  """
  @spec error(fault()) :: error()
  def error(fault), do: fault |> documented() |> seen()

  # Texts of tools and of programs can have marks that change the order in which a person reads.
  defp seen({kind, text}) when is_binary(text), do: {kind, Line.seen(text)}
  defp seen(other), do: other

  defp documented({:parse, reason}), do: {:parse_error, parse(reason)}

  defp documented({:made, _fault, error}), do: error
  defp documented({:expensive_to_inspect, fault}), do: documented(fault)
  defp documented({:worded, _shown, _behind_firewall, concealed, _kinds}), do: concealed
  defp documented({:tool_failed, text}), do: {:execution_error, text}

  defp documented({:unknown_tool, name, tools}) when is_binary(name),
    do: {:execution_error, "Tool '#{Shown.name(name)}' not found" <> similar(name, tools)}

  defp documented({:unknown_tool, name, _tools}),
    do: {:execution_error, "Tool '#{Shown.text(name)}' not found"}

  # Only the check suggests a name: an unknown name in a run is only reported.
  defp documented({:validation, :unknown_op, _op, _field, [name | edition]})
       when is_binary(name) do
    hint = Suggestion.hint(name, Table.names(edition(edition)))
    {:validation_error, "Unknown operation '#{Shown.name(name)}'" <> hint}
  end

  defp documented({:validation, code, op, field, terms}),
    do: {:validation_error, text(code, op, field, terms)}

  defp documented({:execution, code, op, field, terms}),
    do: {:execution_error, text(code, op, field, terms)}

  defp documented({_kind, _text_or_limit} = error), do: error

  @doc """
  A fault with its documented error, which is not made again. `fault/1` takes it out.

      iex> made = PtcRunner.Json.Message.made({:tool_failed, "no"})
      iex> {PtcRunner.Json.Message.error(made), PtcRunner.Json.Message.fault(made)}
      {{:execution_error, "no"}, {:tool_failed, "no"}}

  """
  @spec made(fault()) :: fault()
  def made({:made, _fault, _error} = made), do: made
  def made(fault), do: {:made, fault, error(fault)}

  @doc "The fault of `made/1`; any other fault unchanged."
  @spec fault(fault()) :: fault()
  def fault({:made, fault, _error}), do: fault
  def fault(fault), do: fault

  @doc """
  The field that the error of a missing field names.

      iex> PtcRunner.Json.Message.missing_field("map", "expr", [])
      "expr"

  """
  @spec missing_field(String.t(), String.t(), [term()]) :: String.t()
  # The field that is normally given is missing too. Releases where it is required name that one.
  def missing_field(op, field, [nil]),
    do: if(Rules.current().names_field?, do: Table.expected(op) || field, else: field)

  def missing_field(_op, field, _terms), do: field

  defp similar(name, tools) do
    known =
      for {known, _fun} <- tools, is_binary(known), byte_size(known) <= @long_name, do: known

    known = known |> Enum.take(@most_names) |> Enum.sort()
    Suggestion.sentence(name, known, &". Did you mean '#{Shown.name(&1)}'?")
  end

  @doc """
  The text of a fault in a program's text.

      iex> PtcRunner.Json.Message.parse(:program_missing)
      "Missing required field 'program'"

  """
  @spec parse(atom() | tuple()) :: String.t()
  def parse(:program_missing), do: "Missing required field 'program'"
  def parse(:program_not_map), do: "program must be a map"

  def parse(detail) when is_tuple(detail), do: detail |> DecodeError.new() |> undecoded()

  @doc """
  The text of an error in the JSON of a program.

      iex> PtcRunner.Json.Message.undecoded(PtcRunner.Json.Codec.DecodeError.new({:unexpected_end, 12}))
      "JSON decode error: Unexpected end of input at position 12"

  """
  @spec undecoded(DecodeError.t()) :: String.t()
  def undecoded(error), do: "JSON decode error: " <> Exception.message(error)

  # Errors of the check

  defp text(:node_not_a_map, _op, _field, [node]), do: "Node must be a map, got #{show(node)}"
  defp text(:missing_op, _op, _field, []), do: "Missing required field 'op'"

  defp text(:unknown_op, _op, _field, [name | _edition]),
    do: "Unknown operation '#{plain(name)}'"

  defp text(:too_deep, _op, _field, [limit]), do: "Program nesting exceeds #{limit} levels"
  defp text(:accepts, op, forms, []), do: "Operation '#{op}' accepts #{forms}"
  defp text(:field_wrong, _op, wrong, []), do: "Field #{wrong}"
  defp text(:field_wrong, _op, wrong, [value]), do: "Field #{wrong}, got '#{plain(value)}'"

  defp text(:pattern_wrong, _op, reason, []),
    do: "Field 'pattern' is not a valid regular expression: #{reason}"

  defp text(:part_wrong, _op, sentence, []), do: sentence
  defp text(:field_missing, op, field, []), do: "Operation '#{op}' requires field '#{field}'"

  defp text(:field_missing, op, field, [nil]),
    do: text(:field_missing, op, missing_field(op, field, [nil]), [])

  defp text(code, _op, field, []) when is_map_key(@fields, code),
    do: "Field '#{field}' must be #{@fields[code]}"

  defp text(:field_not_integer, op, field, []),
    do: "Operation '#{op}' field '#{field}' must be an integer"

  defp text(:field_negative, op, field, [value]),
    do: "Operation '#{op}' #{field} must be non-negative, got #{show(value)}"

  defp text(:field_not_strings, _op, "path", []),
    do: "All path elements in 'path' must be strings"

  defp text(:field_not_keys, _op, field, []),
    do: "All path elements in '#{field}' must be strings or integers"

  defp text(:field_not_strings, _op, field, []),
    do: "All field names in '#{field}' must be strings"

  defp text(:unknown_order, _op, field, [order]),
    do: "Field '#{field}' must be 'asc' or 'desc', got '#{plain(order)}'"

  defp text(:field_and_path, op, _field, []),
    do: "Operation '#{op}' accepts 'field' or 'path', not both"

  defp text(:neither_field_nor_path, op, _field, []),
    do: "Operation '#{op}' requires either 'field' or 'path'"

  defp text(:unknown_field, op, nil, [name | edition]) do
    fields = Table.field_names(op, edition(edition))
    "Unknown field '#{plain(name)}' in operation '#{op}'. " <> there_are(fields, length(fields))
  end

  defp text(:unknown_field, op, meant, [name | _edition]),
    do: "Unknown field '#{plain(name)}' in operation '#{op}'. Did you mean '#{meant}'?"

  defp text(:unknown_part_field, op, list, [name]) do
    fields = Table.part_names(op, list)

    "Unknown field '#{plain(name)}' in '#{list}' of operation '#{op}'. " <>
      there_are(fields, length(fields))
  end

  defp text(:condition_without_op, op, field, [_condition]) do
    "Field '#{field}' of operation '#{op}' must be an operation: an object without 'op' is always true"
  end

  # Errors of a run

  defp text(:unknown_name, op, _field, [name, names, count]) do
    names = for name when is_binary(name) or is_atom(name) <- names, do: to_string(name)
    hint = Suggestion.hint(name, Enum.sort(names))

    "Unknown name '#{plain(name)}' in operation '#{op}'#{hint}" <>
      if(hint == "", do: ". ", else: " ") <> there_are(names, count)
  end

  defp text(:no_input, _op, _field, []), do: "No input available"

  defp text(code, op, _field, [value]) when is_map_key(@needs, code),
    do: "#{op} requires #{@needs[code]}, got #{show(value)}"

  defp text(:requires, op, what, []), do: "#{op} requires #{what}"
  defp text(:requires, op, what, [value]), do: "#{op} requires #{what}, got #{show(value)}"

  defp text(:needs_dates, op, _field, [value]),
    do: "#{op} requires ISO 8601 dates, got: #{show(value)}"

  defp text(:needs_dates, op, _field, [left, right]) do
    {left, right} = Shown.both(left, right)
    "#{op} requires ISO 8601 dates, got: #{left}, #{right}"
  end

  defp text(:requires_both, op, what, [left, right]) do
    {left, right} = Shown.both(left, right)
    "#{op} requires #{what}, got: #{left}, #{right}"
  end

  defp text(:needs_numeric_operands, op, _field, [left, right]) do
    {left, right} = Shown.both(left, right)
    "#{op} requires numeric operands, got: #{left}, #{right}"
  end

  defp text(:division_by_zero, _op, _field, []), do: "division by zero"

  defp text(:needs_value_and_precision, op, _field, [value, precision]) do
    {value, precision} = Shown.both(value, precision)
    "#{op} requires numeric value and integer precision, got: #{value}, #{precision}"
  end

  defp text(:needs_number_for_decimals, op, _field, [value]),
    do: "#{op} with 'decimals' requires a number, got: #{show(value)}"

  defp text(:precision_out_of_range, op, _field, [precision]),
    do: "#{op} precision must be between 0 and 15, got: #{show(precision)}"

  defp text(:bad_arith, op, _field, []),
    do: "#{op} failed: bad argument in arithmetic expression (badarith)"

  defp text(:decimal_and_float, op, _field, [left, right]) do
    float = if is_float(left), do: left, else: right
    {left, right} = Shown.both(left, right)

    "#{op} of a decimal and a float is not exact, got: #{left}, #{right}. " <>
      ~s(Give the number as a text: {"op": "literal", "value": "#{float}"}. ) <>
      "Where it is a quotient of integers, divide last: a decimal that is divided stays one"
  end

  defp text(:decimal_and_float, op, _field, [value]),
    do: "#{op} of decimals and floats is not exact, got #{show(value)} among them"

  defp text(:decimal_not_finite, op, _field, [value]),
    do: "#{op} requires finite numbers, got #{show(value)}"

  defp text(:decimal_too_long, op, _field, values) do
    got = if values == [], do: "", else: ", got: " <> Enum.map_join(values, ", ", &show/1)

    "#{op} of decimals takes and gives at most 1000 digits before the point and 1000 after it" <>
      got
  end

  defp text(:path_through_non_map, op, _field, [value]),
    do: "#{op} expected a map, got: #{show(value)}"

  defp text(:no_type_name, op, _field, [value]),
    do: "#{op} does not support this value: #{show(value)}"

  defp text(:context_key, _op, _field, [name]),
    do: "Context key must be a string, got #{show(name)}"

  defp text(:memory_key, _op, _field, [name]),
    do: "Memory key must be a string, got #{show(name)}"

  defp text(code, op, field, [value]) when is_map_key(@unchecked, code),
    do: "#{op} #{field} must be #{@unchecked[code]}, got #{show(value)}"

  # An error about a name has the edition if it is not the first.
  defp edition([]), do: 1
  defp edition([edition]), do: edition

  # Lists the existing names; `names` are the first of them.
  defp there_are([], _count), do: "There are none"

  defp there_are(names, count) do
    more = if count > length(names), do: ", and #{count - length(names)} more", else: ""
    "There are: #{Enum.map_join(names, ", ", &"'#{Shown.name(&1)}'")}#{more}"
  end

  defp plain(string) when is_binary(string), do: Shown.name(string)
  defp plain(other), do: show(other)

  # A text of ordinary length is passed to `inspect/1`, which cuts it after 4,096 characters.
  defp show(text) when is_binary(text) and byte_size(text) <= @ordinary,
    do: Shown.text(text, @ordinary)

  defp show(term), do: Shown.text(term)
end

defmodule PtcRunner.SubAgent.Loop.JsonHandler do
  @moduledoc """
  From an LLM's answer to a validated value, or to feedback for the LLM's next attempt.

      iex> agent = %{parsed_signature: {:signature, [], {:map, [{"total", :int}]}}, max_turns: 3,
      ...>   field_descriptions: nil}
      iex> state = %{turn: 1, turns: [], messages: [], remaining_turns: 2, turn_tokens: nil,
      ...>   start_time: 0, trace_mode: false, collect_messages: false, expanded_prompt: "",
      ...>   original_prompt: "", llm_requests: 1, total_input_tokens: 0, total_output_tokens: 0}
      iex> alias PtcRunner.SubAgent.Loop.JsonHandler
      iex> {:stop, {:ok, step}, _turn, _tokens} =
      ...>   JsonHandler.handle_json_answer(~s(Here: {"total": 3}), agent, state)
      iex> step.return
      %{"total" => 3}
      iex> {:continue, state, _turn} =
      ...>   JsonHandler.handle_json_answer(~s({"total": "3"}), agent, state)
      iex> List.last(state.messages).content
      "Error: total: expected int, got string. Please return a valid JSON object matching the expected output format."

  ## Agent and state

  Agent and state are any maps or structs. Of the agent, `:parsed_signature` is read, also `:max_turns` if the answer
  is invalid, and `:field_descriptions` if it is valid. A valid answer needs the keys of the state in the example, except
  `:remaining_turns`. An invalid answer that may be retried needs `:turn`, `:turns`, `:messages` and `:remaining_turns`.

  ## Options

    * `:all_tool_calls` - the tool calls of the turn, maps with `:name`, `:args` and `:result`; by default
      `[]`
    * `:preserve_state` - whether the step keeps memory, journal, tool cache and similar fields; by default
      `false`
    * `:build_error_feedback` - a function of error and response that returns the text for the LLM
    * `:feedback` - `:plain` (the default), or `:detailed`, which reports the line and column where the JSON is invalid, or path,
      expectation and value of invalid values. Not in `ptc_runner`.
    * `:repair` - `true` repairs almost valid answers, as `PtcRunner.SubAgent.JsonParser.repair/2`
      does; by default `false`. The step's `usage` has the repairs, under `:repairs`.
      Not in `ptc_runner`.
    * `:truncated` - with `repair: true`, what happens if the answer was cut off: `:error` (the default) or `:complete`, see
      `PtcRunner.SubAgent.JsonParser.repair/3`. The error has the reason `:truncated`, and the feedback says where the
      answer ends. Not in `ptc_runner`.
    * `:timeout` - milliseconds that `handle_json_answer/4` may take to read the answer, or `:infinity`,
      by default 5,000. Not in `ptc_runner`.
    * `:max_heap` - words that the answer's value may take, 0 for no limit; by default 16 for each byte
      of the answer, or 1,250,000 if that is more. Not in `ptc_runner`.

  Texts of dates and decimals become these. Missing fields with a default have it, and objects of `{:struct, Module, type}` are structs.
  A value of a type with defaults, structs or decimals has no undeclared keys, and floats for integers where the type is `:float`.

  An answer that exceeds `:timeout` or `:max_heap` is handled like an answer that is not JSON. Feedback shows the first
  20 errors, in at most 16 KB, and the number of further errors.

  ## Native part

  `handle_json_answer/4` finds, decodes and validates the answer in one native call, which reads a plain answer
  once (twice if keys have hyphens). If the signature has a `:datetime`, if two keys become equal,
  or if a closed map has several undeclared keys, this module does these steps separately; the result is the same.
  The answer's strings are copied, so the value does not keep the text alive (turn and messages do).
  """

  alias PtcRunner.Native.Telemetry
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Answer, Atomizer, ErrorLine, Outcome, Repaired}
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.Base
  alias PtcRunner.{Options, Step, Turn}
  require Telemetry

  @module "PtcRunner.SubAgent.Loop.JsonHandler."
  @options %{
    all_tool_calls: :any,
    preserve_state: :boolean,
    build_error_feedback: :any,
    feedback: {:maybe, {:one_of, [:plain, :detailed]}},
    repair: :boolean,
    truncated: {:one_of, [:error, :complete]},
    timeout: :timeout,
    max_heap: :max_heap
  }

  @typedoc "An agent, or a map with the fields of one that are read."
  @type agent :: PtcRunner.SubAgent.t() | map()

  @typedoc "A parsed signature, or none."
  @type signature :: {:signature, list(), term()} | nil

  @typedoc "An invalid value: its path of names and indices, and a message."
  @type validation_error :: %{path: [String.t() | non_neg_integer()], message: String.t()}

  @typedoc "The LLM may try again: the new state, and the failed turn."
  @type continue :: {:continue, map(), Turn.t()}

  @typedoc "The run ends; the turn and its token counts."
  @type stop(outcome) :: {:stop, {outcome, Step.t()}, Turn.t() | nil, map() | nil}

  @doc """
  Handles an answer completely; see the example of the module.
  """
  @spec handle_json_answer(String.t(), agent(), map(), keyword()) ::
          continue() | stop(:ok | :error)
  def handle_json_answer(content, agent, state, opts \\ []) when is_binary(content) do
    Options.check!(opts, @options, @module <> "handle_json_answer/4")

    if Telemetry.on?(),
      do: Telemetry.answer(content, fn -> answer(content, agent, state, opts) end),
      else: answer(content, agent, state, opts)
  end

  defp answer(content, agent, state, opts) do
    began = System.monotonic_time(:millisecond)

    outcome = Answer.read(content, agent, opts)

    case Repaired.instead(outcome, content, agent, opts, began) do
      {:ok, value, _found} ->
        success(value, content, agent, state, opts)

      {:repaired, value, repairs} ->
        value |> success(content, agent, state, opts) |> Repaired.note(repairs)

      {:invalid, {list, _more} = errors, line, found} ->
        line = line || format_validation_errors(list)
        invalid(line, errors, content, agent, state, [{:found, found} | opts])

      {:truncated, message} ->
        Outcome.failure(:truncated, message, :truncated, content, agent, state, opts)

      {:error, reason, found} ->
        error = Answer.message(reason)
        unreadable(error, content, agent, state, [{:found, found} | opts])
    end
  end

  defp success(value, response, agent, state, opts) do
    value
    |> Answer.made(agent.parsed_signature)
    |> Outcome.success(response, agent, state, opts)
  end

  @doc """
  Handles an answer that is not JSON, or JSON of the wrong kind.

  The run ends if this was its last turn; otherwise the LLM receives feedback.
  """
  @spec handle_parse_error(String.t(), String.t(), agent(), map(), keyword()) ::
          continue() | stop(:error)
  def handle_parse_error(error, response, agent, state, opts \\ []) do
    Options.check!(opts, @options, @module <> "handle_parse_error/5")
    unreadable(error, response, agent, state, opts)
  end

  defp unreadable(error, response, agent, state, opts),
    do: Outcome.failure(:json_parse_error, error, nil, response, agent, state, opts)

  @doc """
  Handles an answer that does not match the signature.

  The run ends if this was its last turn; otherwise the LLM receives feedback.
  """
  @spec handle_validation_error([validation_error()], String.t(), agent(), map(), keyword()) ::
          continue() | stop(:error)
  def handle_validation_error(errors, response, agent, state, opts \\ []) do
    Options.check!(opts, @options, @module <> "handle_validation_error/5")
    invalid(errors, response, agent, state, opts)
  end

  defp invalid(errors, response, agent, state, opts) do
    error = format_validation_errors(errors)
    invalid(error, {errors, 0}, response, agent, state, opts)
  end

  defp invalid(error, errors, response, agent, state, opts),
    do: Outcome.failure(:validation_error, error, errors, response, agent, state, opts)

  @doc """
  Validates a parsed object and ends the run, or handles its errors.
  """
  @spec validate_and_complete(map(), String.t(), agent(), map(), keyword()) ::
          continue() | stop(:ok | :error)
  def validate_and_complete(parsed, response, agent, state, opts \\ []) do
    Options.check!(opts, @options, @module <> "validate_and_complete/5")

    complete(parsed, response, agent, state, opts)
  end

  @doc """
  Validates a parsed list and ends the run, or handles its errors.
  """
  @spec validate_and_complete_list(list(), String.t(), agent(), map(), keyword()) ::
          continue() | stop(:ok | :error)
  def validate_and_complete_list(parsed, response, agent, state, opts \\ []) do
    Options.check!(opts, @options, @module <> "validate_and_complete_list/5")

    complete(parsed, response, agent, state, opts)
  end

  defp complete(parsed, response, agent, state, opts) do
    case Answer.judged(parsed, agent.parsed_signature) do
      {:ok, value} -> success(value, response, agent, state, opts)
      {:error, errors} -> invalid(errors, response, agent, state, opts)
    end
  end

  @doc """
  Validates a value against the signature of an agent. Nothing is coerced.

      iex> agent = %{parsed_signature: {:signature, [], {:map, [{"n", :int}]}}}
      iex> PtcRunner.SubAgent.Loop.JsonHandler.validate_return(agent, %{"n" => "1"})
      {:error, [%{path: ["n"], message: "expected int, got string"}]}

  """
  @spec validate_return(agent(), term()) ::
          :ok | {:error, [validation_error()] | String.t()}
  def validate_return(%{parsed_signature: nil}, _value), do: :ok
  def validate_return(%{parsed_signature: {:signature, _params, :any}}, _value), do: :ok

  # Of an agent the signature must be parsed.
  def validate_return(%{parsed_signature: text}, _value) when is_binary(text) do
    {:error, "signature must be a parsed signature tuple, got #{PtcRunner.Shown.text(text)}"}
  end

  def validate_return(%{parsed_signature: signature}, value),
    do: Signature.validate(signature, value)

  @doc """
  Converts the keys of a map to existing atoms, and strings to dates if the signature has them.

  `"__struct__"` stays a string: text of an LLM never becomes a struct.

      iex> signature = {:signature, [], {:map, [{"at", :datetime}]}}
      iex> PtcRunner.SubAgent.Loop.JsonHandler.atomize_keys(%{"at" => "2026-05-03T09:14:00Z"}, signature)
      %{at: ~U[2026-05-03 09:14:00Z]}

  """
  @spec atomize_keys(map(), signature()) :: map()
  def atomize_keys(map, nil) when is_map(map), do: Atomizer.top(map)

  def atomize_keys(map, {:signature, _params, type}) when is_map(map),
    do: Atomizer.value(map, type)

  @doc """
  Converts the keys of the elements of a list to atoms, if the signature returns a list.

      iex> PtcRunner.SubAgent.Loop.JsonHandler.atomize_list([%{"name" => 1}], {:signature, [], {:list, :map}})
      [%{name: 1}]

      iex> PtcRunner.SubAgent.Loop.JsonHandler.atomize_list([%{"name" => 1}], nil)
      [%{"name" => 1}]

  """
  @spec atomize_list(list(), signature()) :: list()
  def atomize_list(list, {:signature, _params, type}) when is_list(list),
    do: if(Base.list?(type), do: Atomizer.value(list, type), else: list)

  def atomize_list(list, _signature) when is_list(list), do: list

  @doc """
  Converts the keys of any value to atoms, along a type.

      iex> PtcRunner.SubAgent.Loop.JsonHandler.atomize_value(%{"name" => %{"name" => 1}}, :any)
      %{name: %{name: 1}}

  """
  @spec atomize_value(term(), term()) :: term()
  defdelegate atomize_value(value, type), to: Atomizer, as: :value

  @doc """
  The atom of that name if it exists, otherwise the name.

      iex> PtcRunner.SubAgent.Loop.JsonHandler.safe_to_atom("ok")
      :ok

      iex> PtcRunner.SubAgent.Loop.JsonHandler.safe_to_atom("no atom has this name")
      "no atom has this name"

  """
  @spec safe_to_atom(String.t()) :: atom() | String.t()
  defdelegate safe_to_atom(name), to: Atomizer

  @doc """
  Whether a signature returns a list.

      iex> PtcRunner.SubAgent.Loop.JsonHandler.signature_expects_list?({:signature, [], {:list, :int}})
      true

      iex> PtcRunner.SubAgent.Loop.JsonHandler.signature_expects_list?(nil)
      false

  """
  @spec signature_expects_list?(term()) :: boolean()
  def signature_expects_list?({:signature, _params, type}), do: Base.list?(type)
  def signature_expects_list?(_signature), do: false

  @doc """
  Validation errors in one line. A turn and a step keep the whole line.

  The line ends after 1 MB with the number of further errors. The path and the message of an error are truncated
  after 2,000 bytes each.

      iex> PtcRunner.SubAgent.Loop.JsonHandler.format_validation_errors([
      ...>   %{path: ["results", 0, "id"], message: "expected int, got string"},
      ...>   %{path: [], message: "expected map, got list"}])
      "results.0.id: expected int, got string; root: expected map, got list"

  """
  @spec format_validation_errors([validation_error()]) :: String.t()
  defdelegate format_validation_errors(errors), to: ErrorLine, as: :text
end

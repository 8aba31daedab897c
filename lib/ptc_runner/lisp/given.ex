defmodule PtcRunner.Lisp.Given do
  @moduledoc false
  # The options of a run, checked, with their defaults. Options that are not known are those of `ptc_runner` that have no effect here.

  alias PtcRunner.Json
  alias PtcRunner.Json.Control.Rules
  alias PtcRunner.Json.{Control, Limits, Now, ToolContext, Within}
  alias PtcRunner.Options
  alias PtcRunner.Sandbox.Guarded
  alias PtcRunner.Shown

  defstruct context: %{},
            memory: %{},
            history: [],
            tools: %{},
            signature: nil,
            float_precision: nil,
            timeout: nil,
            max_heap: nil,
            max_program_bytes: 1_000_000,
            max_symbols: 10_000,
            max_print_length: 2_000,
            max_tool_calls: nil,
            strict_data: false,
            budget: nil,
            now: nil,
            on_call: nil,
            on_journal: nil,
            pause_ttl: :infinity,
            tool_context: nil,
            within: [],
            unknown: :refuse,
            tool_concurrency: 8,
            firewall: false,
            # Whether the run is observed, for an explanation.
            observed?: false,
            # Fields of `PtcRunner.Json.Control`, from this library's own functions.
            own: %{}

  @type t :: %__MODULE__{
          context: map(),
          memory: map(),
          history: [term()],
          tools: map(),
          signature: term(),
          float_precision: non_neg_integer() | nil,
          timeout: timeout() | nil,
          max_heap: non_neg_integer() | nil,
          max_program_bytes: non_neg_integer(),
          max_symbols: non_neg_integer(),
          max_print_length: non_neg_integer(),
          max_tool_calls: non_neg_integer() | nil,
          strict_data: boolean(),
          budget: term(),
          now: String.t() | nil,
          on_call: (PtcRunner.Json.Call.t() -> term()) | nil,
          on_journal: (map() -> term()) | nil,
          pause_ttl: timeout(),
          tool_context: map() | nil,
          within: [Within.t()],
          unknown: :refuse | :ask,
          tool_concurrency: pos_integer(),
          firewall: boolean(),
          observed?: boolean(),
          own: %{optional(atom()) => term()}
        }

  # The options of control, which are those of PTC-JSON. A value of nil is not looked at.
  @control (for {name, {kind, _default}} <- Json.Given.control_options(), into: %{} do
              {name, with({:maybe, kind} <- kind, do: kind)}
            end)

  @doc """
  The names of the options of control. The original ignores them: a run there would go on without what they ask for.

      iex> :on_call in PtcRunner.Lisp.Given.control_options()
      true

  """
  @spec control_options() :: [atom()]
  def control_options, do: unquote(Map.keys(@control))

  @doc """
  Reads the options. `nil` stands for the default. Raises `ArgumentError` for a value that is not of its kind. `:turn_history` is kept
  with the newest first.

      iex> given = PtcRunner.Lisp.Given.read(timeout: 50, turn_history: [1, 2], filter_context: true)
      iex> {given.timeout, given.history, given.max_symbols}
      {50, [2, 1], 10_000}

      iex> PtcRunner.Lisp.Given.read(context: 5)
      ** (ArgumentError) option :context of PtcRunner.Lisp must be a map, got: 5

  """
  @spec read(keyword()) :: t()
  def read([]), do: %__MODULE__{}
  def read(opts) when is_list(opts), do: read(opts, %__MODULE__{})

  def read(other) do
    raise ArgumentError,
          "options of PtcRunner.Lisp must be a keyword list, got: #{Shown.text(other, 200)}"
  end

  # Of equal options the first one counts, so it is put last.
  defp read([{name, value} | rest], given) when is_atom(name),
    do: put(read(rest, given), name, value)

  defp read([], given), do: given
  defp read(other, _given), do: read(%{not_options: other})

  defp put(given, _name, nil), do: given
  defp put(given, :context, map) when is_map(map), do: %{given | context: map}
  defp put(given, :memory, map) when is_map(map), do: %{given | memory: map}
  defp put(given, :tools, map) when is_map(map), do: %{given | tools: map}

  defp put(given, :turn_history, list) when is_list(list),
    do: %{given | history: Enum.reverse(list)}

  defp put(given, :signature, signature), do: %{given | signature: signature}
  defp put(given, :budget, budget), do: %{given | budget: budget}

  defp put(given, name, value) when is_map_key(@control, name) do
    :ok = Options.check!([{name, value}], @control, "PtcRunner.Lisp")
    Map.replace!(given, name, control(name, value))
  end

  defp put(given, :strict_data, strict?) when is_boolean(strict?),
    do: %{given | strict_data: strict?}

  defp put(given, :timeout, timeout) do
    :ok = Guarded.check_timeout!(timeout)
    %{given | timeout: timeout}
  end

  defp put(given, :max_heap, words) do
    :ok = Guarded.check_max_heap!(words)
    %{given | max_heap: words}
  end

  defp put(given, name, count)
       when name in [
              :float_precision,
              :max_program_bytes,
              :max_symbols,
              :max_print_length,
              :max_tool_calls
            ] and is_integer(count) and count >= 0,
       do: Map.replace!(given, name, count)

  defp put(_given, name, value)
       when name in [:context, :memory, :tools],
       do: refuse(name, "a map", value)

  defp put(_given, :turn_history, value), do: refuse(:turn_history, "a list", value)
  defp put(_given, :strict_data, value), do: refuse(:strict_data, "true or false", value)

  defp put(_given, name, value)
       when name in [
              :float_precision,
              :max_program_bytes,
              :max_symbols,
              :max_print_length,
              :max_tool_calls
            ],
       do: refuse(name, "a non-negative integer", value)

  defp put(given, _other, _value), do: given

  defp control(:now, time) do
    {:ok, text} = Now.text(time)
    text
  end

  defp control(:within, plans), do: Within.plans!(plans, "PtcRunner.Lisp")
  defp control(:tool_context, context), do: ToolContext.named(context)
  defp control(_name, value), do: value

  @doc """
  The time and the words that a run may take.

      iex> PtcRunner.Lisp.Given.limits(PtcRunner.Lisp.Given.read(timeout: 5, max_heap: 7_000))
      {5, 7_000}

  """
  @spec limits(t()) :: {timeout(), non_neg_integer()}
  def limits(%__MODULE__{timeout: timeout, max_heap: max_heap}) do
    {timeout, max_heap, _reading} = Limits.resolve({timeout, max_heap, 1})
    {timeout, max_heap}
  end

  @doc """
  What decides about the calls of a run with these options, and what a run that pauses needs to go on.

      iex> given = PtcRunner.Lisp.Given.read(max_tool_calls: 3, strict_data: true)
      iex> control = PtcRunner.Lisp.Given.control(given)
      iex> {control.rules.max_tool_calls, control.rules.lisp.strict_data}
      {3, true}

  """
  @spec control(t()) :: Control.t()
  def control(%__MODULE__{} = given) do
    rules = %Rules{
      max_tool_calls: given.max_tool_calls,
      on_call: given.on_call,
      on_journal: given.on_journal,
      pause_ttl: given.pause_ttl,
      tool_context: given.tool_context,
      within: given.within,
      unknown: given.unknown,
      lisp: kept(given)
    }

    Control.with_parts(%Control{rules: rules}, given.own)
  end

  # What a run needs to go on as it has begun.
  @kept [
    :history,
    :signature,
    :float_precision,
    :max_program_bytes,
    :max_symbols,
    :max_print_length,
    :strict_data,
    :budget,
    :firewall
  ]

  defp kept(given), do: Map.take(given, @kept)

  @doc """
  The options with what a paused run has kept of them, or why that is not what a run has.

      iex> alias PtcRunner.Lisp.Given
      iex> {:ok, given} = Given.with_kept(Given.read([]), Given.control(Given.read(strict_data: true)).rules.lisp)
      iex> given.strict_data
      true
      iex> Given.with_kept(Given.read([]), %{history: 5})
      {:error, "The paused run has no valid options of PTC-Lisp"}

  """
  @spec with_kept(t(), term()) :: {:ok, t()} | {:error, String.t()}
  def with_kept(given, kept) do
    sound? =
      is_map(kept) and Enum.sort(Map.keys(kept)) == Enum.sort(@kept) and is_list(kept.history) and
        not List.improper?(kept.history)

    if sound? do
      {history, options} = Map.pop!(kept, :history)
      checked = options |> Map.to_list() |> read()
      {:ok, given |> Map.merge(Map.take(checked, @kept)) |> Map.put(:history, history)}
    else
      {:error, "The paused run has no valid options of PTC-Lisp"}
    end
  rescue
    ArgumentError -> {:error, "The paused run has no valid options of PTC-Lisp"}
  end

  defp refuse(name, kind, value) do
    raise ArgumentError,
          "option #{inspect(name)} of PtcRunner.Lisp must be #{kind}, got: #{Shown.text(value, 200)}"
  end
end

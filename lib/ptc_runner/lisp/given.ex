defmodule PtcRunner.Lisp.Given do
  @moduledoc false
  # The options of a run, checked, with their defaults. Options that are not known are those of `ptc_runner` that have no effect here.

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
            # What an agent says of the calls: see `PtcRunner.Lisp.Asking`.
            calls: %{budget: nil, timeouts: %{}, cached: nil}

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
          calls: PtcRunner.Lisp.Asking.calls()
        }

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

  defp refuse(name, kind, value) do
    raise ArgumentError,
          "option #{inspect(name)} of PtcRunner.Lisp must be #{kind}, got: #{Shown.text(value, 200)}"
  end
end

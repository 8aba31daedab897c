defmodule PtcRunner.Lisp.Ended do
  @moduledoc false
  # From what a run ended with to a step: its value or its error, its memory, what it has used, and where the error is.

  alias PtcRunner.Json.{Paused, Run}
  alias PtcRunner.Lisp.{ErrorPlace, Evaluation, FaultWords, Finished, Given, Inside, Program}
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Step
  alias PtcRunner.SubAgent.Signature
  require Telemetry

  @bytes_per_word 8

  @doc "The end of a run, which began at this time in milliseconds."
  @spec of_run(term(), Program.t(), Given.t(), Signature.t() | nil, Run.t(), integer()) ::
          Evaluation.result()
  def of_run(
        outcome,
        program,
        given,
        signature,
        %Run{limits: {timeout, max_heap, _}} = run,
        began
      ) do
    {outcome, at} = ErrorPlace.split(outcome)

    outcome
    |> named(program)
    |> ended(given, signature, run)
    |> told(run, outcome, began)
    |> located(ErrorPlace.of_run(program, at, {timeout, max_heap}))
  end

  @doc "The end of a run without prints and calls that has a value and has built so many words."
  @spec quiet(tuple(), Given.t(), Signature.t() | nil, non_neg_integer(), integer()) ::
          {:ok | :error, Step.t()}
  def quiet(done, given, signature, words, began) do
    {ended, step} = step(done, given, signature, nil)
    used({ended, %{step | prints: [], tool_calls: []}}, words, began)
  end

  @doc """
  The end of a run that has not begun, because of this error.

      iex> given = PtcRunner.Lisp.Given.read([])
      iex> began = System.monotonic_time(:millisecond)
      iex> {:error, step} = PtcRunner.Lisp.Ended.unread("(inc)\\n(if)", {:error, :invalid_arity, "an if", {6, 4}}, given, began)
      iex> {step.fail.message, step.usage.error_at.line}
      {"an if", 2}

  """
  @spec unread(String.t() | Program.t(), Program.fail(), Given.t(), integer()) ::
          {:error, Step.t()}
  def unread(program, error, given, began) do
    ended = error |> failed(given, Given.limits(given)) |> used(0, began)
    located(ended, place_in_text(error, program))
  end

  defp place_in_text({:error, _reason, _message, at}, program) do
    text = if is_binary(program), do: program, else: program.source
    ErrorPlace.of_problem(text, at)
  end

  defp place_in_text(_limit, _program), do: nil

  @doc """
  A text that is no program, which is a run that has failed: its events are executed.

      iex> PtcRunner.Lisp.Ended.refused("(", {:parse_error, "unbalanced parentheses: 1 unclosed '('"})
      :ok

  """
  @spec refused(String.t(), {atom(), String.t()}) :: :ok
  def refused(text, {reason, message}) do
    if Telemetry.on?() do
      given = Given.read([])
      {timeout, max_heap} = limits = Given.limits(given)
      told = %{tools: %{}, limits: {timeout, max_heap, 1}}

      Telemetry.run(:lisp, text, nil, told, fn ->
        failed({:error, reason, message, nil}, given, limits)
      end)
    end

    :ok
  end

  # An error with what the program knows of it: the names beside one that is not bound, and its functions.
  defp named({:error, {:expensive_to_inspect, fault}}, program),
    do: named({:error, fault}, program)

  defp named({:error, {:inside, form, fault}}, program) do
    {:error, fault} = named({:error, fault}, program)
    {:error, {:inside, form, fault}}
  end

  defp named({:error, {:execution, :unbound, name, detail, _none}}, program) do
    %{globals: globals, builtins: builtins} = program.names
    {:error, {:execution, :unbound, name, detail, List.delete(globals, name) ++ builtins}}
  end

  defp named({:error, {:execution, code, name, detail, terms}}, program),
    do: {:error, {:execution, code, name, detail, Inside.shown(terms, program.consts)}}

  defp named(outcome, _program), do: outcome

  # `error_at` says where the error is, if that is a place in the text.
  defp located(result, nil), do: result

  defp located({ended, %Step{usage: usage} = step}, at),
    do: {ended, %{step | usage: Map.put(usage, :error_at, at)}}

  # What a run ended with.
  defp ended({:paused, control}, given, _signature, %Run{program: program, limits: limits}) do
    case Paused.new(control, program, given.memory, limits) do
      {:ok, paused} -> {:paused, paused}
      {:error, fault} -> failed({:error, fault}, given, limits)
    end
  end

  defp ended(outcome, given, signature, %Run{limits: {timeout, max_heap, _reading}}),
    do: step(outcome, given, signature, {timeout, max_heap})

  defp step({:ok, {:ok, value, defined}, _words}, given, signature, _limits) do
    value = Finished.rounded(value, given.float_precision)
    memory = Finished.memory(given.memory, defined)

    case Finished.validated(value, signature) do
      :ok -> {:ok, Step.ok(value, memory)}
      {:error, text} -> {:error, Step.error(:validation_error, text, memory)}
    end
  end

  defp step({:ok, {ended, value, defined}, _words}, given, _signature, _limits) do
    mark = if ended == :return, do: :__ptc_return__, else: :__ptc_fail__
    value = Finished.rounded(value, given.float_precision)
    {:ok, Step.ok({mark, value}, Finished.memory(given.memory, defined))}
  end

  defp step({:error, fault}, given, _signature, limits),
    do: failed({:error, fault}, given, limits)

  defp failed({:error, reason, message, _at}, given, _limits),
    do: {:error, Step.error(reason, message, given.memory)}

  defp failed({:error, limit}, given, {timeout, max_heap})
       when limit in [:timeout, :memory_exceeded] do
    amount = if limit == :timeout, do: timeout, else: max_heap * @bytes_per_word
    failed({:error, {limit, amount}}, given, {timeout, max_heap})
  end

  defp failed({:error, fault}, given, _limits) do
    {reason, message, details} = FaultWords.of(fault)
    {:error, Step.error(reason, message, given.memory, details)}
  end

  defp told({:paused, _paused} = paused, _run, _outcome, _began), do: paused

  defp told({ended, step}, %Run{strategy: asking}, outcome, began) do
    step = %{step | prints: Enum.reverse(asking.prints), tool_calls: Enum.reverse(asking.calls)}
    used({ended, step}, words(outcome), began)
  end

  defp used({ended, step}, words, began), do: {ended, %{step | usage: usage(words, began)}}

  @doc """
  What a run has used that has built so many words, and began at this time in milliseconds.

      iex> PtcRunner.Lisp.Ended.usage(3, System.monotonic_time(:millisecond)).memory_bytes
      24

  """
  @spec usage(non_neg_integer(), integer()) :: %{
          duration_ms: non_neg_integer(),
          memory_bytes: non_neg_integer()
        }
  def usage(words, began), do: lasted(words, System.monotonic_time(:millisecond) - began)

  @doc """
  What a run has used that has built so many words, and took so many milliseconds.

      iex> PtcRunner.Lisp.Ended.lasted(3, 7)
      %{duration_ms: 7, memory_bytes: 24}

  """
  @spec lasted(non_neg_integer(), integer()) :: %{
          duration_ms: integer(),
          memory_bytes: non_neg_integer()
        }
  def lasted(words, duration),
    do: %{duration_ms: duration, memory_bytes: words * @bytes_per_word}

  defp words({:ok, _value, words}), do: words
  defp words(_error), do: 0
end

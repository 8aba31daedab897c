defmodule PtcRunner.Lisp.Pure do
  @moduledoc false
  # Runs that are given nothing but data and limits. Most of them end in their first native call, and a small one takes so little time that
  # each option that is looked at counts. All other runs are those of `PtcRunner.Lisp.Evaluation`, and so is what follows the first call.

  alias PtcRunner.Json.Limits
  alias PtcRunner.Json.Run.Start
  alias PtcRunner.Lisp.{Ended, Evaluation, Finished, Given, Program}
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Sandbox.{Guarded, Weight}
  alias PtcRunner.Step
  require Telemetry
  require Weight

  # No memory, no history, no budget, and no `:strict_data`.
  @environment {%{}, [], %{}, false}
  @most_bytes %Given{}.max_program_bytes
  @short 1_000
  @most_symbols %Given{}.max_symbols

  @doc """
  Runs a program with options, if these are only `:context`, `:timeout` and `:max_heap`; `:other` if not.

      iex> {:ok, step} = PtcRunner.Lisp.Pure.run("(+ data/n 1)", context: %{"n" => 1})
      iex> {step.return, step.prints}
      {2, []}

      iex> PtcRunner.Lisp.Pure.run("(+ 1 2)", max_tool_calls: 1)
      :other

  """
  @spec run(String.t() | Program.t(), term()) :: Evaluation.result() | :other
  def run(program, opts), do: read(opts, program, nil, nil, nil)

  # An option that stands twice is one that others look at.
  defp read([{:context, context} | rest], program, nil, timeout, max_heap) when is_map(context),
    do: read(rest, program, context, timeout, max_heap)

  defp read([{:timeout, timeout} | rest], program, context, nil, max_heap)
       when timeout != nil do
    if Guarded.timeout?(timeout),
      do: read(rest, program, context, timeout, max_heap),
      else: :other
  end

  defp read([{:max_heap, words} | rest], program, context, timeout, nil) when words != nil do
    if Guarded.max_heap?(words), do: read(rest, program, context, timeout, words), else: :other
  end

  defp read([{name, map} | rest], program, context, timeout, max_heap)
       when name in [:tools, :memory] and map == %{},
       do: read(rest, program, context, timeout, max_heap)

  defp read([], program, context, timeout, max_heap) do
    if Telemetry.on?() == false,
      do: begin(program, context || %{}, timeout, max_heap),
      else: :other
  end

  defp read(_others, _program, _context, _timeout, _max_heap), do: :other

  # Without limits, which are looked up only for a run that does not end in its first steps.
  defp begin(program, context, nil, nil) do
    began = :os.perf_counter()
    begin_with(program, context, {nil, nil}, began)
  end

  defp begin(program, context, timeout, max_heap) do
    began = :os.perf_counter()
    {timeout, max_heap, _reading} = Limits.resolve({timeout, max_heap, 1})
    begin_with(program, context, {timeout, max_heap}, began)
  end

  defp begin_with(program, context, limits, began) do
    case built(program, limits) do
      {:ok, program} -> first(program, context, limits, began)
      error -> Ended.unread(program, error, given(context, limits), monotonic(began))
    end
  end

  defp built(%Program{} = program, _limits), do: {:ok, program}

  # A short text is compiled long before any limit.
  defp built(text, {nil, nil}) when byte_size(text) <= @short,
    do: compiled(text, {Limits.default_timeout(), Limits.default_max_heap()})

  defp built(text, {timeout, max_heap}) when byte_size(text) <= @most_bytes do
    {timeout, max_heap, _reading} = Limits.resolve({timeout, max_heap, 1})
    compiled(text, {timeout, max_heap})
  end

  defp built(text, _limits), do: {:ok, text}

  defp compiled(text, limits), do: Program.build(text, [], [], limits, false, @most_symbols)

  defp first(
         %Program{source: source, names: %{unbound: [], tools: [], symbols: symbols}} = program,
         context,
         limits,
         began
       )
       when byte_size(source) <= @most_bytes and symbols <= @most_symbols do
    case Start.first_steps_of_lisp(program, limits, context, @environment) do
      {:ok, {:ok, value, defined}, words} when Weight.is_little(words) ->
        {:ok, step(value, defined, words, began)}

      # Without limits nothing is known of the time that is left for it, so the run begins anew, with limits.
      waits when limits == {nil, nil} and elem(waits, 0) in [:ask, :fork] ->
        goes_on(program, context, limits, :none, began)

      reply ->
        goes_on(program, context, limits, reply, began)
    end
  end

  defp first(program, context, limits, began),
    do: goes_on(program, context, limits, :none, began)

  defp step(value, defined, words, began) do
    usage = Ended.lasted(words, since(began))
    %{Step.ok(value, Finished.memory(%{}, defined)) | prints: [], tool_calls: [], usage: usage}
  end

  defp goes_on(program, context, limits, reply, began),
    do: Evaluation.goes_on(program, given(context, limits), reply, monotonic(began))

  defp given(context, {timeout, max_heap}),
    do: %Given{context: context, timeout: timeout, max_heap: max_heap}

  defp monotonic(began), do: System.monotonic_time(:millisecond) - since(began)

  # This clock takes a third of the time of the other one.
  defp since(began),
    do: :erlang.convert_time_unit(:os.perf_counter() - began, :perf_counter, :millisecond)
end

defmodule PtcRunner.Lisp.Asking do
  @moduledoc false
  # Drives a run of PTC-Lisp: calls its tools in a process of their own, evaluates the built-ins that it asks for, and keeps what it
  # prints and calls.

  alias PtcRunner.Json.{Budget, Run}
  alias PtcRunner.Json.Run.{Driver, InCaller, Reply}
  alias PtcRunner.Json.ToolProcess
  alias PtcRunner.Lisp.{Answers, Arguments, Ledger, Prints, Tools}
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.Sandbox.Weight
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.KeyNormalizer
  require Reply
  require Telemetry

  @behaviour Driver

  # `prints` and `calls` have the newest first. `made` counts the calls that were made.
  defstruct tools: %{},
            prints: [],
            print_length: 2_000,
            calls: [],
            made: 0,
            most: nil,
            calls_of_agent: %{budget: nil, timeouts: %{}, cached: nil},
            cache: %{},
            patterns: %{}

  @typedoc """
  What an agent says of the calls: the budget that they count in, the milliseconds that each tool has, and a function of name, arguments
  and value, which is told of a call that the cache has answered.
  """
  @type calls :: %{
          budget: Budget.t() | nil,
          timeouts: %{String.t() => timeout()},
          cached: (String.t(), term(), term() -> term()) | nil
        }

  @type t :: %__MODULE__{
          tools: Tools.t(),
          prints: [String.t()],
          print_length: non_neg_integer(),
          calls: [Ledger.entry()],
          made: non_neg_integer(),
          most: non_neg_integer() | nil,
          calls_of_agent: calls(),
          cache: map(),
          patterns: Answers.Patterns.t()
        }

  # The questions of a run, see `native/ptc_lisp/src/code.rs`.
  @builtin 0
  @print 1

  # A value of so many bytes needs no walk that counts its words.
  @small 64

  @impl true
  def request(Reply.ask(question: @print, asked: text), %Run{strategy: asking} = run) do
    entry = Prints.entry(text, asking.print_length)
    {:resume, {:answer, nil, 0}, %{run | strategy: %{asking | prints: [entry | asking.prints]}}}
  end

  def request(Reply.ask(question: @builtin, asked: {name, args}, left: left), run) do
    %Run{strategy: asking, max_heap: max_heap} = run

    with {:ok, _words} <- Weight.within(args, max_heap),
         {{_ok?, _value} = answer, patterns} <-
           Answers.answer(name, args, {at_least(left), max_heap}, asking.patterns),
         {:ok, words} <- weighed(elem(answer, 1), max_heap) do
      resume(answer, words, patterns, run)
    else
      {{false, _reason, _text} = error, patterns} -> resume(error, 0, patterns, run)
      {{:error, limit}, _patterns} -> {:ended, {:error, limit}, run}
      error -> {:ended, error, run}
    end
  end

  def request(Reply.call(tool: name, args: args) = call, %Run{strategy: asking} = run) do
    args = Arguments.of(args)

    case asking.tools do
      %{^name => {fun, false}} -> limited(call, name, fun, args, run)
      %{^name => {fun, true}} -> cached(call, name, fun, args, run)
      tools -> {:ended, {:error, {:unknown_tool, name, tools}}, run}
    end
  end

  defp at_least(:infinity), do: :infinity
  defp at_least(left), do: max(left, 0)

  defp resume(answer, words, patterns, %Run{strategy: asking} = run) do
    {:resume, {:answer, answer, words}, %{run | strategy: %{asking | patterns: patterns}}}
  end

  defp weighed(text, _max_heap) when is_binary(text) and byte_size(text) <= @small,
    do: {:ok, div(byte_size(text), 8) + 3}

  defp weighed(value, max_heap), do: Weight.within(value, max_heap)

  defp cached(call, name, fun, args, %Run{strategy: asking} = run) do
    key = KeyNormalizer.canonical_cache_key(name, args)

    case asking.cache do
      %{^key => {value, words}} ->
        entry = Ledger.cached(name, args, value)
        if told = asking.calls_of_agent.cached, do: told.(name, args, value)
        {:resume, {:answer, value, words}, noted(run, entry)}

      _new ->
        case limited(call, name, fun, args, run) do
          {:resume, {:answer, value, words}, %Run{strategy: asking} = run} = step ->
            cache = Map.put(asking.cache, key, {value, words})
            put_elem(step, 2, %{run | strategy: %{asking | cache: cache}})

          other ->
            other
        end
    end
  end

  defp limited(_call, name, _fun, _args, %Run{strategy: %{made: made, most: made}} = run),
    do: {:ended, {:error, {:too_many_calls, name, made}}, run}

  defp limited(call, name, fun, args, %Run{strategy: asking} = run) do
    case Budget.take(asking.calls_of_agent.budget, name, args) do
      :ok ->
        made(call, name, fun, args, run)

      {:error, {_kind, text}} ->
        text = "tool_call_limit_exceeded: #{text}"
        {:ended, {:error, {:worded, :tool_call_limit_exceeded, text}}, run}
    end
  end

  defp made(call, name, fun, args, %Run{strategy: asking} = run) do
    run = %{run | strategy: %{asking | made: asking.made + 1}}
    began = Ledger.began()
    {result, process} = called(call, name, fun, args, run)
    run = %{run | process: process}

    case result do
      {:ok, value, words} ->
        run = noted(run, Ledger.entry(name, args, {:ok, value}, began))
        {:resume, {:answer, value, words}, run}

      {:error, {:tool_failed, said, noted}} ->
        run = noted(run, Ledger.entry(name, args, {:error, noted}, began))
        caught(call, name, {said, noted}, run)

      {:error, reason} = error ->
        {:ended, error, noted(run, Ledger.entry(name, args, {:error, text(reason)}, began))}
    end
  end

  # A `try` around the call gets the error as a map, and else the run ends with it.
  defp caught(call, name, {said, noted}, run) do
    words = div(byte_size(noted) + byte_size(name), 8) + 16
    error = %{%PtcRunner.Lisp.Keyword{name: "message"} => noted, :tool => name}

    case Driver.resume(call, {:failed, error, words}) do
      :uncaught ->
        text = "Tool '#{Shown.name(name)}' failed: #{said}"
        {:ended, {:error, {:tool_failed, text}}, run}

      reply ->
        {:resumed, reply, run}
    end
  end

  defp called(Reply.call(args: asked, left: left, weight: weight), name, fun, args, run) do
    %Run{process: process, max_heap: max_heap} = run
    weight = if args === asked, do: weight

    with {:ok, _words} <- InCaller.weigh(args, weight, max_heap) do
      own = Map.get(run.strategy.calls_of_agent.timeouts, name, :infinity)

      begin = fn ->
        process |> ToolProcess.call(name, fun, args, min(left, own)) |> answered()
      end

      {result, process} = if Telemetry.on?(), do: Telemetry.tool(name, begin), else: begin.()

      # The process has ended with its call.
      if result == {:error, :timeout} and own < left,
        do: {late(own), ToolProcess.new(max_heap)},
        else: {result, process}
    else
      error -> {error, process}
    end
  end

  defp late(timeout) do
    text = "it did not answer within #{timeout} ms"
    {:error, {:tool_failed, text, text}}
  end

  defp answered({{:ok, {:value, value}, words}, process}), do: {{:ok, value, words}, process}

  defp answered({{:ok, {:failed, said, noted}, _words}, process}),
    do: {{:error, {:tool_failed, said, noted}}, process}

  defp answered(error), do: error

  defp noted(%Run{strategy: asking} = run, entry),
    do: %{run | strategy: %{asking | calls: [entry | asking.calls]}}

  defp text(:timeout), do: "it did not answer within the time of the run"
  defp text(:memory_exceeded), do: "it exceeded the heap limit of the run"
  defp text({_kind, text}) when is_binary(text), do: text
  defp text(_reason), do: "it ended the run"
end

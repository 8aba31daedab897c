defmodule PtcRunner.Json.Run.Driver do
  @moduledoc false
  # Interprets the replies of a run's native calls until the run ends, wherever it is driven. Strategies differ in what they do
  # for a request: how they call a tool.

  alias PtcRunner.Json.Run
  alias PtcRunner.Json.Run.{Reply, Start}
  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.Native.{Panic, Telemetry}
  require Telemetry

  @typedoc "What a suspended run is resumed with: a value, and its words."
  @type answer ::
          {:answer
           | :moved
           | :moved_all
           | :answers
           | :joined
           | :in_turn
           | :replayed
           | :replayed_all
           | :unanswered
           | :failed
           | :failed_moved
           | :text
           | :text_moved, term(), non_neg_integer()}

  @typedoc """
  What comes of a request: the answer that the run is resumed with; its next reply, if it was resumed already; the text of the
  tool's error, which the program may catch; or the result of the run (or why it is not driven further).
  """
  @type step ::
          {:resume, answer(), Run.t()}
          | {:resumed, Reply.t(), Run.t()}
          | {:failed, :failed | :failed_moved, String.t() | term(), Run.t()}
          | {:ended, result :: term(), Run.t()}

  @doc "Does what a run asks for: calls the tool, runs the rounds of a loop, or decodes a text that a tool has answered."
  @callback request(Reply.t(), Run.t()) :: step()

  @doc "What a tool of a run whose calls are decided about has answered: its value, or its error."
  @callback told_apart(result) :: result when result: term()

  @doc "The error of a tool that took longer than it may; the program may catch it."
  @callback tool_late(String.t(), timeout()) :: {:tool_failed, term()}

  @doc "What a run of another language than PTC-JSON reads of its context: names and values."
  @callback data(Run.t()) :: [{String.t(), {:ok, term()} | :error}]

  @optional_callbacks told_apart: 1, tool_late: 2, data: 1

  @doc """
  Starts a run and drives it. An error of the native library is an error of the run.

      iex> alias PtcRunner.Json.Run
      iex> {result, _run} = Run.Driver.start(fn -> {:ok, 1, 0} end, %Run{strategy: %Run.InPlace{}})
      iex> result
      {:ok, 1, 0}

  """
  @spec start((() -> Reply.t()), Run.t()) :: {result :: term(), Run.t()}
  def start(begin, run), do: begin |> Panic.instead() |> go_on(run)

  @doc "Drives a run from its first reply on."
  @spec go_on(Reply.t(), Run.t()) :: {result :: term(), Run.t()}
  def go_on({next, _state, _terms} = left, run) when next in [:more, :long],
    do: drive(left, %{run | began: System.monotonic_time(:millisecond)})

  def go_on(reply, run), do: drive(reply, run)

  @doc "Drives a run from a reply on."
  @spec drive(Reply.t(), Run.t()) :: {result :: term(), Run.t()}
  def drive({next, _state, _terms} = left, run) when next in [:more, :long] do
    Telemetry.on?() && Telemetry.suspended()
    fn -> Quanta.go_on(left) end |> Panic.instead() |> drive(run)
  end

  def drive({:ok, _value, _words} = done, run), do: {done, run}
  def drive({:error, _reason} = error, run), do: {error, run}

  # A long program is compiled in several calls. If its context has texts, that is the reply of the last one.
  def drive(:texts, run),
    do: fn -> Start.over_texts(run) end |> Panic.instead() |> drive(run)

  def drive(request, %Run{strategy: %strategy{}} = run) do
    case strategy.request(request, run) do
      {:resume, answer, run} ->
        request |> resume(answer) |> drive(run)

      {:resumed, reply, run} ->
        drive(reply, run)

      {:failed, kind, text, run} ->
        case failed(request, kind, text) do
          :uncaught -> {{:error, {:tool_failed, text}}, run}
          reply -> drive(reply, run)
        end

      {:ended, result, run} ->
        {result, run}
    end
  end

  @doc "Resumes the run of a reply, whose tool has failed, if the program catches that; returns the next reply."
  @spec failed(Reply.t(), :failed | :failed_moved, String.t()) :: Reply.t() | :uncaught
  def failed(request, kind, text), do: resume(request, {kind, text, div(byte_size(text), 8) + 4})

  @doc "What a step is for a later reply of its run, which waits for the call that the step is about."
  @spec later(step(), Reply.t()) :: step()
  def later({:resume, answer, run}, reply), do: {:resumed, resume(reply, answer), run}

  def later({:failed, kind, text, run}, reply) do
    case failed(reply, kind, text) do
      :uncaught -> {:ended, {:error, {:tool_failed, text}}, run}
      reply -> {:resumed, reply, run}
    end
  end

  def later(ended, _reply), do: ended

  @doc "The reply of a run that goes on until it waits for something, or ends."
  @spec waiting(Reply.t()) :: Reply.t()
  def waiting({next, _state, _terms} = left) when next in [:more, :long],
    do: fn -> Quanta.go_on(left) end |> Panic.instead() |> waiting()

  def waiting(reply), do: reply

  @doc "Resumes the run of a reply with the answer of its tool; returns the next reply."
  @spec resume(Reply.t(), answer()) :: Reply.t() | :uncaught
  def resume(request, answer) do
    Native.resume(Reply.state(request), Reply.terms(request), answer)
  catch
    :error, reason -> Panic.error(reason, __STACKTRACE__)
  end
end

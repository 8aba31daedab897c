defmodule PtcRunner.Json.Driver do
  @moduledoc false
  # Interprets the replies of a run's native calls until the run ends. This is the same wherever a run is driven: in its
  # caller (`Runner`), in the process of its tools (`MovedRun`), as one round of a loop whose rounds overlap (`Fork`).
  # These differ in how a tool is called, which is a function.

  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.Native.{Panic, Telemetry}
  require Telemetry

  @typedoc "A reply: see the list in `PtcRunner.Native`. Its second and third elements are the state and the terms of a suspended run."
  @type reply :: tuple()

  @typedoc "What a suspended run is resumed with: a value, and its words."
  @type answer ::
          {:answer | :moved | :joined | :failed | :failed_moved | :text | :text_moved, term(),
           non_neg_integer()}

  @typedoc """
  Calls the tool of a reply, or decodes the text that it has answered, which the run does not read in place. Returns the answer; the run's next reply, if it was resumed already; the text of the tool's error,
  which the program may catch; or the result of the run (or why it is not driven further).
  """
  @type call(acc) ::
          (reply(), acc ->
             {:ok, answer(), acc}
             | {:resumed, reply(), acc}
             | {:failed, :failed | :failed_moved, String.t(), acc}
             | {result :: term(), acc})

  @doc """
  Starts a run and drives it. An error of the native library is an error of the run.

      iex> PtcRunner.Json.Driver.start(fn -> {:ok, 1, 0} end, fn _call, acc -> {:not_called, acc} end, nil)
      {{:ok, 1, 0}, nil}

  """
  @spec start((() -> reply()), call(acc), acc) :: {result :: term(), acc} when acc: term()
  def start(begin, call, acc), do: begin |> Panic.instead() |> drive(call, acc)

  @doc "Drives a run from a reply on."
  @spec drive(reply(), call(acc), acc) :: {result :: term(), acc} when acc: term()
  def drive({next, _state, _terms} = left, call, acc) when next in [:more, :long] do
    Telemetry.on?() && Telemetry.suspended()
    fn -> Quanta.go_on(left) end |> Panic.instead() |> drive(call, acc)
  end

  def drive({:ok, _value, _words} = done, _call, acc), do: {done, acc}
  def drive({:error, _reason} = error, _call, acc), do: {error, acc}

  def drive(request, call, acc) do
    case call.(request, acc) do
      {:ok, answer, acc} ->
        request |> resume(answer) |> drive(call, acc)

      {:resumed, reply, acc} ->
        drive(reply, call, acc)

      {:failed, kind, text, acc} ->
        case failed(request, kind, text) do
          :uncaught -> {{:error, {:tool_failed, text}}, acc}
          reply -> drive(reply, call, acc)
        end

      ended ->
        ended
    end
  end

  @doc "Resumes the run of a reply, whose tool has failed, if the program catches that; returns the next reply."
  @spec failed(reply(), :failed | :failed_moved, String.t()) :: reply() | :uncaught
  def failed(request, kind, text), do: resume(request, {kind, text, div(byte_size(text), 8) + 4})

  @doc "Resumes the run of a reply with the answer of its tool; returns the next reply."
  @spec resume(reply(), answer()) :: reply() | :uncaught
  def resume(request, answer) do
    Native.resume(elem(request, 1), elem(request, 2), answer)
  catch
    :error, reason -> Panic.error(reason, __STACKTRACE__)
  end
end

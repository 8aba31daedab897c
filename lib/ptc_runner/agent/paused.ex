defmodule PtcRunner.Agent.Paused do
  @moduledoc """
  A run or a loop of an agent that waits for a decision about calls of tools: what `PtcRunner.Agent.run/3` and
  `PtcRunner.Agent.loop/3` return as `{:paused, paused}`, and `PtcRunner.Agent.resume/3` goes on with.

    * `calls` - the calls that wait, each a `PtcRunner.Json.Call`
    * `run` - the run of the program, a `PtcRunner.Json.Paused`
    * `messages` - of a loop: the conversation so far, oldest message first
    * `kind` - `:run` or `:loop`

  It is plain data: it may be sent to another node and written by `:erlang.term_to_binary/1`. The model, the tools, the context
  and the functions among the options are not in it. The other fields are the library's own.

  New in this library.
  """

  alias PtcRunner.Json

  @enforce_keys [:kind, :calls, :run, :opts]
  defstruct @enforce_keys ++ [messages: [], tool_calls: [], made: "", loop: nil]

  @type t :: %__MODULE__{
          kind: :run | :loop,
          calls: [Json.Call.t()],
          run: Json.Paused.t(),
          messages: [PtcRunner.Agent.message()],
          tool_calls: [PtcRunner.Agent.tool_call()],
          made: String.t(),
          opts: keyword(),
          loop: map() | nil
        }

  # What is given again.
  @given [:context, :tools, :model, :on_call, :on_journal, :on_event, :budget, :resumes] ++
           [:messages, :made_before, :tool_calls_before]

  @doc false
  # A program's run that waits.
  @spec of_run(Json.Paused.t(), keyword(), map()) :: t()
  def of_run(run, opts, info) do
    %__MODULE__{
      kind: :run,
      calls: run.calls,
      run: run,
      opts: Keyword.drop(opts, @given),
      tool_calls: info.tool_calls,
      made: info.made
    }
  end

  @doc false
  # A loop that waits in a run of this answer: its text, its warnings, and what was counted before.
  @spec of_loop(t(), {String.t(), [String.t()], term()}, map()) :: t()
  def of_loop(paused, answer, state) do
    elapsed = System.monotonic_time(:millisecond) - state.began_at

    loop =
      state
      |> Map.drop([:opts, :tools, :budget, :turn_began_at, :began_at])
      |> Map.merge(%{elapsed: elapsed, answer: answer})

    %{paused | kind: :loop, loop: loop, messages: Enum.reverse(state.messages)}
  end
end

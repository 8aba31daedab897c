defmodule PtcRunner.Json.Call do
  @moduledoc """
  A call of a tool that a program is about to make: what the option `:on_call` of `PtcRunner.Json.run/2` decides about, and
  what waits in a paused run.

    * `tool`, `args` - the name of the tool, and its arguments as the tool gets them: converted as its signature says, without those that it does not
      declare, or what `:on_call` has sent instead
    * `asked` - the arguments that the program gives, if they are others; else `nil`
    * `effect` - `:read` or `:write`, as the tool says
    * `number` - the how-manieth call of the run it is, from 1. Where calls overlap, in the order in which they start.
    * `path` - the place of the call in the program, as in `PtcRunner.Json.Explain`
    * `approve` - whether the tool says `approve: true`
    * `id` - names the call within its run, also after a pause: a text
    * `key` - names the call everywhere and for ever: the same after a pause, after a crash and when the run goes on, also on another node. A
      tool of two arguments gets it, for a service that refuses what it has done already
    * `attempt` - which attempt to make this call it is: 2 where it was started once, and its answer is not known
    * `text` - the call as a text for a person, in a paused run; `nil` for `:on_call`
    * `context` - for `:on_call`: the run's option `:tool_context` as a map, `%{}` without it; `nil` in a paused run. It is not shown by `inspect/1`.
    * `started` - in a paused run: the call was started, and its answer is not known, because the process that ran the program
      was killed

  """

  alias PtcRunner.Shown
  alias PtcRunner.Shown.Line

  @enforce_keys [:tool, :args]
  @derive {Inspect, except: [:context]}
  defstruct [
    :tool,
    :args,
    :asked,
    :number,
    :path,
    :id,
    :key,
    :text,
    :context,
    effect: :write,
    approve: false,
    started: false,
    attempt: 1
  ]

  @typedoc "See the module's documentation."
  @type t :: %__MODULE__{
          tool: String.t(),
          args: term(),
          asked: term(),
          effect: :read | :write,
          number: pos_integer(),
          path: [String.t() | non_neg_integer() | term()],
          approve: boolean(),
          id: String.t(),
          key: String.t() | nil,
          attempt: pos_integer(),
          text: String.t() | nil,
          context: map() | nil,
          started: boolean()
        }

  # Bytes of the arguments in a text.
  @shown 256

  @doc """
  The call as a text for a person.

      iex> PtcRunner.Json.Call.text(%PtcRunner.Json.Call{tool: "refund", args: %{"order" => 7}})
      ~S(refund with %{"order" => 7})

      iex> PtcRunner.Json.Call.text(%PtcRunner.Json.Call{tool: "refund", args: %{}, started: true})
      "refund with %{}; it was started, and its answer is not known"

  """
  @spec text(t()) :: String.t()
  def text(%__MODULE__{} = call) do
    started = if call.started, do: "; it was started, and its answer is not known", else: ""
    # A text with a mark of direction is a text, and not a list of bytes.
    args = Shown.text(call.args, @shown, binaries: :as_strings)
    Line.escape("#{Shown.name(call.tool)} with #{args}#{started}")
  end
end

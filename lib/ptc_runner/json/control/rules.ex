defmodule PtcRunner.Json.Control.Rules do
  @moduledoc false
  # What holds for all calls of a run: what its options say about calls, and what follows from them before the first call. It does not
  # change during the run, so no call copies it with its control.

  alias PtcRunner.Json.{Call, Within}
  alias PtcRunner.Json.Within.Counts

  # `within`: the plans that the run must be within; `unknown`: what happens to calls that they cannot count; `forms`: what the tools say,
  # where only their functions are given; `counts`, `asking`: what comes of it, see `PtcRunner.Json.Within`. `hold`: the plan, as a map, of a
  # program that a person approves before it starts. `tool_context`: what the application has given the run's tools.
  # `firewall`: whether firewalled data are kept out of arguments; then what counts of each tool. `plan`: what
  # `PtcRunner.Json.Planning.flows/2` has said of the program, where it is asked before and after the run.
  # `watch`: is told each call and its decision; `{:decisions, watch}`: not those that are made as if nobody decided.
  # `fingerprint`: of the data of a run that was paused. `lisp`: of a run of PTC-Lisp, what it needs to go on beside what all runs need; else
  # nil. `said`: what its tools say, for its plan.
  defstruct max_tool_calls: nil,
            on_call: nil,
            on_journal: nil,
            pause_ttl: :infinity,
            tool_context: nil,
            within: [],
            unknown: :refuse,
            forms: nil,
            counts: [],
            asking: %{},
            hold: nil,
            firewall: false,
            plan: nil,
            watch: nil,
            replay?: false,
            record?: false,
            fingerprint: nil,
            lisp: nil,
            said: %{}

  @type t :: %__MODULE__{
          max_tool_calls: non_neg_integer() | nil,
          on_call: (Call.t() -> term()) | nil,
          on_journal: (map() -> term()) | nil,
          pause_ttl: timeout(),
          tool_context: map() | nil,
          within: [Within.t()],
          unknown: :refuse | :ask,
          forms: map() | nil,
          counts: [Counts.t()],
          asking: map(),
          hold: map() | nil,
          firewall: boolean() | map(),
          plan: term(),
          watch: (map() -> term()) | {:decisions, (map() -> term())} | nil,
          replay?: boolean(),
          record?: boolean(),
          fingerprint: String.t() | nil,
          lisp: map() | nil,
          said: map()
        }
end

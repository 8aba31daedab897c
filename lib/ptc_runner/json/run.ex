defmodule PtcRunner.Json.Run do
  @moduledoc false
  # One run of a program: what it is started with, how its tools are called, and how far it is.
  #
  #   Start ──▶ Driver ──▶ strategy: InCaller ──▶ Moved, in the process of the tools
  #                                  Controlled
  #                                  Round, for each round of a loop whose rounds overlap
  #                                  InPlace
  #
  # `Start` makes the first native call, `Driver` interprets the replies (`Reply`), and the strategy does what the run asks for:
  # it calls a tool.

  alias PtcRunner.Json.{Budget, Control, Limits, Message, Program, ToolProcess, Tools}
  alias PtcRunner.Native.Types

  # What it is started with. `limits` may be nil in part until they are looked up. `most`: how many tools run at the same time at
  # most; `forks?`: whether it is suspended at loops whose rounds may overlap. `budget` counts the calls where nobody
  # decides about each; `control` decides about each. `settings`: what the tools say, where some take several calls at once. `firewall?`: whether its faults hide the values of rows with firewalled fields.
  # `environment`: what a program of PTC-Lisp reads besides its context; nil for one of PTC-JSON, which reads its memory. `observation`: what counts the work of a run of another language.
  #
  # How far it is. `strategy`: how it is driven, a struct of the module that drives it. `began`: when it was suspended for the
  # first time before its end, in milliseconds. `process`: that of its tools.
  defstruct program: nil,
            context: %{},
            memory: %{},
            tools: %{},
            limits: nil,
            now: nil,
            most: 1,
            forks?: false,
            budget: nil,
            control: nil,
            settings: %{},
            firewall?: false,
            strategy: nil,
            began: nil,
            max_heap: 0,
            process: nil,
            environment: nil,
            observation: nil

  @typedoc """
  The program of a run: a text, an already parsed program (with or, `:unchecked`, without a check),
  a compiled one, or one that is compiled for observation, with its observation.
  """
  @type program ::
          String.t()
          | {:checked | :unchecked, term()}
          | Program.t()
          | {:observed, reference(), Program.t()}
          | PtcRunner.Lisp.Program.t()

  @type t :: %__MODULE__{
          program: program() | nil,
          context: map(),
          memory: map(),
          tools: %{optional(term()) => term()},
          limits: Limits.given() | nil,
          now: String.t() | nil,
          most: pos_integer(),
          forks?: boolean(),
          budget: Budget.t() | nil,
          control: Control.t() | nil,
          settings: Tools.settings(),
          firewall?: boolean(),
          strategy: struct() | nil,
          began: integer() | nil,
          max_heap: non_neg_integer(),
          process: ToolProcess.t() | nil,
          environment: Types.environment() | nil,
          observation: reference() | nil
        }

  @typedoc "What a run ends with; its error is a fault."
  @type outcome ::
          {:ok, term(), non_neg_integer()} | {:error, Message.fault()} | {:paused, Control.t()}
end

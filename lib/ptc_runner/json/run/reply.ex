defmodule PtcRunner.Json.Run.Reply do
  @moduledoc false
  # The replies of native calls of a run, with names for their places: see the list in `PtcRunner.Native`.
  #
  # `left`: the milliseconds that the tool has, or `:infinity`. `weight`: the words of a copy of the arguments, or nil if only a walk can tell.
  # `pc`: the address of the call. `round`: of the loop that the run goes through in turn. `built`: the words that the run has built.

  require Record

  @typedoc "A reply. The second and third elements of one that waits are the state and the terms of the run."
  @type t :: tuple() | :texts

  # The run waits for a tool.
  Record.defrecord(:call,
    state: nil,
    terms: {},
    tool: nil,
    args: nil,
    left: nil,
    weight: nil,
    pc: 0,
    round: nil
  )

  # A run whose last call a journal has answered waits for a tool, and calls it again in the rounds that follow: `args` is the list of the arguments.
  Record.defrecord(:ahead,
    state: nil,
    terms: {},
    tool: nil,
    args: [],
    left: nil,
    pc: 0,
    round: nil
  )

  # The run waits for a tool, and should move to the process of its tools. `words`: of a copy of its terms and the arguments;
  # `{:at_most, words}` if only a walk can tell whether it is small enough.
  Record.defrecord(:moves, state: nil, terms: {}, tool: nil, args: nil, left: nil, words: 0)

  # A run that has moved waits for a tool.
  Record.defrecord(:moved_call, state: nil, terms: {}, tool: nil, args: nil, built: 0)

  # A run that has moved waits for a tool, and calls it again in the rounds that follow: `args` is the list of the arguments, `built` counts
  # what the run has built before the last of these calls.
  Record.defrecord(:moved_calls, state: nil, terms: {}, tool: nil, args: [], built: 0)

  # A run that stays with its caller waits for a tool, and calls it again in the rounds that follow: `args` is the list of the arguments, `built`
  # counts what the run has built before the last of these calls.
  Record.defrecord(:calls,
    state: nil,
    terms: {},
    tool: nil,
    args: [],
    left: nil,
    built: 0,
    pc: 0
  )

  # The answer of the tool is the value of the program: nothing of the run is left.
  Record.defrecord(:last, tool: nil, args: nil, left: nil, weight: nil, pc: 0, built: 0)

  # A text that a tool has answered must be decoded.
  Record.defrecord(:decode, state: nil, terms: {}, tool: nil, text: "")

  # The run is at a loop whose rounds may overlap. `tools`: the names of the tools that they call, if its language knows them.
  Record.defrecord(:fork, state: nil, terms: {}, loop: "", list: [], left: nil, tools: [])

  # The run asks its caller: which question, and what it is about; `left`: the milliseconds that it has, or `:infinity`.
  Record.defrecord(:ask, state: nil, terms: {}, question: nil, asked: nil, left: nil)

  @doc """
  The first of several calls.

      iex> require PtcRunner.Json.Run.Reply, as: Reply
      iex> Reply.first(Reply.ahead(tool: "find", args: [1, 2], round: 3)) == Reply.call(tool: "find", args: 1, round: 3)
      true
      iex> Reply.first(Reply.calls(tool: "find", args: [1, 2], pc: 3)) == Reply.call(tool: "find", args: 1, pc: 3)
      true

  """
  @spec first(t()) :: t()
  def first(calls(args: [args | _]) = all) do
    calls(state: state, terms: terms, tool: tool, left: left, pc: pc) = all
    call(state: state, terms: terms, tool: tool, args: args, left: left, pc: pc)
  end

  def first(ahead(args: [args | _]) = all) do
    ahead(state: state, terms: terms, tool: tool, left: left, pc: pc, round: round) = all
    call(state: state, terms: terms, tool: tool, args: args, left: left, pc: pc, round: round)
  end

  @doc """
  The state of a run that waits.

      iex> require PtcRunner.Json.Run.Reply, as: Reply
      iex> Reply.state(Reply.call(state: :its_state, tool: "find"))
      :its_state

  """
  @spec state(tuple()) :: reference() | term()
  def state(reply), do: elem(reply, 1)

  @doc "The terms of a run that waits."
  @spec terms(tuple()) :: tuple()
  def terms(reply), do: elem(reply, 2)
end

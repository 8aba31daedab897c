defmodule PtcRunner.Json.Run.Start do
  @moduledoc false
  # The first native call of a run, for each form of its program. A context with JSON texts is found when the program is compiled, so
  # that errors of the program come first; then `Texts` starts the run.

  alias PtcRunner.{Aligned, Native}
  alias PtcRunner.Native.{Telemetry, Types}
  alias PtcRunner.Json.Control.Order
  alias PtcRunner.Json.{Deadline, Edition, Limits, Program, Run, Texts}
  alias PtcRunner.Json.Run.Reply
  alias PtcRunner.Lisp.Program, as: Lisp
  require Telemetry

  @doc "Starts a run; returns its first reply, which is `:texts` only for a program that is still compiled."
  @spec start(Run.t()) :: Reply.t()
  def start(run) do
    case begin(run) do
      :texts -> Texts.start(run)
      reply -> reply
    end
  end

  @doc """
  The first native call of a run with no other options than limits, data and functions as tools. `:rebuild`: the native part of the program is
  from another node, or from this one before a restart; `:texts`: its context has texts; `:calls`: it may call a tool, and has no limits yet.
  """
  @spec first_steps(String.t() | Program.t(), Limits.given(), map(), map(), map()) ::
          Reply.t() | :rebuild | :calls
  def first_steps(%Program{} = program, limits, context, memory, tools) do
    %Program{handle: handle, consts: consts} = program
    {given, how} = first_given(limits, context, memory, tools)
    Native.start(handle, consts, given, how)
  rescue
    ArgumentError -> :rebuild
  end

  def first_steps(text, {_timeout, _max_heap, reading} = limits, context, memory, tools) do
    {given, how} = first_given(limits, context, memory, tools)
    text |> Aligned.text() |> Native.start(Edition.filled(reading), given, how)
  end

  # A call of a tool needs limits, which are not looked up for a program that has none.
  defp first_given({timeout, max_heap, _reading}, context, memory, tools)
       when tools == %{} or (timeout != nil and max_heap != nil),
       do: {{context, memory, timeout, max_heap}, nil}

  defp first_given(_limits, context, memory, _tools),
    do: {{context, memory, nil, nil}, :unless_calls}

  @doc """
  The first native call of a run of PTC-Lisp without tools; `:none`: the whole start knows what is to be done.
  """
  @spec first_steps_of_lisp(
          Lisp.t(),
          {timeout() | nil, non_neg_integer() | nil},
          map(),
          Types.environment()
        ) ::
          Reply.t() | :none
  def first_steps_of_lisp(%Lisp{} = program, {timeout, max_heap}, context, environment) do
    %Lisp{handle: handle, consts: consts} = program
    Native.start(handle, consts, {context, environment, timeout, max_heap}, {true, false})
  catch
    # The handle is from another node, or from this one before a restart, or the native part has panicked.
    :error, _reason -> :none
  end

  @doc "Starts a run whose context has texts, as its last reply has said. Its limits are looked up."
  @spec over_texts(Run.t()) :: Reply.t()
  def over_texts(%Run{limits: {timeout, max_heap, reading}, began: began} = run),
    do: Texts.start(%{run | limits: {left(timeout, began), max_heap, reading}})

  defp left(timeout, began) when is_integer(timeout) and is_integer(began),
    do: Deadline.left(began + timeout)

  defp left(timeout, _began), do: timeout

  @doc "The first native call of a run; `:texts` if its context has texts."
  @spec begin(Run.t()) :: Reply.t()
  def begin(%Run{program: %Lisp{consts: consts}, observation: observation} = run)
      when observation != nil do
    begin_lisp(observation, consts, run)
  end

  def begin(%Run{program: %Lisp{} = program} = run) do
    %Lisp{handle: handle, consts: consts} = program

    try do
      begin_lisp(handle, consts, run)
    rescue
      # The handle is from another node, or from this one before a restart.
      ArgumentError ->
        with {:ok, %Lisp{handle: handle, consts: consts}} <- lisp_again(run),
             do: begin_lisp(handle, consts, run)
    end
  end

  def begin(%Run{program: %Program{handle: handle, consts: consts}} = run) do
    begin(handle, consts, run)
  rescue
    # The handle is from another node, or from this one before a restart.
    ArgumentError -> rebuilt(run)
  end

  def begin(%Run{program: {:observed, observation, program}} = run),
    do: begin(observation, program.consts, run)

  def begin(%Run{program: program, limits: {timeout, max_heap, reading}, forks?: true} = run) do
    with {:ok, handle, consts} <- Program.build(program, reading, {timeout, max_heap}),
         do: begin(handle, consts, run)
  end

  def begin(%Run{program: text, limits: {_, _, reading}} = run) when is_binary(text),
    do: text |> Aligned.text() |> Native.start(Edition.filled(reading), given(run), nil)

  def begin(%Run{program: {checked, _node} = program, limits: {_, _, reading}} = run)
      when checked in [:checked, :unchecked],
      do: Native.start(program, Edition.filled(reading), given(run), nil)

  # Its parallel forms have workers, however many tools run at a time.
  defp begin_lisp(handle, consts, %Run{} = run),
    do: Native.start(handle, consts, given(run), {true, asks(run)})

  # Where somebody decides about each call, or is told of it, calls are made one by one, except those of a tool that takes lists, and those that
  # wait for a person. What flows into arguments of tools is known only when the call before has its answer.
  defp asks(%Run{control: nil}), do: Telemetry.on?() != false
  defp asks(%Run{control: %{secret: nil}, settings: some}) when some != %{}, do: :together

  defp asks(%Run{control: %{secret: nil} = control}),
    do: if(Order.waits?(control), do: :together, else: true)

  defp asks(_run), do: true

  # One match of the struct takes less time than several.
  defp begin(handle, consts, %Run{} = run) do
    %Run{context: context, memory: memory, limits: {timeout, max_heap, _reading}} = run
    %Run{now: now, control: control, forks?: forks?} = run
    given = given(context, memory, timeout, max_heap, now)
    Native.start(handle, consts, given, how(forks?, control != nil))
  end

  # Constant tuples need no memory.
  defp how(false, false), do: nil
  defp how(true, false), do: {true, false}
  defp how(false, true), do: {false, true}
  defp how(true, true), do: {true, true}

  defp rebuilt(%Run{program: program, limits: limits} = run) do
    {timeout, max_heap, _reading} = Limits.resolve(limits)

    with {:ok, handle, consts} <- Program.rebuild(program, {timeout, max_heap}),
         do: begin(%{run | program: %{program | handle: handle, consts: consts}})
  end

  @doc "A program of PTC-Lisp whose native part is gone, compiled again with the functions of its memory."
  @spec lisp_again(Run.t()) :: {:ok, Lisp.t()} | {:error, term()}
  def lisp_again(%Run{program: program, environment: environment, limits: limits}) do
    {memory, history, _budget, _strict?} = environment
    {timeout, max_heap, _reading} = limits

    case Lisp.again(program, memory, history, {timeout, max_heap}) do
      {:error, reason, message, _at} -> {:error, {:worded, reason, message}}
      built -> built
    end
  end

  @doc "What a native run is given besides its program."
  @spec given(Run.t()) :: Types.given()
  def given(%Run{environment: environment} = run) when environment != nil do
    %Run{context: context, limits: {timeout, max_heap, _reading}} = run
    given(context, environment, timeout, max_heap, nil)
  end

  def given(%Run{} = run) do
    %Run{context: context, memory: memory, limits: {timeout, max_heap, _reading}, now: now} = run
    given(context, memory, timeout, max_heap, now)
  end

  defp given(context, environment, timeout, max_heap, nil),
    do: {context, environment, timeout, max_heap}

  defp given(context, environment, timeout, max_heap, now),
    do: {context, environment, timeout, max_heap, now}

  @doc """
  The run with a program that has its native part, which an earlier start of the VM may have made, or the error of the program.
  """
  @spec compiled(Run.t()) :: {:ok, Run.t()} | {:error, term()}
  def compiled(%Run{program: {:observed, _, _}} = run), do: {:ok, run}

  def compiled(%Run{program: %Program{} = program, limits: {timeout, max_heap, reading}} = run) do
    reading = Program.reading(program, reading)
    run = %{run | limits: {timeout, max_heap, reading}}

    try do
      Native.source_bytes(program.handle)
      {:ok, run}
    rescue
      ArgumentError -> built(program.source, program, run)
    end
  end

  def compiled(%Run{program: source, limits: {_timeout, _max_heap, reading}} = run) do
    depth = if is_integer(reading), do: reading, else: elem(reading, 0)
    built(source, %Program{source: source, handle: nil, consts: {}, max_depth: depth}, run)
  end

  defp built(source, program, %Run{limits: {timeout, max_heap, reading}} = run) do
    with {:ok, handle, consts} <- Program.build(source, reading, {timeout, max_heap}),
         do: {:ok, %{run | program: %{program | handle: handle, consts: consts}}}
  end
end

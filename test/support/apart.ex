defmodule PtcRunner.Test.Apart do
  @moduledoc """
  Tests that run in a VM of their own, beside other tests: `use PtcRunner.Test.Apart` instead of `use ExUnit.Case`. For tests that measure what
  belongs to the whole VM: the time of all native calls, its atoms, its memory, how long a scheduler is held.

  `setup_all` starts that VM. The body of each test is a function that is called there, and so is a function that is given to `apart/1`.
  `PtcRunner.Test.SliceClock` measures the calls of NIFs there, too. Such a test has no context, and does not call `on_exit`: the VM ends with the module.
  """

  alias PtcRunner.Test.{Peer, Room, SliceClock}

  defmacro __using__(_opts) do
    quote do
      # Callbacks are called in the order in which they are given: that of ExUnit lets the module run.
      @after_compile PtcRunner.Test.Apart

      use ExUnit.Case, async: true
      import ExUnit.Case, except: [test: 2, test: 3]
      import PtcRunner.Test.Apart, only: [test: 2, apart: 1]

      setup_all do
        PtcRunner.Test.Apart.start(__MODULE__)
      end

      # `apart/1` knows the VM by this process.
      setup context do
        PtcRunner.Test.Apart.meet(context)
      end
    end
  end

  @doc "A test whose body runs in the VM of its module."
  defmacro test(name, do: body) do
    quote do
      ExUnit.Case.test unquote(name) do
        :ok =
          PtcRunner.Test.Apart.apart(fn ->
            unquote(body)
            :ok
          end)
      end
    end
  end

  # The code of a test module is nowhere but in this VM.
  @doc false
  def __after_compile__(env, code),
    do: :persistent_term.put({__MODULE__, env.module}, {String.to_charlist(env.file), code})

  @doc false
  @spec start(module()) :: %{apart: pid()}
  def start(module) do
    {file, code} = :persistent_term.get({__MODULE__, module})
    peer = Peer.start()
    {:module, ^module} = Peer.call(peer, :code, :load_binary, [module, file, code])
    :ok = Peer.call(peer, __MODULE__, :prepare, [Room.known(), environment()])
    meet(%{apart: peer, module: module})
    %{apart: peer}
  end

  defp environment do
    for {app, key} <- [ex_unit: :assert_receive_timeout, ptc_runner_native: :default_timeout],
        do: {app, key, Application.fetch_env!(app, key)}
  end

  # As in `test_helper.exs`.
  @doc false
  @spec prepare(pos_integer(), [{atom(), atom(), term()}]) :: :ok
  def prepare(unit, environment) do
    for app <- [:logger, :ex_unit], do: Application.load(app)
    for {app, key, value} <- environment, do: Application.put_env(app, key, value)
    {:ok, _apps} = Application.ensure_all_started(:ptc_runner_native)
    Room.know(unit)
    SliceClock.switch()
    :ok
  end

  @doc false
  @spec meet(map()) :: :ok
  def meet(%{apart: peer, module: module}) do
    Process.put(__MODULE__, {peer, module})
    :ok
  end

  @doc "Calls a function in the VM of this module of tests: its result, or what it raised there."
  @spec apart((() -> result)) :: result when result: term()
  def apart(fun) do
    {peer, module} = Process.get(__MODULE__)
    {ended, lines} = Peer.call(peer, __MODULE__, :run, [fun], :infinity)
    SliceClock.add(module, lines)

    case ended do
      {:returned, result} -> result
      {kind, reason, stacktrace} -> :erlang.raise(kind, reason, stacktrace)
    end
  end

  @doc false
  @spec run((() -> term())) ::
          {{:returned, term()} | {atom(), term(), list()}, [SliceClock.line()]}
  def run(fun) do
    ended =
      try do
        {:returned, fun.()}
      catch
        kind, reason -> {kind, reason, __STACKTRACE__}
      end

    {ended, SliceClock.lines()}
  end
end

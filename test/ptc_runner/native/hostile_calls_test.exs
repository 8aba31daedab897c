defmodule PtcRunner.Native.HostileCallsTest do
  # The random calls of `bin/test --all` start from good arguments: every NIF has some, and they are
  # good.
  use ExUnit.Case, async: true

  alias PtcRunner.Native
  alias PtcRunner.Test.HostileCalls

  doctest HostileCalls

  test "every NIF is called, and nothing that is no NIF" do
    called = Map.keys(HostileCalls.nifs(HostileCalls.handles()))
    functions = HostileCalls.functions()
    assert {functions -- called, called -- functions} == {[], []}
  end

  test "the arguments that start a run are good, for each form of a program" do
    for args <- HostileCalls.starts(HostileCalls.handles()) do
      reply = apply(Native, :start, args)
      assert reply == :calls or elem(reply, 0) in [:ok, :error, :call, :moves, :fork]
    end
  end

  test "the arguments that compile a program of PTC-Lisp are good" do
    for args <- HostileCalls.compilations(),
        do: assert(elem(apply(Native, :lisp_compile, args), 0) == :ok)
  end

  # What these take, other tests wait for.
  @others [:take_orphans, :take_panics]

  for {name, arity} <- HostileCalls.functions(), name not in @others do
    test "the arguments of #{name}/#{arity} are good" do
      args =
        Map.fetch!(HostileCalls.nifs(HostileCalls.handles()), {unquote(name), unquote(arity)})

      # In a process of its own, which `guard/1` may bind to others.
      task = Task.async(fn -> {:answered, apply(Native, unquote(name), args)} end)
      assert {:answered, _answer} = Task.await(task, 60_000)
    end
  end
end

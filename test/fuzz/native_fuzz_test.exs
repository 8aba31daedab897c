defmodule PtcRunner.NativeFuzzTest do
  @moduledoc """
  Random calls of every public function and every NIF: whatever the arguments are, a call answers or
  raises an argument error, soon, without a panic in the native library and without new atoms.

  `bin/test --all` runs it. `PTC_FUZZ_CALLS` says how many calls each function gets (100,000), and
  `PTC_SEED` repeats a run.
  """

  use ExUnit.Case, async: false

  alias PtcRunner.Native
  alias PtcRunner.Test.{Environment, HostileCalls, SliceClock, Watch}

  @moduletag :fuzz
  @moduletag timeout: :infinity

  # No call here works with more than a few kilobytes. A wall clock, on a busy machine.
  @longest_ms 2_000
  # The calls between two sets of handles.
  @batch 500

  setup_all do
    Watch.load_everything()
    seed = Environment.seed()
    calls = Environment.number("PTC_FUZZ_CALLS", 100_000)
    IO.puts("PTC_SEED=#{seed} PTC_FUZZ_CALLS=#{calls}")
    {:ok, seed: seed, calls: calls}
  end

  for {name, arity} <- HostileCalls.functions() do
    test "NIF #{name}/#{arity}", %{seed: seed, calls: calls} do
      {name, arity} = {unquote(name), unquote(arity)}
      good = fn handles -> good_arguments(handles, name, arity) end
      assert [] == fuzz(Native, name, good, seed, calls)
      # One without a guard would be missing in the table of the suite.
      assert Enum.any?(SliceClock.lines(), &(&1.name == Atom.to_string(name)))
    end
  end

  for {{module, name, args}, index} <-
        Enum.with_index(HostileCalls.public(HostileCalls.handles())) do
    test "#{inspect(module)}.#{name}/#{length(args)} (#{index})", %{seed: seed, calls: calls} do
      {module, name} = {unquote(module), unquote(name)}

      good = fn handles ->
        [handles |> HostileCalls.public() |> Enum.at(unquote(index)) |> elem(2)]
      end

      assert [] == fuzz(module, name, good, seed, calls)
    end
  end

  defp good_arguments(handles, name, _arity) when name in [:resume, :resume_dirty],
    do: resumptions(handles)

  defp good_arguments(handles, :start, _arity), do: HostileCalls.starts(handles)
  defp good_arguments(_handles, :lisp_compile, _arity), do: HostileCalls.compilations()

  defp good_arguments(handles, name, arity),
    do: [Map.fetch!(HostileCalls.nifs(handles), {name, arity})]

  # States of all kinds, with what goes on with them and with what does not.
  defp resumptions(handles) do
    for kind <- [:call, :fork, :more, :limits],
        go_on <- [
          :more,
          {:answer, 1, 2},
          {:joined, [1, 2], 4},
          {:moved, 1, 2},
          {:round, %{"n" => 1}, 0},
          {:limits, 50, 10_000},
          {:limits, :infinity, 0}
        ],
        do: handles[kind] ++ [go_on]
  end

  # Findings, as sentences.
  defp fuzz(module, name, good, seed, calls) do
    :rand.seed(:exsss, {seed, :erlang.phash2({module, name}), 0})
    batch(module, name, good, @batch)
    atoms = :erlang.system_info(:atom_count)
    findings = batches(module, name, good, calls, [])
    grown = :erlang.system_info(:atom_count) - atoms
    Enum.uniq(findings) ++ if(grown > 20, do: ["#{grown} new atoms"], else: [])
  end

  defp batches(_module, _name, _good, calls, findings) when calls <= 0 or length(findings) > 20,
    do: findings

  defp batches(module, name, good, calls, findings) do
    # In a process of its own: what a call leaves in a mailbox or a dictionary ends with it.
    task = Task.async(fn -> batch(module, name, good, min(calls, @batch)) end)
    batches(module, name, good, calls - @batch, Task.await(task, :infinity) ++ findings)
  end

  defp batch(module, name, good, calls) do
    handles = HostileCalls.handles()
    pool = handles |> HostileCalls.pool() |> List.to_tuple()
    good = handles |> good.() |> List.to_tuple()

    Enum.flat_map(1..calls, fn _call ->
      args = elem(good, :rand.uniform(tuple_size(good)) - 1)
      call(module, name, HostileCalls.spoiled(args, pool))
    end)
  end

  defp call(module, name, args) do
    {time, finding} = :timer.tc(fn -> outcome(module, name, args) end)

    if time > @longest_ms * 1_000,
      do: ["#{div(time, 1_000)} ms: #{shown(args)}" | finding],
      else: finding
  end

  defp outcome(module, name, args) do
    apply(module, name, args)
    []
  rescue
    # What Elixir functions raise for wrong arguments is their own business.
    error -> if finding?(error, module), do: ["#{inspect(error)}: #{shown(args)}"], else: []
  catch
    # Functions among the arguments may throw and exit.
    _kind, _value -> []
  end

  defp finding?(%ErlangError{original: :nif_panicked}, _module), do: true
  defp finding?(%ArgumentError{}, Native), do: false
  defp finding?(_error, module), do: module == Native

  defp shown(args), do: inspect(args, limit: 20, printable_limit: 200)
end

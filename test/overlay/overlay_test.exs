defmodule PtcRunner.Native.OverlayTest do
  # An application that has `ptc_runner`, built as its developers build it.
  use ExUnit.Case, async: true

  alias PtcRunner.Test.Upstream

  @moduletag :builds
  @moduletag timeout: 600_000

  test "an app on 0.13.0: in dev, in tests, and in a release" do
    {app, compiled} = Upstream.compiled()
    refute compiled =~ "redefining module"
    refute compiled =~ "warning:"

    code = """
    {:ok, {:signature, _, _}} = HostApp.signature()
    1 = HostApp.flex()
    {:ok, %{"a" => 1}} = HostApp.parse_json()
    42 = HostApp.json()
    {:validated, "(+ 1 2)"} = HostApp.lisp_of_original()
    {:left, {:other_release, "PTC-Lisp" <> _}} = HostApp.info(PtcRunner.Lisp)
    nil = HostApp.info().lisp
    {:original, PtcRunner.SubAgent, :run, 1} = HostApp.agent()
    true = Map.has_key?(HostApp.step(), :catalog_ops)
    :replaced = HostApp.info(PtcRunner.SubAgent.Signature)
    :replaced = HostApp.info(PtcRunner.SubAgent.Loop.JsonHandler)
    {:left, :defines_a_struct} = HostApp.info(PtcRunner.Step)
    {:left, {:missing_functions, [_ | _]}} = HostApp.info(PtcRunner.SubAgent.Loop.Metrics)

    :ok = PtcRunner.Native.detach()
    {:original, PtcRunner.SubAgent.Signature, :parse, 1} = HostApp.signature()
    {:left, :off} = HostApp.info(PtcRunner.SubAgent.Signature)
    [_ | _] = PtcRunner.Native.attach()
    {:ok, {:signature, _, _}} = HostApp.signature()

    # The original, loaded by hand or by a recompilation, can be replaced again.
    original = Path.join(:code.lib_dir(:ptc_runner, :ebin), "Elixir.PtcRunner.SubAgent.Signature")
    {:module, _} = :code.load_abs(to_charlist(original))
    {:original, _, _, _} = HostApp.signature()
    PtcRunner.Native.attach()
    {:ok, {:signature, _, _}} = HostApp.signature()

    # A hot upgrade of `ptc_runner` loads its modules while they are in use.
    {_, beam, file} = :code.get_object_code(PtcRunner.SubAgent.Signature)
    :code.purge(PtcRunner.SubAgent.Signature)
    {:module, _} = :code.load_binary(PtcRunner.SubAgent.Signature, file, beam)
    {:original, _, _, _} = HostApp.signature()
    PtcRunner.Native.attach()
    {:ok, {:signature, _, _}} = HostApp.signature()

    # Programs of PTC-Lisp, too: those that are programs here.
    Application.put_env(:ptc_runner_native, :lisp, :native)
    PtcRunner.Native.attach()
    :replaced = HostApp.info(PtcRunner.Lisp)
    {:ok, %{return: 3}} = HostApp.lisp("(+ 1 2)")
    %{native: 1, original: 0} = HostApp.info().lisp
    {:ok, step} = HostApp.lisp("(describe 1)")
    "described 1" = step.return
    %{native: 1, original: 1} = HostApp.info().lisp
    {:ok, step} = HostApp.lisp("(def n 2) (defn f [x] (+ x n))", journal: %{"a" => 1})
    {:closure, [{:var, "x"}], {:tree, _}, _, _, _} = step.memory["f"]
    PtcRunner.Lisp.Format.Var = step.return.__struct__
    %{"a" => 1} = step.journal
    {:ok, %{return: "described 7"}} = HostApp.lisp("(describe (f 5))", memory: step.memory)
    {:ok, %{return: 7}} = HostApp.lisp("(f 5)", memory: step.memory)
    %{native: 3, original: 2} = HostApp.info().lisp
    {:validated, "(+ 1 2)"} = HostApp.lisp_of_original()
    "theirs: :x" = PtcRunner.Lisp.format_error(:x)
    {:ok, program} = PtcRunner.Lisp.compile("(* 2 data/n)")
    {:ok, %{return: 8}} = PtcRunner.Lisp.run(program, context: %{n: 4})
    true = {:validate, 1} in PtcRunner.Lisp.__info__(:functions)
    PtcRunner.Lisp = PtcRunner.Lisp.__info__(:module)
    PtcRunner.Native.attach()
    %{native: 0, original: 0} = HostApp.info().lisp

    Application.delete_env(:ptc_runner_native, :lisp)
    PtcRunner.Native.attach()
    nil = HostApp.info().lisp
    {:ok, %{return: 3}} = HostApp.lisp("(+ 1 2)")
    {:validated, "(+ 1 2)"} = HostApp.lisp_of_original()
    false = function_exported?(PtcRunner.Lisp, :compile, 2)

    Application.put_env(:ptc_runner_native, :lisp, :ours)
    {:error, _sentence} = PtcRunner.Native.Overlay.start()
    Application.delete_env(:ptc_runner_native, :lisp)

    :ok = Application.stop(:ptc_runner_native)
    :ok = Application.start(:ptc_runner_native)
    {:ok, {:signature, _, _}} = HostApp.signature()
    IO.puts("all of it held")
    """

    output = Upstream.run!(app, "mix", ["run", "-e", Upstream.show_info() <> code])
    assert output =~ "all of it held"
    Upstream.assert_as_in_guide(output, "0.13.0")
    assert output =~ "in ptc_runner 0.13.0 native: "
    assert output =~ "PtcRunner.Step (defines a struct)"

    for env <- ~w(test prod), do: Upstream.copy_build(app, env)

    assert Upstream.run!(app, "mix", ["test"], mix_env: "test") =~
             ~r/2 tests, 0 failures|2 passed/

    # Compiled again in the running VM, as `recompile` does it.
    again = """
    File.write!("lib/host_app.ex", File.read!("lib/host_app.ex") <> "# changed")
    Mix.Task.clear()
    {:ok, _} = Mix.Task.run("compile")
    {:ok, {:signature, _, _}} = HostApp.signature()
    IO.puts("all of it held")
    """

    assert Upstream.run!(app, "mix", ["run", "-e", again]) =~ "all of it held"

    # Compiled again in part, nothing changes.
    File.touch!(Path.join(app, "lib/host_app.ex"), System.os_time(:second) + 2)
    output = Upstream.run!(app, "mix", ["run", "-e", code])
    refute output =~ "redefining"
    assert output =~ "all of it held"

    released = Upstream.run!(app, "mix", ["release", "--quiet"], mix_env: "prod")
    refute released =~ "Duplicated modules"
    program = Path.join(app, "_build/prod/rel/host_app/bin/host_app")

    assert Upstream.run!(app, program, [
             "eval",
             "Application.ensure_all_started(:host_app);" <> code
           ]) =~ "all of it held"
  end
end

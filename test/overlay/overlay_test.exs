defmodule PtcRunner.Native.OverlayTest do
  # An application that has `ptc_runner`, built as its developers build it.
  use ExUnit.Case, async: false

  alias PtcRunner.Test.{ReleaseTable, Upstream}

  @moduletag timeout: 600_000
  @moduletag :tmp_dir

  test "an app on 0.13.0: in dev, in tests, and in a release", %{tmp_dir: folder} do
    app = Upstream.write(folder, "0.13.0")
    compiled = Upstream.run!(app, "mix", ["compile"])
    refute compiled =~ "redefining module"

    code = """
    {:ok, {:signature, _, _}} = HostApp.signature()
    1 = HostApp.flex()
    {:ok, %{"a" => 1}} = HostApp.parse_json()
    42 = HostApp.json()
    {:lisp, "(+ 1 2)"} = HostApp.lisp()
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

    :ok = Application.stop(:ptc_runner_native)
    :ok = Application.start(:ptc_runner_native)
    {:ok, {:signature, _, _}} = HostApp.signature()
    IO.puts("all of it held")
    """

    output = Upstream.run!(app, "mix", ["run", "-e", code])
    assert output =~ "all of it held"
    assert output =~ "in ptc_runner 0.13.0 native: "
    assert output =~ "PtcRunner.Step (defines a struct)"

    assert_as_in_guide(app, "0.13.0")
    assert Upstream.run!(app, "mix", ["test"], mix_env: "test") =~ "2 tests, 0 failures"

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
    refute Upstream.run!(app, "mix", ["compile"]) =~ "redefining"
    assert Upstream.run!(app, "mix", ["run", "-e", code]) =~ "all of it held"

    released = Upstream.run!(app, "mix", ["release", "--quiet"], mix_env: "prod")
    refute released =~ "Duplicated modules"
    program = Path.join(app, "_build/prod/rel/host_app/bin/host_app")

    assert Upstream.run!(app, program, [
             "eval",
             "Application.ensure_all_started(:host_app);" <> code
           ]) =~ "all of it held"
  end

  test "an umbrella, and only what the configuration names", %{tmp_dir: folder} do
    app = Upstream.write(folder, "0.8.0", umbrella: true)
    File.mkdir_p!(Path.join(app, "config"))

    File.write!(Path.join(app, "config/config.exs"), """
    import Config
    config :ptc_runner_native, overlay: [PtcRunner.SubAgent.Signature.Parser]
    """)

    refute Upstream.run!(app, "mix", ["compile"]) =~ "redefining module"

    code = """
    {:ok, {:signature, _, _}} = PtcRunner.SubAgent.Signature.Parser.parse("{a :int}")
    {:original, PtcRunner.SubAgent.Signature, :parse, 1} = HostApp.signature()
    {:left, :not_selected} = HostApp.info(PtcRunner.SubAgent.Signature)
    IO.puts("all of it held")
    """

    assert Upstream.run!(app, "mix", ["run", "-e", code]) =~ "all of it held"
  end

  test "an app on 0.4.1 and allm: JSON programs are native, rules for values and structs its own",
       %{
         tmp_dir: folder
       } do
    app = Upstream.write(folder, "0.4.1", allm: true)
    refute Upstream.run!(app, "mix", ["compile"]) =~ "redefining module"

    code = """
    42 = HostApp.json()
    :replaced = HostApp.info(PtcRunner.Json)
    {:left, {:other_release, _}} = HostApp.info(PtcRunner.SubAgent.Signature)
    {:left, :defines_a_struct} = HostApp.info(PtcRunner.Context)
    {:original, PtcRunner.SubAgent.Signature, :parse, 1} = HostApp.signature()
    :original = HostApp.flex()
    %{__struct__: ALLM.Engine, theirs: true} = ALLM.Engine.new([])
    :theirs = ALLM.Serializer.to_json!(1)
    {:left, _} = Map.get(Map.new(HostApp.info().modules), ALLM.Engine, {:left, :not_compiled})
    IO.puts("all of it held")
    """

    assert Upstream.run!(app, "mix", ["run", "-e", code]) =~ "all of it held"
    assert_as_in_guide(app, "0.4.1")

    # Off, all is as without this library; and what is no setting is said in a sentence.
    configure(app, ":off")

    off = """
    {:original, PtcRunner.Json, :run!, 1} = HostApp.json()
    true = Enum.all?(HostApp.info().modules, &match?({_, {:left, :off}}, &1))
    IO.puts("all of it held")
    """

    assert Upstream.run!(app, "mix", ["run", "-e", off]) =~ "all of it held"
    configure(app, ~s("on"))
    {output, status} = Upstream.run(app, "mix", ["run", "-e", off])
    assert status != 0
    assert output =~ "overlay: must be :auto, :off or a list of modules, got: "
    refute output =~ "ArgumentError"
    refute output =~ ~r/^ +\(elixir [\d.]+\) /m
    configure(app, ":auto")

    refute Upstream.run!(app, "mix", ["release", "--quiet"], mix_env: "prod") =~ "Duplicated"
    program = Path.join(app, "_build/prod/rel/host_app/bin/host_app")
    start = "Application.ensure_all_started(:host_app);"
    assert Upstream.run!(app, program, ["eval", start <> code]) =~ "all of it held"
  end

  defp configure(app, overlay) do
    File.mkdir_p!(Path.join(app, "config"))
    config = "import Config\nconfig :ptc_runner_native, overlay: #{overlay}\n"
    File.write!(Path.join(app, "config/config.exs"), config)
  end

  # What `info/0` says there is what the guide says.
  defp assert_as_in_guide(app, release) do
    code = "IO.puts([?<, Base.encode64(:erlang.term_to_binary(HostApp.info())), ?>])"
    output = Upstream.run!(app, "mix", ["run", "-e", code])
    [_, encoded] = Regex.run(~r/<(.*)>/, output)
    info = encoded |> Base.decode64!() |> :erlang.binary_to_term()
    assert info.ptc_runner == release
    states = Map.new(info.modules)

    for {module, _} <- Upstream.modules(release), module != PtcRunner.Tool do
      {said, _why} = ReleaseTable.said(inspect(module), release)
      done = if states[module] == :replaced, do: :native, else: :left
      assert {module, release, said} == {module, release, done}
    end
  end
end

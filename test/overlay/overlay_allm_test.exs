defmodule PtcRunner.Native.OverlayAllmTest do
  # An application that has an old `ptc_runner`, and `allm`.
  use ExUnit.Case, async: true

  alias PtcRunner.Test.Upstream

  @moduletag :builds
  @moduletag timeout: 600_000
  @moduletag :tmp_dir

  test "an app on 0.4.1 and allm: JSON programs are native, rules for values and structs its own",
       %{tmp_dir: folder} do
    app = Upstream.write(folder, "0.4.1", allm: true)
    compiled = Upstream.run!(app, "mix", ["compile"])
    refute compiled =~ "redefining module"
    refute compiled =~ "warning:"

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

    output = Upstream.run!(app, "mix", ["run", "-e", Upstream.show_info() <> code])
    assert output =~ "all of it held"
    Upstream.assert_as_in_guide(output, "0.4.1")
    Upstream.copy_build(app, "prod")

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

  # At run time, so that nothing is compiled again. The test of an umbrella has a setting in `config.exs`.
  defp configure(app, overlay) do
    File.mkdir_p!(Path.join(app, "config"))
    config = "import Config\nconfig :ptc_runner_native, overlay: #{overlay}\n"
    File.write!(Path.join(app, "config/runtime.exs"), config)
  end
end

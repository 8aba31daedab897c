defmodule PtcRunner.Native.OverlayUmbrellaTest do
  # An umbrella project, one of whose applications has `ptc_runner`.
  use ExUnit.Case, async: true

  alias PtcRunner.Test.Upstream

  @moduletag :builds
  @moduletag timeout: 600_000
  @moduletag :tmp_dir

  test "an umbrella, and only what the configuration names", %{tmp_dir: folder} do
    app = Upstream.write_compiled(folder, "0.8.0", umbrella: true)
    File.mkdir_p!(Path.join(app, "config"))

    config = Path.join(app, "config/config.exs")

    File.write!(config, """
    import Config
    config :ptc_runner_native, overlay: [PtcRunner.SubAgent.Signature.Parser]
    """)

    # A configuration that is newer than what is compiled has all of it compiled again.
    File.touch!(config, System.os_time(:second) - 3_600)

    refute Upstream.run!(app, "mix", ["compile"]) =~ "redefining module"

    code = """
    {:ok, {:signature, _, _}} = PtcRunner.SubAgent.Signature.Parser.parse("{a :int}")
    {:original, PtcRunner.SubAgent.Signature, :parse, 1} = HostApp.signature()
    {:left, :not_selected} = HostApp.info(PtcRunner.SubAgent.Signature)
    IO.puts("all of it held")
    """

    assert Upstream.run!(app, "mix", ["run", "-e", code]) =~ "all of it held"
  end
end

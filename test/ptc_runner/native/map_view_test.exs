defmodule PtcRunner.Native.MapViewTest do
  # Small maps are read where they stand in memory, or entry by entry where a VM lays them out otherwise.
  use ExUnit.Case, async: true

  alias PtcRunner.Native
  alias PtcRunner.Test.Peer

  @moduletag timeout: 600_000

  @vectors Path.wildcard(Path.expand("../../**/*vectors_test.exs", __DIR__))

  # If a release is not among these, what it does must be looked at before it is added here.
  test "maps are read in place on the releases that are supported" do
    if System.otp_release() in ~w(25 26 27 28 29), do: assert(Native.info().map_view == :direct)
  end

  test "the golden vectors come to the same where maps are read entry by entry" do
    assert length(@vectors) == 4
    peer = Peer.start([{~c"PTC_RUNNER_NATIVE_MAP_VIEW", ~c"iterator"}])
    assert Peer.call(peer, Native, :info, []).map_view == :iterator

    outcome =
      Peer.eval(
        peer,
        """
        {:ok, _apps} = Application.ensure_all_started(:logger)
        ExUnit.start(autorun: false, formatters: [], max_cases: 2)
        for file <- files, do: Code.require_file(file)
        ExUnit.run()
        """,
        [files: @vectors],
        600_000
      )

    # A test for each group of cases.
    assert %{failures: 0, total: total} = outcome
    assert total > 200
  end
end

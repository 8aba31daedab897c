defmodule PtcRunner.Native.ReleasesTest do
  # The table of the guide against the rules and the exports of eleven releases.
  # That `info/0` says the same in an application: overlay_test.exs.
  use ExUnit.Case, async: true

  alias PtcRunner.Native.Releases
  alias PtcRunner.Test.{ReleaseTable, Vectors}

  doctest PtcRunner.Native.Releases
  doctest PtcRunner.Native.Renamed

  test "the guide says what is done, for each release and module" do
    for %{module: module, release: release} = row <- Vectors.read("upstream_exports"),
        module != PtcRunner.Tool do
      assert {module, release, ReleaseTable.said(inspect(module), release)} ==
               {module, release, done(row)}
    end
  end

  test "a release whose version is unknown is one of the newest" do
    assert Releases.left_alone(PtcRunner.SubAgent.Signature, nil) == nil
    assert Releases.left_alone(PtcRunner.SubAgent.Signature, "0.6.0")
    assert Releases.left_alone(PtcRunner.SubAgent.Signature, "0.7.0-rc.1")
    assert Releases.left_alone(PtcRunner.SubAgent.Signature, "1.0.0") == nil

    for release <- [nil, "0.4.1", "0.7.0", "main"],
        do: assert(Releases.left_alone(PtcRunner.Schema, release))
  end

  test "modules of allm are left in every release" do
    assert Releases.left_alone(ALLM.Serializer, "0.3.0") =~ "allm"
    assert Releases.left_alone(ALLM.Engine, nil) =~ "allm"
  end

  defp done(%{module: module, release: release, exports: theirs, struct_fields: fields}) do
    Code.ensure_loaded!(module)
    ours = module.module_info(:exports)

    cond do
      why = Releases.left_alone(module, release) -> {:left, why}
      fields != [] or {:__struct__, 0} in ours -> {:left, "defines a struct"}
      theirs -- ours != [] -> {:left, "has more functions"}
      true -> {:native, nil}
    end
  end
end

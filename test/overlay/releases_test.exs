defmodule PtcRunner.Native.ReleasesTest do
  # The guide's table against the rules and the exports of eleven releases.
  use ExUnit.Case, async: true

  alias PtcRunner.Native.Releases
  alias PtcRunner.Test.Vectors

  @releases ~w(0.4.1 0.5.0 0.5.2 0.6.0 0.7.0 0.8.0 0.9.0 0.10.1 0.11.0 0.12.0 0.13.0)
  @guide Path.expand("../../guides/drop_in.md", __DIR__)

  test "the guide says what is done, for each release and module" do
    for %{module: module, release: release} = row <- Vectors.read("upstream_exports"),
        module != PtcRunner.Tool do
      assert {inspect(module), release, said(inspect(module), release)} ==
               {inspect(module), release, done(row)}
    end
  end

  test "a release whose version is unknown is one of the newest" do
    assert Releases.left_alone(PtcRunner.SubAgent.Signature, nil) == nil
    assert Releases.left_alone(PtcRunner.SubAgent.Signature, "0.6.0")
    assert Releases.left_alone(PtcRunner.SubAgent.Signature, "0.7.0-rc.1")
    assert Releases.left_alone(PtcRunner.SubAgent.Signature, "1.0.0") == nil
  end

  defp done(%{module: module, release: release, exports: theirs, struct_fields: fields}) do
    Code.ensure_loaded!(module)
    ours = module.module_info(:exports)

    cond do
      why = Releases.left_alone(module, release) -> "no: " <> why
      fields != [] or {:__struct__, 0} in ours -> "no: defines a struct"
      theirs -- ours != [] -> "no: has more functions"
      true -> "yes"
    end
  end

  defp said(module, release) do
    Enum.find_value(rows(), fn [name, releases, said] ->
      if name == "`#{module}`" and release in between(releases), do: said
    end)
  end

  defp rows do
    for "| `PtcRunner" <> _ = line <- String.split(File.read!(@guide), "\n"),
        do: line |> String.trim("|") |> String.split("|") |> Enum.map(&String.trim/1)
  end

  defp between(releases) do
    [from | to] = String.split(releases, " to ")
    to = List.first(to) || from
    @releases |> Enum.drop_while(&(&1 != from)) |> Enum.reverse() |> Enum.drop_while(&(&1 != to))
  end
end

defmodule PtcRunner.Native.NoticeTest do
  # NOTICE names the crates of Cargo.lock. `bin/notice --check`, a part of `bin/test`, compares all of it.
  use ExUnit.Case, async: true

  @root Path.expand("../..", __DIR__)

  setup_all do
    packages =
      for text <- String.split(read("Cargo.lock"), "[[package]]"),
          [_, name] <- [Regex.run(~r/^name = "(.+)"/m, text)],
          [_, version] = Regex.run(~r/^version = "(.+)"/m, text),
          into: %{},
          do: {name, {version, dependencies(text)}}

    %{packages: packages}
  end

  defp read(file), do: File.read!(Path.join(@root, file))

  defp dependencies(text) do
    case Regex.run(~r/^dependencies = \[\n(.*?)^\]/ms, text) do
      [_, list] -> for [_, name] <- Regex.scan(~r/^ "([^" ]+)/m, list), do: name
      nil -> []
    end
  end

  test "it names exactly the crates of the library, with their versions", %{packages: packages} do
    named =
      for [_, name, version] <- Regex.scan(~r/^\| ([\w-]+) \| ([\d.]+) \|/m, read("NOTICE")),
          do: {name, version}

    tests = for [_, name] <- Regex.scan(~r/^(\w+) = /m, dev_dependencies()), do: name
    mine = for folder <- Path.wildcard("native/*"), do: Path.basename(folder)
    # The crate `time` names this one for its version only: it is not built without a feature.
    unused = ["time-macros"]
    reached = reach(mine, packages, (tests -- mine) ++ unused, [])
    crates = for name <- reached -- mine, do: {name, packages |> Map.fetch!(name) |> elem(0)}
    assert Enum.sort(named) == Enum.sort(crates)
    assert length(named) > 10
  end

  # The crates that only tests use.
  defp dev_dependencies do
    [_, section] = String.split(read("native/ptc_program/Cargo.toml"), "[dev-dependencies]")
    section
  end

  defp reach([], _packages, _not, seen), do: seen

  defp reach([name | rest], packages, not_these, seen) do
    if name in seen or name in not_these do
      reach(rest, packages, not_these, seen)
    else
      {_version, dependencies} = Map.fetch!(packages, name)
      reach(dependencies ++ rest, packages, not_these, [name | seen])
    end
  end

  test "each crate in the library has its licence there" do
    [tables, licences] =
      String.split(read("NOTICE"), "## Licences of the crates in the native library")

    [_, in_library | _] = String.split(tables, "\n## ")

    for [_, name, version] <- Regex.scan(~r/^\| ([\w-]+) \| ([\d.]+) \|/m, in_library) do
      [_, text] =
        Regex.run(~r/^### #{name} #{Regex.escape(version)}\n\n```text\n(.*?)^```/ms, licences)

      # These packages have no such file. The Zlib licence of the last two asks for its text in sources only.
      assert text =~ "Permission" or name in ["rustler", "safe_arch", "wide"], name
    end
  end

  test "the licences are those that deny.toml allows" do
    [_, allowed] = Regex.run(~r/^allow = \[(.+)\]/m, read("deny.toml"))

    for [_, licence] <- Regex.scan(~r/^\| [\w-]+ \| [\d.]+ \| ([^|]+) \|/m, read("NOTICE")),
        all <- String.split(licence, " AND ") do
      choices = all |> String.replace(~r/[()]/, "") |> String.split(" OR ")
      assert Enum.any?(choices, &(allowed =~ inspect(&1))), licence
    end
  end
end

defmodule PtcRunner.Native.BuildTest do
  # The compiler in mix.exs, in a copy of the package, with a cargo that only says what it was asked:
  # each situation of a user has a sentence of its own, and no stack trace.
  use ExUnit.Case, async: true

  @moduletag :builds
  @moduletag :tmp_dir
  @root Path.expand("../..", __DIR__)
  @elixir_paths System.find_executable("mix") |> Path.dirname()

  setup %{tmp_dir: folder} do
    package = Path.join(folder, "package")
    bin = Path.join(folder, "bin")
    for path <- [package, bin], do: File.mkdir_p!(path)

    for file <- ["mix.exs", "Cargo.toml", "Cargo.lock", ".cargo/config.toml"],
        do: copy(file, package)

    File.mkdir_p!(Path.join(package, "native/ptc_nif/src"))
    program(bin, "rustc", "echo 'rustc 1.95.0 (59807616e 2026-04-14)'")
    program(bin, "cargo", cargo("$CARGO_BUILD_TARGET", "libptc_nif.so"))
    %{folder: folder, package: package, bin: bin}
  end

  defp copy(file, package) do
    File.mkdir_p!(Path.dirname(Path.join(package, file)))
    File.cp!(Path.join(@root, file), Path.join(package, file))
  end

  # Writes what it was called with, and a library where it should be.
  defp cargo(target, library) do
    """
    echo "cargo $*"
    mkdir -p "$CARGO_TARGET_DIR/#{target}/release"
    echo built > "$CARGO_TARGET_DIR/#{target}/release/#{library}"
    """
  end

  defp program(bin, name, text) do
    path = Path.join(bin, name)
    File.write!(path, "#!/bin/sh\n" <> text)
    File.chmod!(path, 0o755)
  end

  @unset ~w(MIX_BUILD_PATH MIX_TARGET CARGO_TARGET_DIR CARGO_BUILD_TARGET RUSTC PTC_RUNNER_NATIVE_BUILD)

  defp build(context, env \\ []) do
    path = Enum.join([context.bin, @elixir_paths, "/usr/bin", "/bin"], ":")
    unset = for name <- @unset, do: {name, nil}
    env = [{"PATH", path}, {"MIX_ENV", "dev"} | unset] ++ env
    opts = [cd: context.package, env: env, stderr_to_stdout: true]
    {output, status} = System.cmd("mix", ["compile.ptc_native"], opts)
    refute output =~ ~r/^ +\(\w+ [\d.]+\) /m, output
    {output, status}
  end

  defp files(folder) do
    for file <- Path.wildcard(folder <> "/**", match_dot: true), File.regular?(file), into: %{} do
      {Path.relative_to(file, folder), File.read!(file)}
    end
  end

  defp library(root, name \\ "ptc_nif.so"),
    do: Path.join(root, "lib/ptc_runner_native/priv/native/#{name}")

  test "the library goes to the build directory, and nothing to the sources", context do
    before = files(context.package)
    build = Path.join(context.folder, "build")
    assert {output, 0} = build(context, [{"MIX_BUILD_PATH", build}])
    assert output =~ "cargo build --release --locked -p ptc_nif"
    assert files(context.package) == before
    assert File.read!(library(build)) == "built\n"
    assert File.read!(Path.rootname(library(build)) <> ".manifest") =~ "bytes 6\n"
    assert File.exists?(Path.join(build, "native/release/libptc_nif.so"))

    # Nothing to do: nothing is done.
    File.touch!(Path.join(build, "native/release/ptc_nif.stamp"), System.os_time(:second) + 5)
    assert {output, 0} = build(context, [{"MIX_BUILD_PATH", build}])
    refute output =~ "cargo build"
  end

  test "CARGO_TARGET_DIR is where cargo builds, in a folder for these sources", context do
    shared = Path.join(context.folder, "shared")
    assert {_output, 0} = build(context, [{"CARGO_TARGET_DIR", shared}])
    assert ["ptc_runner_native-" <> _ = own] = File.ls!(shared)
    assert File.exists?(Path.join([shared, own, "release/libptc_nif.so"]))
    assert File.exists?(library(Path.join(context.package, "_build/dev")))
  end

  test "an empty CARGO_TARGET_DIR is none", context do
    assert {_output, 0} = build(context, [{"CARGO_TARGET_DIR", ""}])
    assert File.exists?(Path.join(context.package, "_build/native/release/libptc_nif.so"))
  end

  test "two projects that build at the same time, into one folder", context do
    # Both are in cargo before either ends: each waits there until the other has come.
    program(context.bin, "cargo", """
    mkdir -p "$CARGO_TARGET_DIR/release"
    touch "$CARGO_TARGET_DIR/came-$$"
    tries=0
    while [ "$(ls "$CARGO_TARGET_DIR" | grep -c came-)" -lt 2 ]; do
      tries=$((tries + 1))
      [ "$tries" -lt 600 ] || exit 1
      sleep 0.1
    done
    echo built > "$CARGO_TARGET_DIR/release/libptc_nif.so.$$"
    mv "$CARGO_TARGET_DIR/release/libptc_nif.so.$$" "$CARGO_TARGET_DIR/release/libptc_nif.so"
    """)

    shared = {"CARGO_TARGET_DIR", Path.join(context.folder, "shared")}
    builds = for name <- ~w(one other one), do: Path.join(context.folder, "build-#{name}")

    # Two into the same build directory, one into another.
    builds
    |> Enum.map(&Task.async(fn -> build(context, [shared, {"MIX_BUILD_PATH", &1}]) end))
    |> Task.await_many(120_000)
    |> Enum.each(&assert({_output, 0} = &1))

    for build <- builds do
      assert File.read!(library(build)) == "built\n"
      assert File.read!(Path.rootname(library(build)) <> ".manifest") =~ "bytes 6\n"
      assert File.ls!(Path.dirname(library(build))) |> length() == 2
    end
  end

  test "MIX_TARGET has a build of its own, and CARGO_BUILD_TARGET says for what", context do
    env = [{"MIX_TARGET", "rpi4"}, {"CARGO_BUILD_TARGET", "aarch64-unknown-linux-musl"}]
    assert {_output, 0} = build(context, env)
    build = Path.join(context.package, "_build")
    assert File.exists?(library(Path.join(build, "rpi4_dev")))

    assert File.exists?(
             Path.join(build, "native/aarch64-unknown-linux-musl/release/libptc_nif.so")
           )

    # The host's own is not taken for built.
    assert {output, 0} = build(context)
    assert output =~ "cargo build"
  end

  test "for other systems the library has other names", context do
    for {target, built, installed} <- [
          {"x86_64-pc-windows-msvc", "ptc_nif.dll", "ptc_nif.dll"},
          {"aarch64-apple-darwin", "libptc_nif.dylib", "ptc_nif.so"},
          {"some/where/armv7-nerves.json", "libptc_nif.so", "ptc_nif.so"}
        ] do
      program(context.bin, "cargo", cargo(Path.basename(target, ".json"), built))
      build = Path.join(context.folder, "build-#{built}-#{Path.basename(target)}")
      env = [{"CARGO_BUILD_TARGET", target}, {"MIX_BUILD_PATH", build}]
      assert {_output, 0} = build(context, env)
      assert File.exists?(library(build, installed))
    end
  end

  test "no Rust", context do
    File.rm!(Path.join(context.bin, "cargo"))
    assert {output, 1} = build(context)

    assert output =~
             "no `cargo` was found on the PATH: install Rust 1.91 or newer from https://rustup.rs"
  end

  test "a Rust that is too old, before cargo runs", context do
    program(
      context.bin,
      "rustc",
      "echo 'rustc 1.63.0 (4b91a6ea7 2022-08-08) (built from a source tarball)'"
    )

    assert {output, 1} = build(context)
    refute output =~ "cargo build"
    assert output =~ "is built with Rust 1.91 or newer, and this is Rust 1.63.0"
    assert output =~ "rustup update stable"
  end

  test "a Rust that is named otherwise is left to cargo", context do
    for text <- ["rustc 1.97.0-nightly (abc 2026-05-01)", "mrustc 0.1"] do
      program(context.bin, "rustc", "echo '#{text}'")
      assert {_output, 0} = build(context)
    end
  end

  test "cargo fails", context do
    program(context.bin, "cargo", "echo 'error: linker `cc` not found'; exit 101")
    assert {output, 1} = build(context)
    assert output =~ "linker `cc` not found"
    assert output =~ "cargo could not build the native library of ptc_runner_native (see above)"
  end

  test "cargo is configured to build for another system", context do
    program(context.bin, "cargo", cargo("riscv64gc-unknown-linux-gnu", "libptc_nif.so"))
    assert {output, 1} = build(context)
    assert output =~ "name it in CARGO_BUILD_TARGET too"
  end

  test "a build directory that cannot be written", context do
    app = Path.join(context.package, "_build/dev/lib/ptc_runner_native")
    File.mkdir_p!(app)
    File.write!(Path.join(app, "priv"), "a file where a folder should be")
    assert {output, 1} = build(context)
    assert output =~ "cannot be put into the build directory: could not make directory"
  end

  test "the folder of an earlier version in the sources is not linked into the build", context do
    File.mkdir_p!(Path.join(context.package, "priv/native"))
    File.write!(Path.join(context.package, "priv/native/ptc_nif.so"), "old")
    app = Path.join(context.package, "_build/dev/lib/ptc_runner_native")
    File.mkdir_p!(app)
    File.ln_s!("../../../../priv", Path.join(app, "priv"))
    assert {_output, 0} = build(context)
    refute File.exists?(Path.join(context.package, "priv"))
    assert File.read!(library(Path.join(context.package, "_build/dev"))) == "built\n"
  end

  describe "with rustler_precompiled and the checksums of a release" do
    # What `use RustlerPrecompiled` calls when it is compiled; the package itself is not here.
    @stand_in """
    defmodule RustlerPrecompiled do
      def __using__(module, opts) do
        File.write!(System.get_env("ASKED"), inspect({module, opts}, limit: :infinity))

        case System.get_env("ANSWER") do
          "ok" ->
            path = "priv/native/libptc_nif-v0.1.0-nif-2.15-x86_64-unknown-linux-gnu"
            file = Path.join(Mix.Project.app_path(), path <> ".so")
            File.mkdir_p!(Path.dirname(file))
            File.write!(file, "downloaded")
            {:ok, %{load_from: {:ptc_runner_native, path}}}

          "force" ->
            {:force_build, []}

          "error" ->
            {:error, "Error while downloading precompiled NIF: no network.\\n\\nYou can force ..."}
        end
      end
    end
    """

    setup context do
      ebin = Path.join(context.folder, "ebin")
      File.mkdir_p!(ebin)
      [{module, beam}] = Code.compile_string(@stand_in)
      :code.purge(module)
      :code.delete(module)
      File.write!(Path.join(ebin, "#{module}.beam"), beam)
      File.write!(Path.join(context.package, "checksum-Elixir.PtcRunner.Native.exs"), "%{}")
      asked = Path.join(context.folder, "asked")
      env = [{"ERL_FLAGS", "-pa #{ebin}"}, {"ASKED", asked}, {"ANSWER", "ok"}]
      %{env: env, asked: asked, library: library(Path.join(context.package, "_build/dev"))}
    end

    test "nobody needs Rust", %{env: env} = context do
      File.rm!(Path.join(context.bin, "cargo"))
      assert {_output, 0} = build(context, env)
      assert File.read!(context.library) == "downloaded"

      assert File.ls!(Path.dirname(context.library)) |> Enum.sort() == [
               "ptc_nif.manifest",
               "ptc_nif.so"
             ]

      asked = File.read!(context.asked)
      assert asked =~ "{PtcRunner.Native, [otp_app: :ptc_runner_native, crate: \"ptc_nif\""
      assert asked =~ "/releases/download/v#{Mix.Project.config()[:version]}\""
      assert asked =~ ~s(nif_versions: ["2.15"])

      # It is asked for once.
      File.rm!(context.asked)
      assert {_output, 0} = build(context, env)
      refute File.exists?(context.asked)
    end

    test "PTC_RUNNER_NATIVE_BUILD=1 has it built", %{env: env} = context do
      assert {output, 0} = build(context, env ++ [{"PTC_RUNNER_NATIVE_BUILD", "1"}])
      assert output =~ "cargo build"
      refute File.exists?(context.asked)
    end

    test "what cannot be downloaded is built, or needs Rust", %{env: env} = context do
      env = List.keyreplace(env, "ANSWER", 0, {"ANSWER", "error"})
      assert {output, 0} = build(context, env)
      assert output =~ "no network. It is built with cargo instead."
      assert output =~ "cargo build"

      File.rm!(Path.join(context.bin, "cargo"))
      assert {output, 1} = build(context, env)
      assert output =~ "no precompiled library of ptc_runner_native: Error while downloading"
      assert output =~ "or install Rust from https://rustup.rs"
    end

    test "versions before a release are built", %{env: env} = context do
      assert {output, 0} = build(context, List.keyreplace(env, "ANSWER", 0, {"ANSWER", "force"}))
      assert output =~ "cargo build"
    end

    test "without the checksums of a release all is built", %{env: env} = context do
      File.rm!(Path.join(context.package, "checksum-Elixir.PtcRunner.Native.exs"))
      assert {output, 0} = build(context, env)
      assert output =~ "cargo build"
    end
  end
end

defmodule PtcRunner.Native.BuildTargetsTest do
  # Nothing is built for this one.
  use ExUnit.Case, async: true

  @root Path.expand("../..", __DIR__)

  test "the targets of the compiler are those of the workflow" do
    workflow = File.read!(Path.join(@root, ".github/workflows/release.yml"))
    [_, targets] = Regex.run(~r/@targets ~w\((.*?)\)/s, File.read!(Path.join(@root, "mix.exs")))
    built = Regex.scan(~r/target: ([\w-]+)/, workflow, capture: :all_but_first) |> List.flatten()
    assert Enum.sort(built) == targets |> String.split() |> Enum.sort()
    assert workflow =~ "NIF_VERSION: \"2.15\""
  end
end

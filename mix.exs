defmodule Mix.Tasks.Compile.PtcNative do
  @shortdoc "Builds the Rust library behind PtcRunner.Native"
  @moduledoc false
  # Defined here, not in lib/: a project that has this one as a dependency needs
  # the compiler before anything of lib/ is compiled.
  #
  #   native/**, Cargo.* ──cargo──▶ <build root>/native/release ──copy──▶ priv/native
  #
  # All Mix environments share one cargo target directory, so the crates are built once.

  use Mix.Task.Compiler

  @recursive true
  @crate "ptc_nif"

  @impl true
  def run(args) do
    built = if "--force" in args or stale?(), do: cargo_build!(), else: :noop
    copied = install_library()
    Mix.Project.build_structure()
    if :ok in [built, copied], do: {:ok, []}, else: {:noop, []}
  end

  @impl true
  def manifests, do: [stamp()]

  @impl true
  def clean do
    File.rm_rf!(target_dir())
    File.rm_rf!(Path.dirname(installed_library()))
  end

  # The stamp's time is the time the last good build began, in whole seconds:
  # a file saved in that same second may have been missed by it, hence `>=`.
  defp stale? do
    case File.stat(stamp(), time: :posix) do
      {:ok, %{mtime: built_at}} ->
        not File.exists?(built_library()) or Enum.any?(sources(), &(mtime(&1) >= built_at))

      {:error, _} ->
        true
    end
  end

  # Directories are among the sources: deleting a file changes only its directory.
  defp sources do
    ["Cargo.toml", "Cargo.lock", ".cargo/config.toml"] ++ Path.wildcard("native/**")
  end

  defp mtime(path) do
    case File.stat(path, time: :posix) do
      {:ok, stat} -> stat.mtime
      {:error, _} -> 0
    end
  end

  defp cargo_build! do
    cargo = System.find_executable("cargo") || Mix.raise(missing_cargo())
    began_at = System.os_time(:second)

    {_, status} =
      System.cmd(cargo, ["build", "--release", "--locked", "-p", @crate],
        env: [{"CARGO_TARGET_DIR", target_dir()}],
        into: IO.stream(:stdio, :line),
        stderr_to_stdout: true
      )

    if status != 0 do
      Mix.raise("cargo could not build the native library of ptc_runner_native (see above)")
    end

    File.touch!(stamp(), began_at)
    :ok
  end

  defp missing_cargo do
    "ptc_runner_native is built with Rust, and no `cargo` was found on the PATH: " <>
      "install Rust 1.91 or newer from https://rustup.rs and run this command again."
  end

  # A library that a running VM has loaded must never be written over in place: each file is put beside
  # the old one and takes its name in one step. The manifest is what PtcRunner.Native.Library checks
  # before it loads the library. Another build may do the same at the same time: whoever comes last
  # sees that, because it looks again.
  defp install_library(tries \\ 10) do
    library = read_built(File.stat!(built_library()))
    files = [{installed_library(), library}, {installed_manifest(), manifest(library)}]

    case Enum.reject(files, fn {path, content} -> File.read(path) == {:ok, content} end) do
      [] ->
        :noop

      other when tries > 0 ->
        for {path, content} <- other, do: replace(path, content)
        install_library(tries - 1)
        :ok

      _other ->
        Mix.raise("other builds of ptc_runner_native keep replacing #{installed_library()}")
    end
  end

  # Another build's linker may just be writing it.
  defp read_built(stat) do
    library = File.read!(built_library())

    case File.stat!(built_library()) do
      %{size: size} = ^stat when size == byte_size(library) -> library
      other -> read_built(other)
    end
  end

  defp replace(path, content) do
    File.mkdir_p!(Path.dirname(path))
    incoming = "#{path}.#{System.pid()}-#{:rand.uniform(0xFFFFFFFF)}"
    File.write!(incoming, content)
    File.rename!(incoming, path)
  end

  defp manifest(library) do
    """
    version #{Mix.Project.config()[:version]}
    bytes #{byte_size(library)}
    md5 #{Base.encode16(:erlang.md5(library), case: :lower)}
    """
  end

  defp built_library do
    name =
      case :os.type() do
        {:win32, _} -> "#{@crate}.dll"
        {:unix, :darwin} -> "lib#{@crate}.dylib"
        {:unix, _} -> "lib#{@crate}.so"
      end

    Path.join([target_dir(), System.get_env("CARGO_BUILD_TARGET", ""), "release", name])
  end

  # `:erlang.load_nif/2` looks for .dll on Windows and for .so everywhere else.
  defp installed_library do
    extension = if match?({:win32, _}, :os.type()), do: "dll", else: "so"
    Path.expand("priv/native/#{@crate}.#{extension}")
  end

  defp installed_manifest, do: Path.rootname(installed_library()) <> ".manifest"

  defp stamp, do: Path.join(target_dir(), "#{@crate}.stamp")

  # Beside the builds of all environments: `_build/native`. A MIX_BUILD_PATH names
  # one build and says nothing about what is beside it, so then it is within.
  defp target_dir do
    root = System.get_env("MIX_BUILD_PATH") || Path.dirname(Mix.Project.build_path())
    Path.expand(Path.join(root, "native"))
  end
end

defmodule Mix.Tasks.Compile.PtcOverlay do
  @shortdoc "Keeps the modules that ptc_runner has too apart from the others"
  @moduledoc false
  # Where `ptc_runner` is among an application's dependencies, the modules that both define leave
  # `ebin` for one file beside them, before the application's list of modules is made. See
  # `PtcRunner.Native.Overlay`.

  use Mix.Task.Compiler

  # What exists only to take the place of an original.
  @only_in_place [PtcRunner.Lisp.Runtime.FlexAccess]

  @impl true
  def run(_args) do
    theirs = theirs()
    both = Enum.filter(beams(), &(module(&1) in theirs))
    packed = for beam <- both, do: {module(beam), File.read!(beam)}
    if packed != [], do: File.write!(file(), :erlang.term_to_binary(packed, [:compressed]))
    Enum.each(both ++ only_in_place(), &File.rm/1)
    {:ok, []}
  end

  @doc "Puts the modules back, for the compiler, which may need one to compile another."
  def unpack do
    with {:ok, packed} <- File.read(file()) do
      for {module, beam} <- :erlang.binary_to_term(packed),
          do: File.write!(Path.join(Mix.Project.compile_path(), "#{module}.beam"), beam)

      File.rm!(file())
    end

    :ok
  end

  @impl true
  def clean, do: File.rm(file())

  @doc "Whether `ptc_runner` is there."
  def theirs?, do: theirs() != []

  # The tests of this project meet them just so.
  defp only_in_place do
    if Mix.env() == :test,
      do: [],
      else: Enum.filter(beams(), &(module(&1) in @only_in_place))
  end

  defp beams, do: Path.wildcard(Path.join(Mix.Project.compile_path(), "*.beam"))
  defp module(beam), do: beam |> Path.basename(".beam") |> String.to_atom()
  defp file, do: Path.join(Mix.Project.compile_path(), "overlay.bin")

  # The modules of `ptc_runner`: compiled, or, where it has not been compiled yet, as its source says.
  defp theirs do
    compiled =
      for directory <- [loaded(), Path.join(Mix.Project.build_path(), "lib/ptc_runner/ebin")],
          beam <- Path.wildcard(Path.join(directory, "*.beam")),
          do: module(beam)

    if compiled == [], do: from_source(), else: compiled
  end

  defp loaded do
    case :code.lib_dir(:ptc_runner) do
      {:error, _} -> "none"
      directory -> Path.join(directory, "ebin")
    end
  end

  defp from_source do
    for file <- Path.wildcard(Path.join(Mix.Project.deps_path(), "ptc_runner/lib/**/*.ex")),
        [_, name] <- Regex.scan(~r/^\s*defmodule\s+([A-Z][\w.]*)/m, File.read!(file)),
        do: Module.concat([name])
  end
end

defmodule Mix.Tasks.Compile.PtcUnpack do
  @shortdoc "Makes the modules whole again before they are compiled"
  @moduledoc false
  use Mix.Task.Compiler

  @impl true
  def run(_args) do
    Mix.Tasks.Compile.PtcOverlay.unpack()
    {:noop, []}
  end
end

defmodule PtcRunnerNative.MixProject do
  use Mix.Project

  @version "0.1.0"
  @description "Runs the JSON programs and signatures of PtcRunner natively: " <>
                 "a drop-in replacement in Rust for the modules an app calls."

  def project do
    [
      app: :ptc_runner_native,
      version: @version,
      elixir: "~> 1.14",
      compilers:
        [:ptc_native, :ptc_unpack] ++ (Mix.compilers() -- [:app]) ++ [:ptc_overlay, :app],
      elixirc_paths: elixirc_paths(Mix.env()),
      # beside ptc_runner, modules of the same name are meant
      elixirc_options: [ignore_module_conflict: Mix.Tasks.Compile.PtcOverlay.theirs?()],
      start_permanent: Mix.env() == :prod,
      # the tests implement protocols for structs of their own
      consolidate_protocols: Mix.env() != :test,
      deps: deps(),
      name: "ptc_runner_native",
      description: @description,
      package: package(),
      docs: docs()
    ]
  end

  def application do
    [
      mod: {PtcRunner.Native.Application, []},
      extra_applications: [:logger, ptc_runner: :optional, telemetry: :optional]
    ]
  end

  # Nothing is needed. But where the application has one of these, it must be compiled before this
  # project, which then takes the place of its modules (ptc_runner), implements its protocol (Jason)
  # or steps aside (ALLM). Only Hex can say so;
  # `:prod` is how dependencies are compiled, so that working on this project needs none of them.
  defp deps do
    if Code.ensure_loaded?(Hex) do
      [
        {:ptc_runner, ">= 0.4.1", optional: true, only: :prod},
        {:jason, "~> 1.0", optional: true, only: :prod},
        {:allm, ">= 0.3.0", optional: true, only: :prod}
      ]
    else
      []
    end
  end

  defp elixirc_paths(:test), do: ["lib", "overlay", "test/support"]
  defp elixirc_paths(_), do: ["lib", "overlay"]

  # Hex leaves native/ out unless told, and a wildcard over all of native/ would
  # take target/ along: so every part is named.
  defp package do
    [
      licenses: ["MIT"],
      links: %{
        "Changelog" => "https://hexdocs.pm/ptc_runner_native/changelog.html",
        "PtcRunner" => "https://hexdocs.pm/ptc_runner"
      },
      files: [
        "lib",
        "overlay",
        "native/*/src",
        "native/*/Cargo.toml",
        ".cargo/config.toml",
        "Cargo.toml",
        "Cargo.lock",
        ".formatter.exs",
        "mix.exs",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "guides",
        "livebooks",
        "docs"
      ]
    ]
  end

  defp docs do
    [
      main: "readme",
      extras: [
        "README.md",
        "CHANGELOG.md",
        "guides/signatures.md",
        "guides/answers.md",
        "guides/engine.md",
        "guides/drop_in.md",
        "guides/observability.md",
        "guides/scaling.md",
        "livebooks/tour.livemd",
        "docs/architecture.md",
        "docs/security.md"
      ],
      source_ref: "v#{@version}"
    ]
  end
end

defmodule Mix.Tasks.Compile.PtcNative do
  @shortdoc "Builds the Rust library behind PtcRunner.Native, or gets it built"
  @moduledoc false
  # Defined here, not in lib/: in a project that depends on this one, the compiler must exist
  # before anything of lib/ is compiled.
  #
  #   native/**, Cargo.* ──cargo──▶ <build root>/native/release ──copy──▶ _build/<env>/lib/…/priv/native
  #   a published release ──rustler_precompiled──────────────────────────▶ the same
  #
  # All Mix environments share one cargo target directory, so the crates are built once. Nothing is
  # written to the sources: the folder of a dependency may be read-only.

  use Mix.Task.Compiler

  @recursive true
  @crate "ptc_nif"
  # The NIF versions and targets of the libraries in a release: the jobs of .github/workflows/release.yml.
  @nif_versions ["2.15"]
  @targets ~w(
    aarch64-apple-darwin
    aarch64-unknown-linux-gnu
    aarch64-unknown-linux-musl
    x86_64-apple-darwin
    x86_64-pc-windows-msvc
    x86_64-unknown-linux-gnu
    x86_64-unknown-linux-musl
  )

  @impl true
  def run(args) do
    drop_former_place()

    status =
      case precompiled() do
        :none -> cargo("--force" in args)
        status -> status
      end

    Mix.Project.build_structure()
    if status == :ok, do: {:ok, []}, else: {:noop, []}
  rescue
    error in File.Error -> Mix.raise(file_error(error))
    error in File.CopyError -> Mix.raise(file_error(error))
    error in File.RenameError -> Mix.raise(file_error(error))
  end

  defp file_error(error) do
    "the native library of ptc_runner_native cannot be put into the build directory: " <>
      Exception.message(error)
  end

  @impl true
  def manifests, do: [stamp()]

  @impl true
  def clean do
    File.rm_rf(target_dir())
    File.rm_rf(Path.dirname(installed_library()))
  end

  # Earlier versions put the library into the sources. Mix would link that folder into the
  # build.
  defp drop_former_place do
    with {:ok, _} <- File.rm_rf("priv/native"), do: File.rmdir("priv")
    place = Path.join(Mix.Project.app_path(), "priv")
    with {:ok, _} <- File.read_link(place), do: File.rm(place)
  end

  # Precompiled libraries

  # By the convention of rustler_precompiled: if that package is present, and this package contains the
  # checksums of a release, the library of that release is used.
  defp precompiled do
    cond do
      System.get_env("PTC_RUNNER_NATIVE_BUILD") in ["1", "true"] -> :none
      not File.regular?("checksum-Elixir.PtcRunner.Native.exs") -> :none
      not Code.ensure_loaded?(RustlerPrecompiled) -> :none
      precompiled?() -> :noop
      true -> download()
    end
  end

  defp download do
    version = Mix.Project.config()[:version]

    opts = [
      otp_app: :ptc_runner_native,
      crate: @crate,
      version: version,
      base_url: "#{Mix.Project.config()[:source_url]}/releases/download/v#{version}",
      targets: @targets,
      nif_versions: @nif_versions,
      force_build: false
    ]

    # The same call as in `use RustlerPrecompiled`. This library loads the file in its own module, which checks
    # it first.
    case apply(RustlerPrecompiled, :__using__, [PtcRunner.Native, opts]) do
      {:ok, %{load_from: {_app, path}}} ->
        file = Path.join(Mix.Project.app_path(), "#{path}.#{extension()}")
        status = install_library(file, "source precompiled\n")
        File.rm(file)
        status

      {:force_build, _opts} ->
        :none

      {:error, why} ->
        not_downloaded(why)
    end
  end

  defp not_downloaded(why) do
    sentence = "no precompiled library of ptc_runner_native: #{why |> String.split("\n") |> hd()}"

    if System.find_executable("cargo") do
      Mix.shell().info(sentence <> " It is built with cargo instead.")
      :none
    else
      Mix.raise(
        sentence <>
          " Run this command again where it can be downloaded, or install Rust from https://rustup.rs " <>
          "to have it built."
      )
    end
  end

  # Whether the complete library of this version is installed.
  defp precompiled? do
    with {:ok, library} <- File.read(installed_library()),
         {:ok, known} <- File.read(installed_manifest()),
         do: known == manifest(library, "source precompiled\n"),
         else: (_ -> false)
  end

  # Local builds

  defp cargo(force?) do
    built = if force? or stale?(), do: cargo_build!(), else: :noop
    copied = install_library(built_library(), "")
    if :ok in [built, copied], do: :ok, else: :noop
  end

  # The stamp's time is the time the last good build began, in whole seconds:
  # that build may have missed a file saved in the same second, hence `>=`.
  # Its text names the sources: a CARGO_TARGET_DIR may be shared.
  defp stale? do
    with {:ok, %{mtime: built_at}} <- File.stat(stamp(), time: :posix),
         true <- File.read(stamp()) == {:ok, sources_of_build()} do
      not File.exists?(built_library()) or Enum.any?(sources(), &(mtime(&1) >= built_at))
    else
      _ -> true
    end
  end

  defp sources_of_build, do: "#{Mix.Project.config()[:version]} #{File.cwd!()}\n"

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
    check_rust!()
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

    unless File.regular?(built_library()) do
      Mix.raise(
        "cargo built ptc_runner_native, but there is no #{built_library()}: if a configuration of cargo " <>
          "names another target, name it in CARGO_BUILD_TARGET too"
      )
    end

    File.write!(stamp(), sources_of_build())
    File.touch!(stamp(), began_at)
    :ok
  end

  # Cargo.toml has the minimum version. If the version of rustc cannot be read, cargo checks it.
  defp check_rust! do
    [_, least] = Regex.run(~r/^rust-version = "(.+)"/m, File.read!("Cargo.toml"))

    with rustc when rustc != nil <- System.find_executable(System.get_env("RUSTC", "rustc")),
         {text, 0} <- System.cmd(rustc, ["--version"], stderr_to_stdout: true),
         [_, found] <- Regex.run(~r/^rustc (\d+\.\d+\.\d+)/m, text),
         :lt <- Version.compare(found, least <> ".0") do
      Mix.raise(
        "ptc_runner_native is built with Rust #{least} or newer, and this is Rust #{found} (#{rustc}): " <>
          "run `rustup update stable`, or install a newer Rust from https://rustup.rs."
      )
    end
  end

  defp missing_cargo do
    [_, least] = Regex.run(~r/^rust-version = "(.+)"/m, File.read!("Cargo.toml"))

    "ptc_runner_native is built with Rust, and no `cargo` was found on the PATH: " <>
      "install Rust #{least} or newer from https://rustup.rs and run this command again."
  end

  # A library that a running VM has loaded must never be overwritten in place: each file is written beside
  # the old one and renamed in one step. PtcRunner.Native.Library checks the manifest
  # before it loads the library. Another build may do the same at the same time: each build checks the files
  # again after it has written them.
  defp install_library(from, more, tries \\ 10) do
    library = read_built(from, File.stat!(from))
    files = [{installed_library(), library}, {installed_manifest(), manifest(library, more)}]

    case Enum.reject(files, fn {path, content} -> File.read(path) == {:ok, content} end) do
      [] ->
        :noop

      other when tries > 0 ->
        for {path, content} <- other, do: replace(path, content)
        install_library(from, more, tries - 1)
        :ok

      _other ->
        Mix.raise("other builds of ptc_runner_native keep replacing #{installed_library()}")
    end
  end

  # The linker of another build may be writing the file.
  defp read_built(from, stat) do
    library = File.read!(from)

    case File.stat!(from) do
      %{size: size} = ^stat when size == byte_size(library) -> library
      other -> read_built(from, other)
    end
  end

  defp replace(path, content) do
    File.mkdir_p!(Path.dirname(path))
    incoming = "#{path}.#{System.pid()}-#{:rand.uniform(0xFFFFFFFF)}"
    File.write!(incoming, content)
    File.rename!(incoming, path)
  end

  defp manifest(library, more) do
    """
    version #{Mix.Project.config()[:version]}
    bytes #{byte_size(library)}
    md5 #{Base.encode16(:erlang.md5(library), case: :lower)}
    """ <> more
  end

  # Cargo's name for the library depends on the target system.
  defp built_library do
    name =
      case system() do
        :windows -> "#{@crate}.dll"
        :apple -> "lib#{@crate}.dylib"
        :other -> "lib#{@crate}.so"
      end

    Path.join([target_dir(), triple(), "release", name])
  end

  # A target may be given as a file.
  defp triple, do: Path.basename(System.get_env("CARGO_BUILD_TARGET", ""), ".json")

  defp system do
    case {triple(), :os.type()} do
      {"", {:win32, _}} -> :windows
      {"", {:unix, :darwin}} -> :apple
      {"", _} -> :other
      {triple, _} -> named(triple)
    end
  end

  defp named(triple) do
    cond do
      triple =~ "windows" -> :windows
      triple =~ "apple" -> :apple
      true -> :other
    end
  end

  # `:erlang.load_nif/2` looks for .dll on Windows and for .so everywhere else.
  defp extension, do: if(system() == :windows, do: "dll", else: "so")

  defp installed_library,
    do: Path.join(Mix.Project.app_path(), "priv/native/#{@crate}.#{extension()}")

  defp installed_manifest, do: Path.rootname(installed_library()) <> ".manifest"

  defp stamp, do: Path.join(Path.dirname(built_library()), "#{@crate}.stamp")

  # The folder beside the builds of all environments and targets: `_build/native`. A MIX_BUILD_PATH names one
  # build, so then the folder is inside it. A CARGO_TARGET_DIR may be shared
  # with projects that have another version of this one, whose library has the same name there: so
  # each project has its own folder.
  defp target_dir do
    root = System.get_env("MIX_BUILD_PATH") || Path.dirname(Mix.Project.build_path())
    own = Path.expand(Path.join(root, "native"))

    case System.get_env("CARGO_TARGET_DIR") do
      empty when empty in [nil, ""] ->
        own

      shared ->
        if Path.expand(shared) == own, do: own, else: Path.join(Path.expand(shared), name())
    end
  end

  defp name do
    sources = Base.encode16(:erlang.md5(File.cwd!()), case: :lower)
    "ptc_runner_native-" <> binary_part(sources, 0, 12)
  end
end

defmodule Mix.Tasks.Compile.PtcOverlay do
  @shortdoc "Keeps the modules that ptc_runner has too apart from the others"
  @moduledoc false
  # If `ptc_runner` or `allm` is a dependency of the application, the modules that both define
  # are moved from `ebin` to one file there, before the application's list of modules is made. See
  # `PtcRunner.Native.Overlay`.

  use Mix.Task.Compiler

  @packages [:ptc_runner, :allm]

  # Modules that exist only to replace an original.
  @only_in_place [PtcRunner.Lisp.Runtime.FlexAccess]

  @packages [:ptc_runner, :allm]

  @impl true
  def run(_args) do
    status = if packed?(), do: verified(), else: pack()
    Mix.Tasks.Compile.PtcUnpack.report_conflicts()
    {status, []}
  end

  defp pack do
    theirs = theirs()
    both = Enum.filter(beams(), &(module(&1) in theirs))
    packed = for beam <- both, do: {module(beam), File.read!(beam)}
    if packed != [], do: File.write!(file(), :erlang.term_to_binary(packed, [:compressed]))
    Enum.each(both ++ only_in_place(), &remove/1)
    File.write!(stamp(), state())
    :ok
  end

  # The modules stayed packed. If something was compiled all the same, because a configuration or another dependency
  # has changed, its new modules are packed with the others.
  defp verified do
    if Process.delete(__MODULE__) == compiled() do
      :noop
    else
      unpack()
      pack()
    end
  end

  # Modules that the compiler has loaded are removed too: code that is compiled or run next in this VM must
  # find the original. Modules that `PtcRunner.Native.Overlay` has loaded stay.
  defp remove(beam) do
    File.rm(beam)
    module = module(beam)

    with {:file, from} <- :code.is_loaded(module),
         false <- "#{from}" =~ "ptc_runner_native/overlay/" do
      :code.purge(module)
      :code.delete(module)
    end
  end

  @doc """
  Puts the modules back, for the compiler, which may need one to compile another. If no source has changed, they stay
  packed: otherwise each command would change the folder, and Mix would take that for a change.
  """
  def unpack(args) do
    if "--force" in args or File.read(stamp()) != {:ok, state()},
      do: unpack(),
      else: Process.put(__MODULE__, compiled())
  end

  defp packed?, do: Process.get(__MODULE__) != nil

  defp unpack do
    File.rm(stamp())

    with {:ok, packed} <- File.read(file()) do
      for {module, beam} <- :erlang.binary_to_term(packed),
          file = Path.join(Mix.Project.compile_path(), "#{module}.beam"),
          not File.exists?(file),
          do: File.write!(file, beam)

      File.rm!(file())
    end

    :ok
  end

  @impl true
  def clean, do: Enum.each([file(), stamp()], &File.rm/1)

  # What the packed modules depend on.
  defp state do
    sources =
      for path <- Mix.Project.config()[:elixirc_paths], do: Path.wildcard(path <> "/**/*.ex")

    theirs = Enum.flat_map(@packages, &compiled/1)
    files = stats(["mix.exs" | List.flatten(sources)] ++ theirs)
    :erlang.term_to_binary({files, Enum.sort(theirs()), System.version(), System.otp_release()})
  end

  defp compiled, do: stats(beams())

  defp stats(files) do
    for file <- files, {:ok, stat} <- [File.stat(file)], do: {file, stat.mtime, stat.size}
  end

  @doc """
  Makes the modules of `allm` available to the compiler, which leaves out our modules of those names. Without Hex it is no
  dependency of this project, and Mix may then remove it from the code path.
  """
  def reach do
    directory = Path.join(Mix.Project.build_path(), "lib/allm/ebin")
    if File.dir?(directory), do: Code.append_path(directory)
    :ok
  end

  @doc "Whether one of these packages is there."
  def theirs?, do: theirs() != []

  # The tests of this project need these modules in `ebin`.
  defp only_in_place do
    if Mix.env() == :test,
      do: [],
      else: Enum.filter(beams(), &(module(&1) in @only_in_place))
  end

  defp beams, do: Path.wildcard(Path.join(Mix.Project.compile_path(), "*.beam"))
  defp module(beam), do: beam |> Path.basename(".beam") |> String.to_atom()
  defp file, do: Path.join(Mix.Project.compile_path(), "overlay.bin")
  defp stamp, do: Path.join(Mix.Project.manifest_path(), "compile.ptc_overlay")

  # The modules of these packages: from their compiled files or, before they are compiled, from their
  # sources.
  defp theirs, do: Enum.flat_map(@packages, &theirs/1)

  defp theirs(package) do
    case compiled(package) do
      [] -> from_source(package)
      beams -> Enum.map(beams, &module/1)
    end
  end

  defp compiled(package) do
    for directory <- [loaded(package), Path.join(Mix.Project.build_path(), "lib/#{package}/ebin")],
        beam <- Path.wildcard(Path.join(directory, "*.beam")),
        do: beam
  end

  defp loaded(package) do
    case :code.lib_dir(package) do
      {:error, _} -> "none"
      directory -> Path.join(directory, "ebin")
    end
  end

  defp from_source(package) do
    for file <- Path.wildcard(Path.join(Mix.Project.deps_path(), "#{package}/lib/**/*.ex")),
        [_, name] <- Regex.scan(~r/^\s*defmodule\s+([A-Z][\w.]*)/m, File.read!(file)),
        do: Module.concat([name])
  end
end

defmodule Mix.Tasks.Compile.PtcUnpack do
  @shortdoc "Makes the modules whole again before they are compiled"
  @moduledoc false
  use Mix.Task.Compiler

  # Beside `ptc_runner` and `allm`, modules with the same name are intended. This is no option of the project: only
  # now the code path says whether these packages are there, and other options would compile all files again.
  @impl true
  def run(args) do
    Mix.Tasks.Compile.PtcOverlay.unpack(args)
    Mix.Tasks.Compile.PtcOverlay.reach()
    if Mix.Tasks.Compile.PtcOverlay.theirs?(), do: ignore_conflicts()
    {:noop, []}
  end

  defp ignore_conflicts do
    if not Code.get_compiler_option(:ignore_module_conflict) do
      Code.put_compiler_option(:ignore_module_conflict, true)
      Process.put(__MODULE__, true)
    end
  end

  @doc "Conflicts are reported again, as they were before this compiler."
  def report_conflicts do
    if Process.delete(__MODULE__), do: Code.put_compiler_option(:ignore_module_conflict, false)
  end
end

defmodule PtcRunnerNative.MixProject do
  use Mix.Project

  @version "0.1.0"
  # The only place with the project's address: precompiled libraries come from its releases.
  @source_url "https://github.com/ptc-runner/ptc_runner_native"
  @docs_url "https://hexdocs.pm/ptc_runner_native"
  @description "Runs the small programs (PTC-JSON, PTC-Lisp) with which language models answer questions about your data: " <>
                 "natively, in Rust, with your tools, limits and checked types."

  def project do
    [
      app: :ptc_runner_native,
      version: @version,
      elixir: "~> 1.14",
      compilers:
        [:ptc_native, :ptc_unpack] ++ (Mix.compilers() -- [:app]) ++ [:ptc_overlay, :app],
      elixirc_paths: elixirc_paths(Mix.env()),
      elixirc_options: inferred(),
      # Tests read the specs and documents of modules that they compile. They do not set these options themselves: the options belong to the
      # whole VM, and test files are compiled beside each other.
      test_elixirc_options: [debug_info: true, docs: true],
      # other scripts in test/ are no tests
      test_ignore_filters: [&(not String.ends_with?(&1, "_test.exs"))],
      start_permanent: Mix.env() == :prod,
      # the tests implement protocols for their own structs
      consolidate_protocols: Mix.env() != :test,
      deps: deps(),
      name: "ptc_runner_native",
      description: @description,
      source_url: @source_url,
      homepage_url: @docs_url,
      package: package(),
      docs: docs()
    ]
  end

  # Elixir 1.19 and later warn where types cannot be inferred from an optional application that is not there.
  defp inferred do
    if Version.match?(System.version(), ">= 1.19.0-dev"),
      do: [infer_signatures: [:elixir, :logger]],
      else: []
  end

  def application do
    [
      mod: {PtcRunner.Native.Application, []},
      extra_applications: [
        :logger,
        :crypto,
        ptc_runner: :optional,
        allm: :optional,
        telemetry: :optional
      ]
    ]
  end

  # No dependency is required. But if the application has one of these, it must be compiled before this
  # project, which then replaces its modules (ptc_runner), implements its protocol (Jason),
  # leaves its modules in use (ALLM) or is not built (rustler_precompiled). Dependencies are compiled with
  # `:prod`, so that working on this project needs none of them.
  defp deps do
    applications = dependencies_of_the_application()

    for {name, requirement, opts} <- [
          {:ptc_runner, ">= 0.4.1", []},
          {:jason, "~> 1.0", []},
          {:allm, ">= 0.3.0", []},
          {:rustler_precompiled, "~> 0.7", [runtime: false]}
        ],
        dep = optional(name, requirement, Map.get(applications, name)),
        do: put_elem(dep, tuple_size(dep) - 1, elem(dep, tuple_size(dep) - 1) ++ opts)
  end

  @optional [optional: true, only: :prod]

  # A path or a repository, as in the application, or a package of Hex. Otherwise the application would have to
  # override one with the other.
  defp optional(name, _requirement, source) when source != nil, do: {name, source ++ @optional}

  defp optional(name, requirement, nil),
    do: if(Code.ensure_loaded?(Hex), do: {name, requirement, @optional})

  @git [:git, :github, :ref, :branch, :tag, :submodules, :sparse, :subdir]

  # By name: the dependencies that the application takes from a path or a repository, with its options.
  defp dependencies_of_the_application do
    if Mix.Project.get() do
      folder = Path.dirname(Mix.Project.project_file())

      for dep <- Mix.Project.config()[:deps] || [],
          source = source(opts(dep), folder),
          into: %{},
          do: {elem(dep, 0), source}
    else
      %{}
    end
  end

  defp source(opts, folder) do
    cond do
      opts[:path] -> [path: Path.expand(opts[:path], folder)]
      opts[:git] || opts[:github] -> Keyword.take(opts, @git)
      true -> nil
    end
  end

  defp opts({_name, opts}) when is_list(opts), do: opts
  defp opts({_name, _requirement, opts}), do: opts
  defp opts(_dep), do: []

  defp elixirc_paths(:test), do: ["lib", "overlay", "test/support"]
  defp elixirc_paths(_), do: ["lib", "overlay"]

  # Hex omits native/ by default, and a wildcard over all of native/ would
  # include target/: so every part is named. `bin/package-check` builds the parts named here.
  defp package do
    [
      licenses: ["MIT"],
      links: %{
        "GitHub" => @source_url,
        "Changelog" => @docs_url <> "/changelog.html",
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
        "NOTICE",
        "SECURITY.md",
        "CONTRIBUTING.md",
        "usage-rules.md",
        "guides",
        "livebooks",
        "docs",
        "bench/README.md",
        "bench/RESULTS.md",
        "bench/MISSED.md"
        # of a published release: Hex refuses a pattern without files
        | Path.wildcard("checksum-*.exs")
      ],
      # modules that only `cargo test` compiles
      exclude_patterns: [~r{^native/.*/tests\.rs$}, ~r{^native/.*/round_trip\.rs$}]
    ]
  end

  defp docs do
    [
      main: "readme",
      source_ref: "v#{@version}",
      # internal documents: they name hidden modules
      skip_undefined_reference_warnings_on: ["docs/architecture.md", "docs/decisions.md"],
      extras: [
        "README.md",
        "guides/getting_started.md",
        "guides/real_model.md",
        "guides/openai.md",
        "guides/anthropic.md",
        "guides/gemini.md",
        "guides/extracting_records.md",
        "guides/ecto.md",
        "guides/questions.md",
        "guides/tools.md",
        "guides/tools_from_elsewhere.md",
        "guides/tools_under_control.md",
        "guides/large_answers.md",
        "guides/in_production.md",
        "guides/observability.md",
        "guides/scaling.md",
        "guides/testing_programs.md",
        "guides/how_well_models_write_it.md",
        "guides/json_or_lisp.md",
        "guides/coming_from.md",
        "livebooks/tour.livemd",
        "guides/cheatsheet.cheatmd",
        "guides/lisp_cheatsheet.cheatmd",
        "guides/language.md",
        "guides/lisp.md",
        "guides/programs.md",
        "guides/signatures.md",
        "guides/answers.md",
        "guides/errors_and_feedback.md",
        "guides/results_that_providers_enforce.md",
        "guides/engine.md",
        "guides/drop_in.md",
        "guides/differences.md",
        "usage-rules.md",
        "docs/architecture.md",
        "docs/glossary.md",
        "docs/decisions.md",
        "docs/security.md",
        {:"bench/README.md", [filename: "benchmarks", title: "How it is measured"]},
        {:"bench/RESULTS.md", [filename: "results", title: "Measured"]},
        {:"bench/MISSED.md", [filename: "missed", title: "Bars that are missed"]},
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        {:"SECURITY.md", [filename: "security_policy", title: "Security policy"]},
        {:LICENSE, [title: "Licence"]},
        {:NOTICE, [title: "Notice"]}
      ],
      # in the order in which a newcomer needs them; the references come last
      groups_for_extras: [
        Start: ~r{^guides/(getting_started|real_model|openai|anthropic|gemini)\.},
        Tasks: ~r{^guides/(extracting_records|ecto|questions)\.},
        Tools: ~r{^guides/(tools|tools_from_elsewhere|tools_under_control|large_answers)\.},
        Operation: ~r{^guides/(in_production|observability|scaling|testing_programs)\.},
        Decide:
          ~r{^(guides/(how_well_models_write_it|json_or_lisp|coming_from)|livebooks/tour)\.},
        Reference: ~r{^guides/},
        "How it works": ~r{^docs/},
        Benchmarks: ~r{^bench/},
        Project: ~r{^(CHANGELOG|CONTRIBUTING|SECURITY|LICENSE|NOTICE|usage-rules)}
      ],
      # First what applications call. The modules of the last group have the names that code for `ptc_runner` and `allm` calls.
      groups_for_modules: [
        Agents: [PtcRunner.Agent, PtcRunner.Agent.Paused, PtcRunner.Agent.Tool],
        "PTC-JSON": [
          PtcRunner.Json,
          PtcRunner.Json.Call,
          PtcRunner.Json.Checked,
          PtcRunner.Json.Explain,
          PtcRunner.Json.Paused,
          PtcRunner.Json.Paused.Used,
          PtcRunner.Json.Paused.Used.Ets,
          PtcRunner.Json.Plan,
          PtcRunner.Json.Program,
          PtcRunner.Json.Text,
          PtcRunner.Schema
        ],
        "PTC-Lisp": [
          PtcRunner.Lisp,
          PtcRunner.Lisp.Duration,
          PtcRunner.Lisp.Explain,
          PtcRunner.Lisp.Function,
          PtcRunner.Lisp.Keyword,
          PtcRunner.Lisp.Program,
          PtcRunner.Lisp.Regex,
          PtcRunner.Lisp.Symbol,
          PtcRunner.Lisp.Var,
          PtcRunner.Tool
        ],
        Signatures: [
          PtcRunner.SubAgent.Signature,
          PtcRunner.SubAgent.Signature.Coercion,
          PtcRunner.SubAgent.Signature.Validator,
          PtcRunner.SubAgent.TypeExtractor
        ],
        Answers: [
          PtcRunner.Step,
          PtcRunner.SubAgent.AnswerStream,
          PtcRunner.SubAgent.JsonParser,
          PtcRunner.Turn
        ],
        Codec: [
          PtcRunner.Json.Codec,
          PtcRunner.Json.Codec.DecodeError,
          PtcRunner.Json.Codec.EncodeError,
          PtcRunner.Json.Encoder
        ],
        Observability: [PtcRunner.Native.Telemetry],
        "Beside ptc_runner": [PtcRunner.Native],
        "Mirrored from ptc_runner and allm": [
          PtcRunner.Context,
          PtcRunner.Json.Interpreter,
          PtcRunner.Json.Parser,
          PtcRunner.Json.Validator,
          PtcRunner.Sandbox,
          PtcRunner.SubAgent,
          PtcRunner.SubAgent.Definition,
          PtcRunner.SubAgent.KeyNormalizer,
          PtcRunner.SubAgent.Loop.JsonHandler,
          PtcRunner.SubAgent.Loop.Metrics,
          PtcRunner.SubAgent.Loop.Shared,
          PtcRunner.SubAgent.Signature.Parser,
          PtcRunner.SubAgent.Signature.Renderer,
          PtcRunner.SubAgent.Signature.TypeResolver,
          PtcRunner.SubAgent.Template,
          ALLM.Engine,
          ALLM.Error.ValidationError,
          ALLM.Serializer,
          ALLM.Tool
        ]
      ]
    ]
  end
end

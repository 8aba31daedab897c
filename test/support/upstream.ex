defmodule PtcRunner.Test.Upstream do
  @moduledoc """
  A replacement for a release of `ptc_runner`, made from the table of its modules' exports: each
  function returns where it was called. Also an application that depends on it and on this library.
  """

  import ExUnit.Assertions

  alias PtcRunner.Test.{ReleaseTable, Vectors}

  @root Path.expand("../..", __DIR__)

  @doc "The exports of the modules of a release, by module: `{exports, struct fields}`."
  @spec modules(String.t()) :: %{module() => {[{atom(), arity()}], [atom()]}}
  def modules(release) do
    for %{release: ^release} = row <- Vectors.read("upstream_exports"),
        into: %{},
        do: {row.module, {row.exports, row.struct_fields}}
  end

  @doc """
  Writes the release and the application into a folder; gives the folder where Mix is called.

  With `umbrella: true` the application is one of an umbrella project. With `ptc_runner: :hex` the release is a package
  of Hex, as far as Mix can tell; with `:last`, it stands after this library among the dependencies, and there is Hex.
  """
  @spec write(Path.t(), String.t(), keyword()) :: Path.t()
  def write(folder, release, opts \\ []) do
    umbrella? = Keyword.get(opts, :umbrella, false)
    from = Keyword.get(opts, :ptc_runner, :path)
    root = Path.join(folder, "app")
    app = if umbrella?, do: Path.join(root, "apps/host_app"), else: root
    package = Path.join(if(from == :hex, do: Path.join(app, "deps"), else: folder), "ptc_runner")

    write_file(package, "mix.exs", mix("PtcRunner", :ptc_runner, release, "[]"))

    for {module, {exports, fields}} <- modules(release),
        do:
          write_file(
            package,
            "lib/#{Macro.underscore(module)}.ex",
            module(module, exports, fields)
          )

    for {name, source} <- extras(release), do: write_file(package, "lib/#{name}.ex", source)

    allm = if Keyword.get(opts, :allm, false), do: write_allm(folder), else: ""

    theirs = if from == :hex, do: ~s("~> 0.4"), else: "path: #{inspect(package)}"
    deps = ["{:ptc_runner, #{theirs}}", "{:ptc_runner_native, path: #{inspect(@root)}}"]
    deps = if from == :last, do: Enum.reverse(deps), else: deps
    deps = "[#{allm}#{Enum.join(deps, ", ")}]"
    hex = if from == :path, do: "", else: hex()
    write_file(app, "mix.exs", hex <> mix("HostApp", :host_app, "0.1.0", deps))
    write_file(app, "lib/host_app.ex", host())
    write_file(app, "test/test_helper.exs", "ExUnit.start()")
    write_file(app, "test/host_app_test.exs", host_test())

    # One native library for all builds.
    File.mkdir_p!(Path.join(root, "_build"))
    native = Path.join(Path.dirname(Mix.Project.build_path()), "native")
    File.ln_s!(native, Path.join(root, "_build/native"))
    if umbrella?, do: write_file(root, "mix.exs", umbrella())
    root
  end

  # Where the library is compiled once for all tests of a run.
  @shared "tmp/overlay_library"

  @doc """
  The application on 0.13.0, compiled with nothing compiled before, and what Mix said. `ptc_runner` stands after this library among its
  dependencies: Mix compiles it first all the same. It is compiled once in a run of the tests: one test may work in it, others take the
  library from `write_compiled/3`.
  """
  @spec compiled() :: {Path.t(), String.t()}
  def compiled do
    :global.trans({__MODULE__, self()}, fn ->
      case :persistent_term.get(__MODULE__, nil) do
        nil ->
          folder = Path.expand(@shared, @root)
          File.rm_rf!(folder)
          app = write(folder, "0.13.0", ptc_runner: :last)
          output = run!(app, "mix", ["compile"])
          # That test may have it compiled again.
          File.cp_r!(library(app), Path.join(folder, "library"))
          :persistent_term.put(__MODULE__, {app, output})
          {app, output}

        compiled ->
          compiled
      end
    end)
  end

  @doc """
  As `write/3`, with the library as it was compiled beside 0.13.0: Mix compiles what stands in for `ptc_runner`, and the application. So it is
  with an application that gets another release of `ptc_runner`.
  """
  @spec write_compiled(Path.t(), String.t(), keyword()) :: Path.t()
  def write_compiled(folder, release, opts \\ []) do
    app = write(folder, release, opts)
    compiled()
    File.mkdir_p!(Path.dirname(library(app)))
    File.cp_r!(Path.expand("#{@shared}/library", @root), library(app))
    app
  end

  defp library(app, env \\ "dev"), do: Path.join(app, "_build/#{env}/lib/ptc_runner_native")

  # Hex is not here. Mix asks whether there is such a module, and its kind of source for a package.
  defp hex do
    """
    defmodule HostApp.Packages do
      @behaviour Mix.SCM
      def fetchable?, do: true
      def format(_opts), do: "Hex package"
      def format_lock(_opts), do: nil
      def accepts_options(_app, opts), do: if(opts[:path], do: nil, else: opts ++ [hex: true])
      def checked_out?(opts), do: File.dir?(opts[:dest])
      def lock_status(_opts), do: :ok
      def equal?(_opts, _others), do: true
      def managers(_opts), do: [:mix]
      def checkout(_opts), do: nil
      def update(_opts), do: nil
    end

    if not Code.ensure_loaded?(Hex) do
      defmodule Hex do
        def start, do: :ok
        def version, do: "2.0.6"
      end
    end

    Mix.SCM.append(HostApp.Packages)
    """
  end

  # The parts of the package `allm` that have the names of our modules.
  defp write_allm(folder) do
    package = Path.join(folder, "allm")
    write_file(package, "mix.exs", mix("Allm", :allm, "0.3.0", "[]"))

    write_file(package, "lib/allm.ex", """
    defmodule ALLM do
    end

    defmodule ALLM.Engine do
      defstruct [:adapter, :theirs]
      def new(_), do: %__MODULE__{theirs: true}
    end

    defmodule ALLM.Serializer do
      def to_json!(_), do: :theirs
    end
    """)

    " {:allm, path: #{inspect(package)}},"
  end

  defp umbrella do
    """
    defmodule Umbrella.MixProject do
      use Mix.Project
      def project, do: [apps_path: "apps", deps: []]
    end
    """
  end

  defp write_file(folder, name, text) do
    path = Path.join(folder, name)
    File.mkdir_p!(Path.dirname(path))
    File.write!(path, text)
  end

  defp mix(name, app, version, deps) do
    # With `allm`, a release is put together in half of the time. Without, it is as Mix makes it.
    fast = ", releases: [#{app}: [strip_beams: false, include_erts: false]]"
    releases = if deps =~ ":allm", do: fast, else: ""

    """
    defmodule #{name}.MixProject do
      use Mix.Project
      def project do
        [app: #{inspect(app)}, version: "#{version}", elixir: "~> 1.14", deps: deps()#{releases}] ++ umbrella()
      end

      defp umbrella do
        if File.regular?("../../mix.exs") and #{inspect(app)} == :host_app,
          do: [build_path: "../../_build", deps_path: "../../deps", lockfile: "../../mix.lock"],
          else: []
      end

      def application, do: [extra_applications: [:logger]]
      defp deps, do: #{deps}
    end
    """
  end

  # Runs of PTC-Lisp make steps, also those of this library.
  defp module(PtcRunner.Step, exports, fields) do
    fields = inspect(fields -- [:prints, :tool_calls], limit: :infinity)

    """
    defmodule PtcRunner.Step do
      defstruct #{fields} ++ [prints: [], tool_calls: []]
      def ok(return, memory), do: %__MODULE__{return: return, memory: memory}

      def error(reason, message, memory, details \\\\ %{}#{if {:error, 5} in exports, do: ", _opts \\\\ []"}) do
        %__MODULE__{fail: %{reason: reason, message: message, details: details}, memory: memory}
      end
    end
    """
  end

  # `fun/arity` returns `{:original, module, fun, arity}`.
  defp module(module, exports, fields) do
    struct = if fields == [], do: "", else: "defstruct #{inspect(fields, limit: :infinity)}"
    skipped = [:__struct__, :__info__, :module_info]

    functions =
      for {name, arity} <- exports, name not in skipped do
        args = Macro.generate_arguments(arity, nil) |> Enum.map(&{:"_#{elem(&1, 0)}", [], nil})
        answer = Macro.escape({:original, module, name, arity})

        Macro.to_string(
          quote do
            def unquote(name)(unquote_splicing(args)), do: unquote(answer)
          end
        )
      end

    "defmodule #{inspect(module)} do\n#{struct}\n#{Enum.join(functions, "\n")}\nend\n"
  end

  # Modules that this library does not have, except one. `PtcRunner.Lisp` evaluates with this library, when that is there.
  defp extras(_release) do
    %{
      "lisp" => lisp(),
      "keyword" => "defmodule PtcRunner.Lisp.Keyword do\n defstruct [:name]\nend",
      "flex_access" => """
      defmodule PtcRunner.Lisp.Runtime.FlexAccess do
        def flex_get(_, _), do: :original
        def flex_fetch(_, _), do: :original
        def flex_get_in(_, _), do: :original
        def flex_fetch_in(_, _), do: :original
        def flex_put_in(_, _, _), do: :original
        def flex_update_in(_, _, _), do: :original
      end
      """
    }
  end

  defp lisp do
    "test/support/lisp_original.ex"
    |> Path.expand(@root)
    |> File.read!()
    |> String.replace("defmodule PtcRunner.Test.LispOriginal do", "defmodule PtcRunner.Lisp do")
    |> String.replace("defmodule Sources do", "defmodule Elixir.PtcRunner.Lisp.CoreToSource do")
    |> String.replace("defmodule Var do", "defmodule Elixir.PtcRunner.Lisp.Format.Var do")
    |> String.replace("%Var{", "%PtcRunner.Lisp.Format.Var{")
  end

  # This module uses the originals as structs and in remote calls.
  defp host do
    """
    defmodule HostApp do
      alias PtcRunner.{Context, Step, Tool}

      def step, do: %Step{return: 1}
      def context, do: %Context{ctx: %{}, memory: %{}, tools: %{}}
      def tool, do: %Tool{}
      def lisp(text, opts \\\\ []), do: PtcRunner.Lisp.run(text, opts)
      def lisp_of_original, do: PtcRunner.Lisp.validate("(+ 1 2)")
      def agent, do: PtcRunner.SubAgent.run(:agent)
      def signature, do: PtcRunner.SubAgent.Signature.parse("(id :int) -> :string")
      def flex, do: PtcRunner.Lisp.Runtime.FlexAccess.flex_get(%{"a-b" => 1, a_b: 2}, "a-b")
      def json, do: PtcRunner.Json.run!(~s({"program": {"op": "literal", "value": 42}}))
      def parse_json, do: PtcRunner.SubAgent.JsonParser.parse("x {\\"a\\": 1}")
      def info, do: PtcRunner.Native.info()
      def info(module), do: Map.new(info().modules)[module]
    end
    """
  end

  defp host_test do
    """
    defmodule HostAppTest do
      use ExUnit.Case
      test "native in the tests too", do: assert({:ok, {:signature, _, _}} = HostApp.signature())
      test "the originals stay", do: assert(HostApp.lisp_of_original() == {:validated, "(+ 1 2)"})
    end
    """
  end

  @doc """
  Gives another environment the dependencies as they were compiled for `:dev`: in every environment a dependency
  is compiled for `:prod`. The application is compiled again.
  """
  @spec copy_build(Path.t(), String.t()) :: :ok
  def copy_build(app, env) do
    target = Path.dirname(library(app, env))
    File.mkdir_p!(target)

    # The library last: it is compiled after the others.
    for dependency <- ~w(allm ptc_runner ptc_runner_native),
        built = Path.join(Path.dirname(library(app)), dependency),
        File.dir?(built),
        do: File.cp_r!(built, Path.join(target, dependency))

    :ok
  end

  @doc "Code for the application that prints the result of `PtcRunner.Native.info/0` there."
  @spec show_info() :: String.t()
  def show_info,
    do: "IO.puts([?<, Base.encode64(:erlang.term_to_binary(HostApp.info())), ?>])\n"

  @doc "Asserts that the output of `show_info/0` agrees with the guide."
  @spec assert_as_in_guide(String.t(), String.t()) :: :ok
  def assert_as_in_guide(output, release) do
    [_, encoded] = Regex.run(~r/<([\w+\/=]{100,})>/, output)
    info = encoded |> Base.decode64!() |> :erlang.binary_to_term()
    assert info.ptc_runner == release
    states = Map.new(info.modules)

    for {module, _} <- modules(release), module != PtcRunner.Tool do
      {said, _why} = ReleaseTable.said(inspect(module), release)
      done = if states[module] == :replaced, do: :native, else: :left
      assert {module, release, said} == {module, release, done}
    end

    :ok
  end

  @doc "Runs a command in the application; returns its output, or fails the test."
  @spec run!(Path.t(), String.t(), [String.t()], keyword()) :: String.t()
  def run!(app, command, args, opts \\ []) do
    case run(app, command, args, opts) do
      {output, 0} ->
        output

      {output, status} ->
        raise "#{command} #{Enum.join(args, " ")} ended with #{status}:\n#{output}"
    end
  end

  @doc "Runs a command in the application; returns its output and its status."
  @spec run(Path.t(), String.t(), [String.t()], keyword()) :: {String.t(), non_neg_integer()}
  def run(app, command, args, opts \\ []) do
    # Without a CARGO_TARGET_DIR of its own cargo uses the application's `_build/native`, which is this build's.
    env = [
      {"MIX_ENV", Keyword.get(opts, :mix_env, "dev")},
      {"MIX_BUILD_PATH", nil},
      {"CARGO_TARGET_DIR", nil}
    ]

    System.cmd(command, args, cd: app, stderr_to_stdout: true, env: env ++ (opts[:env] || []))
  end
end

defmodule PtcRunner.Package.ChecksTest do
  # The scripts that run all checks, with programs of the same names that only say what they were called for.
  use ExUnit.Case, async: true

  @root Path.expand("../..", __DIR__)

  # Runs a script in a copy of `bin` and `.ci`, with these programs first on the path; gives what it has printed, and its status.
  defp run(folder, script, programs) do
    for from <- ["bin", ".ci"] do
      File.cp_r!(Path.join(@root, from), Path.join(folder, from))
    end

    for {name, body} <- programs, do: program(folder, name, body)
    path = Path.join(folder, "programs") <> ":" <> System.get_env("PATH")
    env = [{"PATH", path}, {"FOLDER", folder}, {"XDG_CACHE_HOME", folder}, {"PTC_OTP_ROOT", nil}]
    [command | args] = String.split(script)
    System.cmd(Path.join(folder, command), args, env: env, stderr_to_stdout: true)
  end

  # A program of the path, or a script that is called by its path.
  defp program(folder, name, body) do
    place = if name =~ "/", do: name, else: "programs/" <> name
    path = Path.join(folder, place)
    File.mkdir_p!(Path.dirname(path))
    File.write!(path, "#!/usr/bin/env bash\n" <> body)
    File.chmod!(path, 0o755)
  end

  defp alive?(pid), do: match?({_, 0}, System.cmd("kill", ["-0", pid], stderr_to_stdout: true))

  # The tests of the core: a process, with one that it has started. Their ids are in a file.
  @slow """
  echo $$ >>"$FOLDER/pids"
  sleep 600 &
  echo $! >>"$FOLDER/pids"
  wait
  """

  @cargo """
  case " $* " in
    *" --no-run "* | " fmt "* | " clippy "*) exit 0 ;;
    " test "*) #{@slow} ;;
  esac
  """

  # The Elixir tests fail when the core's have begun.
  @mix """
  [ "$1" != test ] || { until [ "$(wc -l <"$FOLDER/pids")" = 2 ]; do sleep 0.1; done; exit 3; }
  """

  @others [
    {"cc", ""},
    {"c++", ""},
    {"elixir", "echo 1.14.0"},
    {"bin/notice", ""},
    {"bin/mcp-check", ""}
  ]

  describe "bin/test" do
    @tag :tmp_dir
    test "a check that fails ends what runs beside it, with all that this has started", given do
      File.write!(Path.join(given.tmp_dir, "pids"), "")
      programs = [{"cargo", @cargo}, {"mix", @mix}] ++ @others
      {output, status} = run(given.tmp_dir, "bin/test", programs)
      assert status == 3, output
      assert output =~ "s: mix test"
      refute output =~ "All checks"

      pids = given.tmp_dir |> Path.join("pids") |> File.read!() |> String.split()
      assert length(pids) == 2
      assert ended?(pids, 600), "these are still there: #{inspect(pids)}"
    end

    @tag :tmp_dir
    test "a check beside the others that fails is the failure", given do
      cargo = String.replace(@cargo, @slow, "echo a test of the core; exit 5")
      programs = [{"cargo", cargo}, {"mix", ""}] ++ @others
      {output, status} = run(given.tmp_dir, "bin/test", programs)
      assert status == 5, output
      assert output =~ "a test of the core"
      refute output =~ "All checks"
    end
  end

  # A process that was killed takes its time to be gone.
  defp ended?(_pids, 0), do: false

  defp ended?(pids, left) do
    if Enum.any?(pids, &alive?/1),
      do: Process.sleep(50) && ended?(pids, left - 1),
      else: true
  end

  describe "bin/otp" do
    # A root in which everything is there.
    @made """
    root=${@: -1}
    mkdir -p "$root"
    echo made >>"$FOLDER/made"
    """

    # What is called in the root: Erlang says its release.
    @chroot """
    case "$*" in
      *otp_release*) echo -n "$RELEASE" ;;
      *) exit 1 ;;
    esac
    """

    @root_of [
      {"id", "echo 0"},
      {"cargo", ""},
      {"cc", ""},
      {"mix", ""},
      {"unshare", ~s([ "$2" = true ] || exit 4)},
      {"rustc", "echo /"},
      {"git", ""},
      {"debootstrap", @made},
      {"chroot", "RELEASE=27\n" <> @chroot}
    ]

    defp with_program(name, body), do: List.keystore(@root_of, name, 0, {name, body})

    @tag :tmp_dir
    test "says why a release cannot be checked, and exits with 77", given do
      for {{name, body}, why} <- [
            {{"id", "echo 1000"}, "debootstrap and chroot need root."},
            {{"unshare", "exit 1"}, "this system has no mounts of its own for a process."},
            {{"debootstrap", "echo no network; exit 1"},
             "debootstrap cannot make a root of Debian's trixie."},
            {{"chroot", "exit 1"}, "Erlang does not start in "},
            {{"chroot", "RELEASE=28\n" <> @chroot},
             "has Erlang/OTP 28: Debian's trixie has another release by now."}
          ] do
        folder = Path.join(given.tmp_dir, "#{:erlang.phash2({name, body})}")
        File.mkdir_p!(folder)
        {output, status} = run(folder, "bin/otp 27", with_program(name, body))
        assert {status, why} == {77, why}, output
        assert output =~ "Erlang/OTP 27 is not checked: "
        assert output =~ why
      end
    end

    @tag :tmp_dir
    test "a root that was not completed is made anew", given do
      broken = with_program("debootstrap", @made <> "exit 1\n")
      assert {_output, 77} = run(given.tmp_dir, "bin/otp 27", broken)
      # The programs in the root fail with 4. The root is complete, and is not made a third time.
      for _ <- 1..2 do
        assert {output, 4} = run(given.tmp_dir, "bin/otp 27", @root_of)
        refute output =~ "is not checked"
      end

      made = Path.join(given.tmp_dir, "made")
      assert File.read!(made) == "made\nmade\n"
      # One that was made of other packages is.
      File.write!(Path.join(given.tmp_dir, "ptc_runner_native/otp27/packages"), "elixir\n")
      assert {_output, 4} = run(given.tmp_dir, "bin/otp 27", @root_of)
      assert File.read!(made) == "made\nmade\nmade\n"
    end
  end

  describe ".ci/run" do
    @tag :tmp_dir
    test "reports a release that cannot be had, and fails where one fails", given do
      for {statuses, status, told} <- [
            {%{"27" => 0, "29" => 0}, 0, []},
            {%{"27" => 77, "29" => 0}, 0, ["Erlang/OTP 27"]},
            {%{"27" => 77, "29" => 77}, 0, ["Erlang/OTP 27", "Erlang/OTP 29"]},
            {%{"27" => 0, "29" => 1}, 1, []},
            {%{"27" => 2, "29" => 77}, 2, []}
          ] do
        folder = Path.join(given.tmp_dir, "#{:erlang.phash2(statuses)}")
        File.mkdir_p!(folder)
        cases = for {release, status} <- statuses, do: "#{release}) exit #{status} ;;\n"
        otp = "case $1 in\n#{cases}esac\n"
        {output, ended} = run(folder, ".ci/run", [{"bin/test", ""}, {"bin/otp", otp}])
        assert {statuses, ended} == {statuses, status}

        for release <- ["Erlang/OTP 27", "Erlang/OTP 29"],
            do: assert(output =~ "Not run: #{release}" == release in told)
      end

      {output, ended} = run(given.tmp_dir, ".ci/run", [{"bin/test", "exit 6"}, {"bin/otp", ""}])
      assert {output, ended} == {"", 6}
    end
  end
end

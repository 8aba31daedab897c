defmodule PtcRunner.Native.LibraryTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Native.Library
  alias PtcRunner.Test.Room

  doctest Library

  @extension if match?({:win32, _}, :os.type()), do: "dll", else: "so"

  # A copy of the application in which the library can be spoiled, and a VM that has only that.
  setup do
    dir = Path.join(System.tmp_dir!(), "ptc_library_#{System.unique_integer([:positive])}")
    app = Path.join(dir, "ptc_runner_native")
    File.mkdir_p!(Path.join(app, "priv"))
    File.ln_s!(Application.app_dir(:ptc_runner_native, "ebin"), Path.join(app, "ebin"))

    File.cp_r!(
      Application.app_dir(:ptc_runner_native, "priv/native"),
      Path.join(app, "priv/native")
    )

    on_exit(fn -> File.rm_rf!(dir) end)

    library = Path.join(app, "priv/native/ptc_nif.#{@extension}")
    %{app: app, library: library, manifest: Path.join(app, "priv/native/ptc_nif.manifest")}
  end

  # What a program gives there, or what it raises.
  defp run(app) do
    code = """
    IO.inspect(
      try do
        PtcRunner.Json.run!(~s({"program": {"op": "literal", "value": 42}}))
      rescue
        error -> {:raised, Exception.message(error)}
      end
    )
    """

    {output, status} =
      System.cmd("elixir", ["-pa", Path.join(app, "ebin"), "-e", code], stderr_to_stdout: true)

    assert status == 0, output
    output
  end

  # What a call there raises, as the module finds it when it is loaded: the tests with `run/1` start a VM for the way from there to the caller.
  defp refused(app) do
    assert {:error, sentence} =
             Library.check(String.to_charlist(Path.join(app, "priv/native/ptc_nif")))

    sentence
  end

  defp write(path, fun), do: File.write!(path, fun.(File.read!(path)))

  defp signed(manifest, library) do
    text = File.read!(library)
    md5 = Base.encode16(:erlang.md5(text), case: :lower)
    version = Mix.Project.config()[:version]
    File.write!(manifest, "version #{version}\nbytes #{byte_size(text)}\nmd5 #{md5}\n")
  end

  test "as it was built, it is loaded", %{app: app} do
    assert run(app) == "42\n"
  end

  test "cut off, it is refused before it is mapped", %{app: app, library: library} do
    size = File.stat!(library).size
    path = library |> Path.rootname() |> String.to_charlist()

    for keep <- [size - 1, div(size, 2), 4_096, 64, 5] do
      write(library, &binary_part(&1, 0, keep))
      assert {:error, sentence} = Library.check(path)
      assert sentence =~ "has #{keep} bytes, and had #{size}"
      assert sentence =~ "mix compile --force"
    end

    output = run(app)
    assert output =~ "has 5 bytes, and had #{size}"
    assert output =~ "{:raised,"
  end

  test "with other bytes, it is refused", %{app: app, library: library} do
    write(library, fn text ->
      half = div(byte_size(text), 2)
      rest = binary_part(text, half + 1, byte_size(text) - half - 1)

      <<binary_part(text, 0, half)::binary, Bitwise.bxor(:binary.at(text, half), 1),
        rest::binary>>
    end)

    assert refused(app) =~ "its checksum is another one"
  end

  test "empty or missing, it is said to be so", %{app: app, library: library} do
    File.write!(library, "")
    assert refused(app) =~ "ptc_nif.#{@extension} is empty"
    File.rm!(library)
    output = run(app)
    assert output =~ "The native library of ptc_runner_native is missing"
    assert output =~ "mix deps.compile ptc_runner_native --force"
  end

  test "without a manifest, or with half of one, it is refused", context do
    File.write!(context.manifest, "version 0.1")
    assert refused(context.app) =~ "ptc_nif.manifest is damaged"
    File.rm!(context.manifest)
    assert refused(context.app) =~ "What is known about the native library is missing"
  end

  test "of another version, it is refused", %{app: app, manifest: manifest} do
    write(manifest, &String.replace(&1, ~r/version .*/, "version 0.0.9"))
    assert refused(app) =~ "is of version 0.0.9 of ptc_runner_native, and this is"
  end

  if match?({:unix, :linux}, :os.type()) do
    test "of another processor, it is refused, by name", context do
      %{app: app, library: library, manifest: manifest} = context
      <<machine::little-16>> = binary_part(File.read!(library), 18, 2)
      {other, name} = if machine == 183, do: {62, "x86_64"}, else: {183, "aarch64"}

      write(library, fn <<head::binary-18, _::16, rest::binary>> ->
        head <> <<other::little-16>> <> rest
      end)

      signed(manifest, library)
      assert refused(app) =~ "is a library for #{name}, and this VM runs on"
    end
  end

  test "that is no library but as it was built, is refused by the VM", context do
    File.write!(context.library, String.duplicate("no library ", 1_000))
    signed(context.manifest, context.library)
    assert run(context.app) =~ "The VM refused the native library: "
  end

  test "is read again where a build was just replacing it", %{app: app} = context do
    text = File.read!(context.manifest)
    path = app |> Path.join("priv/native/ptc_nif") |> String.to_charlist()

    # The build is done within the 200 ms after which the library is read again, except on a machine that stands still.
    Room.again(fn ->
      File.write!(context.manifest, "version")

      late =
        Task.async(fn ->
          Process.sleep(50)
          File.write!(context.manifest, text)
        end)

      checked = Library.check(path)
      Task.await(late, 60_000)
      assert checked == :ok
    end)
  end

  test "the module cannot be replaced, says so, and stays in use", %{app: app} do
    code = """
    one = fn -> PtcRunner.Json.run!(~s({"program": {"op": "literal", "value": 42}})) end
    42 = one.()
    IO.inspect(:code.load_file(PtcRunner.Native))
    IO.inspect(one.())
    :code.purge(PtcRunner.Native)
    IO.inspect(:code.load_file(PtcRunner.Native))
    IO.inspect(one.())
    """

    {output, 0} =
      System.cmd("elixir", ["-pa", Path.join(app, "ebin"), "-e", code], stderr_to_stdout: true)

    assert output =~ "PtcRunner.Native cannot be replaced while the VM runs"
    assert length(String.split(output, "{:error, :on_load_failure}")) == 3
    assert length(Regex.scan(~r/^42$/m, output)) == 2
  end
end

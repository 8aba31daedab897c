defmodule PtcRunner.Native.UnloadedTest do
  # The native module is deleted during a run, in a VM of its own. The run ends with a clear error, and no log has
  # a value of the run.
  use ExUnit.Case, async: true

  @script Path.expand("../../support/unloaded.exs", __DIR__)

  # One VM for all kinds: before each of them it has the library again.
  @kinds ~w(map one two overlap agent before purge)

  test "runs that lose their library" do
    ebin = Path.join(Application.app_dir(:ptc_runner_native), "ebin")
    command = ["-s", "KILL", "280", "elixir", "-pa", ebin, @script | @kinds]
    {output, status} = System.cmd("timeout", command, stderr_to_stdout: true)
    assert status == 0, output
    assert ["" | of_kinds] = Regex.split(~r/^KIND (?=\w+$)/m, output)
    assert Enum.map(of_kinds, &(&1 |> String.split("\n") |> hd())) == @kinds

    for output <- of_kinds do
      results = for "RESULT" <> result <- String.split(output, "\n"), do: result
      assert [_, _] = results, output

      # The second run starts without the library, except after a purge: then it is loaded again.
      assert Enum.all?(results, &(&1 =~ "The native library was unloaded while it was in use")),
             output

      assert hd(results) =~ "{:error, "
    end

    refute output =~ "s3cret"
    refute output =~ "LEAK"
    refute output =~ "HANGS"
    refute output =~ "Native.resume"
  end

  test "the handler of the calling process is what it was" do
    before = :erlang.process_flag(:error_handler, :error_handler)
    tools = %{"t" => fn _ -> raise "x" end}
    call = %{"program" => %{"op" => "call", "tool" => "t"}}

    for opts <- [[tools: tools], [tools: tools, tool_concurrency: 2], []] do
      assert {:error, _} = PtcRunner.Json.run(call, opts)
      assert :erlang.process_flag(:error_handler, :error_handler) == :error_handler
    end

    :erlang.process_flag(:error_handler, Kernel.ErrorHandler)
    assert {:error, _} = PtcRunner.Json.run(call, tools: tools)
    assert :erlang.process_flag(:error_handler, before) == Kernel.ErrorHandler
  end

  test "modules that are loaded on demand are loaded in tools too" do
    module = :io_lib_fread
    :code.purge(module)
    :code.delete(module)
    tools = %{"t" => fn _ -> :io_lib.fread(~c"~d", ~c"12") |> elem(1) end}

    # The code server of a busy machine takes its time.
    assert {:ok, [12], _, _} =
             PtcRunner.Json.run(%{"program" => %{"op" => "call", "tool" => "t"}},
               tools: tools,
               timeout: 60_000
             )
  end
end

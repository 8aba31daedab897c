defmodule PtcRunner.Native.OverlayCommandsTest do
  # What the commands after the first one do, with `ptc_runner` from Hex and by path; and the rules of older releases.
  use ExUnit.Case, async: true

  alias PtcRunner.Test.Upstream

  @moduletag :builds
  @moduletag timeout: 600_000
  @moduletag :tmp_dir

  test "a release from Hex: the next commands compile nothing; the rules before 0.11.0",
       context do
    app = Upstream.write_compiled(context.tmp_dir, "0.10.1", ptc_runner: :hex)
    compiled = Upstream.run!(app, "mix", ["compile"])
    assert compiled =~ "Generated host_app app"
    refute compiled =~ "warning:"
    compiles_nothing(app)

    code = """
    alias PtcRunner.SubAgent.Signature
    {:ok, signature} = Signature.parse("{state :keyword, page :map}")
    {:error, [%{path: ["state"]}]} = Signature.validate(signature, %{state: "open", page: %URI{}})
    :ok = Signature.validate(signature, %{state: :open, page: %URI{}})
    for text <- [":datetime", "{a :boolean}", "[:int]?"], do: {:error, _} = Signature.parse(text)

    :ok = PtcRunner.Native.detach()
    [_ | _] = PtcRunner.Native.attach()
    {:error, _} = Signature.parse(":datetime")
    IO.puts("all of it held")
    """

    output = Upstream.run!(app, "mix", ["run", "-e", Upstream.show_info() <> code])
    assert output =~ "all of it held"
    assert output =~ "(by the rules before 0.11.0: a string is no :keyword, a struct is a map"
    Upstream.assert_as_in_guide(output, "0.10.1")
    refute output =~ "Compiling"
  end

  # If a second ends while Mix writes an application's file, the next command writes it again.
  defp compiles_nothing(app) do
    output = Upstream.run!(app, "mix", ["compile"])
    refute output =~ "Compiling"
    refute output =~ "warning:"
  end

  test "both by path; texts and options before 0.7.0", context do
    # The library was compiled beside a release without PtcRunner.Json, so the compiler finds two of them now; that it
    # says nothing where nothing was compiled before, the test with `allm` sees.
    app = Upstream.write_compiled(context.tmp_dir, "0.6.0")
    assert Upstream.run!(app, "mix", ["compile"]) =~ "Generated host_app app"

    code = """
    {:original, PtcRunner.Schema, :to_prompt, 0} = PtcRunner.Schema.to_prompt()
    {:original, PtcRunner.Schema, :to_llm_schema, 0} = PtcRunner.Schema.to_llm_schema()
    {:original, PtcRunner.Schema, :to_json_schema, 0} = PtcRunner.Schema.to_json_schema()
    {:original, PtcRunner.SubAgent.Signature, :parse, 1} = HostApp.signature()

    program = ~s({"program": {"op": "literal", "value": 42}})
    for _ <- 1..2, do: {:ok, 42, _, _} = PtcRunner.Json.run(program, timeout_ms: 5, max_memory_mb: 1)
    {:error, {:validation_error, text}} = PtcRunner.Json.run(~s({"program": {"op": "gt"}}))
    "Operation 'gt' requires field 'field'" = text
    {:error, {:validation_error, text}} = PtcRunner.Json.run(~s({"program": {"op": "filer"}}))
    "Unknown operation 'filer'. Did you mean 'filter'?" = text
    {:error, text} = PtcRunner.SubAgent.Signature.Parser.parse("{at :datetime}")
    true = text =~ "unknown type :datetime"
    IO.puts("all of it held")
    """

    output = Upstream.run!(app, "mix", ["run", "-e", Upstream.show_info() <> code])
    assert output =~ "all of it held"
    Upstream.assert_as_in_guide(output, "0.6.0")
    refute output =~ "Compiling"

    assert [_, _] =
             String.split(output, "PtcRunner.Json.run/2 has no option :timeout_ms and ignores it")

    # A change of the other package compiles what depends on it, and then nothing.
    File.write!(Path.join(context.tmp_dir, "ptc_runner/lib/lisp.ex"), "# changed\n", [:append])
    refute Upstream.run!(app, "mix", ["compile"]) =~ "warning:"
    output = Upstream.run!(app, "mix", ["run", "-e", code])
    assert output =~ "all of it held"
    refute output =~ "Compiling"
  end
end

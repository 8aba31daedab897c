defmodule PtcRunner.Native.PanicTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Test.Peer

  @text "The native library failed on this: please report it as a bug"

  # A VM in which every native function panics, or one that can panic really.
  defp peer_that_panics do
    peer = Peer.start()

    Peer.eval(peer, ~S"""
    :logger.set_primary_config(:level, :none)
    functions = for {name, arity} <- PtcRunner.Native.__info__(:functions), name not in [:load, :take_panics], do: {name, arity}
    :code.purge(PtcRunner.Native)
    :code.delete(PtcRunner.Native)
    body = for {name, arity} <- functions do
      args = Macro.generate_arguments(arity, __MODULE__)
      quote do
        def unquote(name)(unquote_splicing(args)) do
          _ = unquote(args)
          :erlang.error(:nif_panicked)
        end
      end
    end
    panics = quote do
      def take_panics, do: ["a message (a_file.rs:1)"]
    end

    body = [panics | body]
    Code.compiler_options(ignore_module_conflict: true)
    Module.create(PtcRunner.Native, body, Macro.Env.location(__ENV__))
    """)

    peer
  end

  test "a panic in any native function is the error that is documented" do
    peer = peer_that_panics()

    for {code, expected} <- [
          {~S|PtcRunner.Json.run(~s({"program": {"op": "count"}}))|,
           {:error, {:execution_error, @text}}},
          {~S|PtcRunner.Json.run(%{"program" => %{"op" => "count"}})|,
           {:error, {:execution_error, @text}}},
          {~S|PtcRunner.Json.compile(~s({"program": {"op": "count"}}))|,
           {:error, {:execution_error, @text}}},
          {~S|PtcRunner.Json.Interpreter.eval(%{"op" => "count"}, PtcRunner.Context.new())|,
           {:error, {:execution_error, @text}}},
          {~S|PtcRunner.Sandbox.execute(%{"op" => "count"}, PtcRunner.Context.new())|,
           {:error, {:execution_error, @text}}},
          {~S|PtcRunner.Json.Validator.validate(%{"op" => "count"})|,
           {:error, {:execution_error, @text}}},
          {~S|PtcRunner.Json.Parser.parse("{}")|, {:error, {:parse_error, @text}}},
          {~S|PtcRunner.SubAgent.JsonParser.parse("{}")|, {:error, :invalid_json}},
          {~S|PtcRunner.SubAgent.Signature.parse("{a :int}")|, {:error, @text}},
          {~S|PtcRunner.SubAgent.Signature.validate({:signature, [], :int}, 1)|,
           {:error, [%{path: [], message: @text}]}},
          {~S|PtcRunner.SubAgent.Signature.Coercion.coerce("1", :int)|, {:error, @text}},
          {~S|PtcRunner.SubAgent.Signature.call_tool({:signature, [], :int}, %{}, & &1)|,
           {:error, {:invalid_input, [], @text}}},
          {~S|PtcRunner.SubAgent.AnswerStream.feed(%PtcRunner.SubAgent.AnswerStream{asked: {nil, :any, false, 9, nil}, state: nil}, "x")|,
           {:halt, {:error, [%{path: [], message: @text}]}}},
          {~S|PtcRunner.SubAgent.AnswerStream.finish(%PtcRunner.SubAgent.AnswerStream{asked: {nil, :any, false, 9, nil}, state: nil})|,
           {:error, [%{path: [], message: @text}]}},
          {~S|PtcRunner.SubAgent.AnswerStream.partial(%PtcRunner.SubAgent.AnswerStream{asked: {nil, :any, false, 9, nil}, state: nil})|,
           :none}
        ] do
      assert {code, Peer.eval(peer, code)} == {code, expected}
    end

    for {code, error} <- [
          {~S|PtcRunner.Json.Codec.decode("[]")|, "DecodeError"},
          {~S|PtcRunner.Json.Codec.encode([])|, "EncodeError"}
        ] do
      assert {:error, exception} = Peer.eval(peer, code)
      assert inspect(exception.__struct__) =~ error
      assert Exception.message(exception) == @text
    end

    for code <- [
          ~S|PtcRunner.SubAgent.KeyNormalizer.normalize_keys(%{a: 1})|,
          ~S|PtcRunner.SubAgent.Signature.public_data(%{a: 1})|,
          ~S|PtcRunner.SubAgent.Signature.render({:signature, [], :int})|,
          ~S|PtcRunner.SubAgent.Signature.to_json_schema({:signature, [], :int})|,
          ~S|PtcRunner.SubAgent.Signature.Renderer.to_lisp_key("a_b")|,
          ~S|PtcRunner.SubAgent.AnswerStream.new({:signature, [], :int})|,
          ~S|PtcRunner.Schema.operations()|,
          ~S|ALLM.Engine.ToolMerge.merge([%{name: 1}], [])|
        ] do
      code = "try do #{code} rescue error in RuntimeError -> Exception.message(error) end"
      assert Peer.eval(peer, code) == @text
    end
  end

  test "what a panic says is logged once, with its place" do
    code = """
    try do
      PtcRunner.Native.panic_for_test("the wheel is off")
    catch
      :error, :nif_panicked -> IO.puts(PtcRunner.Native.Panic.caught())
    end

    PtcRunner.Native.Panic.caught()
    IO.inspect(PtcRunner.Json.run!(~s({"program": {"op": "literal", "value": 42}})))
    """

    paths = Enum.flat_map(Peer.code_path(), &["-pa", to_string(&1)])
    env = [{"PTC_RUNNER_NATIVE_TEST_PANICS", "1"}]
    {output, 0} = System.cmd("elixir", paths ++ ["-e", code], env: env, stderr_to_stdout: true)
    assert output =~ @text
    assert [_before, logged] = String.split(output, "the wheel is off")
    assert logged =~ ~r/^ \(native\/ptc_nif\/src\/panics\.rs:\d+\)/
    assert output =~ "[error]"
    assert output =~ "42\n"
  end

  test "outside of tests nothing panics on demand" do
    assert PtcRunner.Native.panic_for_test("no") == :off
  end
end

defmodule ALLM.HostTest do
  # What depends on which other modules an application has: each test in a VM of its own.
  use ExUnit.Case, async: true

  alias ALLM.{Engine, Serializer, Tool}
  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.Peer

  @moduletag timeout: 120_000

  @sources Path.wildcard(Path.expand("../../lib/allm/**/*.ex", __DIR__))

  setup do
    {:ok, peer: Peer.start()}
  end

  defp engine do
    tool = Tool.new(name: "a", description: "b", schema: %{"type" => "object"})
    Engine.new(adapter: String, adapter_opts: [timeout: 5], params: %{top_p: 1.0}, tools: [tool])
  end

  # Compiles the ALLM modules again, which is what an application does that has them as a dependency.
  defp recompile(peer) do
    Peer.eval(
      peer,
      """
      Code.put_compiler_option(:ignore_module_conflict, true)
      {:ok, modules, _warnings} = Kernel.ParallelCompiler.compile(sources, return_diagnostics: true)
      Enum.sort(modules)
      """,
      sources: @sources
    )
  end

  test "an engine goes to another node as a term and as JSON, and comes back", %{peer: peer} do
    binary = :erlang.term_to_binary(engine())
    assert Peer.call(peer, :erlang, :binary_to_term, [binary]) === engine()
    assert Peer.call(peer, Engine, :resolve_tools, [engine(), []]) === engine().tools

    json = Serializer.to_json!(engine())
    # The order of atom keys is the VM's own since OTP 26.
    there = Peer.call(peer, Serializer, :to_json!, [engine()])
    assert Codec.decode!(there) == Codec.decode!(json)

    # There, too, only atoms that exist are restored; `top_p` came with the engine.
    assert Peer.call(peer, Serializer, :from_json, [json]) === {:ok, engine()}
  end

  test "a module that the other node does not have", %{peer: peer} do
    json = Serializer.to_json!(Engine.new(adapter: __MODULE__.OnlyHere))
    assert {:ok, %Engine{adapter: __MODULE__.OnlyHere}} = Serializer.from_json(json)
    assert {:error, error} = Peer.call(peer, Serializer, :from_json, [json])
    assert error.errors == [_unknown: :atom_decode_failed]
  end

  test "with LLMDB, models are looked up there", %{peer: peer} do
    resolve = fn opts ->
      Peer.call(peer, Engine, :resolve_model, [Engine.new(model: "m"), opts])
    end

    assert resolve.([]) == "m"

    Peer.eval(peer, "defmodule LLMDB do def model(model), do: {:found, model} end")
    assert resolve.([]) == {:found, "m"}
    assert resolve.(model: "other") == {:found, "other"}
    assert resolve.(model: nil) == {:found, "m"}
  end

  test "where the ALLM package is, its modules stay", %{peer: peer} do
    assert Engine in recompile(peer)

    Peer.eval(peer, """
    Code.put_compiler_option(:ignore_module_conflict, true)
    defmodule ALLM do
    end

    for module <- [ALLM.Engine, ALLM.Tool, ALLM.Serializer, ALLM.Error.ValidationError] do
      defmodule module do
        def whose, do: :theirs
      end
    end
    """)

    assert recompile(peer) == []

    for module <- [Engine, Tool, Serializer, ALLM.Error.ValidationError],
        do: assert(Peer.call(peer, module, :whose, []) == :theirs)

    # The codec does not need them.
    assert Peer.call(peer, Codec, :encode!, [%{a: 1}]) == ~s({"a":1})
  end

  describe "with Jason" do
    # As much of Jason as the codec and the structs can meet.
    @jason """
    Code.put_compiler_option(:ignore_module_conflict, true)

    defprotocol Jason.Encoder do
      @fallback_to_any true
      def encode(value, opts)
    end

    defimpl Jason.Encoder, for: Any do
      def encode(value, _opts), do: raise(Protocol.UndefinedError, protocol: @protocol, value: value)
    end

    defmodule Jason do
      def encode_to_iodata!(value), do: Jason.Encoder.encode(value, :opts)
    end

    defmodule Decimal do
      defstruct [:text]
      defimpl Jason.Encoder do
        def encode(decimal, :opts), do: [?", decimal.text, ?"]
      end
    end

    defmodule Unknown do
      defstruct [:a]
    end
    """

    test "its protocol works for the structs, and gives the same JSON", %{peer: peer} do
      refute Jason.Encoder.ALLM.Engine in recompile(peer)
      Peer.eval(peer, @jason)
      assert Jason.Encoder.ALLM.Engine in recompile(peer)

      for struct <- [engine(), hd(engine().tools), ALLM.Error.ValidationError.new(:a, b: :c)] do
        iodata = Peer.call(peer, Jason, :encode_to_iodata!, [struct])
        there = IO.iodata_to_binary(iodata)
        assert Codec.decode!(there) == Codec.decode!(Serializer.to_json!(struct))
      end
    end

    test "structs that only Jason knows are written by it", %{peer: peer} do
      Peer.eval(peer, @jason)

      assert Peer.eval(peer, ~S"""
             PtcRunner.Json.Codec.encode!([1, %{"price" => struct(Decimal, text: "1.50")}, ~D[2025-11-20]])
             """) == ~s([1,{"price":"1.50"},"2025-11-20"])

      assert Peer.eval(peer, """
             {:error, error} = PtcRunner.Json.Codec.encode([struct(Unknown, a: 1)])
             {error.__struct__, error.value == struct(Unknown, a: 1)}
             """) == {Protocol.UndefinedError, true}
    end
  end
end

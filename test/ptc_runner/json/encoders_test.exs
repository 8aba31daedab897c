defmodule PtcRunner.Json.EncodersTest do
  # Steps, turns and errors as JSON, by our codec and by Jason, where an application has it.
  use ExUnit.Case, async: true

  alias PtcRunner.Json.{Codec, Encodable}
  alias PtcRunner.{Step, Turn}
  alias PtcRunner.Test.Peer

  defp written(term), do: term |> Codec.encode!() |> Codec.decode!()

  test "fields that say nothing are left out, tools are names" do
    step = %{Step.ok(%{"n" => 1}, %{}) | tools: %{"t" => & &1}}
    assert written(step) == %{"return" => %{"n" => 1}, "tools" => ["t"]}

    assert written(Step.error(:timeout, "took too long", %{})) ==
             %{"fail" => %{"reason" => "timeout", "message" => "took too long", "details" => %{}}}
  end

  test "values that JSON has no form for are shown" do
    turn =
      Turn.failure(1, "raw", nil, %{error: {:a, self()}, bytes: <<0xFF>>, date: ~D[2025-11-20]})

    assert %{
             "result" => %{
               "error" => ["a", "#PID" <> _],
               "bytes" => "<<255>>",
               "date" => "2025-11-20"
             }
           } = written(turn)

    assert written(Step.ok([1 | 2], %{})) == %{"return" => "[1 | 2]"}
  end

  test "structs without an encoder make no atoms of their names" do
    for number <- 1..20 do
      module = Module.concat(["Unencoded#{number}"])
      struct = %{__struct__: module, n: number}
      assert_raise Protocol.UndefinedError, fn -> Codec.encode!(struct) end
      assert Encodable.term(struct) == %{n: number}

      for protocol <- ["PtcRunner.Json.Encoder", "Jason.Encoder"] do
        name = "Elixir.#{protocol}.Unencoded#{number}"
        assert_raise ArgumentError, fn -> String.to_existing_atom(name) end
      end
    end
  end

  test "errors of the codec" do
    {:error, error} = Codec.encode(["a", <<"b", 0xFF>>])

    assert %{"error" => "not_utf8", "position" => 1, "message" => "invalid UTF-8" <> _} =
             written(error)
  end

  test "Jason writes the same" do
    peer = Peer.start()

    Peer.eval(peer, """
    Code.put_compiler_option(:ignore_module_conflict, true)

    defprotocol Jason.Encoder do
      def encode(value, opts)
    end

    {:ok, _modules, _warnings} = Kernel.ParallelCompiler.compile(["lib/ptc_runner/json/encoders.ex"], return_diagnostics: true)
    """)

    {:error, error} = Codec.decode("[1,]")

    for struct <- [Step.ok(1, %{}), Turn.success(1, "raw", nil, 2), error] do
      iodata = Peer.call(peer, Jason.Encoder, :encode, [struct, []])
      assert iodata |> IO.iodata_to_binary() |> Codec.decode!() == written(struct)
    end
  end
end

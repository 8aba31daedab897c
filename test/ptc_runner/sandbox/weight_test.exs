defmodule PtcRunner.Sandbox.WeightTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Sandbox.Weight
  alias PtcRunner.Test.Shared

  doctest Weight

  defp weight(term) do
    {:ok, words} = Weight.of(term, 0)
    words
  end

  defp closing_over(one, other), do: fn -> {one, other} end

  test "is that of the VM, for all that stands on the heap" do
    for term <- [
          nil,
          [],
          [1, 2, 3],
          [1 | 2],
          {},
          {1, :a, []},
          %{},
          %{a: 1, b: [2.5]},
          Map.new(1..32, &{&1, "v#{&1}"}),
          1.5,
          0x7FF_FFFF_FFFF_FFFF,
          -0x800_0000_0000_0000,
          0x800_0000_0000_0000,
          -0x800_0000_0000_0001,
          0xFFFF_FFFF_FFFF_FFFF,
          Integer.pow(2, 64),
          -Integer.pow(3, 5_000),
          "",
          "12345678",
          "123456789",
          String.duplicate("x", 64),
          String.duplicate("x", 65),
          String.duplicate("x", 100_000),
          self(),
          ~D[2025-11-20],
          {[%{"k" => {1.0, "two"}}], "three"}
        ] do
      assert weight(term) == :erts_debug.flat_size(term)
    end
  end

  test "is near that of the VM for large maps, references and funs" do
    closed_over = Enum.to_list(1..1_000)
    fun = fn -> closed_over end
    nested = fn -> {fun, fun} end

    for term <- [Map.new(1..33, &{&1, &1}), Map.new(1..50_000, &{&1, "v"}), fun, nested] do
      words = :erts_debug.flat_size(term)
      assert_in_delta weight(term), words, words * 0.25
    end

    assert weight(make_ref()) in 3..8
    assert weight(&Enum.map/2) in 0..8
  end

  test "counts what is shared as often as a copy has it" do
    assert weight(Shared.map(1, 10)) == :erts_debug.flat_size(Shared.map(1, 10))
    part = String.duplicate("x", 40)
    assert weight(List.duplicate(part, 1_000)) == 1_000 * (2 + 7)
  end

  test "ends at the limit, wherever the parts are shared" do
    for term <- [
          Shared.map(1, 60),
          Shared.times([], 60, &[&1 | &1]),
          Shared.times({}, 60, &{&1, &1}),
          Shared.times(%{}, 60, &%{&1 => &1}),
          Shared.times(fn -> 1 end, 60, &closing_over(&1, [&1])),
          Shared.times(Map.new(1..40, &{&1, &1}), 60, &Map.new(1..40, fn n -> {n, &1} end))
        ] do
      assert Weight.of(term, 1_250_000) == :too_much
    end
  end

  test "holds exactly up to the limit" do
    list = Enum.to_list(1..500)
    assert Weight.of(list, 1_000) == {:ok, 1_000}
    assert Weight.of([0 | list], 1_000) == :too_much
  end

  test "goes on where it left a scheduler" do
    list = for n <- 1..300_000, do: {n, [n], %{n: n}}
    assert weight(list) == :erts_debug.flat_size(list)
    list = Enum.take(list, 1_000)
    assert weight(for n <- 1..300, do: fn -> [list, n] end) > 300 * weight(list)
  end

  test "does not copy binaries that do not start at a byte over and over" do
    <<_bit::1, odd::binary-200_000, _bits::7>> = String.duplicate("x", 200_001)
    assert Weight.of(List.duplicate(odd, 100_000), 1_250_000) == :too_much
    assert {:ok, words} = Weight.of(odd, 1_250_000)
    assert words in 6..25_000
  end

  test "can be killed" do
    {pid, monitor} = spawn_monitor(fn -> Weight.of(Shared.map(1, 60), 0) end)
    Process.sleep(50)
    Process.exit(pid, :kill)
    assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}
  end
end

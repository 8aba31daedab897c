defmodule PtcRunner.Json.NativeTablesTest do
  # What an operation keeps in native memory counts against max_heap before it grows. Not async: the memory
  # of the whole VM is measured.
  use ExUnit.Case, async: false

  alias PtcRunner.{Json, Native, Quanta}
  alias PtcRunner.Test.Room

  @rows 1_000_000
  # A key is counted again after each suspension, and how often a job is suspended depends on the time that it takes.
  @again 300

  setup_all do
    rows = for n <- 1..@rows, do: %{"n" => n}

    # A constant of the VM: it is not copied for each test, and no collection of garbage goes through it. Not in the context of the tests:
    # ExUnit and its formatters, which keep that, would get copies of their own when the constant is erased, which took forty seconds.
    :persistent_term.put(__MODULE__, %{"rows" => rows, "ids" => Enum.to_list(1..@rows)})
    on_exit(fn -> :persistent_term.erase(__MODULE__) end)
  end

  defp context, do: :persistent_term.get(__MODULE__)

  defp pipe(name, steps),
    do: %{"op" => "pipe", "steps" => [%{"op" => "load", "name" => name} | steps]}

  defp run(program, context, max_heap),
    do: Json.run(%{"program" => program}, context: context, max_heap: max_heap, timeout: 30_000)

  # The result of a call, during which the VM had at most so many bytes more than before. What else happens in the VM is not the call's: what
  # exceeds the limit is measured again.
  defp assert_peak(limit, what, fun) do
    Room.again(fn ->
      {result, peak} = peak(fun)
      assert peak < limit, "#{peak} bytes: #{what}"
      result
    end)
  end

  # The most memory that the VM had during the call, without what it had before, in bytes.
  defp peak(fun) do
    :erlang.garbage_collect()
    before = :erlang.memory(:total)
    stop = :atomics.new(1, [])
    sampler = Task.async(fn -> sample(stop, before) end)
    result = fun.()
    :atomics.put(stop, 1, 1)
    {result, Task.await(sampler, 60_000) - before}
  end

  defp sample(stop, most) do
    most = max(most, :erlang.memory(:total))
    if :atomics.get(stop, 1) == 1, do: most, else: sample(stop, most)
  end

  @tag timeout: 300_000
  test "tables and buffers over a million rows end at max_heap" do
    context = context()
    ids = %{"op" => "load", "name" => "ids"}
    get = %{"op" => "get", "field" => "n"}

    for program <- [
          pipe("ids", [%{"op" => "distinct"}]),
          pipe("rows", [%{"op" => "distinct"}, %{"op" => "count"}]),
          pipe("rows", [%{"op" => "filter_in", "field" => "n", "value" => ids}]),
          pipe("rows", [
            %{
              "op" => "filter_in",
              "field" => "n",
              "value" => %{"op" => "literal", "value" => context["ids"]}
            }
          ]),
          pipe("rows", [%{"op" => "sort_by", "field" => "n"}]),
          pipe("rows", [
            %{"op" => "sort_by", "field" => "n", "order" => "desc"},
            %{"op" => "first"}
          ]),
          pipe("rows", [%{"op" => "take", "count" => @rows - 1}]),
          pipe("rows", [%{"op" => "select", "fields" => ["n"]}]),
          pipe("ids", [%{"op" => "select", "fields" => ["n"]}]),
          pipe("rows", [%{"op" => "map", "expr" => get}]),
          pipe("rows", [%{"op" => "filter", "where" => get}]),
          pipe("rows", [
            %{"op" => "reject", "where" => %{"op" => "eq", "field" => "n", "value" => 0}}
          ]),
          %{"op" => "concat", "lists" => [ids, ids]},
          %{"op" => "zip", "lists" => [ids, ids]}
        ] do
      shown = inspect(program, limit: 20)
      result = assert_peak(8_000_000, shown, fn -> run(program, context, 1_000) end)
      assert result == {:error, {:memory_exceeded, 8_000}}, shown
    end
  end

  @tag timeout: 300_000
  test "what decoding allocates ends at a small multiple of max_heap" do
    n = 600_000

    texts = [
      "[" <> String.duplicate("1,", n) <> "1]",
      "[" <> String.duplicate("1.5,", n) <> "1]",
      "[" <> String.duplicate("123456789012345678901234567890,", div(n, 5)) <> "1]",
      String.duplicate("[", n),
      "[" <> String.duplicate(~s({"a":1},), div(n, 2)) <> "1]",
      String.duplicate(~s({"a":[1,), div(n, 4)),
      "{" <> Enum.map_join(1..div(n, 5), ",", &~s("k#{&1}":1)) <> "}",
      "[" <> String.duplicate(~s("abc",), div(n, 2)) <> "1]",
      ~s(["#{String.duplicate("\\n", 4 * n)}"])
    ]

    for text <- texts, max_heap <- [50_000, 200_000, 500_000] do
      text = PtcRunner.Aligned.text(text)
      decode = fn -> elem(Json.Codec.decode(text, max_heap: max_heap, timeout: 60_000), 0) end
      decoded(text, max_heap, decode)
    end
  end

  @tag timeout: 300_000
  test "so does what fits" do
    for part <- [
          "1,",
          "1.5,",
          "123456789012345678901234567890,",
          ~s({"a":1},),
          ~s("abc",),
          "[2],"
        ],
        text = "[" <> String.duplicate(part, 120_000) <> "1]",
        {:ok, {words, _held}} =
          Native.json_measure(text, :infinity, {:infinity, 0}) |> Quanta.finish(),
        max_heap <- [words + @again, 2 * words] do
      text = PtcRunner.Aligned.text(text)
      decode = fn -> elem(Json.Codec.decode(text, max_heap: max_heap, timeout: 60_000), 0) end
      assert decoded(text, max_heap, decode) == :ok
      too_small = Json.Codec.decode(text, max_heap: words - @again, timeout: 60_000)
      assert {:error, %{reason: :memory_exceeded}} = too_small
    end
  end

  defp decoded(text, max_heap, decode) do
    shown = "of #{8 * max_heap} of #{String.slice(text, 0, 20)}"

    assert_peak(3 * 8 * max_heap + 1_000_000, shown, fn ->
      decode |> Task.async() |> Task.await(60_000)
    end)
  end

  test "a process has the same least heap after a text as before" do
    text = "[" <> String.duplicate("1,", 50_000) <> "1]"

    run = fn ->
      before = Process.info(self(), :min_heap_size)
      assert {:ok, _list} = Json.Codec.decode(text, max_heap: 250_000)
      assert Process.info(self(), :min_heap_size) == before
    end

    run |> Task.async() |> Task.await(:infinity)
  end

  test "what fits is as before" do
    context = Map.new(context(), fn {name, list} -> {name, Enum.take(list, 150_000)} end)
    assert {:ok, ids, _, _} = run(pipe("ids", [%{"op" => "distinct"}]), context, 1_250_000)
    assert ids == context["ids"]
    sort = %{"op" => "sort_by", "field" => "n", "order" => "desc"}
    assert {:ok, rows, _, _} = run(pipe("rows", [sort]), context, 1_250_000)
    assert rows == Enum.reverse(context["rows"])
    filter = %{"op" => "filter_in", "field" => "n", "value" => %{"op" => "load", "name" => "ids"}}
    assert {:ok, rows, _, _} = run(pipe("rows", [filter]), context, 1_250_000)
    assert rows == context["rows"]
  end
end

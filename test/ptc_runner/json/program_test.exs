defmodule PtcRunner.Json.ProgramTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.Program
  alias PtcRunner.Test.Peer

  @text ~s({"program": {"op": "pipe", "steps": [
    {"op": "load", "name": "rows"},
    {"op": "filter", "where": {"op": "gt", "field": "n", "value": 1}},
    {"op": "map", "expr": {"op": "call", "tool": "id"}},
    {"op": "take", "count": 2}]}})

  defp opts do
    rows = for n <- 1..5, do: %{"n" => n}
    [context: %{"rows" => rows}, tools: %{"id" => fn _ -> 7 end}]
  end

  defp compiled(text \\ @text) do
    {:ok, program} = Json.compile(text)
    program
  end

  test "a compiled program gives what its source gives, any number of times" do
    {:ok, parsed} = Json.Parser.parse(@text)
    expected = {:ok, [7, 7], %{}, %{}}
    assert Json.run(@text, opts()) == expected

    for program <- [compiled(), compiled(%{"program" => parsed})], _ <- 1..3 do
      assert Json.run(program, opts()) == expected
    end
  end

  test "errors of compile/2 are those of run/2" do
    sources =
      ["", "[", "{}", ~s({"program": 1}), ~s({"program": {"op": "lod"}}), [], nil, %{}] ++
        [%{"program" => 1}, %{"program" => %{"op" => "load"}}, %{"program" => ~D[2024-01-31]}]

    for source <- sources do
      assert {:error, {kind, _text}} = error = Json.compile(source)
      assert kind in [:parse_error, :validation_error]
      assert error == Json.run(source)
    end
  end

  test "the limits of a run are those given to it" do
    program = compiled()
    # the process of a tool needs 233 words on OTP 25, and more on OTP 27
    assert Json.run(program, opts() ++ [max_heap: 1_000]) == Json.run(@text, opts())
    hang = %{"id" => fn _ -> Process.sleep(:infinity) end}
    assert Json.run(program, [tools: hang, timeout: 10] ++ opts()) == {:error, {:timeout, 10}}
  end

  test "shows its source and nothing else" do
    assert inspect(compiled(~s({"program": {"op": "count"}}))) ==
             ~S(#PtcRunner.Json.Program<"{\"program\": {\"op\": \"count\"}}">)

    assert inspect(compiled(%{"program" => %{"op" => "count"}})) ==
             ~S(#PtcRunner.Json.Program<%{"program" => %{"op" => "count"}}>)

    long =
      compiled(~s({"program": {"op": "literal", "value": "#{String.duplicate("x", 100_000)}"}}))

    assert byte_size(inspect(long)) < 10_000
  end

  test "equals itself and its copies, is compared without a crash" do
    program = compiled()
    assert program == program
    assert program == program |> :erlang.term_to_binary() |> :erlang.binary_to_term()
    assert program.source == compiled().source
    assert is_boolean(program < compiled())
    assert MapSet.size(MapSet.new([program, program])) == 1
  end

  test "goes to other processes, and outlives the one that made it" do
    program = Task.await(Task.async(fn -> compiled() end), 60_000)
    :erlang.garbage_collect()
    results = for _ <- 1..20, do: Task.async(fn -> Json.run(program, opts()) end)
    assert Task.await_many(results, 60_000) == List.duplicate({:ok, [7, 7], %{}, %{}}, 20)
  end

  test "survives term_to_binary, an ETS table, a persistent term" do
    program = compiled()
    expected = Json.run(program, opts())
    binary = :erlang.term_to_binary(program)
    assert Json.run(:erlang.binary_to_term(binary), opts()) == expected
    assert Json.run(:erlang.binary_to_term(binary, [:safe]), opts()) == expected

    table = :ets.new(:programs, [])
    :ets.insert(table, {:program, program})
    assert [{:program, stored}] = :ets.lookup(table, :program)
    assert Json.run(stored, opts()) == expected

    :persistent_term.put(__MODULE__, program)
    assert Json.run(:persistent_term.get(__MODULE__), opts()) == expected
  after
    :persistent_term.erase(__MODULE__)
  end

  test "is made again from its source where its native part is gone" do
    binary = :erlang.term_to_binary(compiled())
    :erlang.garbage_collect()
    expected = {:ok, [7, 7], %{}, %{}}
    assert Json.run(:erlang.binary_to_term(binary), opts()) == expected
    assert Json.run(%{compiled() | handle: make_ref()}, opts()) == expected
    assert Json.run(%{compiled() | handle: nil}, opts()) == expected
    assert Json.run(%{compiled() | handle: make_ref(), consts: nil}, opts()) == expected
  end

  test "runs on another node" do
    peer = Peer.start()
    binary = :erlang.term_to_binary(compiled(~s({"program": {"op": "load", "name": "n"}})))
    program = Peer.call(peer, :erlang, :binary_to_term, [binary])
    assert Peer.call(peer, Json, :run, [program, [context: %{"n" => 5}]]) == {:ok, 5, %{}, %{}}

    assert {:ok, theirs} =
             Peer.call(peer, Json, :compile, [~s({"program": {"op": "load", "name": "n"}})])

    assert Json.run(theirs, context: %{"n" => 6}) == {:ok, 6, %{}, %{}}
    :peer.stop(peer)
  end

  test "tampered with ends in an answer, an error or an exception" do
    program = compiled()
    other = compiled(~s({"program": {"op": "sum", "field": "a"}}))
    {:limits, suspension, _terms} = suspended()

    for handle <- [program.handle, other.handle, suspension, make_ref(), nil, self(), 7],
        consts <- [
          program.consts,
          other.consts,
          {},
          {1, 2, 3},
          {[1 | 2], :a},
          nil,
          List.to_tuple(Enum.to_list(1..5))
        ],
        source <- [program.source, "{", %{}, nil] do
      tampered = %{program | handle: handle, consts: consts, source: source}

      try do
        assert elem(Json.run(tampered, opts()), 0) in [:ok, :error]
      rescue
        _error in [ArgumentError, FunctionClauseError, ErlangError] -> :ok
      end
    end

    # Every constant in the place of every other one.
    size = tuple_size(program.consts)

    for index <- 0..(size - 1),
        value <- [nil, 1, -1, "rows", [1 | 2], %{}, {}, 2 ** 70, program.handle] do
      tampered = %{program | consts: put_elem(program.consts, index, value)}
      assert elem(Json.run(tampered, opts()), 0) in [:ok, :error]
    end
  end

  # It counts more rows than a run may whose limits are not known, and then calls a tool.
  defp suspended do
    steps =
      ~s([{"op": "load", "name": "rows"}, {"op": "count"}, {"op": "call", "tool": "t"}, {"op": "first"}])

    context = %{"rows" => Enum.to_list(1..1_000)}
    text = ~s({"program": {"op": "pipe", "steps": #{steps}}})
    PtcRunner.Native.start(text, 10, {context, %{}, nil, nil}, nil)
  end

  test "a run that was left is taken up once, with its own terms" do
    {:limits, state, terms} = suspended()

    assert {:moves, state, terms, "t", %{}, _ms, _weight} =
             PtcRunner.Native.resume(state, terms, {:limits, 1_000, 0})

    assert {:ok, 5, _words} = PtcRunner.Native.resume(state, terms, {:answer, [5], 0})
    assert_raise ArgumentError, fn -> PtcRunner.Native.resume(state, terms, {:answer, [5], 0}) end

    # There is one shape of what it goes on with, and all else is refused before it is taken up.
    {:limits, state, terms} = suspended()

    for wrong <- [
          nil,
          :limits,
          {1_000, 0},
          {:limits, nil, 0},
          {:answer, 5, -1},
          {:other, 5, 0},
          {:more}
        ] do
      assert_raise ArgumentError, fn -> PtcRunner.Native.resume(state, terms, wrong) end
    end

    assert {:moves, _, _, "t", %{}, 1_000, _} =
             PtcRunner.Native.resume(state, terms, {:limits, 1_000, 0})

    for wrong <- [{}, nil, {1, 2, 3, 4, 5}, {{}, %{}, %{}, {}, []}] do
      {:limits, state, _terms} = suspended()

      try do
        answer = PtcRunner.Native.resume(state, wrong, {:limits, 1_000, 0})
        assert is_tuple(answer)
      rescue
        _error in [ArgumentError, ErlangError] -> :ok
      end
    end
  end

  test "a run at its first call has the weight of its copy, and its time" do
    text =
      ~s({"program": {"op": "pipe", "steps": [{"op": "call", "tool": "t"}, {"op": "first"}]}})

    given = {%{}, %{}, 1_000, 0}

    assert {:moves, state, terms, "t", %{}, 1_000, words} =
             PtcRunner.Native.start(text, 10, given, nil)

    assert {:ok, ^words} = PtcRunner.Sandbox.Weight.of([terms | %{}], 0) |> without_cell()
    assert PtcRunner.Native.time_left(state) in 1..1_000
    assert {:ok, 5, _words} = PtcRunner.Native.resume(state, terms, {:answer, [5], 0})
  end

  defp without_cell({:ok, words}), do: {:ok, words - 2}

  test "of a run whose last step is a call nothing is left" do
    text = ~s({"program": {"op": "call", "tool": "t", "args": {"n": 1, "n": 2, "name": "x"}}})
    args = %{"n" => 1, "name" => "x"}

    # A call needs limits.
    assert {:limits, state, terms} = PtcRunner.Native.start(text, 10, {%{}, %{}, nil, nil}, nil)

    assert {:last, "t", ^args, 1_000, _weight, _pc, words} =
             PtcRunner.Native.resume(state, terms, {:limits, 1_000, 0})

    assert {:last, "t", ^args, :infinity, _weight, _pc, ^words} =
             PtcRunner.Native.start(text, 10, {%{}, %{}, :infinity, 0}, nil)

    assert :calls = PtcRunner.Native.start(text, 10, {%{}, %{}, nil, nil}, :unless_calls)

    # A loop around it, and values below it, are something.
    for around <- [~s({"op": "map", "expr": CALL}), ~s({"op": "concat", "lists": [CALL]})] do
      steps =
        ~s([{"op": "load", "name": "rows"}, #{String.replace(around, "CALL", ~s({"op": "call", "tool": "t"}))}])

      text = ~s({"program": {"op": "pipe", "steps": #{steps}}})
      given = {%{"rows" => [1]}, %{}, 1_000, 0}
      assert {:moves, _, _, "t", %{}, _, _} = PtcRunner.Native.start(text, 10, given, nil)
    end
  end

  # A run in the middle of a sort, with values on its stack: its state and its terms. A machine that stands still ends a slice before the
  # sort has begun.
  defp in_the_middle(rows) do
    text =
      ~s({"program": {"op": "concat", "lists": [{"op": "load", "name": "rows"}, ) <>
        ~s({"op": "pipe", "steps": [{"op": "load", "name": "rows"}, ) <>
        ~s({"op": "sort_by", "field": "name"}]}]}})

    context = %{"rows" => for(n <- 1..rows, do: %{"name" => "name #{n * 7_919}"})}
    {:more, state, terms} = PtcRunner.Native.start(text, 100, {context, %{}, :infinity, 0}, nil)
    if tuple_size(terms) > 20, do: {state, terms}, else: in_the_middle(rows)
  end

  # Ends as a run does, or with ArgumentError; a panic would be an ErlangError.
  defp ends_safely(answer) do
    case answer.() do
      {:more, state, terms} ->
        ends_safely(fn -> PtcRunner.Native.resume(state, terms, :more) end)

      {:long, state, terms} ->
        ends_safely(fn -> PtcRunner.Native.resume_dirty(state, terms, :more) end)

      {end_of_run, _value, _words} when end_of_run == :ok ->
        :ended

      {:error, _fault} ->
        :ended
    end
  rescue
    ArgumentError -> :refused
  end

  test "a run that was left does not go on with other terms" do
    {_state, others} = in_the_middle(20_000)
    {_state, terms} = in_the_middle(20_000)

    tampered = fn terms ->
      for index <- 0..(tuple_size(terms) - 1),
          part = elem(terms, index),
          is_tuple(part),
          wrong <- [
            {},
            nil,
            [],
            Tuple.insert_at(part, tuple_size(part), nil),
            part |> Tuple.to_list() |> Enum.drop(1) |> List.to_tuple()
          ],
          wrong != part,
          do: put_elem(terms, index, wrong)
    end

    for {wrong, index} <-
          Enum.with_index([others, {}, nil, Tuple.insert_at(terms, tuple_size(terms), nil)]) do
      {state, _terms} = in_the_middle(20_000)
      resume = fn -> PtcRunner.Native.resume(state, wrong, :more) end
      assert {index, ends_safely(resume)} == {index, :refused}
    end

    {_state, terms} = in_the_middle(20_000)

    for index <- 0..(length(tampered.(terms)) - 1) do
      {state, terms} = in_the_middle(20_000)
      wrong = Enum.at(tampered.(terms), index)
      resume = fn -> PtcRunner.Native.resume(state, wrong, :more) end
      assert {wrong, ends_safely(resume)} == {wrong, :refused}
    end

    # What stands in their places may be any term: nothing is believed of it.
    places = Enum.uniq(Enum.to_list(1..20) ++ Enum.to_list(21..(tuple_size(terms) - 1)//97))

    for index <- places, wrong <- [nil, 1, [1 | 2], %{}, {}, make_ref()] do
      {state, terms} = in_the_middle(20_000)
      wrong = put_elem(terms, min(index, tuple_size(terms) - 1), wrong)
      assert ends_safely(fn -> PtcRunner.Native.resume(state, wrong, :more) end)
    end
  end

  test "its struct has these fields" do
    assert %Program{source: @text, max_depth: 10_000, consts: consts} = compiled()
    assert is_tuple(consts)
  end

  test "a long list that turns out to be improper is a fault, wherever the run was left" do
    rows = Enum.reduce(1..100_000, :end, &[&1 | &2])
    where = %{"op" => "contains", "value" => %{"op" => "load", "name" => "n"}}
    steps = [%{"op" => "load", "name" => "rows"}, %{"op" => "filter", "where" => where}]
    program = %{"program" => %{"op" => "pipe", "steps" => steps}}

    for _ <- 1..20 do
      context = %{"rows" => rows, "n" => String.duplicate("x", 100_000)}

      assert {:error, {:execution_error, "filter requires a list, got [100000, " <> _}} =
               PtcRunner.Json.run(program, context: context)
    end
  end
end

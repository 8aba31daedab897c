defmodule PtcRunner.Json.EditionTest do
  # Which edition of the language runs. Not async: the default is that of the VM.
  use ExUnit.Case, async: false

  alias PtcRunner.{Agent, Json, Native, Schema}
  alias PtcRunner.Json.{Edition, Interpreter, Program, Validator}

  doctest Edition

  @list ~s({"program": {"op": "list", "items": [1, {"op": "literal", "value": 2}]}})
  @node %{"op" => "list", "items" => [1]}
  @unknown {:error, {:validation_error, "Unknown operation 'list'. Did you mean 'last'?"}}

  # Runs with this default.
  defp with_default(edition, fun) do
    before = Application.get_env(:ptc_runner_native, :edition)
    configure(edition)
    :ok = Edition.decide()

    try do
      fun.()
    after
      configure(before)
      :ok = Edition.decide()
    end
  end

  defp configure(nil), do: Application.delete_env(:ptc_runner_native, :edition)
  defp configure(edition), do: Application.put_env(:ptc_runner_native, :edition, edition)

  defp outcome({:ok, result, _delta, _memory}), do: {:ok, result}
  defp outcome(error), do: error

  test "the option decides, in each form of a program" do
    {:ok, map} = Json.Codec.decode(@list)

    for default <- [1, 2], source <- [@list, map] do
      with_default(default, fn ->
        assert Json.run(source, edition: 1) == @unknown
        assert Json.run!(source, edition: 2) == [1, 2]
        assert Json.explain(source, edition: 1).result == @unknown
        assert outcome(Json.explain(source, edition: 2).result) == {:ok, [1, 2]}
        assert Json.compile(source, edition: 1) == @unknown
        assert {:ok, %Program{edition: 2} = program} = Json.compile(source, edition: 2)
        assert Json.run!(program) == [1, 2]

        for options <- [[keys: :any], [strict: true], [structs: :values], [max_depth: 50]] do
          assert Json.run(source, [edition: 1] ++ options) == @unknown
          assert Json.run!(source, [edition: 2] ++ options) == [1, 2]
        end
      end)
    end
  end

  test "without the option the default decides" do
    for {default, expected} <- [{1, @unknown}, {2, {:ok, [1, 2]}}] do
      with_default(default, fn ->
        assert Edition.default() == default
        assert outcome(Json.run(@list)) == expected
        assert outcome(Json.run(@list, edition: nil)) == expected
        assert outcome(Json.run(@list, keys: :any)) == expected
        assert outcome(Json.explain(@list).result) == expected

        assert with({:ok, program} <- Json.compile(@list), do: outcome(Json.run(program))) ==
                 expected
      end)
    end
  end

  test "programs that are not run by run/2 have the default" do
    context = PtcRunner.Context.new()

    with_default(1, fn ->
      assert Validator.validate(@node) == @unknown

      assert Interpreter.eval(@node, context) ==
               {:error, {:execution_error, "Unknown operation 'list'"}}

      assert {:error, {:execution_error, _}} =
               PtcRunner.Sandbox.execute(@node, context, timeout: 60_000)
    end)

    with_default(2, fn ->
      assert Validator.validate(@node) == :ok
      assert Interpreter.eval(@node, context) == {:ok, [1], %{}}

      assert {:ok, [1], _metrics, _memory} =
               PtcRunner.Sandbox.execute(@node, context, timeout: 60_000)
    end)
  end

  test "a compiled program keeps its edition" do
    {:ok, two} = Json.compile(@list, edition: 2)
    {:ok, one} = Json.compile(~s({"program": {"op": "pipe", "steps": []}}), edition: 1)
    assert {two.edition, one.edition} == {2, 1}

    for default <- [1, 2], edition <- [1, 2, nil] do
      with_default(default, fn ->
        assert Json.run!(two, edition: edition) == [1, 2]
        assert {:ok, %Program{edition: 2}} = Json.compile(two, edition: edition)
        assert outcome(Json.explain(two, edition: edition).result) == {:ok, [1, 2]}
        # compiled again, because this run needs more
        assert Json.run!(two, edition: edition, keys: :any) == [1, 2]
        assert Json.run!(two, edition: edition, strict: true) == [1, 2]
        # compiled again, because its native part is of another node
        assert Json.run!(%{two | handle: make_ref()}) == [1, 2]
        assert {:ok, %Program{edition: 1}} = Json.compile(one, edition: edition, keys: :any)
      end)
    end
  end

  test "in edition 1 what edition 2 brought has no meaning" do
    program =
      ~s({"program": {"op": "pipe", "steps": [{"op": "literal", "value": {"n": 1}}, {"op": "gt", "field": "m", "left": 0, "value": 0}]}})

    # nil is greater than any number, and `left` is ignored
    assert Json.run!(program, edition: 1)

    assert Json.run(program, edition: 2) ==
             {:error, {:validation_error, "Operation 'gt' accepts 'field' or 'left', not both"}}
  end

  test "the name that was probably meant is one of the edition that runs" do
    typo = ~s({"program": {"op": "lisst"}})

    assert {:error, {_kind, "Unknown operation 'lisst'"}} = Json.run(typo, edition: 1)

    assert {:error, {_kind, "Unknown operation 'lisst'. Did you mean 'list'?"}} =
             Json.run(typo, edition: 2)

    assert {:error, _error,
            "ValidationError: Unknown operation 'lisst'. Did you mean 'list'? " <> _} =
             Agent.program(typo, edition: 2)
  end

  test "the fields that there are are those of the edition that runs" do
    program = ~s({"program": {"op": "count", "comment": 1}})
    opts = [strict: true]

    assert {:error, {_kind, "Unknown field 'comment' in operation 'count'. There are none"}} =
             Json.run(program, [edition: 1] ++ opts)
  end

  test "agents" do
    for edition <- [1, 2] do
      with_default(edition, fn ->
        assert Edition.of_agents() == edition
        {:ok, program, _} = Agent.program(~s({"program": {"op": "pipe", "steps": []}}))
        assert program.edition == edition

        {:ok, program, _} =
          Agent.program(~s({"program": {"op": "pipe", "steps": []}}), edition: 1)

        assert program.edition == 1
        assert Agent.prompt(task: "x") =~ Schema.to_prompt(edition: edition)
        assert Agent.prompt(task: "x", edition: 1) =~ Schema.to_prompt(edition: 1)
        assert Agent.prompt(task: "x", edition: 2) =~ Schema.to_prompt(edition: 2)
        assert {:ok, [1, 2], _info} = Agent.run(@list, %{}, edition: 2)
        assert {:error, {:validation_error, _}, _feedback} = Agent.run(@list, %{}, edition: 1)
        assert {:ok, %{return: [1, 2]}} = Agent.loop(fn _ -> @list end, task: "x", edition: 2)
      end)
    end
  end

  test "the default is decided by the configuration and by the release of ptc_runner" do
    alone = Edition.of(nil, nil)

    for release <- ["0.4.0", "0.4.1", "0.5.0", "0.6.9", "0.6.0-rc.1"],
        do: assert(Edition.of(nil, release) == {:ok, 1})

    for release <- ["0.3.9", "0.7.0", "0.13.0", "1.0.0", "unknown"],
        do: assert(Edition.of(nil, release) == alone)

    for release <- [nil, "0.4.1", "0.13.0"],
        edition <- [1, 2],
        do: assert(Edition.of(edition, release) == {:ok, edition})

    for wrong <- [0, 3, "2", :two] do
      assert {:error, "config :ptc_runner_native, edition: must be 1 or 2, got: " <> _} =
               Edition.of(wrong, nil)
    end
  end

  test "an invalid configuration is refused" do
    configure(3)
    assert {:error, sentence} = Edition.decide()
    assert sentence =~ "must be 1 or 2, got: 3"
    assert_raise ArgumentError, sentence, fn -> Native.attach() end
  after
    configure(nil)
    Edition.decide()
  end

  test "an invalid option is refused" do
    calls = [
      &Json.run(@list, &1),
      &Json.run!(@list, &1),
      &Json.compile(@list, &1),
      &Json.explain(@list, &1),
      &Agent.prompt/1,
      &Agent.program(@list, &1),
      &Agent.run(@list, %{}, &1),
      &Schema.operations/1,
      &Schema.valid_operation_names/1,
      &Schema.get_operation("load", &1),
      &Schema.to_json_schema/1,
      &Schema.to_llm_schema/1,
      &Schema.to_prompt/1
    ]

    for call <- calls do
      assert_raise ArgumentError, ~r/option :edition of .* must be 1 or 2/, fn ->
        call.(edition: 3)
      end
    end
  end
end

defmodule PtcRunner.Lisp.FirewallTest do
  # Programs of PTC-Lisp see the public part of what they read where there is a firewall.
  use ExUnit.Case, async: true

  alias PtcRunner.{Json, Lisp}

  doctest PtcRunner.Lisp.Firewalled

  @users [%{"id" => 1, "profile" => %{"_pin" => 4711}}]

  defp run(program, opts), do: Lisp.run(program, [{:firewall, true} | opts])

  defp refused(program, opts) do
    assert {:error, step} = run(program, opts)
    # The memory is that of before.
    refute inspect(Map.delete(step, :memory), structs: false) =~ "4711"
    {step.fail.reason, step.fail.message}
  end

  # All that a run gives, and what its tools were given.
  defp leaks?(result, name \\ "4711") do
    {_ended, step} = result
    said = inspect(Map.delete(step, :memory), structs: false, limit: :infinity)
    defined = inspect(Map.delete(step.memory, "kept"), structs: false, limit: :infinity)
    said =~ name or defined =~ name
  end

  test "a program sees data without their firewalled fields" do
    me = self()
    tools = %{"mail" => fn args -> send(me, {:mailed, args}) && 1 end}
    users = [%{"id" => 1, "profile" => %{"_pin" => 4711, "n" => 2}}]

    for {value, seen} <- [
          {users, [%{"id" => 1, "profile" => %{"n" => 2}}]},
          {hd(users), %{"id" => 1, "profile" => %{"n" => 2}}},
          {Json.text(~s([{"a": [{"_pin": 4711, "b": 1}]}])), [%{"a" => [%{"b" => 1}]}]},
          {[[], %{"-pin" => 4711}], [[], %{}]}
        ] do
      opts = [context: %{"users" => value, other: 7}, tools: tools]

      assert {:ok, step} =
               result = run("(println data/users) (def u data/users) (tool/mail {:u u}) u", opts)

      assert step.return == seen
      refute leaks?(result)
      assert_received {:mailed, args}
      refute inspect(args) =~ "4711"
      assert {:ok, %{return: 7}} = run("data/other", opts)
    end

    assert {:ok, %{return: [%{"profile" => %{"_pin" => 4711}}]}} =
             Lisp.run("data/users", context: %{"users" => users})
  end

  test "no way out: every program has nothing of the field" do
    context = %{
      "users" => [%{"id" => 1, "_pin" => 4711, "tags" => MapSet.new([%{"_pin" => 4711}])}],
      "open-user" => %{"_pin" => 4711},
      "pair" => [id: 1, _pin: 4711]
    }

    tools = %{"user" => fn _ -> %{"id" => 1, "_pin" => 4711} end}
    opts = [context: context, tools: tools]

    programs = [
      "(str data/users)",
      "(println (vals (first data/users)))",
      "(mapv (fn [[k v]] [k v]) (first data/users))",
      "(json/generate-string data/users)",
      "(get (first data/users) (str \"_\" \"pin\"))",
      "((keyword (str \"_\" \"pin\")) (first data/users))",
      "(+ 1 (first data/users))",
      "(/ 1 (first (vals (tool/user))))",
      "(fail (tool/user))",
      "(return data/users)",
      "(try (throw-it (tool/user)) (catch e e))",
      "(if (= (vals (tool/user)) [1]) :one :more)",
      "(count (first data/users))",
      "(def kept2 (tool/user)) kept2",
      "(pmap (fn [u] (merge u (tool/user))) data/users)",
      "(mapv (fn [_] (tool/user)) [1 2 3])",
      "(str data/open-user data/pair)",
      "(reduce-kv (fn [a k v] (conj a k v)) [] (tool/user))",
      "(defn f [] (tool/user)) (f)"
    ]

    for program <- programs do
      result = run(program, opts)
      refute leaks?(result), program
      # Also where the names of the fields are looked at.
      refute leaks?(result, "pin\" =>"), program
    end

    # These programs would tell it.
    assert Enum.count(programs, &leaks?(Lisp.run(&1, opts))) >= 15
  end

  test "memory and history, also through functions" do
    users = [%{"id" => 1, "_pin" => 4711}]
    assert {:ok, step} = run("(def seen kept) seen", memory: %{"kept" => users})
    assert step.return == [%{"id" => 1}]
    # The memory of the application is as it was.
    assert step.memory == %{"kept" => users, "seen" => [%{"id" => 1}]}

    assert {:ok, %{return: [[%{"id" => 1}]]}} = run("[*1]", turn_history: [users])

    assert {:validation_error, "pin has firewalled data" <> _} =
             refused("pin", memory: %{"pin" => 4711, "_concealed" => ["pin"]})

    {:ok, first} = Lisp.run("(defn f [] (first data/users)) (defn g [] (f))", context: %{})
    opts = [memory: first.memory, context: %{"users" => users}]
    assert {:ok, %{return: %{"id" => 1}}} = run("(g)", opts)

    # A function that has captured such data.
    {:ok, first} =
      Lisp.run("(def kept (let [u data/users] (fn [] u)))", context: %{"users" => users})

    assert {:validation_error, "kept may have firewalled data" <> _} =
             refused("(kept)", memory: first.memory)
  end

  test "a program that names a firewalled field is refused before it calls a tool" do
    me = self()
    tools = %{"mail" => fn args -> send(me, {:mailed, args}) end}

    for reads <- [
          "(map :_pin data/users)",
          ~s|(get (first data/users) "_pin")|,
          "(let [{:keys [_pin]} (first data/users)] _pin)"
        ] do
      assert {:validation_error,
              "The program names the field _pin, and data/users has firewalled data" <> _} =
               refused("(tool/mail {:to 1}) #{reads}", context: %{"users" => @users}, tools: tools)
    end

    refute_receive {:mailed, _}, 0
    assert {:ok, %{return: nil}} = run("(:_pin data/user)", context: %{"user" => %{"id" => 1}})

    assert {:ok, %{return: 1}} =
             run("((fn [_x & _] (count _x)) data/users)", context: %{"users" => @users})
  end

  test "answers of tools, and of those that take lists" do
    tools = %{"user" => fn _ -> %{"id" => 5, "_pin" => 4711} end}
    assert {:ok, step} = result = run("(tool/user)", tools: tools)
    assert {step.return, hd(step.tool_calls).result} == {%{"id" => 5}, %{"id" => 5}}
    refute leaks?(result)

    assert {:tool_error, text} = refused("(:_pin (tool/user))", tools: tools)
    assert text =~ "its answer has firewalled data, and the program names the field _pin"
    assert {:ok, %{return: 7}} = run("(try (:_pin (tool/user)) (catch e 7))", tools: tools)

    find = {fn list -> Enum.map(list, &Map.put(&1, "_pin", 4711)) end, batch: 10}

    assert {:ok, step} =
             result = run("(pmap #(tool/find {:n %}) [1 2])", tools: %{"find" => find})

    assert step.return == [%{"n" => 1}, %{"n" => 2}]
    refute leaks?(result)

    signed = {fn _ -> %{"id" => 1, "_pin" => 4711} end, "() -> {id :int, _pin :int}"}
    assert {:ok, %{return: %{"id" => 1}}} = run("(tool/user)", tools: %{"user" => signed})

    {_result, journal} = Lisp.record("(tool/user)", tools: tools, firewall: true)
    refute inspect(journal) =~ "4711"
  end

  test "what is explained" do
    # A number might be a time that was measured.
    users = [%{"id" => 1, "_pin" => "the pin"}]
    explanation = Lisp.explain("(str data/users)", context: %{"users" => users}, firewall: true)
    assert {:ok, %{return: ~S([{"id" 1}])}} = explanation.result
    refute inspect(explanation, structs: false) =~ "the pin"
  end

  test "a paused run keeps its firewall" do
    tools = %{"t" => {fn _ -> 1 end, approve: true}, "user" => fn _ -> hd(@users) end}

    assert {:paused, paused} =
             run("(tool/t) (str (tool/user) data/users)",
               tools: tools,
               context: %{"users" => @users}
             )

    assert {:ok, step} =
             result = Lisp.resume(paused, :approve, tools: tools, context: %{"users" => @users})

    assert step.return =~ "profile"
    refute leaks?(result)
  end

  test "another value of the option raises" do
    assert_raise ArgumentError, ~r/option :firewall of PtcRunner.Lisp must be/, fn ->
      Lisp.run("1", firewall: 5)
    end
  end
end

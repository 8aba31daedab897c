defmodule PtcRunner.Lisp.FirewallTest do
  # Programs of PTC-Lisp get no firewalled data where there is a firewall.
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

  test "a program that reads firewalled data is refused before it calls a tool" do
    me = self()
    tools = %{"mail" => fn args -> send(me, {:mailed, args}) end}
    program = "(tool/mail {:to 1}) (count data/users)"

    for value <- [@users, %{a: {:b, _pin: 4711}}, Json.text(~s({"_pin": 4711}))] do
      assert {:validation_error, "data/users has firewalled data: " <> _} =
               refused(program, context: %{"users" => value}, tools: tools)
    end

    refute_receive {:mailed, _}, 0
    assert {:ok, %{return: 1}} = run("data/other", context: %{"users" => @users, "other" => 1})
    assert {:ok, %{return: 1}} = Lisp.run("(count data/users)", context: %{"users" => @users})
  end

  test "so is one that reads such data of the memory or of earlier turns, also through a function" do
    assert {:validation_error, "kept has" <> _} = refused("kept", memory: %{"kept" => @users})

    assert {:validation_error, "pin has" <> _} =
             refused("pin", memory: %{"pin" => 4711, "_concealed" => ["pin"]})

    assert {:validation_error, "the history has" <> _} = refused("*1", turn_history: [@users])
    {:ok, first} = Lisp.run("(defn f [] (first data/users)) (defn g [] (f))", context: %{})
    opts = [memory: first.memory, context: %{"users" => @users}]
    assert {:validation_error, "data/users has" <> _} = refused("(g)", opts)
  end

  test "an answer with firewalled data is an error of its tool, and stands in no journal" do
    tools = %{"user" => fn _ -> hd(@users) end}
    assert {:tool_error, text} = refused("(tool/user)", tools: tools)
    assert text =~ "its answer has firewalled data"
    assert {:ok, %{return: 7}} = run("(try (tool/user) (catch e 7))", tools: tools)

    {_result, journal} =
      Lisp.record("(try (tool/user) (catch e 7))", tools: tools, firewall: true)

    refute inspect(journal) =~ "4711"
  end

  test "a paused run keeps its firewall" do
    tools = %{"t" => {fn _ -> 1 end, approve: true}, "user" => fn _ -> hd(@users) end}
    assert {:paused, paused} = run("(tool/t) (tool/user)", tools: tools)
    assert {:error, step} = Lisp.resume(paused, :approve, tools: tools)
    assert step.fail.message =~ "firewalled data"
  end

  test "another value of the option raises" do
    assert_raise ArgumentError, ~r/option :firewall of PtcRunner.Lisp must be/, fn ->
      Lisp.run("1", firewall: 5)
    end
  end
end

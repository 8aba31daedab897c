defmodule PtcRunner.Agent.StructArgumentsTest.Patient do
  defstruct [:id, :name, :born, :insurer, tags: [], __meta__: :loaded]
end

defmodule PtcRunner.Agent.StructArgumentsTest.Insurer do
  defstruct [:name, :limit]
end

defmodule PtcRunner.Agent.StructArgumentsTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Agent.StructArgumentsTest.{Insurer, Patient}
  alias PtcRunner.Agent.Tool

  @context %{
    "patients" => [
      %Patient{id: 1, name: "Ada", born: ~D[1990-05-01], insurer: %Insurer{name: "A", limit: 10}},
      %Patient{id: 2, name: "Bob", born: ~D[1980-05-01], tags: ["x"]}
    ]
  }

  # The arguments that a tool with this signature gets for each patient.
  defp sent(signature, arguments \\ ~s({"patient": {"op": "it"}})) do
    me = self()
    fun = fn args -> send(me, {:sent, args}) && {:ok, true} end
    tool = %Tool{name: "risk", signature: signature, description: "The risk.", fun: fun}

    program =
      ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "patients"}, ) <>
        ~s({"op": "map", "expr": {"op": "call", "tool": "risk", "args": #{arguments}}}]}})

    case Agent.run(program, [tool], context: @context) do
      {:ok, _value, _run} -> {:ok, received()}
      {:error, reason, _run} -> {:error, reason}
    end
  end

  defp received do
    receive do
      {:sent, args} -> [args | received()]
    after
      0 -> []
    end
  end

  test "a row that is a struct fits the type of an object by its fields" do
    assert {:ok, [%{"patient" => ada}, %{"patient" => bob}]} =
             sent("(patient {name :string, born :any, tags [:string]}) -> :bool")

    assert %{"name" => "Ada", "born" => ~D[1990-05-01], "tags" => []} = ada
    assert %{"name" => "Bob", "tags" => ["x"]} = bob
    refute is_map_key(ada, :__meta__)
  end

  test "so does one inside of another, and in a list" do
    assert {:ok, [%{"patient" => %{"insurer" => %{"name" => "A", "limit" => 10}}}, _bob]} =
             sent("(patient {insurer {name :string, limit :int}?}) -> :bool")

    assert {:ok, [%{"rows" => [%{"id" => 1}]}, _bob]} =
             sent(
               "(rows [{id :int}]) -> :bool",
               ~s({"rows": {"op": "list", "items": [{"op": "it"}]}})
             )
  end

  test "the type of any value takes the struct itself" do
    assert {:ok, [%{"patient" => %Patient{id: 1}}, _bob]} = sent("(patient :any) -> :bool")
  end

  test "a field of another type is the error of that field" do
    assert {:error, {:execution_error, text}} = sent("(patient {name :int}) -> :bool")
    assert text =~ "- patient.name: expected integer, got string"
  end
end

defmodule PtcRunner.Lisp.Runtime.FlexAccessTest do
  use ExUnit.Case, async: true

  import PtcRunner.Test.StoredVectors, only: [vectors: 4]

  alias PtcRunner.Lisp.Runtime.FlexAccess

  vectors "FlexAccess", "flex_access", vector do
    assert answer(vector.f, arguments(vector)) === expected(vector)
  end

  test "no atom is made, however often a name is looked for" do
    # Not the number of all atoms: tests beside this one make some.
    for n <- 1..500, name = "zq-never-an-atom-#{n}", found = "x" <> name do
      assert FlexAccess.flex_get(%{name => 1, "other" => 2}, found) == nil

      for text <- [name, found],
          text <- [text, String.replace(text, "-", "_")],
          do: assert_raise(ArgumentError, fn -> String.to_existing_atom(text) end)
    end
  end

  test "names of other writings find their atoms" do
    for atom <- [:é, :größe, :日本, String.to_atom(String.duplicate("é", 255))] do
      name = Atom.to_string(atom)
      assert FlexAccess.flex_fetch(%{atom => 1}, name) == {:ok, 1}
    end

    assert FlexAccess.flex_fetch(%{é: 1}, <<0xE9>>) == :error
    assert FlexAccess.flex_get(%{nil => 1}, "nil") == 1
    assert FlexAccess.flex_get(%{"" => 1}, nil) == 1
  end

  defp arguments(%{f: :flex_update_in, args: [data, path, {:fun, name}]}),
    do: [data, path, fun(name)]

  defp arguments(%{args: args}), do: args

  defp fun(:inc), do: fn old -> if is_integer(old), do: old + 1, else: 1 end
  defp fun(:const7), do: fn _old -> 7 end
  defp fun(:identity), do: & &1
  defp fun(:boom), do: fn _old -> raise "boom" end

  defp answer(fun, args) do
    {:value, apply(FlexAccess, fun, args)}
  rescue
    error -> {:raised, error.__struct__, error |> Exception.message() |> without_hints()}
  end

  defp expected(%{expect: {:raised, module, _message}, note: _only_the_module} = vector) do
    {:raised, _module, message} = answer(vector.f, arguments(vector))
    {:raised, module, message}
  end

  defp expected(%{expect: expect}), do: expect

  # ExUnit adds the arguments and the clauses to the message.
  defp without_hints(message), do: message |> String.split("\n") |> hd()
end

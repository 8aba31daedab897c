defmodule PtcRunner.SubAgent.Signature.KeywordTest do
  # Keywords of PTC-Lisp are structs of `ptc_runner`, and of this library. Here one is made as a map, as values from elsewhere are.
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Coercion, Validator}

  defp kw(name), do: %{__struct__: PtcRunner.Lisp.Keyword, name: name}
  defp signature(text), do: with({:ok, signature} <- Signature.parse(text), do: signature)

  test "a keyword is a value of the type :keyword, and stays as it is" do
    assert Validator.validate(kw("active"), :keyword) == :ok
    assert Coercion.coerce(kw("active"), :keyword) == {:ok, kw("active"), []}
    assert Validator.validate([:a, "b", kw("c-d")], {:list, :keyword}) == :ok
  end

  test "coerced to a string, it is its name" do
    assert Coercion.coerce(kw("in-use"), :string) ==
             {:ok, "in-use", ["coerced keyword to string"]}
  end

  test "errors call it a keyword" do
    assert {:error, [%{message: "expected int, got keyword"}]} = Validator.validate(kw("a"), :int)

    assert {:error, [%{message: "expected map, got keyword"}]} =
             Validator.validate(kw("a"), {:map, [{"id", :int}]})

    {:error, errors} = Signature.validate(signature("{state :int}"), %{state: kw("active")})
    assert Signature.format_errors(errors, %{state: kw("active")}) =~ "got keyword :active"
    {:error, errors} = Signature.validate(signature("{_state :int}"), %{_state: kw("active")})
    refute Signature.format_errors(errors, %{_state: kw("active")}) =~ "active"
  end

  test "a struct of that name without a name, and other structs, are none" do
    for value <- [
          %{__struct__: PtcRunner.Lisp.Keyword},
          kw(nil),
          kw(1),
          %URI{path: "a"},
          %{name: "a"}
        ] do
      assert {:error, [_]} = Validator.validate(value, :keyword)
    end
  end

  test "a keyword is a key of a map, after the atom and the string of that name" do
    type = signature("{user_id :int, note :string?}")
    assert Signature.validate(type, %{kw("user_id") => 1}) == :ok
    assert Signature.validate(type, %{kw("user-id") => 1, kw("note") => "x"}) == :ok
    assert {:error, [%{path: ["user_id"]}]} = Signature.validate(type, %{kw("user-id") => "x"})

    {:error, errors} = Signature.validate(type, %{kw("user-id") => "x"})
    assert Signature.format_errors(errors, %{kw("user-id") => "x"}) =~ ~s(got string "x")

    for better <- [:user_id, "user_id"] do
      assert Signature.validate(type, Map.new([{better, 1}, {kw("user_id"), "x"}])) == :ok
      assert {:error, _} = Signature.validate(type, Map.new([{better, "x"}, {kw("user_id"), 1}]))
    end

    # underscores are before hyphens, whatever the kind of the key
    assert Signature.validate(type, %{kw("user_id") => 1, :"user-id" => "x"}) == :ok
  end

  test "the same in maps of more than 32 keys, and in closed ones" do
    others = for n <- 1..40, into: %{}, do: {kw("field-#{n}"), n}
    fields = for n <- 1..40, do: {"field_#{n}", :int}
    assert Validator.validate(others, {:map, fields}) == :ok
    assert Validator.validate(others, {:closed_map, fields}) == :ok

    assert {:error, [%{path: ["more"]}]} =
             Validator.validate(Map.put(others, kw("more"), 1), {:closed_map, fields})

    texts = for n <- 1..40, into: %{}, do: {kw("field_#{n}"), "#{n}"}
    assert {:ok, numbers, _warnings} = Coercion.coerce(texts, {:map, fields})
    assert numbers == for(n <- 1..40, into: %{}, do: {kw("field_#{n}"), n})
  end

  test "rows of a table with such keys" do
    rows = for n <- 1..100, do: %{kw("id") => n, "name" => "x", at: 1}
    type = {:list, {:map, [{"id", :int}, {"name", :string}, {"at", :int}]}}
    assert Validator.validate(rows, type) == :ok

    assert {:error, errors} =
             Validator.validate(List.replace_at(rows, 70, %{kw("id") => "x"}), type)

    assert ["70", "id"] == errors |> hd() |> Map.fetch!(:path) |> Enum.map(&to_string/1)
  end

  test "a firewalled keyword is hidden" do
    value = %{kw("_token") => 1, kw("-secret") => 2, kw("id") => 3}
    assert Signature.Firewall.data(value) == %{kw("id") => 3}
  end
end

defmodule PtcRunner.SubAgent.ValidValuesTest do
  # What validates coerces to a valid value. `PTC_CASES=10` takes 100,000 pairs.
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Coercion, Validator}
  alias PtcRunner.Test.{Environment, SignatureGenerator}

  test "keys with hyphens for underscores, and the reverse" do
    type = {:map, [{"user_id", :int}, {"rows", {:list, {:closed_map, [{"a-b", :float}]}}}]}
    value = %{"user-id" => 1, "rows" => [%{"a_b" => 2}]}

    assert Coercion.coerce(value, type) ==
             {:ok, %{"user-id" => 1, "rows" => [%{"a_b" => 2.0}]}, []}

    # As in a tool call.
    assert called(value, type) == Coercion.coerce(value, type)

    # A large map.
    large = for n <- 1..40, into: %{"user-id" => 2, "x" => 1}, do: {"filler #{n}", n}
    fields = [{"user_id", :float}, {"x", :int}]
    assert Coercion.coerce(large, {:map, fields}) == {:ok, %{"user-id" => 2.0, "x" => 1}, []}

    atom_or_other = Map.put(large, :"user-id", "x")
    assert Validator.validate(atom_or_other, {:map, fields}) != :ok
    assert {:error, _} = Coercion.coerce(atom_or_other, {:map, fields})

    assert {:error, "missing required field \"user_id\""} =
             Coercion.coerce(Map.delete(Map.put(large, :"user-id", 3), "user-id"), {:map, fields})
  end

  test "of two spellings the one that validation takes" do
    type = {:map, [{"user-id", :int}]}
    value = %{"user-id" => "x", "user_id" => 1}
    assert Validator.validate(value, type) == :ok
    assert Coercion.coerce(value, type) == {:ok, %{"user_id" => 1}, []}
    assert called(value, type) == {:ok, %{"user_id" => 1}, []}

    # It is coerced under the declared name, if that is possible.
    assert {:ok, %{"user-id" => 2} = coerced, [_]} =
             Coercion.coerce(%{"user-id" => "2", "user_id" => 1}, type)

    assert Validator.validate(coerced, type) == :ok
  end

  test "of two spellings one has a struct, which only coercion accepts as a map" do
    type = {:map, [{"user-id", :map}]}
    value = %{"user_id" => %{"a" => 1}, "user-id" => 1..3}
    assert Coercion.coerce(value, type) == {:ok, value, []}

    assert Coercion.coerce(%{"user-id" => 1..3, "x" => 1}, type) ==
             {:ok, %{"user-id" => 1..3}, []}
  end

  test "only valid values, and no atoms with hyphens: the reference's cases have these errors" do
    type = {:map, [{"user_id", :int}]}
    missing = {:error, "missing required field \"user_id\""}
    assert Coercion.coerce(%{"user-id" => "1"}, type) == missing
    assert Coercion.coerce(%{"user-id": 1}, type) == missing
    assert Coercion.coerce(%{user_id: 1}, {:map, [{"user-id", :int}]}) == {:ok, %{user_id: 1}, []}
  end

  test "a key of two fields stays as it is if one of them would not be valid" do
    for type <- [
          {:map, [{"id", :int}, {"id", :float}]},
          {:map, [{"id", :int}, {"i", :any}, {"id", {:optional, :float}}]},
          {:map, [{"id", :float}, {"id", :int}]}
        ],
        {type, value} <- [{type, %{"id" => 1}}, {{:list, type}, [%{"id" => 1}, %{"id" => 2}]}],
        value = if(type == {:map, [{"id", :float}, {"id", :int}]}, do: value, else: value),
        Validator.validate(value, type) == :ok do
      assert {:ok, coerced, []} = Coercion.coerce(value, type)
      assert Validator.validate(coerced, type) == :ok
      assert called(value, type) == {:ok, coerced, []}
    end

    type = {:map, [{"user_id", {:map, [{"x", :int}]}}, {"user-id", {:map, []}}]}
    value = %{"user_id" => %{"x" => 1}, "other" => 2}
    assert Coercion.coerce(Map.put(value, "user-id", %{}), type) |> elem(0) == :ok
    assert {:ok, ^value, []} = Coercion.coerce(value, type)

    # In a type of many fields.
    fields = for n <- 1..40, do: {"f#{n}", {:optional, :int}}
    type = {:map, fields ++ [{"a_b", :int}, {"a-b", :float}]}
    value = %{"a_b" => 1, "f3" => 2}
    assert {:ok, ^value, []} = Coercion.coerce(value, type)
    # What is not valid is coerced as ever.
    assert {:ok, %{"f3" => 2, "a_b" => 1, "a-b" => 2.0}, [_]} =
             Coercion.coerce(%{"a_b" => "1", "a-b" => 2, "f3" => 2}, type)
  end

  test "a value that is shared very often is looked at once" do
    {type, value} =
      Enum.reduce(1..60, {{:map, [{"a_b", :int}]}, %{"a-b" => 1}}, fn _, {type, value} ->
        {{:list, type}, [value, value]}
      end)

    refused = Coercion.coerce([value, 1], {:list, type})

    assert refused == {:error, "cannot coerce to list"} or
             match?({:error, "missing" <> _}, refused)
  end

  test "what is no type is reported as before" do
    type = {:map, [{"a_b", :int}, {"x", :nothing}]}
    assert {:error, "missing" <> _} = Coercion.coerce(%{"x" => 1}, type)
  end

  @tag timeout: 600_000
  test "random pairs" do
    seed = Environment.seed()

    for n <- 1..Environment.cases(10_000),
        %{type: type, value: value} = SignatureGenerator.random_case(seed, n),
        Validator.validate(value, type) == :ok do
      case Coercion.coerce(value, type) do
        {:ok, coerced, _warnings} ->
          assert {n, seed, Validator.validate(coerced, type)} == {n, seed, :ok}
          agrees(called(value, type), value, type)

        {:error, reason} ->
          assert excepted?(value, type), inspect({n, seed, reason, type, value}, limit: :infinity)
      end
    end
  end

  defp agrees({:ok, args, _warnings}, _value, type),
    do: assert(Validator.validate(args, type) == :ok)

  defp agrees({:error, _}, value, type), do: assert(excepted?(value, type))

  defp called(value, type) do
    case Signature.call_tool({:signature, [{"arg", type}], :any}, %{"arg" => value}, & &1) do
      {:ok, %{"arg" => value}, warnings} -> {:ok, value, warnings}
      {:error, reason} -> {:error, reason}
    end
  end

  # Whether a valid value has what cannot be coerced: a required field under an atom with hyphens, a string that is
  # the name of no atom, or an integer beyond the floats.
  defp excepted?(value, :keyword), do: is_binary(value) and not atom?(value)
  defp excepted?(value, :float), do: is_integer(value) and abs(value) >= 2 ** 1023
  defp excepted?(nil, {:optional, _type}), do: false
  defp excepted?(value, {:optional, type}), do: excepted?(value, type)
  defp excepted?(values, {:list, type}), do: Enum.any?(values, &excepted?(&1, type))

  defp excepted?(map, {kind, fields}) when kind in [:map, :closed_map] do
    Enum.any?(fields, fn {name, type} ->
      Enum.any?(Map.keys(map), fn key ->
        same?(key, name) and (hyphened?(key, name) or fits?(map[key], type))
      end)
    end)
  end

  defp excepted?(_value, _type), do: false

  defp fits?(value, type), do: Validator.validate(value, type) == :ok and excepted?(value, type)

  defp hyphened?(key, name), do: is_atom(key) and "#{key}" != name and "#{key}" =~ "-"

  defp same?(key, name) when is_binary(key) or is_atom(key),
    do: String.replace("#{key}", "-", "_") == String.replace(name, "-", "_")

  defp same?(_key, _name), do: false

  defp atom?(name) do
    is_atom(String.to_existing_atom(name))
  rescue
    _error in ArgumentError -> false
  end
end

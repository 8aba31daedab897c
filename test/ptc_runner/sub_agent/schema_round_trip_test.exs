defmodule PtcRunner.SubAgent.SchemaRoundTripTest do
  @moduledoc "Random types become JSON Schemas, and these the same types again; what a schema cannot say is named by `kept/1`."
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{FromSchema, RuleCheck}

  @seeds 1..1_500
  @names ["a", "b", "user_id", "größe", "a/b~c", "$ref", "type"]

  test "types are read as they were written" do
    for seed <- @seeds do
      :rand.seed(:exsss, {seed, 1, 1})
      type = type(3)
      schema = Signature.type_to_json_schema(type)
      label = "seed #{seed}: #{inspect(type)} as #{inspect(schema)}"

      assert {:ok, {:signature, [], read}, dropped} = Signature.from_json_schema(schema, [])
      assert dropped == [], label
      assert read == kept(type), label

      # What was read is written as the same schema.
      assert read |> Signature.type_to_json_schema() |> sorted() == sorted(schema), label
    end
  end

  test "types that contain themselves keep their names" do
    tree =
      {:closed_map,
       [{"left", {:optional, {:ref, "Tree"}}}, {"value", {:where, :string, [min_length: 1]}}]}

    type = {:defs, %{"Tree" => tree}, {:ref, "Tree"}}
    schema = Signature.type_to_json_schema(type)
    assert Signature.from_json_schema(schema, []) == {:ok, {:signature, [], type}, []}
  end

  test "unions with a field that tells which one keep it" do
    shape = fn kind, field ->
      {:closed_map, [{field, :float}, {"kind", {:where, :string, [enum: [kind]]}}]}
    end

    type = {:one_of, [shape.("circle", "diameter"), shape.("square", "edge")], "kind"}
    schema = Signature.type_to_json_schema(type)
    assert Signature.from_json_schema(schema, []) == {:ok, {:signature, [], type}, []}
  end

  # What a schema keeps of a type: maps are closed, with their fields in the order of names; null is only in fields that may be
  # missing; integers may have a fraction of zero; any term is an object, as the contract of `to_json_schema/1` has it.
  defp kept(:int), do: {:where, :int, [whole: true]}
  defp kept(word) when word in [:keyword, :datetime], do: :string
  defp kept(:any), do: :map
  defp kept(word) when word in [:string, :float, :bool, :map], do: word
  defp kept(:date), do: {:where, :string, [format: :date]}
  defp kept({:optional, type}), do: kept(type)
  defp kept({:list, type}), do: {:list, kept(type)}
  defp kept({:map_of, type}), do: {:map_of, kept(type)}

  defp kept({kind, fields}) when kind in [:map, :closed_map],
    do: {:closed_map, fields |> Enum.map(&field/1) |> Enum.sort_by(&elem(&1, 0))}

  defp kept({:one_of, types, field}), do: {:one_of, Enum.map(types, &kept/1), field}

  # An enumeration has only the values that the other rules take.
  defp kept({:where, type, rules}) do
    rules = Keyword.drop(rules, [:ignore_case, :aliases])

    case rules[:enum] do
      nil ->
        FromSchema.rules(kept(type), rules)

      values ->
        FromSchema.rules(listed(type, values), Keyword.take(rules, [:default, :description]))
    end
  end

  defp listed(:int, values), do: {:where, :int, [enum: values, whole: true]}
  defp listed(:string, values), do: {:where, :string, [enum: values]}

  defp field({name, {:optional, type}}), do: {name, {:optional, kept(type)}}

  defp field({name, {:where, _type, rules} = type}) do
    if Keyword.has_key?(rules, :default),
      do: {name, {:optional, kept(type)}},
      else: {name, kept(type)}
  end

  defp field({name, type}), do: {name, kept(type)}

  # The order of required names is that of the fields.
  defp sorted(%{} = schema) do
    Map.new(schema, fn
      {"required", [name | _] = names} when is_binary(name) -> {"required", Enum.sort(names)}
      {key, value} -> {key, sorted(value)}
    end)
  end

  defp sorted(list) when is_list(list), do: Enum.map(list, &sorted/1)
  defp sorted(other), do: other

  # Random types.
  defp type(0), do: pick([:string, :int, :float, :bool, :keyword, :datetime, :date, :map, :any])

  defp type(depth) do
    case :rand.uniform(12) do
      n when n <= 2 ->
        {:list, type(depth - 1)}

      n when n <= 4 ->
        {pick([:map, :closed_map]), fields(depth - 1)}

      5 ->
        {:map_of, type(depth - 1)}

      6 ->
        {:one_of,
         Enum.shuffle([{:list, type(0)}, ruled(:string), pick([:bool, plain(ruled(:float))])]),
         nil}

      7 ->
        described(
          {:list, type(depth - 1)},
          Enum.filter([unique: true, min_items: 1, max_items: 3], fn _ -> chance(2) end)
        )

      8 ->
        ruled(:int)

      9 ->
        ruled(:string)

      10 ->
        ruled(:float)

      11 ->
        {:where, :string,
         enumeration(Enum.take_random(["a", "b", "c d", "ü"], 1 + :rand.uniform(3)))}

      12 ->
        {:where, :int, enumeration(Enum.take_random(-3..9, 1 + :rand.uniform(3)))}
    end
  end

  defp fields(depth) do
    for name <- Enum.take_random(@names, :rand.uniform(4)) do
      type = type(depth)
      {name, if(chance(3), do: {:optional, type}, else: type)}
    end
  end

  defp ruled(:int) do
    rules =
      Enum.filter([min: -5, max: 9, exclusive_min: -8.5, multiple_of: 2], fn _ -> chance(2) end)

    described(:int, rules, 4)
  end

  defp ruled(:float) do
    rules = Enum.filter([min: 0, exclusive_max: 1.0e10, multiple_of: 0.5], fn _ -> chance(2) end)
    described(:float, rules, 4)
  end

  defp ruled(:string) do
    format = pick([:date, :datetime, :full_time, :email, :uri, :uuid])
    pattern = pick(["^[A-Z]", "x$", "a{2,3}|b"])

    rules =
      Enum.filter([min_length: 1, max_length: 40, pattern: pattern, format: format], fn _ ->
        chance(2)
      end)

    described(:string, rules)
  end

  defp enumeration(values) do
    [enum: values] ++
      Enum.filter([ignore_case: true, default: hd(values), description: "one of them"], fn _ ->
        chance(2)
      end)
  end

  defp described(type, rules, default \\ nil) do
    more = if(default && chance(3), do: [default: default], else: [])
    more = if chance(3), do: more ++ [description: "a text"], else: more

    case rules ++ more do
      [] -> type
      rules -> {:where, type, RuleCheck.ordered(rules)}
    end
  end

  # A default in one of several types is dropped, and listed.
  defp plain({:where, type, rules}) do
    case Keyword.delete(rules, :default) do
      [] -> type
      rules -> {:where, type, rules}
    end
  end

  defp plain(type), do: type

  defp pick(list), do: Enum.random(list)
  defp chance(n), do: :rand.uniform(n) == 1
end

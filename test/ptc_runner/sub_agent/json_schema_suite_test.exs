defmodule PtcRunner.SubAgent.JsonSchemaSuiteTest do
  # The official JSON Schema Test Suite, draft 2020-12; see test/conformance/json_schema/SOURCE.md.
  use ExUnit.Case, async: true

  alias PtcRunner.Json.Codec
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.Validator

  @dir Path.expand("../../conformance/json_schema", __DIR__)

  # Files about keywords that types do not have, or that need schemas from a server.
  @unsupported ~w(contains dependentRequired dependentSchemas dynamicRef if-then-else maxContains maxProperties minContains
                  minProperties patternProperties propertyNames refRemote unevaluatedItems unevaluatedProperties
                  optional/dependencies-compatibility optional/dynamicRef optional/unknownKeyword)

  files = @dir |> Path.join("**/*.json") |> Path.wildcard() |> Enum.sort()
  for file <- files, do: @external_resource(file)

  # Of the files of the supported keywords: all cases, those judged right, all groups, and those with parts that are not kept.
  # The guide "Signatures" has these numbers.
  @figure %{cases: 1_096, right: 1_059, groups: 252, dropped: 43}

  for file <- files do
    name = file |> Path.relative_to(@dir) |> Path.rootname()

    test "#{name}: whole schemas judge right, others refuse no valid value" do
      {:ok, groups} = unquote(file) |> File.read!() |> Codec.decode()

      for group <- groups do
        {type, dropped} = read(group["schema"], unquote(name))

        for %{"data" => data, "valid" => valid?} = case <- group["tests"] do
          judged = Validator.validate(data, type)
          label = "#{group["description"]}, #{case["description"]}"

          if dropped == [] or valid? do
            assert valid? == (judged == :ok),
                   "#{label}: #{inspect(data)} should be valid: #{valid?}, got #{inspect(judged)} by #{inspect(type)}"
          end
        end
      end
    end
  end

  test "the figure of the guide" do
    results =
      for file <- Path.wildcard(Path.join(@dir, "**/*.json")),
          name = file |> Path.relative_to(@dir) |> Path.rootname(),
          name not in @unsupported,
          {:ok, groups} = file |> File.read!() |> Codec.decode(),
          group <- groups do
        {type, dropped} = read(group["schema"], name)

        right =
          Enum.count(
            group["tests"],
            &(Validator.validate(&1["data"], type) == :ok == &1["valid"])
          )

        {length(group["tests"]), right, if(dropped == [], do: 0, else: 1)}
      end

    figure = %{
      cases: results |> Enum.map(&elem(&1, 0)) |> Enum.sum(),
      right: results |> Enum.map(&elem(&1, 1)) |> Enum.sum(),
      groups: length(results),
      dropped: results |> Enum.map(&elem(&1, 2)) |> Enum.sum()
    }

    assert figure == @figure
    guide = File.read!("guides/signatures.md")

    for number <- Map.values(@figure) do
      text = number |> Integer.to_string() |> String.replace(~r/(\d)(\d{3})$/, "\\1,\\2")
      assert guide =~ text
    end
  end

  # In draft 2020-12 a format is an annotation by default; the optional tests demand that it is checked.
  defp read(schema, name) do
    opts = if name == "format", do: [formats: false], else: []
    assert {:ok, {:signature, [], type}, dropped} = Signature.from_json_schema(schema, opts)
    {type, dropped}
  end
end

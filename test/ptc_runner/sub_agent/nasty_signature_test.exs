defmodule PtcRunner.SubAgent.NastySignatureTest do
  # Types and values of any shape, size and depth give a result or a clear error.
  use ExUnit.Case, async: true

  import ExUnit.CaptureLog

  alias PtcRunner.Native
  alias PtcRunner.SubAgent.{Signature, Template, TypeExtractor}
  alias PtcRunner.SubAgent.Signature.{Coercion, Renderer, Validator}

  @deep 100_000
  # So many that a step in the square of their number takes minutes; with PTC_CASES more.
  @many if PtcRunner.Test.Environment.many?(), do: 100_000, else: 25_000

  defp nested(value, depth, wrap),
    do: Enum.reduce(1..depth, value, fn _, value -> wrap.(value) end)

  defp deep_list(value), do: nested(value, @deep, &[&1])
  defp deep_map(value), do: nested(value, @deep, &%{"a" => &1})
  defp deep_list_type(type), do: nested(type, @deep, &{:list, &1})
  defp deep_map_type(type), do: nested(type, @deep, &{:map, [{"a", &1}]})

  describe "depth" do
    test "of lists" do
      type = deep_list_type(:int)
      assert Validator.validate(deep_list(1), type) == :ok

      assert {:error, [%{path: path, message: "expected int, got string"}]} =
               Validator.validate(deep_list("1"), type)

      assert length(path) == @deep and Enum.all?(path, &(&1 == 0))

      assert {:ok, value, ["coerced string \"1\" to integer"]} =
               Coercion.coerce(deep_list("1"), type)

      assert value === deep_list(1)
      assert {:ok, ^value, []} = Coercion.coerce(value, type)
      assert {:error, "cannot coerce to integer"} = Coercion.coerce(deep_list(nil), type)
    end

    test "of maps" do
      type = deep_map_type({:optional, :float})
      assert Validator.validate(deep_map(1), type) == :ok
      assert {:error, [%{path: path}]} = Validator.validate(deep_map("1"), type)
      assert length(path) == @deep
      assert {:ok, value, []} = Coercion.coerce(deep_map(1), type)
      assert value === deep_map(1.0)
      assert {:error, message} = Coercion.coerce(deep_map("x"), type, mode: :strict)
      assert String.starts_with?(message, "a.a.a.")
    end

    test "of texts and types" do
      type = deep_list_type(:int)
      text = String.duplicate("[", @deep) <> ":int" <> String.duplicate("]", @deep)
      assert Signature.parse(text) == {:ok, {:signature, [], type}}
      assert Renderer.render_type(type) == text

      assert {:error, "parse error at line 1, column 0: " <> _} =
               Signature.parse((text <> "x") |> String.slice(0, @deep))

      assert Signature.public_view({:signature, [], type}) == {:signature, [], type}
      assert %{"type" => "array"} = Signature.type_to_json_schema(type)
      optional = nested(:int, @deep, &{:optional, &1})
      assert Validator.validate(nil, optional) == :ok
      assert Validator.validate(List.duplicate(nil, 1_000), {:list, optional}) == :ok
      assert Renderer.render_type(optional) == ":int" <> String.duplicate("?", @deep)
    end

    test "that differs from the type's" do
      assert {:error, [%{path: [0, 0], message: "expected int, got list"}]} =
               Validator.validate(deep_list(1), {:list, {:list, :int}})

      assert {:error, [%{path: [0], message: "expected list, got int"}]} =
               Validator.validate([1], deep_list_type(:int))
    end
  end

  describe "sharing: a small term that stands for a huge one" do
    test "in a type" do
      type = nested(:int, 200, &{:map, [{"a", &1}, {"b", &1}]})
      assert {:error, [_ | _]} = Validator.validate(%{"a" => 1}, type)
      assert {:error, _} = Coercion.coerce(%{"a" => %{}}, type)
      assert %{"properties" => %{"a" => same, "b" => same}} = Signature.type_to_json_schema(type)
      assert Signature.public_view({:signature, [], type}) |> elem(0) == :signature
      assert_raise ArgumentError, ~r/too large/, fn -> Renderer.render_type(type) end
    end

    @tag timeout: 120_000
    test "in a value" do
      type = nested(:int, 100, &{:list, &1})
      value = nested(1, 100, &[&1, &1])
      assert Validator.validate(value, type) == :ok
      assert {:ok, same, []} = Coercion.coerce(value, type)
      assert :erts_debug.same(same, value)
    end

    @tag timeout: 120_000
    test "in a value that is wrong everywhere" do
      # Each error has a place of so many parts.
      type = nested(:int, 40, &{:list, &1})
      value = nested("1", 40, &[&1, &1])
      assert {:error, errors} = Validator.validate(value, type)
      assert length(errors) > 10_000
      assert Coercion.coerce(value, type) == {:error, "too many warnings"}
    end
  end

  describe "what is no type" do
    @no_types [
      nil,
      "int",
      {},
      {:list},
      {:list, :int, :int},
      {:optional},
      {:map, :int},
      {:map, [:int]},
      {:map, [{:id, :int}]},
      {:map, [{"id", :int, 1}]},
      {:map, [{"id", :int} | :tail]},
      {:closed_map, %{}},
      {:list, {:list, {:map, [{1, :int}]}}},
      [:int],
      %{"type" => "string"},
      <<1::3>>
    ]

    test "is an unsupported type in coercion, and raises elsewhere" do
      for type <- @no_types do
        assert Coercion.coerce([[1]], type) == {:error, "unsupported type"}, inspect(type)

        # as the reference's validator does
        assert_raise FunctionClauseError, fn -> Validator.validate([[1]], type) end

        assert_raise ArgumentError, ~r/unsupported type/, fn -> Renderer.render_type(type) end
        assert_raise ArgumentError, ~r/unsupported/, fn -> Signature.type_to_json_schema(type) end

        assert_raise ArgumentError, ~r/unsupported type/, fn ->
          Signature.call_tool({:signature, [{"a", type}], :any}, %{"a" => [[1]]}, & &1)
        end
      end
    end

    test "does no harm where no value stands" do
      for type <- @no_types do
        assert Validator.validate([], {:list, type}) == :ok
        assert Validator.validate(nil, {:optional, type}) == :ok
        assert Coercion.coerce(nil, {:optional, type}) == {:ok, nil, []}
        assert Validator.validate(1, {:list, type}) |> elem(0) == :error
      end
    end
  end

  describe "size" do
    test "of maps: #{@many} keys" do
      map = for n <- 1..@many, into: %{"id" => "1", x: 1.0}, do: {n, n}
      type = {:map, [{"id", :int}, {"x", :float}]}
      assert {:error, [%{path: ["id"]}]} = Validator.validate(map, type)

      assert Coercion.coerce(map, type) ==
               {:ok, %{"id" => 1, x: 1.0}, ["coerced string \"1\" to integer"]}

      assert {:error, errors} = Validator.validate(map, {:closed_map, elem(type, 1)})
      assert length(errors) == @many + 1
      assert map_size(Signature.public_data(map)) == @many + 2
    end

    test "of types: #{@many} fields, and maps with all of them" do
      fields = for n <- 1..@many, do: {"field_#{n}", :int}
      map = Map.new(fields, fn {name, _} -> {name, "7"} end)
      type = {:closed_map, fields}
      assert {:ok, numbers, warnings} = Coercion.coerce(map, type)
      assert length(warnings) == @many
      assert Enum.all?(numbers, fn {_, value} -> value == 7 end)
      assert Validator.validate(numbers, type) == :ok
      assert {:ok, ^numbers, []} = Coercion.coerce(numbers, type)
      assert {:error, errors} = Validator.validate(%{}, type)
      assert length(errors) == @many
      assert {:ok, {:signature, [], parsed}} = Signature.parse(Renderer.render_type(type))
      assert parsed == {:map, fields}
    end

    test "of lists: an element that changes keeps what follows" do
      [_, _ | rest] = Enum.to_list(1..@many)
      assert {:ok, [1, 2 | tail], [_]} = Coercion.coerce([1, "2" | rest], {:list, :int})
      assert :erts_debug.same(tail, rest)
    end

    test "of strings and integers" do
      digits = String.duplicate("9", 20_000)
      assert {:ok, number, [_]} = Coercion.coerce(digits, :int)
      assert number == 10 ** 20_000 - 1
      assert {:error, _} = Coercion.coerce(digits, :float)
      assert {:error, "cannot coerce to float"} = Coercion.coerce(number, :float)
      assert {:ok, 1.7976931348623157e308, []} = Coercion.coerce(2 ** 1024 - 2 ** 970 - 1, :float)
      assert {:error, _} = Coercion.coerce(2 ** 1024 - 2 ** 970, :float)
      assert {:error, _} = Coercion.coerce(String.duplicate("9", 4_000_001), :int)

      assert {:error, [%{message: "expected string, got int"}]} =
               Validator.validate(number, :string)
    end

    test "of results: 10,000 errors as text" do
      rows = for n <- 1..10_000, do: %{"id" => "row #{n}"}
      {:error, errors} = Validator.validate(rows, {:list, {:map, [{"id", :int}]}})
      text = Signature.format_errors(errors, rows)
      assert text |> String.split("\n") |> length() == 10_001
      assert String.ends_with?(text, ~s(\n- [9999].id: expected integer, got string "row 10000"))
    end
  end

  test "improper lists, wherever they stand" do
    type = {:list, {:map, [{"id", :int}]}}
    value = [%{"id" => "x"}, %{"id" => 1} | :tail]

    assert Validator.validate(value, type) ==
             {:error, [%{path: [], message: "expected list, got improper list"}]}

    assert Coercion.coerce(value, type) == {:error, "cannot coerce to list"}

    assert Coercion.coerce([[1, "x" | 2]], {:list, {:list, :int}}) ==
             {:error, "cannot coerce to list"}

    assert Coercion.coerce(value, :any) == {:ok, value, []}
    assert Signature.public_data([%{_a: 1, b: 2} | %{_c: 3}]) == [%{b: 2} | %{}]
  end

  test "values that only Elixir can name" do
    for value <-
          [self(), make_ref(), &is_atom/1, {1}, <<1::3>>, 1..2, %{__struct__: NoModule}] ++
            PtcRunner.Test.Strange.plain() do
      assert Validator.validate([value], {:list, :int}) ==
               {:error, [%{path: [0], message: "expected int, got #{inspect(value)}"}]}

      assert {:error, "cannot coerce to integer"} = Coercion.coerce(value, :int)
      assert {:ok, ^value, []} = Coercion.coerce(value, :any)
    end

    # a map that only claims to be a date
    assert Coercion.coerce(%{__struct__: Date}, :string) == {:error, "cannot coerce to string"}
  end

  test "structs, by the rules of each step" do
    date = ~D[2024-02-29]
    type = {:map, [{"year", :int}]}
    assert {:ok, %{year: 2024}, []} = Coercion.coerce(date, type)

    assert {:error, [%{message: "expected map, got ~D[2024-02-29]"}]} =
             Validator.validate(date, type)

    assert {:error, [_]} = Validator.validate(date, :map)
    assert Validator.validate(%{__struct__: "no atom"}, :map) == :ok
    assert Validator.validate(%{"__struct__" => :date}, :map) == :ok
  end

  test "keys that differ from row to row" do
    type = {:list, {:map, [{"user_id", :int}, {"n", {:optional, :int}}]}}

    rows =
      for n <- 1..2_000 do
        case rem(n, 8) do
          0 -> %{"user_id" => n}
          1 -> %{user_id: n}
          2 -> %{"user-id" => n, "n" => nil}
          3 -> %{:"user-id" => n, :n => 1}
          4 -> %{"n" => 2, "user_id" => n, "z" => 1}
          5 -> Map.new(1..40, &{&1, &1}) |> Map.put("user-id", n)
          6 -> :erlang.binary_to_term(:erlang.term_to_binary(%{"n" => 1, "user_id" => n}))
          7 -> %{"user_id" => n, "user-id" => "ignored"}
        end
      end

    assert Validator.validate(rows, type) == :ok
    wrong = List.replace_at(rows, 1_500, %{"User_id" => 1})

    assert Validator.validate(wrong, type) ==
             {:error, [%{path: [1500, "user_id"], message: "expected field, got nil"}]}
  end

  test "no atom is created" do
    names = for n <- 1..200, do: "never_an_atom_#{n}_#{System.unique_integer([:positive])}"
    text = "{#{Enum.map_join(names, ", ", &"#{&1} :keyword?")}}"
    value = Map.new(names, &{&1, &1})
    large = Enum.reduce(1..40, value, &Map.put(&2, &1, &1))

    {:ok, {:signature, [], type} = signature} = Signature.parse(text)
    :ok = Signature.validate(signature, value)
    :ok = Signature.validate(signature, large)
    {:error, _} = Coercion.coerce(value, type)

    {:error, {:invalid_input, errors, _}} =
      Signature.call_tool({:signature, elem(type, 1), :any}, value, & &1)

    _ = Signature.format_errors(errors, value)
    _ = Template.expand("{{#{hd(names)}.x}}", %{hd(names) => %{"x" => 1}})
    _ = Signature.from_json_schema(Signature.to_json_schema(signature))
    _ = Signature.public_data(value)

    for name <- names, do: assert_raise(ArgumentError, fn -> String.to_existing_atom(name) end)
  end

  describe "schedulers" do
    test "long walks leave theirs soon" do
      rows = for n <- 1..300_000, do: %{"id" => n, "text" => "#{n}"}
      type = {:list, {:map, [{"id", :int}, {"text", :int}]}}

      for walk <- [
            fn -> Native.signature_validate(type, rows, false) end,
            fn -> Native.signature_coerce(type, rows, nil, false) end,
            fn -> Native.signature_input(type, rows, nil, false) end,
            fn -> Native.signature_validate(deep_list_type(:int), deep_list(1), false) end,
            fn -> Native.signature_render(deep_list_type(:int), false) end,
            fn -> Native.signature_schema({:map, for(n <- 1..@many, do: {"f#{n}", :int})}) end
          ] do
        answer = walk.()
        assert answer == :busy or match?({:long, _state, _terms}, answer)
      end
    end

    test "a caller that is gone is not waited for" do
      # made in the new process: sharing does not survive a message
      work = fn ->
        Coercion.coerce(nested("1", 100, &[&1, &1]), nested(:int, 100, &{:list, &1}))
      end

      {pid, monitor} = spawn_monitor(work)
      Process.sleep(20)
      Process.exit(pid, :kill)
      assert_receive {:DOWN, ^monitor, _, _, :killed}
    end
  end

  test "ten times the errors take about ten times as long" do
    type = {:list, {:map, [{"id", :int}]}}

    time = fn count ->
      rows = for n <- 1..count, do: %{"id" => "x#{n}"}
      Enum.min(for _ <- 1..5, do: elem(:timer.tc(fn -> Validator.validate(rows, type) end), 0))
    end

    # Other work on the machine lengthens some of the measurements, but not all; quadratic work would take 100 times as long in each.
    assert Enum.any?(1..10, fn _round -> time.(200_000) < 40 * time.(20_000) end)
  end

  test "the type extractor takes anything" do
    capture_log(fn ->
      for given <- [
            nil,
            1,
            "f",
            fn -> :ok end,
            Function.capture(NoModule, :f, 1),
            &:erlang.abs/1,
            &List.first/1
          ] do
        assert {:ok, {_, _}} = TypeExtractor.extract(given)
      end
    end)
  end

  test "templates take any bytes" do
    assert Template.extract_placeholder_names(<<"{{a}}", 255, "{{b", 254, "}}{{c.d}}">>) == [
             "a",
             "c.d"
           ]

    long = "{{" <> String.duplicate("a.", 100_000) <> "a}}"
    assert [%{path: path}] = Template.extract_placeholders(long)
    assert length(path) == 100_001
    assert Template.extract_placeholders(String.duplicate("{", @many)) == []
    assert {:ok, ""} = Template.expand("", %{})
  end
end

defmodule PtcRunner.Json.UnknownNamesTest do
  # Fields that operations do not have, names that the context does not have.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Json.{Interpreter, Suggestion, Validator}
  alias PtcRunner.Test.JsonText

  # The answer to a program in all its forms, which must be the same.
  defp answer(node, opts \\ []) do
    map = %{"program" => node}
    {:ok, text} = JsonText.encode(map)
    answer = Json.run(map, opts)
    assert Json.run(text, opts) == answer

    for source <- [map, text] do
      compiled = Json.compile(source, Keyword.take(opts, [:strict, :keys, :edition]))
      with {:ok, program} <- compiled, do: assert(Json.run(program, opts) == answer)
      with {:error, error} <- compiled, do: assert({:error, error} == answer)
    end

    answer
  end

  defp error(text), do: {:error, {:validation_error, text}}

  describe "a mistyped field" do
    test "is found where it stands, before mistakes that come later" do
      sort = %{"op" => "sort_by", "field" => "items", "rder" => nil}
      mistyped = "Unknown field 'rder' in operation 'sort_by'. Did you mean 'order'?"
      median = %{"op" => "median"}
      missing = "Operation 'median' requires field 'field'"

      for {parts, text} <- [{[sort, median], mistyped}, {[median, sort], missing}] do
        list = %{"op" => "list", "items" => parts}
        assert answer(list, edition: 2) == error(text)
        # Nobody has validated it: it is checked when it is reached.
        reached = Interpreter.eval(list, PtcRunner.Context.new())
        assert reached == {:error, {:execution_error, text}}
      end

      key = %{"op" => "sort_by", "by" => [%{"field" => "x", "ordr" => "desc"}]}
      list = %{"op" => "list", "items" => [key, median]}
      assert {:error, {:validation_error, "Unknown field 'ordr'" <> _}} = answer(list, edition: 2)
    end

    test "does not make a filter keep every row" do
      rows = for n <- 1..3, do: %{"x" => n}
      gt = %{"op" => "gt", "feild" => "x", "value" => 2}
      load = %{"op" => "load", "name" => "rows"}
      steps = [load, %{"op" => "filter", "where" => gt}, %{"op" => "count"}]

      assert answer(%{"op" => "pipe", "steps" => steps}, context: %{"rows" => rows}) ==
               error("Unknown field 'feild' in operation 'gt'. Did you mean 'field'?")
    end

    test "does not make a sort ascend" do
      sort = %{"op" => "sort_by", "field" => "n", "oder" => "desc", "__input" => []}
      message = "Unknown field 'oder' in operation 'sort_by'. Did you mean 'order'?"
      assert answer(sort) == error(message)
      assert Validator.validate(sort) == error(message)
      assert Json.format_error({:validation_error, message}) == "ValidationError: " <> message
    end

    test "does not make one of several keys ascend" do
      key = %{"field" => "n", "oder" => "desc"}
      sort = %{"op" => "sort_by", "by" => [%{"field" => "a"}, key], "__input" => []}
      message = "Unknown field 'oder' in operation 'sort_by'. Did you mean 'order'?"
      assert answer(sort) == error(message)
      assert answer(%{"op" => "list", "items" => [sort]}) == error(message)
      context = PtcRunner.Context.new()
      assert Interpreter.eval(sort, context) == {:error, {:execution_error, message}}
      # What is said about the element itself comes first.
      assert {:error, {:validation_error, "Field 'order' must be" <> _}} =
               answer(put_in(sort["by"], [Map.put(key, "order", "up")]))
    end

    test "is told by the measure of the suggestions for operations" do
      :rand.seed(:exsss, {1, 2, 3})

      fields = [
        {"eq", ["field", "left"]},
        {"call", ["args", "on_error"]},
        {"get", ["default", "from", "key", "path"]}
      ]

      known = Enum.flat_map(fields, &elem(&1, 1)) ++ ["op", "tool", "value", "__input"]

      for {op, missing} <- fields,
          name <- Enum.map(1..300, fn _ -> spoil(Enum.random(missing)) end),
          name not in known do
        given = %{"eq" => %{"value" => 1}, "call" => %{"tool" => "t"}, "get" => %{"field" => "a"}}
        node = Map.merge(given[op], %{"op" => op, name => 1})

        expected =
          case Suggestion.closest(name, missing) do
            {:ok, meant} ->
              error("Unknown field '#{name}' in operation '#{op}'. Did you mean '#{meant}'?")

            :error ->
              :ok
          end

        assert Validator.validate(node) == expected, inspect(node)
      end
    end

    test "is found in programs of any size, and no other field takes long" do
      others = Map.new(1..20_000, &{"note #{&1}", &1})
      node = Map.merge(others, %{"op" => "eq", "value" => 1, "__input" => 1})
      assert {:ok, true, _, _} = answer(node)
      assert {:error, {:validation_error, text}} = answer(Map.put(node, "fild", "x"))
      assert text =~ "'fild'"
      long = String.duplicate("field", 100_000)
      assert {:ok, true, _, _} = answer(Map.put(node, long, "x"))
    end

    test "with a key that is no text or no UTF-8 is another field" do
      for key <- [:feild, 1, nil, <<"feil", 255>>] do
        node = %{"op" => "eq", "value" => 1, "__input" => 1, key => "x"}
        assert {:ok, true, _, _} = Json.run(%{"program" => node})
        assert {:error, {:validation_error, text}} = Json.run(%{"program" => node}, strict: true)
        assert text =~ "in operation 'eq'. There are: 'field', 'left', 'value'"
      end
    end

    test "in a part that nobody validated fails the run that reaches it" do
      inner = %{"op" => "get", "field" => "a", "defualt" => 1}
      node = %{"op" => "eq", "value" => inner, "__input" => %{"a" => 1}}
      text = "Unknown field 'defualt' in operation 'get'. Did you mean 'default'?"
      assert answer(node, edition: 1) == {:error, {:execution_error, text}}
      assert answer(node) == {:error, {:validation_error, text}}
      context = PtcRunner.Context.new()
      given = Map.put(inner, "__input", %{})
      assert Interpreter.eval(given, context) == {:error, {:execution_error, text}}
    end
  end

  defp spoil(name) do
    letters = String.graphemes(name)
    at = Enum.random(0..(length(letters) - 1))

    case Enum.random(1..5) do
      1 -> List.delete_at(letters, at)
      2 -> List.insert_at(letters, at, Enum.random(~w(a e x S _)))
      3 -> letters |> List.replace_at(at, Enum.random(~w(a é x))) |> Enum.shuffle()
      4 -> Enum.map(letters, &String.upcase/1)
      5 -> letters |> List.pop_at(at) |> then(fn {letter, rest} -> [letter | rest] end)
    end
    |> Enum.join()
  end

  describe "strict: true" do
    test "refuses every field that an operation does not have, and names those it has" do
      cases = [
        {%{"op" => "literal", "value" => 1, "comment" => "one"}, "comment", "There are: 'value'"},
        {%{"op" => "count", "comment" => "all", "__input" => []}, "comment",
         "There are: 'where'"},
        {%{"op" => "eq", "value" => 1, "b" => 1, "a" => 1, "__input" => 1}, "a",
         "There are: 'field', 'left', 'value'"}
      ]

      for {%{"op" => op} = node, field, there} <- cases do
        assert answer(node, strict: true) ==
                 error("Unknown field '#{field}' in operation '#{op}'. #{there}")

        assert {:ok, _, _, _} = answer(node)
        assert {:ok, _, _, _} = answer(node, strict: false)
        assert {:ok, _, _, _} = answer(Map.delete(node, field) |> Map.delete("b"), strict: true)
      end
    end

    test "refuses every field that a case or a sort key does not have" do
      holds = %{"op" => "literal", "value" => true}
      case = %{"when" => holds, "then" => 1}

      cases = [
        {%{"op" => "switch", "cases" => [case, Map.put(case, "note", 1)]}, "note", "cases",
         "'then', 'when'"},
        {%{"op" => "switch", "cases" => [Map.put(case, "op", "it")]}, "op", "cases",
         "'then', 'when'"},
        {%{"op" => "sort_by", "by" => [%{"field" => "a", "note" => 1}], "__input" => []}, "note",
         "by", "'expr', 'field', 'order'"},
        {%{"op" => "sort_by", "by" => [%{"expr" => holds, "__input" => 1}], "__input" => []},
         "__input", "by", "'expr', 'field', 'order'"}
      ]

      for {%{"op" => op} = node, field, list, there} <- cases do
        assert answer(node, strict: true) ==
                 error(
                   "Unknown field '#{field}' in '#{list}' of operation '#{op}'. There are: #{there}"
                 )

        assert {:ok, _, _, _} = answer(node)
      end
    end

    test "reports a name that the context does not have" do
      load = %{"op" => "load", "name" => "ordres"}
      context = %{"orders" => [1], "customers" => [2], :ordres => 3}
      text = "Unknown name 'ordres' in operation 'load'. Did you mean 'orders'? "

      text =
        text <> "There are: 'customers', 'orders'. The context has the key :ordres, an atom, "

      text = text <> ~s(and keys are texts: give %{"ordres" => …}, or keys: :any)

      assert answer(load, context: context, strict: true) == {:error, {:execution_error, text}}
      assert {:ok, nil, _, _} = answer(load, context: context)

      assert {:ok, [1], _, _} =
               answer(%{load | "name" => "orders"}, context: context, strict: true)

      assert {:ok, nil, _, _} = answer(load, context: %{"ordres" => nil}, strict: true)
      # What let and memory do not have stays nil.
      assert {:ok, nil, _, _} = answer(%{"op" => "var", "name" => "x"}, strict: true)
    end

    test "tells some of many names, however long they are" do
      names = for n <- 1..100_000, into: %{}, do: {"name #{n}" <> String.duplicate("é", 120), n}
      names = Map.put(names, String.duplicate("x", 1_000_000), 0)
      load = %{"op" => "load", "name" => "x"}
      assert {:error, {:execution_error, text}} = answer(load, context: names, strict: true)
      assert text =~ ", and 99988 more"
      assert byte_size(text) < 4_096
      assert {:error, {:execution_error, text}} = answer(load, strict: true)
      assert text == "Unknown name 'x' in operation 'load'. There are none"
    end

    test "stays with a compiled program, and can be asked for when it is run" do
      source = ~s({"program": {"op": "load", "name": "x"}})
      {:ok, strict} = Json.compile(source, strict: true)
      {:ok, lenient} = Json.compile(source)
      assert {:error, {:execution_error, text}} = Json.run(strict)
      assert Json.run(lenient, strict: true) == {:error, {:execution_error, text}}
      assert Json.run(strict, strict: false) == {:error, {:execution_error, text}}
      assert {:ok, nil, _, _} = Json.run(lenient)

      {:ok, commented} = Json.compile(~s({"program": {"op": "literal", "value": 1, "why": 2}}))
      assert {:error, {:validation_error, _}} = Json.run(commented, strict: true)
      assert {:error, {:validation_error, _}} = Json.compile(commented, strict: true)
      assert {:ok, 1, _, _} = Json.run(commented)
    end
  end

  test "strict and keys are checked" do
    for form <- [~s({"program": {"op": "count"}}), %{"program" => %{"op" => "count"}}] do
      message = ~r"option :keys of .* must be :strings or :any, got: :atoms"
      assert_raise ArgumentError, message, fn -> Json.run(form, keys: :atoms) end
      assert_raise ArgumentError, message, fn -> Json.compile(form, keys: :atoms) end
      message = ~r"option :strict of .* must be true or false, got: 1"
      assert_raise ArgumentError, message, fn -> Json.run(form, strict: 1) end
    end
  end
end

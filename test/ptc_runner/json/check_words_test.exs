defmodule PtcRunner.Json.CheckWordsTest do
  # The exact words, place and severity of each finding, for programs as text, as a map and compiled, in both editions.
  use ExUnit.Case, async: true

  alias PtcRunner.Json

  @rows %{"op" => "load", "name" => "rows"}
  @row {:map,
        [
          {"id", :int},
          {"name", :string},
          {"bonus", {:optional, :int}},
          {"status", {:union, [{:literal, "open"}, {:literal, "paid"}]}}
        ]}

  @opts [
    context: %{"rows" => {:list, @row}, "n" => :int},
    memory: %{"seen" => {:list, :int}},
    tools: %{
      "user" => "(id :int, day :string?) -> {name :string}",
      "mark" =>
        {&Function.identity/1,
         signature: "(as :string) -> :any", enums: %{"as" => ["hot", "cold"]}}
    }
  ]

  defp over(steps), do: %{"op" => "pipe", "steps" => [@rows | steps]}
  defp get(field), do: %{"op" => "get", "field" => field}
  defp map(expr), do: %{"op" => "map", "expr" => expr}
  defp call(tool, args), do: %{"op" => "call", "tool" => tool, "args" => args}
  defp where(op, field, value), do: %{"op" => op, "field" => field, "value" => value}
  defp filter(where), do: %{"op" => "filter", "where" => where}

  # {severity, code, editions, program, returns, path, message}
  defp cases do
    [
      {:error, :unknown_field, [1, 2], over([%{"op" => "sum", "field" => "idd"}]), nil,
       ["steps", 1, "field"], "sum reads field 'idd', which no value has. Did you mean 'id'?"},
      {:error, :unknown_field, [1, 2], over([map(get("x"))]), nil, ["steps", 1, "expr", "field"],
       "get reads field 'x', which no value has. There are: 'bonus', 'id', 'name', 'status'"},
      {:error, :wrong_kind, [1, 2], over([%{"op" => "sum", "field" => "name"}]), nil,
       ["steps", 1, "field"], "sum needs numbers in field 'name' of the items, which are texts"},
      {:error, :wrong_kind, [1, 2], over([get("id")]), nil, ["steps", 1, "field"],
       "get needs an object as current value, which is a list"},
      {:error, :wrong_kind, [1, 2], over([%{"op" => "count"}, %{"op" => "first"}]), nil,
       ["steps", 2], "first needs a list as current value, which is a number"},
      {:error, :wrong_kind, [1, 2],
       over([map(%{"op" => "add", "left" => get("name"), "right" => 1})]), nil,
       ["steps", 1, "expr", "left"], "add needs a number in 'left', which is a text"},
      {:error, :wrong_kind, [2], %{"op" => "upper", "value" => 5}, nil, ["value"],
       "upper needs a text in 'value', which is a number"},
      {:warning, :maybe_wrong_kind, [1, 2],
       over([map(%{"op" => "add", "left" => get("bonus"), "right" => 1})]), nil,
       ["steps", 1, "expr", "left"], "add needs a number in 'left', which may be null"},
      {:error, :wrong_integer, [2], %{"op" => "range", "from" => 1.5, "to" => 2}, nil, ["from"],
       "range needs an integer in 'from', which has a fraction"},
      {:error, :unknown_name, [1, 2], %{"op" => "load", "name" => "row"}, nil, ["name"],
       "load finds no 'row' in the context. Did you mean 'rows'?"},
      {:error, :unknown_name, [1, 2], %{"op" => "var", "name" => "other"}, nil, ["name"],
       "var finds no 'other' in the memory. There are: 'seen'"},
      {:error, :no_input, [1, 2], %{"op" => "count"}, nil, [],
       "No input available in operation 'count'"},
      {:error, :unknown_tool, [1, 2], call("usr", %{}), nil, ["tool"],
       "Tool 'usr' not found. Did you mean 'user'?"},
      {:error, :missing_argument, [1, 2], call("user", %{"day" => "x"}), nil, ["args"],
       "Tool 'user' needs argument 'id' (:int)"},
      {:warning, :unknown_argument, [1, 2], call("user", %{"id" => 1, "to" => 2}), nil,
       ["args", "to"], "Tool 'user' has no argument 'to'. There are: 'day', 'id'"},
      {:error, :wrong_argument, [1, 2], call("user", %{"id" => "seven"}), nil, ["args", "id"],
       "Argument 'id' of tool 'user' must be :int, and is \"seven\""},
      {:error, :wrong_argument, [1, 2], call("mark", %{"as" => "warm"}), nil, ["args", "as"],
       "Argument 'as' of tool 'mark' must be \"hot\" or \"cold\", and is \"warm\""},
      {:warning, :maybe_wrong_argument, [1, 2], call("user", %{"id" => "7"}), nil, ["args", "id"],
       "Argument 'id' of tool 'user' must be :int, and may be \"7\""},
      {:error, :wrong_result, [1, 2], over([%{"op" => "count"}]), "[:int]", [],
       "The result must be [:int], and is :int"},
      {:error, :missing_result, [1, 2], over([%{"op" => "max_by", "field" => "id"}]),
       "{nme :string}", [], "The result has no field nme, which must be :string"},
      {:warning, :maybe_wrong_result, [1, 2], over([map(get("bonus"))]), "[:int]", [],
       "The result must be :int, and may be null or :int, in []"},
      {:warning, :always, [2], over([filter(where("gt", "name", 1))]), nil, ["steps", 1, "where"],
       "gt is always false: field 'name' is a text, and is compared with a number"},
      # In edition 1 a text is greater than any number.
      {:warning, :always, [1], over([filter(where("gt", "name", 1))]), nil, ["steps", 1, "where"],
       "gt is always true: field 'name' is a text, and is compared with a number"},
      {:warning, :not_in_enumeration, [1, 2], over([filter(where("eq", "status", "closed"))]),
       nil, ["steps", 1, "where", "value"],
       "eq compares field 'status' with \"closed\", which it never is. There are: \"open\", \"paid\""},
      {:warning, :null_is_greater, [1], over([filter(where("gt", "bonus", 1))]), nil,
       ["steps", 1, "where"], "gt holds for null, which field 'bonus' may be"},
      {:warning, :never_runs, [1, 2],
       over([
         map(%{
           "op" => "if",
           "condition" => %{"op" => "literal", "value" => true},
           "then" => get("id"),
           "else" => get("name")
         })
       ]), nil, ["steps", 1, "expr", "else"], "'else' of if never runs"},
      {:warning, :constant_call, [1, 2], over([map(call("user", %{"id" => 1}))]), nil,
       ["steps", 1, "expr"], "Tool 'user' is called for each item with the same arguments"}
    ]
  end

  @codes ~w(unknown_field wrong_kind maybe_wrong_kind wrong_integer unknown_name no_input unknown_tool missing_argument
    unknown_argument wrong_argument maybe_wrong_argument wrong_result missing_result maybe_wrong_result always
    not_in_enumeration null_is_greater never_runs constant_call)a

  test "every kind of finding has a case" do
    assert cases() |> Enum.map(&elem(&1, 1)) |> Enum.uniq() |> Enum.sort() == Enum.sort(@codes)
  end

  # It has a test of its own, because the memory of the cases is known.
  for form <- [:text, :map, :compiled], edition <- [1, 2] do
    test "the words for a name that nothing binds, of a program as #{form}, edition #{edition}" do
      opts = [edition: unquote(edition)]
      var = &%{"op" => "var", "name" => &1}
      check = &Json.check(form(unquote(form), %{"program" => &1}, unquote(edition)), opts)

      within =
        &%{"op" => "let", "name" => &1, "value" => %{"op" => "literal", "value" => 1}, "in" => &2}

      for {program, wanted} <- [
            {var.("seen"),
             {"var 'seen' is null unless the memory has it: no operation around it binds it", nil}},
            {within.("total", var.("totl")),
             {"var 'totl' is null unless the memory has it: no operation around it binds it. Did you mean 'total'?",
              "total"}},
            {within.("x", within.("y", var.("other"))),
             {"var 'other' is null unless the memory has it: no operation around it binds it. There are: 'x', 'y'",
              nil}},
            {within.("x", var.("x")), nil},
            {within.("x", var.("__input")), nil},
            {%{
               "op" => "coalesce",
               "values" => [var.("seen"), %{"op" => "literal", "value" => 1}]
             }, nil}
          ],
          program["op"] != "coalesce" or unquote(edition) == 2 do
        assert {:ok, checked} = check.(program)

        case wanted do
          nil ->
            assert checked.warnings == []

          {message, suggestion} ->
            assert [%{code: :unbound_name} = warning] = checked.warnings
            assert {warning.message, warning.suggestion} == {message, suggestion}
        end

        assert {:ok, _result, _delta, _memory} = Json.run(%{"program" => program}, opts)

        # What is known of the memory says whether the name is there.
        assert {:ok, %{warnings: []}} =
                 Json.check(%{"program" => program},
                   edition: unquote(edition),
                   memory: Map.new(~w(seen totl other), &{&1, :any})
                 )
      end
    end
  end

  for form <- [:text, :map, :compiled] do
    test "the words of each finding, of a program as #{form}" do
      for {severity, code, editions, program, returns, path, message} <- cases(),
          edition <- editions do
        opts = [edition: edition, returns: returns] ++ @opts
        program = form(unquote(form), %{"program" => program}, edition)

        # The first one; further ones follow from it.
        finding =
          case Json.check(program, opts) do
            {:error, findings} -> Enum.find(findings, &(&1.code == code))
            {:ok, checked} -> Enum.find(checked.warnings, &(&1.code == code))
          end

        assert {severity(Json.check(program, opts)), finding[:code]} == {severity, code},
               inspect({code, edition, Json.check(program, opts)})

        assert {finding.message, finding.path} ==
                 {message, ["program" | place(unquote(form), edition, path)]}

        assert finding.line == if(unquote(form) == :map, do: nil, else: 1)
      end
    end
  end

  # The arguments in a map are constants in edition 1, which are not copied.
  defp place(:map, 1, ["args", _argument]), do: ["args"]
  defp place(_form, _edition, path), do: path

  defp form(:text, program, _edition), do: Json.Codec.encode!(program)
  defp form(:map, program, _edition), do: program

  defp form(:compiled, program, edition) do
    {:ok, program} = Json.compile(Json.Codec.encode!(program), edition: edition)
    program
  end

  defp severity({:error, _findings}), do: :error
  defp severity({:ok, _checked}), do: :warning

  test "in a value of an enumeration a text that can be coerced is no certain mistake" do
    tools = %{
      "t" => {&Function.identity/1, signature: "(n :int) -> :any", enums: %{"n" => [1, 2]}}
    }

    check = fn n ->
      program = %{"program" => call("t", %{"n" => n})}
      Json.check(program, tools: tools)
    end

    assert {:ok, %{warnings: []}} = check.(1)
    assert {:ok, %{warnings: [_]}} = check.("1")
    assert {:error, [%{message: message}]} = check.(3)
    assert message == "Argument 'n' of tool 't' must be 1 or 2, and is 3"
    assert {:error, [_]} = check.("3")
  end
end

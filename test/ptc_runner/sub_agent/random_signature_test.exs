defmodule PtcRunner.SubAgent.RandomSignatureTest do
  # Random types × random values: the library and the oracle must agree, to the letter.
  # `PTC_SEED` repeats a run, `PTC_CASES=4` takes four times as many.
  use ExUnit.Case, async: true

  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Coercion, Renderer, Validator}
  alias PtcRunner.Test.{Environment, SignatureGenerator, SignatureOracle}

  doctest SignatureOracle
  doctest SignatureGenerator

  @cases 1_000

  @tag timeout: 600_000
  test "the library and the oracle agree on random types and values" do
    seed = Environment.seed()

    for n <- 1..Environment.cases(@cases) do
      %{type: type, value: value} = SignatureGenerator.random_case(seed, n)

      for {what, answer, expected} <- answers(type, value), answer !== expected do
        flunk("""
        #{what}, case #{n} of seed #{seed}
        type:     #{inspect(type)}
        value:    #{inspect(value)}
        library:  #{inspect(answer)}
        oracle:   #{inspect(expected)}
        """)
      end
    end
  end

  defp answers(type, value) do
    coerced = Coercion.coerce(value, type)

    [
      {:validate, Validator.validate(value, type), SignatureOracle.validate(value, type)},
      {:strict, Validator.validate_closed(value, type),
       SignatureOracle.validate_closed(value, type)},
      {:coerce, coerced, SignatureOracle.coerce(value, type)},
      {:shared, shared?(coerced, value), true},
      {:input, input(value, type),
       SignatureOracle.input(%{"arg" => value}, {:map, [{"arg", type}]})},
      {:rendered, reparsed(type), {:ok, {:signature, [], open(type)}}}
    ]
  end

  # A value that did not change is the very term.
  defp shared?({:ok, value, []}, given) when value === given,
    do: :erts_debug.same(value, given) or not boxed?(value)

  defp shared?(_coerced, _value), do: true

  defp boxed?(value), do: is_map(value) or (is_list(value) and value != [])

  defp input(value, type) do
    signature = {:signature, [{"arg", type}], :any}

    case Signature.call_tool(signature, %{"arg" => value}, &{:called, &1}) do
      {:ok, {:called, args}, warnings} -> {:ok, args, warnings}
      {:error, {:invalid_input, errors, message}} when is_binary(message) -> {:error, errors}
    end
  end

  # Only one `?` can be written.
  defp reparsed(type), do: type |> open() |> Renderer.render_type() |> Signature.parse()

  defp open({:optional, {:optional, type}}), do: open({:optional, type})
  defp open({:optional, type}), do: {:optional, open(type)}
  defp open({:list, type}), do: {:list, open(type)}

  defp open({_map, fields}) do
    {:map, for({name, type} <- fields, name =~ ~r/\A[a-z_][\w-]*\z/, do: {name, open(type)})}
  end

  defp open(type), do: type

  test "most random values are nearly right" do
    cases = for n <- 1..2_000, do: SignatureGenerator.random_case(1, n)
    right = Enum.count(cases, &(SignatureOracle.validate(&1.value, &1.type) == :ok))

    coerced =
      Enum.count(cases, &match?({:ok, _, [_ | _]}, SignatureOracle.coerce(&1.value, &1.type)))

    assert right in 600..1_800
    assert coerced in 100..1_500
  end
end

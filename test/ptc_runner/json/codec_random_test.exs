defmodule PtcRunner.Json.CodecRandomTest do
  # Random terms and texts against plain Elixir. `PTC_SEED` repeats a run, `PTC_CASES=4` takes
  # four times as many.
  use ExUnit.Case, async: true

  alias PtcRunner.Json.Codec
  alias PtcRunner.Json.Codec.{DecodeError, EncodeError}
  alias PtcRunner.Test.{CodecOracle, Environment, Random}
  alias PtcRunner.Test.Generator.Json

  doctest CodecOracle

  @cases 500

  setup_all do
    seed = Environment.seed()
    {:ok, seed: seed}
  end

  test "terms are written as plain Elixir writes them", %{seed: seed} do
    each_random(Json.term(0), seed, fn term ->
      {:ok, expected} = CodecOracle.encode(term)
      assert Codec.encode(term) == {:ok, expected}
      assert IO.iodata_to_binary(Codec.encode!(term, as: :iodata)) == expected
    end)
  end

  test "what is no JSON is reported with one of the offending values", %{seed: seed} do
    refused =
      for {:error, offending} <-
            each_random(Json.term(10), seed, fn term ->
              case {Codec.encode(term), CodecOracle.encode(term)} do
                {{:ok, text}, {:ok, text}} ->
                  :ok

                {{:error, %Protocol.UndefinedError{value: value}}, {:error, offending}} ->
                  assert value in offending
                  {:error, offending}

                {{:error, %EncodeError{reason: :not_utf8, value: value, position: at}},
                 {:error, offending}} ->
                  assert value in offending
                  assert String.valid?(binary_part(value, 0, at))
                  refute String.valid?(binary_part(value, 0, at + 1))
                  {:error, offending}
              end
            end),
          do: offending

    assert length(refused) > @cases / 10
  end

  test "floats are laid out as the VM does it", %{seed: seed} do
    each_random(Json.float(), seed, fn float ->
      for float <- [
            float,
            1.0e-5 * round(float / 1.0e300),
            trunc_to(float, 4),
            trunc_to(float, 17)
          ],
          do: assert(Codec.encode!(float) == :erlang.float_to_binary(float, [:short]))
    end)
  end

  test "texts mean what they were made of", %{seed: seed} do
    each_random(Json.text(), seed, fn {text, value} ->
      assert Codec.decode(IO.iodata_to_binary(text)) === {:ok, value}
      assert Codec.decode(Codec.encode!(value)) === {:ok, value}
    end)
  end

  test "a text with a byte changed, left out or cut off is a value or an error in the text", %{
    seed: seed
  } do
    spoiled =
      {Json.text(), Random.integer(0..1_000), Random.integer(0..255), Random.integer(0..2)}

    each_random(spoiled, seed, fn {{text, _value}, place, byte, how} ->
      text = IO.iodata_to_binary(text)
      at = rem(place, byte_size(text))
      before = binary_part(text, 0, at)
      behind = binary_part(text, at + 1, byte_size(text) - at - 1)
      text = Enum.at([before <> <<byte>> <> behind, before <> behind, before], how)

      case Codec.decode(text) do
        {:ok, value} -> assert Codec.decode(Codec.encode!(value)) === {:ok, value}
        {:error, %DecodeError{position: at}} -> assert at in 0..byte_size(text)
      end
    end)
  end

  defp each_random(template, seed, fun) do
    for n <- 1..Environment.cases(@cases) do
      {value, _state} = Random.build(template, :rand.seed_s(:exsss, {seed, n, 0}))

      try do
        fun.(value)
      rescue
        error in ExUnit.AssertionError ->
          note = "\nPTC_SEED=#{seed}, case #{n}: #{inspect(value, limit: :infinity)}"
          reraise %{error | message: error.message <> note}, __STACKTRACE__
      end
    end
  end

  # Few digits, many exponents. Rounded up, the largest floats would be none.
  defp trunc_to(float, digits) when abs(float) < 1.0e308 do
    text = :erlang.float_to_binary(float, [{:scientific, digits - 1}])
    String.to_float(text)
  end

  defp trunc_to(float, _digits), do: float
end

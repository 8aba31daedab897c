# The files in this order: each uses the ones before.
for file <- ~w(data tools truth),
    do: Code.require_file("evidence/structs/#{file}.exs", __DIR__)

defmodule PtcRunner.EvidenceOfStructsTest do
  @moduledoc """
  The programs that a model wrote, without having seen the language before, for forty tasks over rows as Elixir has them: structs with
  dates, times, decimals and atoms, and eight tools. Each runs as the first turn of an agent with its defaults.
  """

  use ExUnit.Case, async: true

  alias PtcRunner.Agent
  alias PtcRunner.Json.Codec

  read = &(Path.join(__DIR__, "evidence/structs/#{&1}.json") |> File.read!() |> Codec.decode!())
  @tasks read.("tasks")
  @programs read.("programs")

  # Its program computes with the time of a visit that has none. That is an error that says what to write.
  @null ["outside-shift"]

  setup_all do
    %{truth: Forty.Truth.all()}
  end

  for %{"id" => id, "text" => text} <- @tasks do
    @tag id: id
    test "#{id}: #{String.slice(text, 0, 100)}", %{id: id, truth: truth} do
      assert_right(id, Map.fetch!(truth, id))
    end
  end

  # A function: the programs would be compiled into each test.
  defp assert_right(id, {expected, writes}) do
    program = @programs |> Map.fetch!(id) |> Codec.encode!()

    outcome =
      Agent.loop(fn _messages -> program end,
        task: "a task",
        tools: Forty.Tools.tools(self()),
        context: Forty.Data.context(),
        now: Forty.Data.now(),
        timeout: 30_000,
        max_turns: 1
      )

    if id in @null do
      assert {:error, %{fail: %{details: %{feedback: feedback}}}} = outcome
      assert feedback =~ "mul requires numeric operands, got: nil"
      assert feedback =~ "A missing field is null"
    else
      assert {:ok, step} = outcome
      assert same?(plain(step.return), plain(expected)), inspect(step.return)

      assert Enum.sort(written()) ==
               Enum.sort(for {name, args} <- writes, do: {name, plain(args)})
    end
  end

  defp written do
    receive do
      {:wrote, name, args} -> [{name, plain(args)} | written()]
    after
      0 -> []
    end
  end

  # Decimals are numbers, dates and times their ISO text, atoms their name.
  defp plain(%{__struct__: Decimal, sign: sign, coef: coef, exp: exp}) when exp >= 0,
    do: sign * coef * Integer.pow(10, exp)

  defp plain(%{__struct__: Decimal, sign: sign, coef: coef, exp: exp}),
    do: sign * coef / Integer.pow(10, -exp)

  defp plain(%module{} = value) when module in [Date, Time, NaiveDateTime, DateTime],
    do: module.to_iso8601(value)

  defp plain(%_module{} = struct),
    do: struct |> Map.from_struct() |> Map.delete(:__meta__) |> plain()

  defp plain(%{} = map), do: Map.new(map, fn {key, value} -> {to_string(key), plain(value)} end)
  defp plain(list) when is_list(list), do: Enum.map(list, &plain/1)
  defp plain(value) when value in [nil, true, false], do: value
  defp plain(atom) when is_atom(atom), do: Atom.to_string(atom)
  defp plain(value), do: value

  # Floats are equal to one part in 10^9.
  defp same?(a, b) when is_number(a) and is_number(b),
    do: abs(a - b) <= 1.0e-9 * max(1, abs(b))

  defp same?(a, b) when is_list(a) and is_list(b),
    do: length(a) == length(b) and Enum.all?(Enum.zip(a, b), fn {x, y} -> same?(x, y) end)

  defp same?(a, b) when is_map(a) and is_map(b),
    do: Map.keys(a) == Map.keys(b) and Enum.all?(a, fn {key, value} -> same?(value, b[key]) end)

  defp same?(a, b), do: a === b
end

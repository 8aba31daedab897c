defmodule PtcRunner.EvidenceTest do
  @moduledoc """
  The programs that a model wrote for 48 tasks without having seen the language before give the right values. They do so
  over rows of texts and numbers, as the model was told, and over the same rows as a database gives them.
  """

  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Test.Evidence

  @tasks Evidence.read("tasks")

  # These divide a decimal by the float that a tool gives. That is not exact, so it is an error that says what to write.
  @decimal_by_float ~w(tool-1 tool-6 report-1)

  setup_all do
    data = Evidence.read("data")

    # Not in the context of the tests: ExUnit copies that to each formatter, whose heaps make each change of code in the VM slow.
    :persistent_term.put(__MODULE__, %{
      texts: data,
      structs: Evidence.structs(data),
      programs: Evidence.read("programs_edition_2"),
      truth: Evidence.read("truth"),
      writes: Evidence.read("writes")
    })
  end

  for %{"id" => id, "question" => question} <- @tasks, rows <- [:texts, :structs] do
    @tag id: id, rows: rows
    test "#{id} over rows of #{rows}: #{String.slice(question, 0, 100)}", %{id: id, rows: rows} do
      kept = :persistent_term.get(__MODULE__)
      %{programs: programs, truth: truth, writes: writes} = kept

      outcome =
        Json.run(programs[id],
          context: Map.fetch!(kept, rows),
          tools: Evidence.tools(self()),
          now: "2026-01-01T00:00:00Z",
          structs: :values
        )

      if rows == :structs and id in @decimal_by_float do
        assert {:error, {:execution_error, "div of a decimal and a float is not exact" <> _}} =
                 outcome
      else
        assert {:ok, value, _delta, _memory} = outcome
        assert Evidence.same?(value, truth[id]), "#{inspect(value)} is not #{inspect(truth[id])}"
        assert written() == sorted(Map.get(writes, id, %{}))
      end
    end
  end

  defp written(calls \\ []) do
    receive do
      {:wrote, name, args} -> written([{name, args} | calls])
    after
      0 ->
        calls |> Enum.group_by(&elem(&1, 0), &elem(&1, 1)) |> sorted()
    end
  end

  defp sorted(calls), do: Map.new(calls, fn {name, args} -> {name, Enum.sort(args)} end)
end

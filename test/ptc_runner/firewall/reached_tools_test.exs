defmodule PtcRunner.Firewall.ReachedToolsTest do
  # Random programs most of which reach a tool that writes: none gives it a firewalled value. PTC_SEED repeats a run;
  # PTC_CASES=25 takes 100,000 programs.
  use ExUnit.Case, async: true

  alias PtcRunner.Json
  alias PtcRunner.Test.{Environment, Flowing}

  @cases Environment.cases(4_000)

  @tag timeout: 1_200_000
  test "#{@cases} programs give a tool no firewalled value, and most of them reach it" do
    seed = Environment.seed()
    me = self()

    outcomes =
      for n <- 1..@cases do
        :rand.seed(:exsss, {seed, n, 3})
        program = Flowing.program()

        options = [
          context: Flowing.context(),
          keys: Enum.random([:strings, :any]),
          structs: Enum.random([:maps, :values]),
          firewall: true,
          tools: %{"send" => fn args -> send(me, {:sent, args}) && true end}
        ]

        result = Json.run(%{"program" => program}, options)

        receive do
          {:sent, args} ->
            shown =
              inspect(args, limit: :infinity, printable_limit: :infinity, charlists: :as_lists)

            refute Flowing.secret?(shown),
                   "PTC_SEED=#{seed}, case #{n}: #{inspect(program, limit: :infinity)} sends #{shown}"

            :sent
        after
          0 ->
            if match?({:error, {:validation_error, "Firewalled" <> _}}, result),
              do: :refused,
              else: :failed
        end
      end

    counts = Enum.frequencies(outcomes)
    assert counts.sent > div(@cases, 3), inspect(counts)
    assert counts.refused > div(@cases, 10), inspect(counts)
  end
end

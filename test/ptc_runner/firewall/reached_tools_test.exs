defmodule PtcRunner.Firewall.ReachedToolsTest do
  # Random programs most of which reach a tool, over data with secrets of each kind and form: none gives a tool a secret, and no right
  # one is refused. PTC_SEED repeats a run; PTC_CASES=100 takes 100,000 programs.
  use ExUnit.Case, async: true

  Code.require_file("../../support/ecto_structs.exs", __DIR__)

  alias PtcRunner.Firewall.Inside
  alias PtcRunner.Json
  alias PtcRunner.SubAgent.Signature.Firewall
  alias PtcRunner.Test.{Environment, Flowing}
  alias PtcRunner.Test.Flowing.Data

  @cases Environment.cases(1_000)
  # Programs that are refused without a flow: at most one of 4,000, and one more.
  @wrongly 1 + div(@cases, 4_000)

  # A program with the arguments that its tools get over the data of a variant.
  defp ran(flowing, variant) do
    me = self()
    options = Flowing.options(flowing, variant, &send(me, {:sent, &1}))
    result = Json.run(%{"program" => flowing.program}, [firewall: true] ++ options)
    {result, sent([])}
  end

  defp sent(all) do
    receive do
      {:sent, args} -> sent([args | all])
    after
      0 -> Enum.reverse(all)
    end
  end

  # A limit has no text.
  defp refused?({:error, {_kind, text}}) when is_binary(text),
    do: text =~ "Firewalled data flows into a tool"

  defp refused?(_result), do: false

  defp shown(term),
    do: inspect(term, limit: :infinity, printable_limit: :infinity, charlists: :as_lists)

  # Whether firewalled data decide about the calls of the tools.
  defp decided?(flowing) do
    {:ok, plan} = Json.plan(%{"program" => flowing.program})
    data = %{context: Data.context(:strings, 0), memory: Data.memory(:strings, 0)}

    for {tool, %{guard: guard, arguments: arguments}} <- plan.flows.tools,
        tool in ["send", "look"],
        source <- guard ++ Enum.flat_map(arguments, &elem(&1, 2)) do
      hidden?(source, data)
    end
    |> Enum.any?()
  end

  defp hidden?({root, [_ | _] = path, whole?}, data) when root in [:context, :memory] do
    Firewall.below?(path) or hd(path) == "pins" or
      (whole? and Inside.value(data[root], path) != nil)
  end

  defp hidden?({:answer, path, whole?}, _data), do: whole? or Firewall.below?(path)
  defp hidden?({root, _path, _whole?}, _data), do: root == :unknown

  # Answers of this tool are looked at when they come, and it may not be called.
  defp watched?(program), do: shown(program) =~ "fetch"

  @tag timeout: 3_600_000
  test "#{@cases} programs give tools no firewalled value, no right one is refused, and most of them reach a tool" do
    seed = Environment.seed()

    outcomes =
      for n <- 1..@cases do
        :rand.seed(:exsss, {seed, n, 3})
        %{secret?: secret?, program: program} = flowing = Flowing.program()
        {result, sent} = ran(flowing, 0)

        # To show all of it takes longer than to run it.
        about = fn ->
          "PTC_SEED=#{seed}, case #{n}, #{shown(Map.delete(flowing, :program))}: #{shown(program)}"
        end

        if Data.secret?(shown(sent)), do: flunk("#{about.()} sends #{shown(sent)}")

        if secret? and sent != [] and not watched?(program),
          do: flunk("#{about.()} sends what comes from a firewalled field: #{shown(sent)}")

        # With secrets of other values the tools get the same.
        if sent != [] and match?({:ok, _, _, _}, result) do
          for variant <- if(decided?(flowing), do: [1], else: [1, 2]) do
            {again, others} = ran(flowing, variant)

            if match?({:ok, _, _, _}, again) and others != sent,
              do: flunk("#{about.()} sends #{shown(sent)}, and #{shown(others)}")
          end
        end

        cond do
          refused?(result) and not secret? -> {:wrongly, about.() <> shown(result)}
          refused?(result) -> :refused
          sent != [] -> :sent
          true -> :failed
        end
      end

    wrongly = for {:wrongly, about} <- outcomes, do: about

    # What a part of the data may be by its name alone, and is not, makes a flow in a few programs.
    assert length(wrongly) <= @wrongly, Enum.join(wrongly, "\n\n")

    counts = Enum.frequencies_by(outcomes, &if(is_tuple(&1), do: :wrongly, else: &1))
    assert counts.sent > div(@cases * 6, 10), inspect(counts)
    assert counts.refused > div(@cases, 10), inspect(counts)
  end

  @tag timeout: 3_600_000
  test "#{@cases} programs give tools no firewalled value that an earlier program has kept in the memory" do
    seed = Environment.seed()
    me = self()

    outcomes =
      for n <- 1..@cases do
        :rand.seed(:exsss, {seed, n, 5})
        {first, flowing} = Flowing.kept()
        options = [firewall: true] ++ Flowing.options(flowing, 0, &send(me, {:sent, &1}))

        case Json.run(%{"program" => first}, options) do
          {:ok, _value, _delta, memory} ->
            sent([])
            options = Keyword.put(options, :memory, memory)
            result = Json.run(%{"program" => flowing.program}, options)
            sent = sent([])

            if Data.secret?(shown(sent)) do
              about = "PTC_SEED=#{seed}, case #{n}: #{shown(first)}, then #{shown(flowing)}"
              flunk("#{about} sends #{shown(sent)}")
            end

            cond do
              refused?(result) and flowing.secret? -> :refused
              refused?(result) -> :marked
              sent != [] -> :sent
              true -> :failed
            end

          _error ->
            :failed
        end
      end

    counts = Enum.frequencies(outcomes)
    assert counts.sent > div(@cases, 2), inspect(counts)
    assert counts.refused > div(@cases, 10), inspect(counts)
  end

  @tag timeout: 3_600_000
  test "#{@cases} programs that take the firewalled fields out of rows are allowed" do
    seed = Environment.seed()

    outcomes =
      for n <- 1..@cases do
        :rand.seed(:exsss, {seed, n, 4})
        flowing = Flowing.program(:right)
        {result, sent} = ran(flowing, 0)
        about = fn -> "PTC_SEED=#{seed}, case #{n}: #{shown(flowing)}" end
        if Data.secret?(shown(sent)), do: flunk("#{about.()} sends #{shown(sent)}")
        if refused?(result), do: about.() <> shown(result), else: :allowed
      end

    refused = Enum.reject(outcomes, &(&1 == :allowed))
    assert length(refused) <= @wrongly, Enum.join(refused, "\n\n")
  end
end

# Counts how many broken answers are restored: `mix run bench/repair.exs [--json FILE] [--made SEED COUNT]`, see README.md.

for file <- ~w(values tokens wraps faults),
    do: Code.require_file("../test/support/broken_answers/#{file}.ex", __DIR__)

Code.require_file("../test/support/broken_answers.ex", __DIR__)
Code.require_file("support/repair_rates.ex", __DIR__)

alias Bench.RepairRates
alias PtcRunner.Json.Codec

argv = System.argv()

cases =
  case Enum.drop_while(argv, &(&1 != "--made")) do
    ["--made", seed, count | _] ->
      RepairRates.made(String.to_integer(seed), String.to_integer(count))

    _stored ->
      RepairRates.stored()
  end

line = fn rate ->
  percent = &String.pad_leading("#{Float.round(100 * rate[&1] / rate.cases, 1)} %", 9)
  cells = Enum.map([:restored, :wrong, :ambiguous, :refused], percent)
  name = String.pad_trailing(rate.name, 40)
  IO.puts([name, String.pad_leading("#{rate.cases}", 6) | cells])
end

syntax = Enum.filter(cases, & &1.syntax?)
IO.puts(String.duplicate(" ", 40) <> " cases restored    wrong  ambig.  refused")
line.(RepairRates.rate("with the signature", cases, &RepairRates.typed/1))
line.(RepairRates.rate("without, faults of syntax", syntax, &RepairRates.untyped/1))
line.(RepairRates.rate("plain parse/1", cases, &RepairRates.plain/1))

for {title, cases, read} <- [
      {"with the signature", cases, &RepairRates.typed/1},
      {"without, faults of syntax", syntax, &RepairRates.untyped/1}
    ] do
  IO.puts("\nby kind, #{title}; the others were all restored")

  cases
  |> Enum.group_by(& &1.kind)
  |> Enum.sort()
  |> Enum.map(fn {kind, cases} -> RepairRates.rate(kind, cases, read) end)
  |> Enum.reject(&(&1.restored == &1.cases))
  |> Enum.each(line)
end

with ["--json", file | _] <- Enum.drop_while(argv, &(&1 != "--json")) do
  lines =
    for case <- cases do
      {syntax?, case} = Map.pop!(case, :syntax?)
      [Codec.encode!(Map.put(case, :syntax, syntax?)), "\n"]
    end

  File.write!(file, lines)
end

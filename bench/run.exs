# The benchmarks: `mix run bench/run.exs [--quick] [--out FILE] [section ...]`; see bench/README.md.

support = Path.join(__DIR__, "support")

for file <-
      ~w(stats harness data programs by_hand jiffy cases table memory machine bars layout
       engine/plain engine/cases engine/tables answers/by_hand answers/cases answers/tables findings report plan) do
  Code.require_file("#{file}.ex", support)
end

Bench.Plan.main(System.argv(), Path.join(__DIR__, "RESULTS.md"))

# The benchmarks: `mix run bench/run.exs [--quick] [--out FILE] [section ...]`; see bench/README.md.

support = Path.join(__DIR__, "support")

for file <-
      ~w(stats harness data programs by_hand jiffy cases table memory machine bars layout
       engine/plain engine/cases engine/tables answers/by_hand answers/cases answers/tables findings report) do
  Code.require_file("#{file}.ex", support)
end

# The section `signatures` has files of its own, and compares with the oracle of the tests.
oracle = Path.expand("../test/support", __DIR__)

for file <- ~w(validate coerce input) do
  Code.require_file("signature_oracle/#{file}.ex", oracle)
end

Code.require_file("signature_oracle.ex", oracle)
for file <- ~w(signatures_by_hand signatures plan), do: Code.require_file("#{file}.ex", support)

Bench.Plan.main(System.argv(), Path.join(__DIR__, "RESULTS.md"))

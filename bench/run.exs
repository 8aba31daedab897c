# The benchmarks: `mix run bench/run.exs [--quick] [--out FILE] [section ...]`; see bench/README.md.

# The library defines this module only beside `ptc_runner`; otherwise it is loaded here.
Code.ensure_loaded?(PtcRunner.Lisp.Runtime.FlexAccess) ||
  Code.require_file("flex_access.ex", Path.expand("../overlay", __DIR__))

support = Path.join(__DIR__, "support")

# The section `signatures` compares with the oracle of the tests.
oracle = Path.expand("../test/support", __DIR__)

for file <-
      ~w(signature_oracle/validate signature_oracle/coerce signature_oracle/input signature_oracle),
    do: Code.require_file("#{file}.ex", oracle)

# The section `repairs` generates broken answers as the tests do.
for file <- ~w(values tokens wraps faults),
    do: Code.require_file("broken_answers/#{file}.ex", oracle)

Code.require_file("broken_answers.ex", oracle)

for file <-
      ~w(stats budget harness data programs jiffy jaq machine memory texts table bars section
       by_hand/programs by_hand/lisp by_hand/groups by_hand/tools by_hand/engine by_hand/answers by_hand/signatures
       sections/programs sections/lisp sections/groups sections/tools sections/control sections/tool_lists sections/memory sections/texts sections/engine sections/answers repair_rates sections/repairs sections/signatures sections/shapes sections/checks sections/flex_access
       report plan),
    do: Code.require_file("#{file}.ex", support)

Bench.Plan.main(System.argv(), Path.join(__DIR__, "RESULTS.md"))

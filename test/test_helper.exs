alias PtcRunner.Test.{Failures, SliceClock}

# `bin/test` runs the whole suite, in which every NIF must be measured. Without it, the tests that build other applications are
# left out: they take a third of the time of all. `--include builds` runs them, too.
whole? = System.get_env("PTC_WHOLE_SUITE") == "1"

# Test modules, and the applications that tests build, are compiled without optimisations, which takes three quarters
# of the time. This library itself is compiled already.
System.put_env(
  "ERL_COMPILER_OPTIONS",
  "[no_copt,no_bool_opt,no_bsm_opt,no_fun_opt,no_module_opt,no_postopt,no_ssa_opt,no_type_opt]"
)

# VMs that tests start do not spin while they wait: the tests beside them need the processors.
System.put_env(
  "ERL_FLAGS",
  String.trim("#{System.get_env("ERL_FLAGS")} +sbwt none +sbwtdcpu none +sbwtdio none")
)

# A busy machine may stand still for seconds. So only tests of timeouts have short ones: the default of
# runs, 1,000 ms, is longer here. `test/ptc_runner/json/limits_test.exs` tests the default itself.
Application.put_env(:ptc_runner_native, :default_timeout, 60_000)

Code.require_file("support/ecto_structs.exs", __DIR__)

SliceClock.start()
Failures.start()
# Many tests wait: for timeouts, or for other programs.
ExUnit.start(
  max_cases: 3 * System.schedulers_online(),
  timeout: 300_000,
  assert_receive_timeout: 60_000,
  exclude: [:fuzz, :soak] ++ if(whole?, do: [], else: [:builds])
)

ExUnit.configure(formatters: ExUnit.configuration()[:formatters] ++ [SliceClock, Failures])

ExUnit.after_suite(fn _results ->
  with {:error, wrong} <- SliceClock.report(whole?) do
    IO.puts("\nThe slice clock:\n  " <> Enum.join(wrong, "\n  "))
    System.at_exit(fn _status -> exit({:shutdown, 1}) end)
  end

  Failures.report()
end)

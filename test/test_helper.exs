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

# A module that is not there, such as a struct's implementation of a protocol, is looked for in each folder of the code path, by one
# process for the whole VM. Erlang's applications that nothing here uses are taken out of the path, as later releases of Elixir do. Those
# that are named here are used by the guides.
loaded = for {app, _about, _version} <- Application.loaded_applications(), do: app
used = Enum.map(loaded ++ [:inets, :ssl, :public_key, :asn1], &Atom.to_string/1)

for folder <- :code.get_path(),
    List.starts_with?(folder, :code.lib_dir()),
    [_whole, name] <- [Regex.run(~r{/(\w+)-[\d.]+(?:/ebin)?$}, List.to_string(folder))],
    name not in used,
    do: :code.del_path(folder)

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

alias PtcRunner.Test.{Failures, SliceClock}

# `bin/test` runs the whole suite, in which every NIF must be measured.
whole? = System.get_env("PTC_WHOLE_SUITE") == "1"

Code.require_file("support/ecto_structs.exs", __DIR__)

SliceClock.start()
Failures.start()
ExUnit.start(timeout: 300_000, exclude: [:fuzz, :soak])
ExUnit.configure(formatters: ExUnit.configuration()[:formatters] ++ [SliceClock, Failures])

ExUnit.after_suite(fn _results ->
  with {:error, wrong} <- SliceClock.report(whole?) do
    IO.puts("\nThe slice clock:\n  " <> Enum.join(wrong, "\n  "))
    System.at_exit(fn _status -> exit({:shutdown, 1}) end)
  end

  Failures.report()
end)

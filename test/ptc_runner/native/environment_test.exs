defmodule PtcRunner.Native.EnvironmentTest do
  # Takes the table away for a moment, which other tests do not notice.
  use ExUnit.Case, async: true

  alias PtcRunner.Native.Environment

  doctest Environment

  @name :environment_test

  setup do
    on_exit(fn ->
      Application.delete_env(:ptc_runner_native, @name)
      Environment.find()
    end)
  end

  test "the application has found the table of this OTP" do
    assert is_reference(:persistent_term.get(Environment))
    assert :application.get_env(:ptc_runner_native, :probe_of_the_environment) == :undefined
  end

  for how <- [:by_table, :by_name] do
    test "each change is seen at the next look-up, #{how}" do
      if unquote(how) == :by_name, do: :persistent_term.erase(Environment)
      assert Environment.get(:ptc_runner_native, @name) == :undefined

      for value <- [1, nil, false, {:a, %{}}, self()] do
        Application.put_env(:ptc_runner_native, @name, value)
        assert Environment.get(:ptc_runner_native, @name) == {:ok, value}
      end

      Application.delete_env(:ptc_runner_native, @name)
      assert Environment.get(:ptc_runner_native, @name) == :undefined
    end
  end

  test "options of an application that is not loaded are found" do
    Application.put_env(:no_such_application, @name, 1)
    assert Environment.get(:no_such_application, @name) == {:ok, 1}
    Application.delete_env(:no_such_application, @name)
    assert Environment.get(:no_such_application, @name) == :undefined
  end
end

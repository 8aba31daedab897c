defmodule PtcRunner.Native.Environment do
  @moduledoc false
  # Look-ups in the environment of applications, for code where each of them counts. Nothing is kept: a change is seen
  # at the next look-up.
  #
  # OTP has all environments in one ETS table. A look-up by the table's identifier costs two thirds of one
  # by its name, which is what `:application.get_env/2` does. Whether this OTP's table is the known one is tested once, when the
  # application starts. Otherwise, and if the application has not been started, `:application.get_env/2` is called.

  @table :ac_tab
  @probe :probe_of_the_environment

  @doc """
  Finds the table of the environments.

      iex> PtcRunner.Native.Environment.find()
      :ok

  """
  @spec find() :: :ok
  def find do
    table = :ets.whereis(@table)
    value = make_ref()
    :ok = :application.set_env(:ptc_runner_native, @probe, value)
    known? = table != :undefined and look_up(table, :ptc_runner_native, @probe) == {:ok, value}
    :ok = :application.unset_env(:ptc_runner_native, @probe)
    :persistent_term.put(__MODULE__, if(known?, do: table))
  end

  @doc """
  Like `:application.get_env/2`.

      iex> PtcRunner.Native.Environment.get(:ptc_runner_native, :no_such_option)
      :undefined

  """
  @spec get(atom(), atom()) :: {:ok, term()} | :undefined
  def get(application, name) do
    case :persistent_term.get(__MODULE__, nil) do
      nil -> :application.get_env(application, name)
      table -> look_up(table, application, name)
    end
  end

  defp look_up(table, application, name) do
    case :ets.lookup(table, {:env, application, name}) do
      [{_key, value}] -> {:ok, value}
      [] -> :undefined
      _other -> :unknown
    end
  end
end

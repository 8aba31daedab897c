defmodule PtcRunner.Native.Panic do
  @moduledoc false
  # Logs panics of the native library, once each. A panic is a bug of the library. The VM continues: the NIF
  # raises `:nif_panicked`, which its callers convert to the error that they document.
  #
  # A caller gets such an error too if the module is deleted or purged (`:code.delete/1`) while it is in use: its functions are
  # undefined, or, if it has been loaded again, do not know the state of the run. The VM's errors have the arguments of the
  # call, which are the terms of the run and must not get into a crash log.

  alias PtcRunner.Native
  alias PtcRunner.Native.Library

  @doc """
  Logs the messages and locations of panics; returns the text of the error.

      def parse(text) do
        …
      catch
        :error, :nif_panicked -> {:error, Panic.caught()}
      end

  """
  @spec caught() :: String.t()
  def caught do
    if :erlang.function_exported(Native, :take_panics, 0),
      do: panicked(),
      else: Library.unloaded()
  end

  defp panicked do
    for said <- Native.take_panics() do
      :logger.error(
        "The native library of ptc_runner_native failed, please report it as a bug: " <> said
      )
    end

    "The native library failed on this: please report it as a bug"
  end

  @doc """
  The error of a run whose native function has failed, is undefined or does not know its state. Any other error is
  raised again.

      iex> {:error, {:execution_error, text}} = PtcRunner.Native.Panic.error(:undef, [{PtcRunner.Native, :resume, 3, []}])
      iex> text
      "The native library was unloaded while it was in use (PtcRunner.Native was deleted or purged): restart the VM"

  """
  @spec error(term(), Exception.stacktrace()) :: {:error, {:execution_error, String.t()}}
  def error(:nif_panicked, _trace), do: {:error, {:execution_error, caught()}}

  def error(reason, [{Native, _function, _args, _place} | _]) when reason in [:undef, :badarg],
    do: {:error, {:execution_error, Library.unloaded()}}

  def error(reason, trace), do: :erlang.raise(:error, reason, trace)

  @doc """
  The result of a step of a run; an error of the run if the step panics.

      iex> PtcRunner.Native.Panic.instead(fn -> {:ok, 1, 0} end)
      {:ok, 1, 0}

  """
  @spec instead((() -> result)) :: result | {:error, {:execution_error, String.t()}}
        when result: term()
  def instead(step) do
    step.()
  catch
    :error, reason -> error(reason, __STACKTRACE__)
  end

  @doc "Logs the panic and raises, for functions that return no error."
  @spec raise!() :: no_return()
  def raise!, do: raise(RuntimeError, caught())
end

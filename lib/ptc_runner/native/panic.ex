defmodule PtcRunner.Native.Panic do
  @moduledoc false
  # Logs panics of the native library, once each. A panic is a bug of the library. The VM continues: the NIF
  # raises `:nif_panicked`, which its callers convert to the error that they document.

  alias PtcRunner.Native

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
    for said <- Native.take_panics() do
      :logger.error(
        "The native library of ptc_runner_native failed, please report it as a bug: " <> said
      )
    end

    "The native library failed on this: please report it as a bug"
  end

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
    :error, :nif_panicked -> {:error, {:execution_error, caught()}}
  end

  @doc "Logs the panic and raises, for functions that return no error."
  @spec raise!() :: no_return()
  def raise!, do: raise(RuntimeError, caught())
end

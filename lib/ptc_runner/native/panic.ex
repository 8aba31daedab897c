defmodule PtcRunner.Native.Panic do
  @moduledoc false
  # A panic in the native library is a bug in it. The VM goes on: the NIF raises `:nif_panicked`, which
  # its callers turn into the error that they document. This is where the panic is logged, once.

  alias PtcRunner.Native

  @doc """
  Logs what the library said, and where; gives the text of the error.

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
  The result of a step of a run, or the error of the run where the step panics.

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

  @doc "The same where there is no error to give: raises."
  @spec raise!() :: no_return()
  def raise!, do: raise(RuntimeError, caught())
end

defmodule PtcRunner.Native.ErrorHandler do
  @moduledoc false
  # The handler of undefined functions while a run goes on. If `PtcRunner.Native` has been deleted, the VM's own handler
  # asks the code server to load it again, which the library refuses: each call then takes a tenth of a second and
  # writes a warning, and a process that waits for the code server while another one is killed there may wait for ever. The
  # error of this handler comes at once, and has no arguments, which are terms of the run.

  alias PtcRunner.Native

  @doc """
  Makes this the handler of the calling process; returns what `restore/1` takes. A handler of others (of the
  compiler, of the debugger) stays.

      iex> handler = PtcRunner.Native.ErrorHandler.install()
      iex> PtcRunner.Native.ErrorHandler.restore(handler)
      :ok

  """
  @spec install() :: module()
  def install do
    case :erlang.process_flag(:error_handler, __MODULE__) do
      ours when ours in [:error_handler, __MODULE__] ->
        ours

      other ->
        :erlang.process_flag(:error_handler, other)
        other
    end
  end

  @doc "Puts the earlier handler back."
  @spec restore(module()) :: :ok
  def restore(handler) do
    :erlang.process_flag(:error_handler, handler)
    :ok
  end

  @doc false
  # The VM calls these three.
  def undefined_function(Native, name, args),
    do: :erlang.raise(:error, :undef, [{Native, name, length(args), []}])

  def undefined_function(module, name, args),
    do: :error_handler.undefined_function(module, name, args)

  @doc false
  def undefined_lambda(module, fun, args),
    do: :error_handler.undefined_lambda(module, fun, args)

  @doc false
  def breakpoint(module, name, args), do: :error_handler.breakpoint(module, name, args)
end

defmodule PtcRunner.Native do
  @moduledoc false
  # Loads the NIF library; one function a NIF, nothing else.

  @on_load :load

  def load do
    path = :filename.join(:code.priv_dir(:ptc_runner_native), ~c"native/ptc_nif")
    :erlang.load_nif(path, 0)
  end
end

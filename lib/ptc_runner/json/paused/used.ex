defmodule PtcRunner.Json.Paused.Used do
  @moduledoc """
  Who remembers which sealed texts were used: the behaviour of modules for the option `:used` of `PtcRunner.Json.Paused.open/3` and
  `PtcRunner.Agent.Paused.open/3`.

  `claim/2` is called after everything else about the text was found right, once for each `open`. Of several processes that claim one id at once,
  on whichever nodes, exactly one may get `:ok`. Whatever else it returns, the text is refused. If it raises, so does `open`, and the run
  does not go on.

  `PtcRunner.Json.Paused.Used.Ets` keeps the ids in this VM. With several nodes, or where texts outlive the VM, write one over a database: the
  guide "Tools under control" has it in ten lines.

  Not in `ptc_runner`.
  """

  @doc """
  Takes the id of a text: `:ok` the first time, and `:used` after that. After `expires_at` no text with the id can be opened, so the id may be
  forgotten. An id has 20 bytes, and is no text.
  """
  @callback claim(id :: binary(), expires_at :: DateTime.t()) :: :ok | :used

  @doc false
  @spec first?(module() | nil, {binary(), DateTime.t()}) :: boolean()
  def first?(nil, _claim), do: true
  def first?(module, {id, expires_at}), do: module.claim(id, expires_at) == :ok
end

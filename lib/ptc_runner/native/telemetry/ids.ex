defmodule PtcRunner.Native.Telemetry.Ids do
  @moduledoc false
  # The ids of the loop and of the run that a process works for. They stand in its dictionary, and go to the processes that
  # are started for the run; every event has them.

  @key __MODULE__

  @type t :: %{optional(:loop_id) => String.t(), optional(:run_id) => String.t()}

  @doc "The ids of this process; nil if it works for no loop and no run."
  @spec known() :: t() | nil
  def known, do: Process.get(@key)

  @doc "Sets the ids of a process that has just been started."
  @spec put(t()) :: t() | nil
  def put(ids), do: Process.put(@key, ids)

  @doc """
  Metadata with the ids of this process.

      iex> alias PtcRunner.Native.Telemetry.Ids
      iex> Ids.within([loop_id: "a"], fn -> Ids.within([run_id: "b"], fn -> Ids.merged(%{tool: "pay"}) end) end)
      %{tool: "pay", loop_id: "a", run_id: "b"}
      iex> Ids.merged(%{})
      %{}

  """
  @spec merged(map()) :: map()
  def merged(metadata) do
    case known() do
      nil -> metadata
      ids -> Map.merge(ids, metadata)
    end
  end

  @doc "Calls a function that has these ids too."
  @spec within([loop_id: String.t(), run_id: String.t()], (() -> result)) :: result
        when result: term()
  def within(ids, fun) do
    around = Process.put(@key, Map.merge(known() || %{}, Map.new(ids)))

    try do
      fun.()
    after
      if around, do: Process.put(@key, around), else: Process.delete(@key)
    end
  end

  @doc "An id that no other run or loop has, on any node."
  @spec new() :: String.t()
  def new do
    {node(), :os.getpid(), System.os_time(), make_ref()}
    |> :erlang.term_to_binary()
    |> :erlang.md5()
    |> binary_part(0, 9)
    |> Base.url_encode64()
  end
end

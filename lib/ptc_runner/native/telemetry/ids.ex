defmodule PtcRunner.Native.Telemetry.Ids do
  @moduledoc false
  # The ids of the loop and of the run that a process works for. They stand in its dictionary, and go to the processes that
  # are started for the run; every event has them. The id of a run whose events have no handler is a reference, of which a text
  # is made where it is asked for.

  @key __MODULE__

  @typedoc "An id, or what it is made of."
  @type id :: String.t() | reference()
  @type t :: %{optional(:loop_id) => id(), optional(:run_id) => id()}

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
      ids -> Map.merge(Map.new(ids, fn {name, id} -> {name, text(id)} end), metadata)
    end
  end

  @doc "The id of the run that this process works for; nil if there is none."
  @spec run_id() :: String.t() | nil
  def run_id do
    with %{run_id: id} <- known(), do: text(id), else: (_none -> nil)
  end

  @doc "Calls a function that has these ids too."
  @spec within([loop_id: id(), run_id: id()], (() -> result)) :: result
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
  def new, do: text(later())

  @doc """
  What an id is made of.

      iex> alias PtcRunner.Native.Telemetry.Ids
      iex> later = Ids.later()
      iex> [id, id] = for _ <- 1..2, do: Ids.within([run_id: later], &Ids.run_id/0)
      iex> byte_size(id)
      12

  """
  @spec later() :: reference()
  def later, do: make_ref()

  defp text(id) when is_binary(id), do: id

  # A reference is new in this VM. The VM is known by its node, its process, and when it was started.
  defp text(reference) do
    started = :erlang.system_info(:start_time) + :erlang.time_offset()

    {node(), :os.getpid(), started, reference}
    |> :erlang.term_to_binary()
    |> :erlang.md5()
    |> binary_part(0, 9)
    |> Base.url_encode64()
  end
end

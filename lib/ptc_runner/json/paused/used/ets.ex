defmodule PtcRunner.Json.Paused.Used.Ets do
  @moduledoc """
  Remembers in this VM which sealed texts were used: see `PtcRunner.Json.Paused.Used`.

      PtcRunner.Json.Paused.open(text, keys, bind: user_id, used: PtcRunner.Json.Paused.Used.Ets)

  The table starts with this library's application, and needs no set-up. It is bounded: ids whose texts have expired are
  forgotten, and while it is full of others (100,000, or `config :ptc_runner_native, used_texts: 10_000`), every text is refused and the log says so. It does not
  forget one to make room. It is empty when the VM starts: texts that outlive the VM need a database.

  Not in `ptc_runner`.
  """

  @behaviour PtcRunner.Json.Paused.Used

  require Logger

  @most 100_000
  # Each claim removes more than it adds. The clock of the system may be set back, so an id is kept for five minutes longer than its text.
  @removed 8
  @grace 300_000

  @doc false
  # The table belongs to the process that calls this, which is that of the application.
  @spec start() :: :ok
  def start do
    if :ets.whereis(__MODULE__) == :undefined do
      :ets.new(__MODULE__, [:ordered_set, :named_table, :public, write_concurrency: true])
    end

    :ok
  end

  @doc """
  See `c:PtcRunner.Json.Paused.Used.claim/2`.

      iex> alias PtcRunner.Json.Paused.Used.Ets
      iex> id = :crypto.strong_rand_bytes(20)
      iex> until = DateTime.add(DateTime.utc_now(), 60)
      iex> for _ <- 1..3, do: Ets.claim(id, until)
      [:ok, :used, :used]

  """
  @impl true
  @spec claim(binary(), DateTime.t()) :: :ok | :used
  def claim(id, %DateTime{} = expires_at) when is_binary(id) do
    most = Application.get_env(:ptc_runner_native, :used_texts, @most)
    claim(__MODULE__, {DateTime.to_unix(expires_at, :millisecond), id}, most)
  end

  @doc false
  # An id always has the same end, so that the end is a part of its key: what has expired stands first.
  @spec claim(:ets.table(), {integer(), binary()}, non_neg_integer()) :: :ok | :used
  def claim(table, key, most) do
    forget(table, System.system_time(:millisecond) - @grace, @removed)

    cond do
      :ets.info(table, :size) >= most -> full(most)
      :ets.insert_new(table, {key}) -> :ok
      true -> :used
    end
  end

  defp full(most) do
    Logger.error("a sealed run is refused: the table of used texts is full (#{most})")
    :used
  end

  defp forget(_table, _now, 0), do: :ok

  defp forget(table, now, left) do
    case :ets.first(table) do
      {until, _id} = key when until <= now ->
        :ets.delete(table, key)
        forget(table, now, left - 1)

      _later_or_none ->
        :ok
    end
  end
end

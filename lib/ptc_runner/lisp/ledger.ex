defmodule PtcRunner.Lisp.Ledger do
  @moduledoc false
  # The entries of a run's tool calls, for `step.tool_calls`.

  alias PtcRunner.Shown

  # A result of more bytes is replaced by a text.
  @most_bytes 16_384

  @type entry :: %{
          required(:name) => String.t(),
          required(:args) => map(),
          required(:result) => term(),
          required(:error) => String.t() | nil,
          required(:timestamp) => DateTime.t(),
          required(:duration_ms) => non_neg_integer(),
          optional(:cached) => true,
          optional(:result_truncated) => true,
          optional(:result_bytes) => pos_integer()
        }

  @typedoc "When a call began."
  @type began :: {DateTime.t(), integer()}

  @doc "The start of a call."
  @spec began() :: began()
  def began, do: {DateTime.utc_now(), System.monotonic_time()}

  @doc """
  The entry of a call that has a value, or has failed.

      iex> alias PtcRunner.Lisp.Ledger
      iex> entry = Ledger.entry("find", %{}, {:ok, 5}, Ledger.began())
      iex> {entry.result, entry.error}
      {5, nil}

  """
  @spec entry(String.t(), map(), {:ok, term()} | {:error, String.t()}, began()) :: entry()
  def entry(name, args, {:ok, value}, {timestamp, since}),
    do: name |> made(args, {value, nil}, timestamp, duration(since)) |> with_result(value)

  def entry(name, args, {:error, text}, {timestamp, since}),
    do: made(name, args, {nil, text}, timestamp, duration(since))

  @doc """
  The entry of a call that had a value at this time, and the start of a call that began then.

      iex> alias PtcRunner.Lisp.Ledger
      iex> {time, since} = Ledger.began()
      iex> later = since + System.convert_time_unit(1_500, :millisecond, :native)
      iex> {entry, {next, ^later}} = Ledger.answered("find", %{}, 5, {time, since}, later)
      iex> {entry.result, entry.duration_ms, DateTime.diff(next, time, :millisecond)}
      {5, 1500, 1500}

  """
  @spec answered(String.t(), map(), term(), began(), integer()) :: {entry(), began()}
  def answered(name, args, value, {timestamp, since}, at) do
    micro = System.convert_time_unit(at - since, :native, :microsecond)

    entry = made(name, args, {value, nil}, timestamp, div(micro, 1_000))
    {with_result(entry, value), {later(timestamp, micro), at}}
  end

  @doc """
  The start of a call that began at this time, after another one.

      iex> alias PtcRunner.Lisp.Ledger
      iex> {time, since} = Ledger.began()
      iex> {^time, ^since} = Ledger.after_other({time, since}, since)
      iex> {next, _at} = Ledger.after_other({time, since}, since + System.convert_time_unit(3, :second, :native))
      iex> DateTime.diff(next, time)
      3

  """
  @spec after_other(began(), integer()) :: began()
  def after_other({time, since}, at),
    do: {later(time, System.convert_time_unit(at - since, :native, :microsecond)), at}

  defp later(%DateTime{microsecond: {some, _precision}} = time, more)
       when some + more < 1_000_000,
       do: %{time | microsecond: {some + more, 6}}

  defp later(time, more), do: DateTime.add(time, more, :microsecond)

  @doc "The entry of a call that the cache has answered."
  @spec cached(String.t(), map(), term()) :: entry()
  def cached(name, args, value) do
    name
    |> made(args, {value, nil}, DateTime.utc_now(), 0)
    |> with_result(value)
    |> Map.put(:cached, true)
  end

  defp made(name, args, {value, error}, timestamp, duration) do
    %{
      name: name,
      args: args,
      result: value,
      error: error,
      timestamp: timestamp,
      duration_ms: duration
    }
  end

  defp duration(since),
    do: System.convert_time_unit(System.monotonic_time() - since, :native, :millisecond)

  defp with_result(entry, value) do
    bytes = bytes(value)

    if bytes <= @most_bytes,
      do: entry,
      else: Map.merge(entry, %{result: cut(value), result_truncated: true, result_bytes: bytes})
  end

  defp bytes(value) when is_atom(value) or is_number(value), do: 0
  defp bytes(text) when is_binary(text), do: byte_size(text)
  defp bytes(value), do: :erlang.external_size(value)

  defp cut(text) when is_binary(text), do: Shown.cut(text, @most_bytes)
  defp cut(value), do: Shown.text(value, @most_bytes)
end

defmodule PtcRunnerMcp.Progress do
  @moduledoc """
  Tells a client how many calls its program has made, if it asked to be told, and not more often than ten times a second.
  """

  alias PtcRunnerMcp.Caller

  @every 100

  @doc """
  A function of a text that sends a progress notification, or nil if nobody asked for it or nothing can be sent.

      iex> me = self()
      iex> caller = %PtcRunnerMcp.Caller{notify: fn method, params -> send(me, {method, params}) end}
      iex> progress = PtcRunnerMcp.Progress.function(caller, %{"_meta" => %{"progressToken" => 7}})
      iex> progress.("rate")
      iex> receive do message -> message end
      {"notifications/progress", %{"progressToken" => 7, "progress" => 1, "message" => "rate"}}
      iex> PtcRunnerMcp.Progress.function(caller, %{})
      nil

  """
  @spec function(Caller.t(), map()) :: (String.t() -> :ok) | nil
  def function(%Caller{notify: notify}, %{"_meta" => %{"progressToken" => token}})
      when is_function(notify) and (is_binary(token) or is_integer(token)) do
    # The number of calls, and when it was told.
    kept = :atomics.new(2, [])
    :atomics.put(kept, 2, System.monotonic_time(:millisecond) - @every)

    fn text ->
      count = :atomics.add_get(kept, 1, 1)
      now = System.monotonic_time(:millisecond)

      if now - :atomics.get(kept, 2) >= @every do
        :atomics.put(kept, 2, now)
        params = %{"progressToken" => token, "progress" => count, "message" => text}
        notify.("notifications/progress", params)
      end

      :ok
    end
  end

  def function(_caller, _params), do: nil
end

defmodule PtcRunnerMcp.Waiting do
  @moduledoc false
  # Waits for what other processes do.

  @pause 50
  @longest 60_000

  @doc "Whether a test is true within a minute. It is asked again and again until then."
  @spec soon((() -> as_boolean(term())), non_neg_integer()) :: boolean()
  def soon(test, left \\ div(@longest, @pause)) do
    cond do
      test.() -> true
      left == 0 -> false
      true -> Process.sleep(@pause) && soon(test, left - 1)
    end
  end
end

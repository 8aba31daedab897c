defmodule PtcRunner.Lisp.ErrorText do
  @moduledoc false
  # An error of PTC-Lisp as one text. Its only input is a documented error, which is a reason and a message.

  @doc """
  The reason and the message, without the reason where the message begins with it.

      iex> PtcRunner.Lisp.ErrorText.of("arithmetic_error", "arithmetic_error: division by zero")
      "arithmetic_error: division by zero"

      iex> PtcRunner.Lisp.ErrorText.of("timeout", "execution exceeded 5ms limit")
      "timeout: execution exceeded 5ms limit"

  """
  @spec of(String.t(), String.t()) :: String.t()
  def of(reason, message) do
    if String.starts_with?(message, reason), do: message, else: "#{reason}: #{message}"
  end
end

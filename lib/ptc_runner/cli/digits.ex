defmodule PtcRunner.CLI.Digits do
  @moduledoc false
  # Floats for people. With 15 digits, which every double keeps, a sum is as it would be written by hand: 0.3, and not 0.30000000000000004.

  alias PtcRunner.Json.Codec

  @digits 15

  @doc """
  A float with at most 15 digits, as JSON.

      iex> Enum.map([0.1 + 0.2, 19.99 + 0.02, 1000.0, 1.0e-7, 1.0e300], &PtcRunner.CLI.Digits.text/1)
      ["0.3", "20.01", "1000.0", "1.0e-7", "1.0e300"]

  """
  @spec text(float()) :: String.t()
  def text(float) do
    rounded = float |> :erlang.float_to_binary(scientific: @digits - 1) |> String.to_float()
    size = abs(rounded)

    if size >= 1 and size < 1.0e15 do
      whole = size |> trunc() |> Integer.digits() |> length()
      :erlang.float_to_binary(rounded, [:compact, decimals: max(@digits - whole, 1)])
    else
      Codec.encode!(rounded)
    end
  end
end

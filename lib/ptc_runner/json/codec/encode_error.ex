defmodule PtcRunner.Json.Codec.EncodeError do
  @moduledoc """
  A string that is not UTF-8, and the byte in it from which on it is not.

      iex> error = PtcRunner.Json.Codec.EncodeError.exception(value: <<0xFF>>, position: 0)
      iex> Exception.message(error)
      "invalid UTF-8 at byte 0 of the string <<255>>"

  """

  @type t :: %__MODULE__{value: binary(), position: non_neg_integer()}

  defexception [:value, :position]

  @impl true
  def message(%{value: value, position: position}),
    do: "invalid UTF-8 at byte #{position} of the string #{inspect(value)}"
end

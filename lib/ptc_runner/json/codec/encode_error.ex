defmodule PtcRunner.Json.Codec.EncodeError do
  @moduledoc """
  Why a term was not written, other than that JSON has no form for it.

    * `:not_utf8` - `value` is a string that from the byte `position` on is not UTF-8
    * `:too_long` - the text would be longer than `limit` bytes, the option `:max_bytes`

  """

  @type t :: %__MODULE__{
          reason: :not_utf8 | :too_long,
          value: binary() | nil,
          position: non_neg_integer() | nil,
          limit: pos_integer() | nil
        }

  defexception [:reason, :value, :position, :limit]

  @impl true
  def message(%{reason: :not_utf8, value: value, position: position}),
    do: "invalid UTF-8 at byte #{position} of the string #{PtcRunner.Shown.text(value)}"

  def message(%{reason: :too_long, limit: limit}), do: "the text is longer than #{limit} bytes"
end

defmodule PtcRunner.Json.Codec.EncodeError do
  @moduledoc """
  The reason why a term was not written, other than a term that has no form in JSON.

    * `:not_utf8` - `value` is a string whose bytes from `position` on are not UTF-8
    * `:too_long` - the text would be longer than `limit` bytes, the option `:max_bytes`
    * `:timeout` - writing took longer than `limit` milliseconds, the option `:timeout`
    * `:memory_exceeded` - the text would take more than `limit` words, the option `:max_heap`
    * `:failed` - a bug in the native library; `value` is the message

  """

  @type t :: %__MODULE__{
          reason: :not_utf8 | :too_long | :timeout | :memory_exceeded | :failed,
          value: binary() | nil,
          position: non_neg_integer() | nil,
          limit: non_neg_integer() | nil
        }

  defexception [:reason, :value, :position, :limit]

  @impl true
  def message(%{reason: :failed, value: text}), do: text

  def message(%{reason: :not_utf8, value: value, position: position}),
    do: "invalid UTF-8 at byte #{position} of the string #{PtcRunner.Shown.text(value)}"

  def message(%{reason: :too_long, limit: limit}), do: "the text is longer than #{limit} bytes"
  def message(%{reason: :timeout, limit: limit}), do: "writing took more than #{limit} ms"

  def message(%{reason: :memory_exceeded, limit: limit}),
    do: "the text takes more than #{limit} words"
end

defmodule PtcRunner.Json.Codec.DecodeError do
  @moduledoc """
  The reason why a text is not JSON, and its position: `position` is a zero-based byte offset.

    * `:unexpected_token` - the first byte that is not valid at its position
    * `:unexpected_end` - the text ends inside a value
    * `:too_deep` - the bracket that nests deeper than `limit`, the option `:depth`
    * `:integer_too_long` - an integer of more than `limit` digits
    * `:failed` - a bug in the native library; `text` is the message
    * `:timeout` - reading took longer than `limit` milliseconds, the option `:timeout`
    * `:memory_exceeded` - the terms would take more than `limit` words, the option `:max_heap`

  The last two have no position.

  """

  @type t :: %__MODULE__{
          reason:
            :unexpected_token
            | :unexpected_end
            | :too_deep
            | :integer_too_long
            | :timeout
            | :memory_exceeded
            | :failed,
          position: non_neg_integer() | nil,
          limit: non_neg_integer() | nil,
          text: String.t() | nil
        }

  defexception [:reason, :position, :limit, :text]

  @doc false
  @spec new({atom(), non_neg_integer()} | {atom(), non_neg_integer(), non_neg_integer()}) :: t()
  def new({reason, position}), do: %__MODULE__{reason: reason, position: position}

  def new({reason, limit, position}),
    do: %__MODULE__{reason: reason, position: position, limit: limit}

  @impl true
  def message(%{reason: :failed, text: text}), do: text

  def message(%{reason: :unexpected_token, position: position}),
    do: "Unexpected token at position #{position}"

  def message(%{reason: :unexpected_end, position: position}),
    do: "Unexpected end of input at position #{position}"

  def message(%{reason: :too_deep, position: position, limit: limit}),
    do: "Nesting exceeds #{limit} levels at position #{position}"

  def message(%{reason: :integer_too_long, position: position, limit: limit}),
    do: "Integer of more than #{limit} digits at position #{position}"

  def message(%{reason: :timeout, limit: limit}), do: "Reading took more than #{limit} ms"

  def message(%{reason: :memory_exceeded, limit: limit}),
    do: "The value takes more than #{limit} words"
end

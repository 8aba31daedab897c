defmodule PtcRunner.Aligned do
  @moduledoc false
  # Two kinds of binaries are copied by the VM when native code looks at them: those that do not start
  # at a byte (a part of another one may be such), at every look; and those that were made by appending,
  # at the first look, to give back the room behind them. That is nothing for a short one. A long one is
  # looked at, or copied, on a dirty scheduler before all else.

  alias PtcRunner.{Native, Quanta}
  require Quanta

  # In bytes; a copy takes some 30 µs.
  @long 32_768
  # The VM reserves room by doubling, and does not always copy to give it back.
  @very_long 1_048_576

  @doc """
  The binary, which starts at a byte if it is long. Anything else comes back as it is.

      iex> text = String.duplicate("x", 40_000)
      iex> <<_::3, unaligned::binary-size(40_000), _::5>> = <<0::3, text::binary, 0::5>>
      iex> PtcRunner.Aligned.text(unaligned) == text
      true

  """
  @spec text(term()) :: term()
  def text(text) when byte_size(text) > @very_long do
    {:ok, text} = Native.aligned_dirty(text)
    text
  end

  def text(text) when byte_size(text) > @long do
    {:ok, text} = Quanta.run(Native.aligned(text))
    text
  end

  def text(other), do: other
end

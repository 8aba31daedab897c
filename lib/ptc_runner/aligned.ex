defmodule PtcRunner.Aligned do
  @moduledoc false
  # The VM copies a binary that does not start at a byte (a part of another one may be such) whenever
  # native code looks at it. That is nothing for a short one. A long one is copied once, before all
  # else and on a dirty scheduler.

  alias PtcRunner.Native

  # In bytes; a copy takes some 30 µs.
  @long 32_768

  @doc """
  The binary, which starts at a byte if it is long. Anything else comes back as it is.

      iex> text = String.duplicate("x", 40_000)
      iex> <<_::3, unaligned::binary-size(40_000), _::5>> = <<0::3, text::binary, 0::5>>
      iex> PtcRunner.Aligned.text(unaligned) == text
      true

  """
  @spec text(term()) :: term()
  def text(text) when byte_size(text) > @long do
    with :busy <- Native.aligned(text), do: Native.aligned_dirty(text)
  end

  def text(other), do: other
end

defmodule PtcRunnerMcp.Lines do
  @moduledoc """
  Lines out of the pieces that a port with the option `:line` gives. What is too long is counted and not kept.
  """

  defstruct parts: [], bytes: 0, most: 4_000_000

  @typedoc "The pieces of a line that has not ended, and how long a line may be."
  @type t :: %__MODULE__{parts: iodata(), bytes: non_neg_integer(), most: pos_integer()}

  @doc """
  Adds a piece. A line that ends is a text, or the number of its bytes if it is too long.

      iex> alias PtcRunnerMcp.Lines
      iex> {:more, lines} = Lines.add(%Lines{most: 4}, {:noeol, "ab"})
      iex> Lines.add(lines, {:eol, "c"})
      {:line, "abc", %Lines{most: 4}}
      iex> Lines.add(lines, {:eol, "cde"})
      {:too_long, 5, %Lines{most: 4}}

  """
  @spec add(t(), {:noeol | :eol, binary()}) ::
          {:more, t()} | {:line, binary(), t()} | {:too_long, pos_integer(), t()}
  def add(lines, {end_of_line, piece}) do
    bytes = lines.bytes + byte_size(piece)
    parts = if bytes > lines.most, do: [], else: [lines.parts | piece]
    empty = %__MODULE__{most: lines.most}

    case end_of_line do
      :noeol -> {:more, %{lines | parts: parts, bytes: bytes}}
      :eol when bytes > lines.most -> {:too_long, bytes, empty}
      :eol -> {:line, IO.iodata_to_binary(parts), empty}
    end
  end
end

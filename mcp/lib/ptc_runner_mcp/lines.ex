defmodule PtcRunnerMcp.Lines do
  @moduledoc """
  Lines out of the pieces that a port gives. What is too long is counted and not kept.

  The port has no option `:line`: it reads on while its owner is busy, and a message for each line takes up to thirty times the memory of its text.
  """

  defstruct parts: [], bytes: 0, rest: "", most: 4_000_000

  @typedoc "The pieces of a line that has not ended, its bytes, what was not looked at yet, and how many bytes a line may have."
  @type t :: %__MODULE__{
          parts: iodata(),
          bytes: non_neg_integer(),
          rest: binary(),
          most: pos_integer()
        }

  @typedoc "A line, the bytes of one that is too long, or that there is no further one."
  @type found :: {:line, binary(), t()} | {:too_long, pos_integer(), t()} | {:more, t()}

  @doc """
  Adds a piece, and gives the first line that ends. `next/1` gives the others, until there is no further one.

      iex> alias PtcRunnerMcp.Lines
      iex> {:more, lines} = Lines.add(%Lines{most: 4}, "ab")
      iex> {:line, "abc", lines} = Lines.add(lines, "c\\ncd")
      iex> {:more, lines} = Lines.next(lines)
      iex> {:too_long, 5, lines} = Lines.add(lines, "efg\\n")
      iex> Lines.next(lines)
      {:more, %Lines{most: 4}}

  """
  @spec add(t(), binary()) :: found()
  def add(%__MODULE__{rest: ""} = lines, piece), do: next(%{lines | rest: piece})

  @doc """
  The next line of the pieces that were added.

      iex> alias PtcRunnerMcp.Lines
      iex> {:line, "a", lines} = Lines.add(%Lines{}, "a\\nb\\n")
      iex> {:line, "b", lines} = Lines.next(lines)
      iex> Lines.next(lines)
      {:more, %Lines{}}

  """
  @spec next(t()) :: found()
  def next(%__MODULE__{rest: rest} = lines) do
    case :binary.match(rest, "\n") do
      :nomatch ->
        {:more, keep(%{lines | rest: ""}, rest)}

      {at, 1} ->
        <<piece::binary-size(at), ?\n, rest::binary>> = rest
        whole(keep(lines, piece), %__MODULE__{most: lines.most, rest: rest})
    end
  end

  defp whole(%{bytes: bytes, most: most}, after_it) when bytes > most,
    do: {:too_long, bytes, after_it}

  defp whole(lines, after_it), do: {:line, IO.iodata_to_binary(lines.parts), after_it}

  defp keep(lines, ""), do: lines

  defp keep(lines, piece) do
    bytes = lines.bytes + byte_size(piece)
    parts = if bytes > lines.most, do: [], else: [lines.parts | piece]
    %{lines | parts: parts, bytes: bytes}
  end
end

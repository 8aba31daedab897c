defmodule PtcRunner.CLI.Plain do
  @moduledoc false
  # Makes text from data safe for a terminal: it must not move the cursor.

  @doc """
  The text with a dot for each control character.

      iex> PtcRunner.CLI.Plain.text("a\\e[2Jb\\nc")
      "a·[2Jb·c"

  """
  @spec text(binary()) :: String.t()
  def text(text) do
    text
    |> valid()
    |> String.replace(~r/[\x{00}-\x{1F}\x{7F}-\x{9F}\x{202A}-\x{202E}\x{2066}-\x{2069}]/u, "·")
  end

  defp valid(text) do
    if String.valid?(text), do: text, else: for(<<byte <- text>>, into: "", do: ascii(byte))
  end

  defp ascii(byte) when byte < 128, do: <<byte>>
  defp ascii(_byte), do: "·"
end

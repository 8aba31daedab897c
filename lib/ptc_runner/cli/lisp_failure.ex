defmodule PtcRunner.CLI.LispFailure do
  @moduledoc false
  # Formats an error of a program of PTC-Lisp for a terminal: the message, its line and column, and the text there.

  alias PtcRunner.CLI.Excerpt
  alias PtcRunner.Lisp
  alias PtcRunner.Lisp.ErrorPlace

  @doc """
  The lines for a reader.

      iex> {:error, step} = PtcRunner.Lisp.run("(inc totl)")
      iex> PtcRunner.CLI.LispFailure.text("(inc totl)", step) |> String.replace(~r/\\e\\[\\d+m/, "") |> String.split("\\n")
      ["unbound_var: Undefined variable: totl", "  at line 1, column 6", "  1 | (inc totl)", "    |      ^^^^", ""]

  """
  @spec text(binary(), PtcRunner.Step.t()) :: String.t()
  def text(program, step) do
    [:red, Lisp.format_error(step), :reset, "\n", place(program, step.usage[:error_at])]
    |> IO.ANSI.format()
    |> IO.iodata_to_binary()
  end

  @spec place(binary(), ErrorPlace.t() | nil) :: IO.ANSI.ansidata()
  defp place(_program, nil), do: []

  defp place(program, %{line: line, column: column, offset: offset, length: length}) do
    [shown, carets] = Excerpt.lines(program, {offset, length})
    ["  at line #{line}, column #{column}\n", shown, "\n", :red, carets, :reset, "\n"]
  end
end

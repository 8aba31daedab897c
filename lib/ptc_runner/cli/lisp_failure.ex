defmodule PtcRunner.CLI.LispFailure do
  @moduledoc false
  # Formats an error of a program of PTC-Lisp for a terminal: the message, its line and column, and the text there.

  alias PtcRunner.CLI.{Excerpt, LispPlace, Place}
  alias PtcRunner.Lisp

  @doc """
  The lines for a reader.

      iex> fail = %{reason: :unbound_var, message: "Undefined variable: totl"}
      iex> PtcRunner.CLI.LispFailure.text("(inc totl)", fail, %{}) |> String.replace(~r/\\e\\[\\d+m/, "") |> String.split("\\n")
      ["unbound_var: Undefined variable: totl", "  at line 1, column 6", "  1 | (inc totl)", "    |      ^^^^", ""]

  """
  @spec text(binary(), map(), map()) :: String.t()
  def text(program, fail, memory) do
    [:red, Lisp.format_error(fail), :reset, "\n", place(program, fail, memory)]
    |> IO.ANSI.format()
    |> IO.iodata_to_binary()
  end

  defp place(program, fail, memory) do
    case LispPlace.of(program, fail, memory, []) do
      nil ->
        []

      {offset, _length} = range ->
        {line, column} = Place.line_and_column(program, offset)
        [shown, carets] = Excerpt.lines(program, range)
        ["  at line #{line}, column #{column}\n", shown, "\n", :red, carets, :reset, "\n"]
    end
  end
end

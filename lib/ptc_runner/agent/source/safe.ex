defmodule PtcRunner.Agent.Source.Safe do
  @moduledoc false
  # Which repairs of a program's text are kept: a program that calls a tool which may write is repaired in the spelling of its
  # keys and quotes, its commas and its closing brackets, and in nothing else. Another repair could change what is written.

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Shown.Line
  alias PtcRunner.Shown

  @kinds [
    :missing_comma,
    :extra_comma,
    :trailing_comma,
    :semicolon,
    :missing_close,
    :extra_close,
    :wrong_close,
    :single_quotes,
    :smart_quotes,
    :triple_quotes,
    :bare_key,
    :key_spelling,
    :leftover
  ]

  @doc """
  Whether a repaired program is kept; otherwise the tool that may write, and the repair, because of which it is not.

      iex> alias PtcRunner.Agent.Source.Safe
      iex> pay = %{"program" => %{"op" => "call", "tool" => "pay"}}
      iex> repairs = [%{kind: :trailing_comma, message: "left out a comma"}, %{kind: :foreign_word, message: "read True as JSON has it"}]
      iex> Safe.kept(pay, repairs, [])
      {:writes, "pay", "read True as JSON has it"}
      iex> Safe.kept(pay, Enum.take(repairs, 1), [])
      :kept
      iex> Safe.kept(pay, repairs, [%PtcRunner.Agent.Tool{name: "pay", fun: &Function.identity/1, effect: :read}])
      :kept

  """
  @spec kept(term(), [map()], [Tool.t()]) ::
          :kept | {:writes, tool :: String.t(), repair :: String.t()}
  def kept(program, repairs, tools) do
    with %{message: message} <- Enum.find(repairs, &(&1.kind not in @kinds)),
         name when name != nil <-
           writing([program], for(%{effect: :read, name: name} <- tools, do: name)),
         do: {:writes, name |> Shown.cut(100) |> Line.escape(), message},
         else: (_none -> :kept)
  end

  # The first tool that is called and not known to read only; a name that is computed may be any.
  defp writing([], _reads), do: nil

  defp writing([%{"op" => "call"} = call | rest], reads) do
    name = call["tool"]

    cond do
      not is_binary(name) -> "?"
      name in reads -> writing(Map.values(call) ++ rest, reads)
      true -> name
    end
  end

  defp writing([map | rest], reads) when is_map(map), do: writing(Map.values(map) ++ rest, reads)
  defp writing([[first | more] | rest], reads), do: writing([first, more | rest], reads)
  defp writing([_leaf | rest], reads), do: writing(rest, reads)
end

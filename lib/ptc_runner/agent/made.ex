defmodule PtcRunner.Agent.Made do
  @moduledoc false
  # The calls that a failed run has made, for the model: its next program must not make them again.

  alias PtcRunner.Agent.{Describe, Record}
  alias PtcRunner.Shown
  alias PtcRunner.Shown.Line

  # Bytes of all lines, of a call's arguments, and of its answer.
  @all 4_000
  @args 400
  @answer 800

  @made "These calls have already been made, and their effects have happened. " <>
          "Do not make them again, use their answers:"

  # Of tools that only read.
  @read "These calls have already been made. Use their answers:"

  @unsure "These calls failed or did not finish, and may have had an effect. " <>
            "Make them again only if that does no harm:"

  @looked "These calls have been made, and their effects have happened. " <>
            "Make them again only if that does no harm:"

  @looked_read "These calls have been made:"

  @doc """
  The text of such calls behind what a program looked at: the next program may have to read the same again.

      iex> call = %{name: "rows", args: %{}, status: :ok, result: "[]", ok?: true, warnings: []}
      iex> text = PtcRunner.Agent.Made.text([{call, {:value, []}}], %{})
      iex> text |> PtcRunner.Agent.Made.looked() |> String.split("\\n", trim: true) |> hd()
      "These calls have been made, and their effects have happened. Make them again only if that does no harm:"

  """
  @spec looked(String.t()) :: String.t()
  def looked(text) do
    # A call is one line, so that none of them can be a title.
    text
    |> String.replace("\n" <> @made, "\n" <> @looked)
    |> String.replace("\n" <> @read, "\n" <> @looked_read)
  end

  @doc """
  The calls as text behind the feedback, `""` if no tool was called. `dropped` are the numbers of calls that are not
  recorded, `reads` the tools that only read: of these the text does not say that they had effects.

      iex> call = %{name: "pay", args: %{"id" => 7}, status: :ok, result: ~s("p-1"), ok?: true, warnings: []}
      iex> PtcRunner.Agent.Made.text([{call, {:value, "p-1"}}], %{"pay" => 2}) |> String.split("\\n", trim: true) |> tl()
      [~s[- pay({"id":7}) -> "p-1"], "- and 2 more calls: pay 2"]

      iex> rows = %{name: "rows", args: %{}, status: :ok, result: "[]", ok?: true, warnings: []}
      iex> calls = [{rows, {:value, []}}, {%{rows | name: "pay"}, {:value, "p-1"}}]
      iex> PtcRunner.Agent.Made.text(calls, %{}, ["rows"]) |> String.split("\\n", trim: true)
      ["These calls have already been made, and their effects have happened. Do not make them again, use their answers:",
       ~s[- pay({}) -> "p-1"], "These calls have already been made. Use their answers:", "- rows({}) -> []"]

  """
  @spec text(
          [{Record.call(), Record.more()}],
          %{String.t() => pos_integer()},
          reads :: [String.t()]
        ) ::
          String.t()
  def text(calls, dropped, reads \\ []) do
    made = for {%{status: :ok}, _value} = call <- calls, do: call
    # A read that failed has had no effect.
    unsure = for {%{name: name}, :effect} = call <- calls, name not in reads, do: call
    {read, written} = Enum.split_with(made, fn {call, _more} -> call.name in reads end)
    {dropped_reads, dropped} = Map.split(dropped, reads)

    {unsure, left} = section(@unsure, unsure, %{}, div(@all, 2))
    {written, left} = section(@made, written, dropped, div(@all, 2) + left)
    {read, _left} = section(@read, read, dropped_reads, left)
    written <> read <> unsure
  end

  defp section(_title, [], dropped, left) when dropped == %{}, do: {"", left}

  defp section(title, calls, dropped, left) do
    {lines, rest, left} = lines(calls, [], left)
    more = rest |> Enum.frequencies_by(fn {call, _more} -> call.name end) |> added(dropped)
    {IO.iodata_to_binary(["\n", title, Enum.reverse(lines), more(more)]), max(left, 0)}
  end

  defp lines([call | rest] = calls, lines, left) do
    line = line(call)

    if byte_size(line) <= left,
      do: lines(rest, [line | lines], left - byte_size(line)),
      else: {lines, calls, left}
  end

  defp lines([], lines, left), do: {lines, [], left}

  defp line({call, more}),
    do: "\n- #{Shown.label(call.name)}(#{Describe.value(call.args, @args)})#{answer(call, more)}"

  defp answer(%{status: :ok}, {:value, value}), do: " -> " <> Describe.value(value, @answer)
  defp answer(%{status: :ok, result: text}, nil), do: " -> " <> Line.escape(text)
  defp answer(%{status: :unfinished}, :effect), do: " did not finish"
  defp answer(%{result: text}, :effect), do: ": " <> (text |> Shown.cut(@answer) |> Line.escape())

  defp added(counts, dropped), do: Map.merge(counts, dropped, fn _name, a, b -> a + b end)

  defp more(counts) when counts == %{}, do: ""

  defp more(counts) do
    sum = counts |> Map.values() |> Enum.sum()
    names = counts |> Enum.sort() |> Shown.few(fn {name, n} -> "#{Shown.label(name)} #{n}" end)
    "\n- and #{sum} more call#{if sum > 1, do: "s"}: #{names}"
  end
end

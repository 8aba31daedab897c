defmodule PtcRunner.Lisp.Together do
  @moduledoc false
  # Calls of a tool for rounds that follow one another, which do not depend on each other's answers: they are made in one request, one
  # after another, or in lists if the tool takes lists.

  alias PtcRunner.Json.{Batch, Run, ToolProcess}

  @typedoc """
  What came of each call that was made, with the time when it was known: a value with its words; or another result, and behind such a one only those
  of its list. The last one may be an error that is no answer of the tool.
  """
  @type answers :: [
          {value :: term(), words :: non_neg_integer(), at :: integer()}
          | {{:ok, {:failed, String.t(), String.t()}, non_neg_integer()}
             | {:error, ToolProcess.error()}, at :: integer()}
          | {:error, ToolProcess.error()}
        ]

  @doc """
  The answers, within so many milliseconds and so many words. Behind an answer that is no value, no further call and no further list is made.

      iex> alias PtcRunner.Json.{Batch, Run, ToolProcess}
      iex> fun = PtcRunner.Lisp.ToolAnswer.of(Batch.function(&[length(&1) | tl(&1)]))
      iex> run = %Run{process: ToolProcess.new(0), settings: %{"t" => %{batch: 2}}}
      iex> {answers, process} = PtcRunner.Lisp.Together.answers(run, "t", fun, [5, 6, 7], {1_000, 0})
      iex> ToolProcess.stop(process)
      iex> for {value, _words, _at} <- answers, do: value
      [2, 6, 1]

  """
  @spec answers(Run.t(), String.t(), (term() -> term()), [term(), ...], {timeout(), integer()}) ::
          {answers(), ToolProcess.t()}
  def answers(%Run{process: process, settings: settings} = run, name, fun, all, {left, room}) do
    case settings do
      %{^name => %{batch: most}} when most != nil ->
        ends = if left == :infinity, do: :infinity, else: now() + left
        lists(process, {name, fun}, Enum.chunk_every(all, most), {ends, room, run.max_heap}, [])

      _alone ->
        ToolProcess.call_each(process, name, fun, all, left, room)
    end
  end

  defp lists(process, _tool, [], _limits, answers),
    do: {Enum.concat(Enum.reverse(answers)), process}

  defp lists(process, {name, fun} = tool, [calls | rest], {ends, room, max_heap}, answers) do
    left = if ends == :infinity, do: :infinity, else: max(ends - now(), 0)

    case ToolProcess.call(process, name, fun, %Batch{calls: calls}, left) do
      {{:all, results}, process} ->
        at = System.monotonic_time()
        answers = [Enum.map(results, &timed(&1, at)) | answers]
        room = room - Enum.sum(for {:ok, _value, words} <- results, do: words)
        values? = Enum.all?(results, &match?({:ok, {:value, _value}, _words}, &1))

        # The run says that it has met its limit.
        if values? and (max_heap == 0 or room >= 0),
          do: lists(process, tool, rest, {ends, room, max_heap}, answers),
          else: lists(process, tool, [], {ends, room, max_heap}, answers)

      {error, process} ->
        lists(process, tool, [], {ends, room, max_heap}, [[error] | answers])
    end
  end

  defp timed({:ok, {:value, value}, words}, at), do: {value, words, at}
  defp timed(result, at), do: {result, at}

  defp now, do: System.monotonic_time(:millisecond)

  @doc """
  The results behind the first one that is no value, with the arguments of their calls.

      iex> answers = [{1, 0, 9}, {{:ok, {:failed, "no", "no"}, 0}, 9}, {3, 0, 9}]
      iex> PtcRunner.Lisp.Together.behind(answers, [:a, :b, :c])
      [{{:ok, {:value, 3}, 0}, :c}]

  """
  @spec behind(answers(), [term()]) :: [{term(), term()}]
  def behind([{_value, _words, _at} | answers], [_args | all]), do: behind(answers, all)

  def behind([_stopped | answers], [_args | all]) do
    for {answer, args} <- Enum.zip(answers, all), answer = result(answer), do: {answer, args}
  end

  def behind([], _all), do: []

  defp result({value, words, _at}), do: {:ok, {:value, value}, words}
  defp result({result, at}) when is_integer(at), do: result
  defp result(_error), do: nil
end

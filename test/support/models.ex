defmodule PtcRunner.Test.Models do
  # Models whose answers are written down.

  # A model that gives one answer after the other and then an error, and a function that returns what it was
  # asked with.
  def canned(answers) do
    {:ok, pid} = Agent.start_link(fn -> {answers, []} end)

    ask = fn messages ->
      Agent.get_and_update(pid, fn
        {[answer | answers], asked} -> {answer, {answers, [messages | asked]}}
        {[], asked} -> {{:error, :no_answer_left}, {[], [messages | asked]}}
      end)
    end

    {ask, fn -> pid |> Agent.get(&elem(&1, 1)) |> Enum.reverse() end}
  end
end

defmodule PtcRunner.Json.Batch do
  @moduledoc false
  # Calls of a tool that are given to it together: a tool with the option `batch` takes a list of arguments, and answers a list.
  #
  # In a run, the function of such a tool takes the arguments of one call, like that of any other tool, or a batch. So it can
  # be called wherever a tool is called, and only the rounds of loops make batches: see `PtcRunner.Json.Run.Gathered`.

  alias PtcRunner.Agent.ToolError
  alias PtcRunner.Json.Keyed
  alias PtcRunner.Shown

  @enforce_keys [:calls]
  defstruct @enforce_keys

  @typedoc "The arguments of each call, with what its tool is told of it, if it is told something."
  @type t :: %__MODULE__{calls: [Keyed.t() | term(), ...]}

  @typedoc "The function of an application: of a list of arguments."
  @type fun :: ([term()] -> term())

  @doc """
  The function that a run calls, for one that takes lists.

      iex> alias PtcRunner.Json.Batch
      iex> double = Batch.function(fn list -> Enum.map(list, & &1["n"] * 2) end)
      iex> {double.(%{"n" => 1}), double.(%Batch{calls: [%{"n" => 1}, %{"n" => 2}]})}
      {2, [2, 4]}

  """
  @spec function(fun()) :: (t() | term() -> term())
  def function(fun) do
    fn
      %__MODULE__{calls: calls} ->
        answers(fun, calls)

      args ->
        [answer] = answers(fun, [alone(args)])
        answer
    end
  end

  @doc "The arguments of a call that is made alone, with what this process knows of the call."
  @spec alone(term()) :: Keyed.t() | term()
  def alone(args) do
    case Keyed.known() do
      call when call == %{} -> args
      call -> %Keyed{args: args, call: call}
    end
  end

  @doc """
  What the function answers for each call; an error of all of them is that of each.

      iex> answers = &PtcRunner.Json.Batch.answers(fn _list -> &1 end, [%{"n" => 1}, %{"n" => 2}])
      iex> answers.([1, {:error, :none}])
      [1, {:error, :none}]
      iex> answers.({:error, :down})
      [error: :down, error: :down]
      iex> [{:error, error}, error_of_second] = answers.([1])
      iex> {inspect(error), {:error, error} == error_of_second}
      {"it was given 2 calls, and must answer a list of 2 answers in their order, got: a list of 1 item", true}

  """
  @spec answers(fun(), [Keyed.t() | term(), ...]) :: [term(), ...]
  def answers(fun, calls) do
    args = Enum.map(calls, &Keyed.args/1)

    case Keyed.within_all(calls, fn -> fun.(args) end) do
      {:ok, answers} -> each(answers, calls)
      {:error, _reason} = error -> Enum.map(calls, fn _call -> error end)
      answers -> each(answers, calls)
    end
  end

  defp each(answers, calls) do
    count = length(calls)

    if proper_length(answers) == count do
      answers
    else
      error = {:error, ToolError.new(wrong(answers, count))}
      Enum.map(calls, fn _call -> error end)
    end
  end

  defp wrong(answers, count) do
    calls = if count == 1, do: "1 call", else: "#{count} calls"
    list = if count == 1, do: "1 answer", else: "#{count} answers in their order"
    "it was given #{calls}, and must answer a list of #{list}, got: #{shown(answers)}"
  end

  defp shown(answers) do
    case proper_length(answers) do
      nil -> Shown.text(answers, 200)
      1 -> "a list of 1 item"
      count -> "a list of #{count} items"
    end
  end

  # `nil` for what is no list, or an improper one.
  defp proper_length(list) when is_list(list) do
    length(list)
  rescue
    ArgumentError -> nil
  end

  defp proper_length(_other), do: nil
end

defmodule PtcRunner.Lisp.ToolAnswer do
  @moduledoc false
  # What a tool has answered, told apart where the tool has run: `{:ok, value}` is the value, `{:error, reason}` and whatever is raised,
  # thrown or an exit is a failure, anything else is a value.

  alias PtcRunner.Agent.ToolError
  alias PtcRunner.Json.{Batch, Text, Texts}
  alias PtcRunner.Lisp.Text, as: LispText
  alias PtcRunner.Sandbox.Guarded
  alias PtcRunner.Shown

  @typedoc "A value; or a failure: its text for the program, and for the ledger."
  @type t :: {:value, term()} | {:failed, said :: String.t(), noted :: String.t()}

  @doc """
  The function of a tool, with its answers told apart.

      iex> alias PtcRunner.Lisp.ToolAnswer
      iex> for answer <- [{:ok, 1}, {:error, "no"}, {:error, %{code: 4}}, [1]], do: ToolAnswer.of(fn _ -> answer end).(%{})
      [{:value, 1}, {:failed, ~S("no"), "no"}, {:failed, "{:code 4}", "{:code 4}"}, {:value, [1]}]

      iex> PtcRunner.Lisp.ToolAnswer.of(fn _ -> raise "bang" end).(%{})
      {:failed, ~S("bang"), "bang"}

      iex> alias PtcRunner.Json.Batch
      iex> find = Batch.function(fn list -> Enum.map(list, &if(&1 > 1, do: {:error, "none"}, else: &1)) end)
      iex> PtcRunner.Lisp.ToolAnswer.of(find).(%Batch{calls: [1, 2]})
      [{:value, 1}, {:failed, ~S("none"), "none"}]

  """
  @spec of((term() -> term())) :: (term() -> t() | [t()])
  def of(fun), do: fn args -> call(fun, args) end

  # Calls that are made together are answered together, see `PtcRunner.Json.Batch`. What is raised is the failure of each.
  defp call(fun, args) do
    fun.(args)
  catch
    :error, reason -> each(args, raised(reason, __STACKTRACE__))
    :throw, value -> each(args, ended("it threw", value))
    :exit, reason -> each(args, ended("it exited with", reason))
  else
    answers when is_struct(args, Batch) -> Enum.map(answers, &told/1)
    answer -> told(answer)
  end

  defp each(%Batch{calls: calls}, failure), do: Enum.map(calls, fn _call -> failure end)
  defp each(_args, failure), do: failure

  defp told({:ok, value}), do: value(value)
  defp told({:error, reason}), do: failed(reason)
  defp told(value), do: value(value)

  # A long JSON text that a tool gives as it is.
  defp value(%Text{} = text) do
    case Texts.answer(text) do
      {:error, limit} when is_atom(limit) ->
        noted("its text could not be decoded within the limits")

      {:error, why} ->
        noted(why)

      value ->
        {:value, value}
    end
  end

  defp value(value), do: {:value, value}

  defp raised(reason, trace) do
    noted(Guarded.text(fn -> Shown.exception(Exception.normalize(:error, reason, trace)) end))
  end

  defp failed(%ToolError{text: text}), do: noted(text)

  defp failed(reason) when is_binary(reason) do
    if String.valid?(reason), do: noted(reason), else: noted(Shown.text(reason))
  end

  defp failed(reason) do
    text = Guarded.text(fn -> LispText.reason(reason) end)
    {:failed, text, text}
  end

  defp noted(text) do
    text = Shown.cut(text, Shown.value_limit())
    {:failed, inspect(text, printable_limit: :infinity), text}
  end

  defp ended(how, value) do
    text = "#{how} #{Guarded.text(fn -> LispText.reason(value) end)}"
    {:failed, text, text}
  end
end

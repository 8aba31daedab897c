defmodule PtcRunner.Json.Control.Words do
  @moduledoc false
  # The errors of runs whose calls are decided about, kept or replayed.

  alias PtcRunner.Json.{Entry, Message}
  alias PtcRunner.Shown

  @doc "The error of a program that makes another call than the journal has."
  @spec departs(term(), term(), String.t(), term()) :: Message.error()
  def departs(name, args, other, recorded),
    do: error("#{calls(name, args)}, but the journal has #{named(other, recorded)}")

  @doc "What is left of the journal of a run that has ended: the error of a replay, or `:ok`."
  @spec left(map()) :: :ok | {:error, Message.error()}
  def left(%{journal: journal}) do
    case for {_id, _, _, _} = entry <- Entry.list(journal), not Entry.beyond?(entry), do: entry do
      [] ->
        :ok

      [{_, name, args, _} | _] ->
        {:error, error("The program has ended, but the journal has #{named(name, args)}")}
    end
  end

  defp calls(name, args), do: "The program calls #{named(name, args)}"
  defp named(name, args), do: "'#{shown(name)}' with #{Shown.text(args, 512)}"
  defp shown(name) when is_binary(name), do: Shown.name(name)
  defp shown(name), do: Shown.text(name)

  @doc "The error of a program that calls more than the journal has."
  @spec no_more(term(), term()) :: Message.error()
  def no_more(name, args), do: error("#{calls(name, args)}, but the journal has no more calls")

  @doc "The error of a call that was denied."
  @spec denied(String.t(), term()) :: Message.error()
  def denied(name, reason), do: error("Tool '#{Shown.name(name)}' was refused: #{reason(reason)}")

  defp reason(text) when is_binary(text), do: Shown.cut(text)
  defp reason(other), do: Shown.text(other)

  @doc "The error of a run whose calls cannot be kept."
  @spec unstorable(String.t(), String.t(), String.t()) :: Message.error()
  def unstorable(name, verb, kind),
    do: error("Tool '#{Shown.name(name)}' #{verb} #{kind}, which a journal cannot hold")

  @doc "The error of a run that its `:on_journal` refuses."
  @spec refused(String.t()) :: Message.error()
  def refused(text), do: error("The run was refused: the function of :on_journal #{text}")

  defp error(text), do: {:execution_error, text}
end

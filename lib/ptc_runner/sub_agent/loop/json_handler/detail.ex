defmodule PtcRunner.SubAgent.Loop.JsonHandler.Detail do
  @moduledoc false
  # The positions of errors in an answer, one line per error: `- results[0].id: expected integer, got string "abc"`.

  alias PtcRunner.SubAgent.JsonParser
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Feedback, Place}
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.ErrorText

  @doc false
  # Of the options only `:found` (what reading has found), and the limits of reading are used.
  def lines(nil, response, _agent, opts) when is_binary(response) do
    case found(response, opts) do
      {:place, place} when place != nil -> ["- " <> Place.describe(response, place)]
      _other -> []
    end
  end

  def lines({errors, more}, response, agent, opts) when is_binary(response) do
    {most, bytes} = Feedback.most()
    lines = ErrorText.first_lines(errors, value(response, agent, opts), most, bytes, more)
    for line <- lines, do: "- " <> line
  end

  def lines(_errors, _response, _agent, _opts), do: []

  # The value that was validated.
  defp value(response, agent, opts) do
    case {found(response, opts), agent} do
      {{:value, %{"items" => items}}, %{parsed_signature: {:signature, _, _} = signature}} ->
        if Signature.returns_list?(signature), do: items, else: %{"items" => items}

      {{:value, value}, _agent} ->
        value

      {{:place, _place}, _agent} ->
        nil
    end
  end

  defp found(response, opts) do
    with nil <- opts[:found] do
      case JsonParser.locate(response, opts) do
        {:ok, value} -> {:value, value}
        {:error, {_reason, place}} -> {:place, place}
      end
    end
  end
end

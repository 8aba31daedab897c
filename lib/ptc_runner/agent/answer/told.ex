defmodule PtcRunner.Agent.Answer.Told do
  @moduledoc false
  # What the model is told of a wrong answer.

  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Answer, Detail, Feedback}

  @doc """
  The feedback about errors. `found` is what reading the text has found.

      iex> asked = PtcRunner.Agent.Answer.Asked.new({:signature, [], {:map, [{"n", :int}]}}, [])
      iex> errors = [%{path: ["n"], message: "expected int, got string"}]
      iex> PtcRunner.Agent.Answer.Told.feedback(errors, ~s({"n": "a"}), {:value, %{"n" => "a"}}, asked) |> String.split("\\n") |> Enum.at(1)
      ~s(- n: expected integer, got string "a")

  """
  @spec feedback([map(), ...], String.t(), Answer.found() | :limit, map()) :: String.t()
  def feedback(errors, text, found, asked) do
    opts = [{:feedback, :detailed}, {:found, found} | asked.limits]

    case errors do
      [%{path: [], message: message}] ->
        Feedback.text(message, nil, text, agent(asked), opts)

      errors ->
        line = JsonHandler.format_validation_errors(errors)
        Feedback.text(line, {errors, 0}, text, agent(asked), opts)
    end
  end

  @doc """
  The feedback about an error of syntax at a place, and about those of the values that the text has if it is repaired.

      iex> asked = PtcRunner.Agent.Answer.Asked.new({:signature, [], {:map, [{"n", :int}]}}, [])
      iex> errors = [%{path: ["n"], message: "expected int, got string"}]
      iex> syntax = %{path: [], message: "JSON parse error"}
      iex> PtcRunner.Agent.Answer.Told.both(syntax, errors, ~s({"n": "a",}), {:unexpected_token, 10}, {:value, %{"n" => "a"}}, asked)
      ...> |> String.split("\\n") |> Enum.drop(-1)
      [
        "Error: JSON parse error, and 1 value does not match the expected output format",
        ~s(- line 1, column 11: unexpected } after {"n": "a",),
        ~s(- n: expected integer, got string "a")
      ]

  """
  @spec both(map(), [map(), ...], String.t(), tuple(), Answer.found(), map()) :: String.t()
  def both(syntax, errors, text, place, found, asked) do
    lines =
      Detail.lines(nil, text, agent(asked), found: {:place, place}) ++
        Detail.lines({errors, 0}, text, agent(asked), found: found)

    Feedback.both(syntax.message, errors, lines)
  end

  defp agent(asked), do: %{parsed_signature: asked.signature}
end

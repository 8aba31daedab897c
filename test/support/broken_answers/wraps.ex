defmodule PtcRunner.Test.BrokenAnswers.Wraps do
  @moduledoc "Texts around an answer: prose and fences."

  @wraps [
    {"prose:", "Here is the result:\n\n", "\n"},
    {"prose:", "", "\n\nLet me know if you need anything else!"},
    {"prose:", "Sure [as asked]: ", ""},
    {"fence:", "```json\n", "\n```"},
    {"fence:", "```\n", "\n```\n"},
    {"fence:", "```json5\n", "\n```\nThis is the answer, as {requested}."},
    {"fence:", "Based on the text, I'd say:\n\n```json\n",
     "\n```\n\nNote that I guessed one value."},
    {"fence:", "```json\n", ""},
    {"think:", "<think>\nThe user wants JSON, so I give it.\n</think>\n\n", ""},
    {"bold:", "**Answer:** ", ""}
  ]

  @doc "The name of the surrounding text, and the whole answer."
  def wrap(text, false), do: {"", text}

  def wrap(text, true) do
    {name, before, behind} = Enum.random(@wraps)
    {name, before <> text <> behind}
  end
end

defmodule PtcRunner.Json.Near do
  @moduledoc false
  # The limits of which a run has used more than half. It is asked for at the end of a run that somebody follows or explains.

  alias PtcRunner.Json.{Budget, Limits, Run}
  alias PtcRunner.Json.Explain.Format
  alias PtcRunner.Shown

  @typedoc """
  A limit, by the name of its option: milliseconds of `:timeout`, words of `:max_heap`, calls of `:max_tool_calls`, and of `:max_calls` of a tool.
  """
  @type t :: %{
          required(:limit) => :timeout | :max_heap | :max_tool_calls | :max_calls,
          required(:used) => non_neg_integer(),
          required(:of) => pos_integer(),
          optional(:tool) => String.t()
        }

  @doc """
  The limits of a run with these limits, which took so many milliseconds, built so many words, and made the calls that a budget has counted. `error`: what it ended with, if it did not work.

      iex> alias PtcRunner.Json.{Budget, Near}
      iex> budget = Budget.new(["pay", "rate"], 9, %{"pay" => 3})
      iex> for name <- ["rate", "pay", "pay"], do: Budget.take(budget, name, %{})
      iex> Near.found({1_000, 5_000, 100}, {700, 2_500}, budget, nil)
      [%{limit: :timeout, used: 700, of: 1_000}, %{limit: :max_calls, tool: "pay", used: 2, of: 3}]
      iex> Near.found({:infinity, 5_000, 100}, {700, 0}, nil, {:memory_exceeded, 40_000})
      [%{limit: :max_heap, used: 5_000, of: 5_000}]

  """
  @spec found(
          Limits.t(),
          {non_neg_integer(), non_neg_integer()},
          Budget.t() | nil,
          {atom(), term()} | nil
        ) :: [t()]
  def found({timeout, max_heap, _reading}, {ms, words}, budget, error) do
    # A run that met its limit of words has built nothing that could be counted.
    words = if match?({:memory_exceeded, _bytes}, error), do: max(words, max_heap), else: words

    Enum.filter(
      [
        %{limit: :timeout, used: ms, of: timeout},
        %{limit: :max_heap, used: words, of: max_heap} | Enum.map(Budget.used(budget), &calls/1)
      ],
      &near?/1
    )
  end

  defp calls({nil, used, most}), do: %{limit: :max_tool_calls, used: used, of: most}
  defp calls({tool, used, most}), do: %{limit: :max_calls, tool: tool, used: used, of: most}

  defp near?(%{used: used, of: most}), do: is_integer(most) and most > 0 and 2 * used > most

  @doc "The budget of a run, whoever counts its calls."
  @spec budget(Run.t()) :: Budget.t() | nil
  def budget(%Run{control: nil, budget: budget}), do: budget
  def budget(%Run{control: control}), do: control.budget

  @doc """
  The limits as a text for a person.

      iex> PtcRunner.Json.Near.text([%{limit: :timeout, used: 700, of: 1_000}, %{limit: :max_calls, tool: "pay", used: 2, of: 3}])
      "700 of 1,000 ms, 2 of 3 calls of pay"

  """
  @spec text([t()]) :: String.t()
  def text(near), do: Enum.map_join(near, ", ", &one/1)

  defp one(%{used: used, of: most} = near),
    do: "#{Format.number(used)} of #{Format.number(most)} #{unit(near)}"

  defp unit(%{limit: :timeout}), do: "ms"
  defp unit(%{limit: :max_heap}), do: "words"
  defp unit(%{limit: :max_tool_calls}), do: "tool calls"
  defp unit(%{tool: tool}), do: "calls of #{Shown.label(tool)}"
end

defmodule PtcRunner.Agent.ToolError do
  @moduledoc false
  # The reason of a tool's error for the model. The text of a run's error shows a reason as
  # `inspect/1` does; this one shows a string unchanged, with its line breaks.

  alias PtcRunner.Shown

  defstruct [:text]

  @type t :: %__MODULE__{text: String.t()}

  @doc """
  The reason as text: a string itself, an exception's message.

      iex> PtcRunner.Agent.ToolError.new("line 1\\nline 2") |> inspect()
      "line 1\\nline 2"

      iex> PtcRunner.Agent.ToolError.new(:not_found) |> inspect()
      ":not_found"

  """
  @spec new(term()) :: t()
  def new(text) when is_binary(text) do
    if String.valid?(text), do: %__MODULE__{text: text}, else: %__MODULE__{text: Shown.text(text)}
  end

  def new(%{__exception__: true} = exception), do: %__MODULE__{text: Shown.exception(exception)}
  def new(reason), do: %__MODULE__{text: Shown.text(reason)}

  defimpl Inspect do
    def inspect(error, _opts), do: PtcRunner.Shown.cut(error.text, 3_500)
  end
end

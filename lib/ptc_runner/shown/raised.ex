defmodule PtcRunner.Shown.Raised do
  @moduledoc false
  # What an exception says, in as much room as a value has in a message.

  alias PtcRunner.Shown
  alias PtcRunner.Shown.Size

  # These write out the term that they are about, without a limit.
  @verbose [
    KeyError,
    BadMapError,
    MatchError,
    CaseClauseError,
    WithClauseError,
    TryClauseError,
    BadStructError,
    BadBooleanError,
    BadFunctionError,
    BadArityError,
    Protocol.UndefinedError,
    ErlangError
  ]

  @doc """
  The message of an exception. One of Elixir's own about a large term is shown as the struct that it is.

      iex> PtcRunner.Shown.Raised.text(%ArgumentError{message: "no such thing"})
      "no such thing"

  """
  @spec text(Exception.t()) :: String.t()
  def text(%module{} = exception) when module in @verbose do
    if Size.small?(Map.from_struct(exception)),
      do: message(exception),
      else: Shown.text(exception)
  end

  def text(exception), do: message(exception)

  defp message(exception), do: exception |> Exception.message() |> Shown.cut(Shown.value_limit())
end

defmodule PtcRunner.Shown.Raised do
  @moduledoc false
  # The message of an exception, limited like a value in a message.

  alias PtcRunner.Shown
  alias PtcRunner.Shown.{Head, Size}

  # Exceptions that write the term that they are about without a limit.
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

  @doc "Whether exceptions of a module write the term that they are about."
  @spec verbose?(module()) :: boolean()
  def verbose?(module), do: module in @verbose

  @doc """
  The message of an exception. One of Elixir's own exceptions about a large term, or one with firewalled
  keys, is shown as a struct.

      iex> PtcRunner.Shown.Raised.text(%ArgumentError{message: "no such thing"})
      "no such thing"

  """
  @spec text(Exception.t()) :: String.t()
  def text(%module{} = exception) when module in @verbose do
    fields = Map.from_struct(exception)

    if Size.small?(fields) and Head.open?(fields),
      do: message(exception),
      else: Shown.text(exception)
  end

  def text(exception), do: message(exception)

  defp message(exception), do: exception |> Exception.message() |> Shown.cut(Shown.value_limit())
end

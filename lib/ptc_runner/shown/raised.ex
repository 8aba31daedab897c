defmodule PtcRunner.Shown.Raised do
  @moduledoc false
  # The message of an exception, limited like a value in a message.

  alias PtcRunner.Shown
  alias PtcRunner.Shown.{Head, Size}

  # These write the term that they are about without a limit.
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
  The message of an exception. One of Elixir's own exceptions about a large term, or one with firewalled
  keys, is shown as a struct.

      iex> PtcRunner.Shown.Raised.text(%ArgumentError{message: "no such thing"})
      "no such thing"

  """
  @spec text(Exception.t()) :: String.t()
  def text(%module{} = exception) when module in @verbose do
    fields = Map.from_struct(exception)

    if Size.small?(fields) and not secret?(fields),
      do: message(exception),
      else: Shown.text(exception)
  end

  def text(exception), do: message(exception)

  # Whether a small term has values of firewalled keys.
  defp secret?(map) when is_map(map) do
    Enum.any?(:maps.to_list(map), fn {key, value} ->
      Head.hidden?(key) or secret?(key) or secret?(value)
    end)
  end

  defp secret?([first | rest]), do: secret?(first) or secret?(rest)
  defp secret?({key, value}), do: Head.hidden?(key) or secret?(key) or secret?(value)
  defp secret?(tuple) when is_tuple(tuple), do: tuple |> Tuple.to_list() |> secret?()
  defp secret?(_leaf), do: false

  defp message(exception), do: exception |> Exception.message() |> Shown.cut(Shown.value_limit())
end

defmodule PtcRunner.SubAgent.Loop.JsonHandler.ErrorLine do
  @moduledoc false
  # Validation errors in one line of limited length, written natively: there may be millions of errors.

  alias PtcRunner.{Native, Quanta, Shown}
  require Quanta

  # Maximum bytes of the line, and more errors than any list has.
  @all Shown.errors_limit()
  @most 0xFFFF_FFFF

  @doc false
  def text(errors), do: first(errors, @most, @all, 0)

  @doc false
  # At most `most` errors and about `bytes` bytes, and then the number of further errors, including
  # `omitted` that are not in the list.
  def first(errors, most, bytes, omitted) do
    with :other <- line(errors, most, bytes, omitted),
         do: errors |> Enum.map(&plain/1) |> line(most, bytes, omitted)
  end

  defp line(errors, most, bytes, omitted) do
    with {:ok, text} <- Quanta.run!(Native.error_line(errors, most, bytes, omitted)), do: text
  end

  # An error that has only strings.
  defp plain(%{path: path, message: message}),
    do: %{path: Enum.map(path, &Shown.string/1), message: Shown.string(message)}
end

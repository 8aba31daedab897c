defmodule PtcRunner.Json.Text do
  @moduledoc """
  A JSON text that a program reads as if it had been decoded: see `PtcRunner.Json.text/1`.
  """

  @enforce_keys [:binary]
  defstruct [:binary]

  @typedoc "The text, as it was given."
  @type t :: %__MODULE__{binary: String.t()}

  # The beginnings of firewalled names, and the byte of each that is seldom. The last one may be any character.
  @marks [{"_", ~s("_)}, {"-", ~s("-)}, {"\\", "\\u"}]

  @doc false
  # Whether a field of the text may be firewalled. One byte is found much faster than a mark.
  @spec hidden?(t()) :: boolean()
  def hidden?(%__MODULE__{binary: binary}) do
    case for({byte, mark} <- @marks, :binary.match(binary, byte) != :nomatch, do: mark) do
      [] -> false
      marks -> :binary.match(binary, marks) != :nomatch
    end
  end

  defimpl Inspect do
    def inspect(%{binary: binary}, _opts) when is_binary(binary),
      do: "#PtcRunner.Json.Text<#{byte_size(binary)} bytes>"

    def inspect(_text, _opts), do: "#PtcRunner.Json.Text<no binary>"
  end
end

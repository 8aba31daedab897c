defmodule PtcRunner.Agent.Look do
  @moduledoc false
  # What a model is told that has looked at a value.

  alias PtcRunner.Agent.Describe
  alias PtcRunner.Firewall.Shape
  alias PtcRunner.Shown

  # Maximum bytes of the value.
  @looked 4_000
  @concealed "What comes from fields whose names begin with _ is not shown."

  @doc """
  The value, without what is concealed, and the names that the memory keeps.

      iex> PtcRunner.Agent.Look.text(%{"n" => 1}, :clear, %{"rows" => []})
      ~s(You looked at: {"n":1}\\nKept in memory: rows.)

  """
  @spec text(term(), Shape.t(), map()) :: String.t()
  def text(value, shape, kept) do
    names = kept |> Map.keys() |> Enum.sort()
    kept = if names == [], do: "", else: "\nKept in memory: #{Shown.few(names, &label/1)}."
    concealed = if shape == :clear, do: "", else: "\n" <> @concealed

    "You looked at: #{value |> Shape.conceal(shape) |> Describe.value(@looked)}#{kept}#{concealed}"
  end

  defp label(name) when is_binary(name), do: Shown.label(name)
  defp label(name), do: Shown.text(name, 256)
end

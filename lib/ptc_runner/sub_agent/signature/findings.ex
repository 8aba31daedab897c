defmodule PtcRunner.SubAgent.Signature.Findings do
  @moduledoc false
  # Completes the errors of a native walk: those that need `inspect/1` come unfinished.

  @unexpected "unexpected field — schema disallows additional properties"

  @spec finish([map() | tuple(), ...], boolean()) :: [map(), ...]
  def finish(errors, true), do: errors
  def finish(errors, false), do: Enum.flat_map(errors, &error/1)

  defp error({:inspect, path, text, value}),
    do: [%{path: path, message: text <> PtcRunner.Shown.text(value)}]

  defp error({:unexpected, path, keys, _}) do
    for key <- Enum.sort_by(keys, &PtcRunner.Shown.text/1) do
      %{path: path ++ [segment(key)], message: @unexpected}
    end
  end

  defp error(error), do: [error]

  defp segment(key) when is_binary(key) or is_atom(key), do: to_string(key)
  defp segment(key), do: PtcRunner.Shown.text(key)
end

defmodule PtcRunner.SubAgent.Signature.Findings do
  @moduledoc false
  # Completes the errors of a native walk that need `inspect/1`. Errors in firewalled fields show neither
  # values nor undeclared keys: these have an error each, and "…" is their place in its path.

  alias PtcRunner.SubAgent.Signature.{ErrorText, RuleText}

  @concealed "…"
  @unexpected "unexpected field — schema disallows additional properties"

  @spec finish([map() | tuple(), ...], boolean()) :: [map(), ...]
  def finish(errors, true), do: errors
  def finish(errors, false), do: Enum.flat_map(errors, &error/1)

  # `{key, value}` of a rule.
  defp error({kind, path, {_key, _value} = rule, value}) when kind in [:inspect, :kind],
    do: [%{path: path, message: RuleText.message(rule, value, kind == :kind)}]

  defp error({:inspect, path, text, value}),
    do: [%{path: path, message: text <> PtcRunner.Shown.text(value)}]

  defp error({:kind, path, text, value}),
    do: [%{path: path, message: text <> ErrorText.kind(value)}]

  defp error({:unexpected, path, keys, true}),
    do: for(_key <- keys, do: %{path: path ++ [@concealed], message: @unexpected})

  defp error({:unexpected, path, keys, false}) do
    for key <- Enum.sort_by(keys, &PtcRunner.Shown.text/1) do
      %{path: path ++ [segment(key)], message: @unexpected}
    end
  end

  defp error(error), do: [error]

  defp segment(key) when is_binary(key) or is_atom(key), do: to_string(key)

  defp segment(%{__struct__: PtcRunner.Lisp.Keyword, name: name}) when is_binary(name),
    do: name

  defp segment(key), do: PtcRunner.Shown.text(key)
end

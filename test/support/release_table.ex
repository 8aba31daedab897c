defmodule PtcRunner.Test.ReleaseTable do
  @moduledoc """
  Reads the guide's table about modules of `ptc_runner` in each release.
  """

  @releases ~w(0.4.1 0.5.0 0.5.2 0.6.0 0.7.0 0.8.0 0.9.0 0.10.1 0.11.0 0.12.0 0.13.0)
  @file_name "guides/drop_in.md"
  @root Path.expand("../..", __DIR__)

  @doc "Whether the module is native there, and if not, why; `nil` if nothing is said."
  @spec said(String.t(), String.t()) ::
          {:native, nil} | {:left, String.t()} | nil
  def said(module, release) do
    Enum.find_value(rows(), fn {names, releases, said} ->
      if module in names and release in between(releases), do: answer(said)
    end)
  end

  defp answer("native" <> _), do: {:native, nil}
  defp answer("left: " <> why), do: {:left, why}

  # | `PtcRunner.A`, `.B` | 0.4.1 to 0.6.0 | native |
  # | `PtcRunner.A` | 0.7.0 to 0.10.1 | native, by other rules |
  defp rows do
    for "| `PtcRunner" <> _ = line <-
          String.split(File.read!(Path.join(@root, @file_name)), "\n"),
        [names, <<digit, _::binary>> = releases, said] <- [cells(line)],
        digit in ?0..?9,
        do: {names(names), releases, said}
  end

  defp cells(line),
    do: line |> String.trim("|") |> String.split("|") |> Enum.map(&String.trim/1)

  # A name that begins with a dot replaces the last part of the previous name.
  defp names(cell) do
    ~r/`([^`]+)`/
    |> Regex.scan(cell, capture: :all_but_first)
    |> List.flatten()
    |> Enum.scan(fn
      "." <> part, before -> Regex.replace(~r/\w+$/, before, part)
      name, _before -> name
    end)
  end

  defp between(releases) do
    [from | to] = String.split(releases, " to ")
    to = List.first(to) || from
    @releases |> Enum.drop_while(&(&1 != from)) |> Enum.reverse() |> Enum.drop_while(&(&1 != to))
  end
end

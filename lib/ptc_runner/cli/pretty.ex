defmodule PtcRunner.CLI.Pretty do
  @moduledoc false
  # Pretty JSON: two spaces per level; a value that fits on one line is on one line.

  alias PtcRunner.CLI.Digits
  alias PtcRunner.Json.Codec

  @width 80

  @doc """
  The text, as iodata; floats with the digits that `float` gives them.

      iex> PtcRunner.CLI.Pretty.json(%{"a" => [1, 2], "b" => %{}}) |> IO.iodata_to_binary()
      ~s({"a": [1, 2], "b": {}})

      iex> long = String.duplicate("x", 80)
      iex> PtcRunner.CLI.Pretty.json(%{"a" => [1, long]}) |> IO.iodata_to_binary()
      ~s({\\n  "a": [\\n    1,\\n    "\#{long}"\\n  ]\\n})

  """
  @spec json(term(), (float() -> String.t())) :: iodata()
  def json(term, float \\ &Codec.encode!/1), do: term |> tree(float) |> lines(0)

  @doc """
  A value on one line, with floats for people.

      iex> PtcRunner.CLI.Pretty.line([%{"a" => 0.1 + 0.2}, nil])
      ~s([{"a":0.3},null])

  """
  @spec line(term()) :: String.t()
  def line(float) when is_float(float), do: Digits.text(float)
  def line([_ | _] = list), do: "[" <> Enum.map_join(list, ",", &line/1) <> "]"

  def line(map) when is_map(map) and map_size(map) > 0 and not is_struct(map) do
    member = fn {key, value} -> Codec.encode!(to_string(key)) <> ":" <> line(value) end
    "{" <> Enum.map_join(Enum.sort(map), ",", member) <> "}"
  end

  def line(leaf), do: Codec.encode!(leaf)

  # Each part with its width on one line.
  defp tree(map, float) when is_map(map) and not is_struct(map) do
    members =
      for {key, value} <- Enum.sort(map), do: {Codec.encode!(to_string(key)), tree(value, float)}

    width =
      for({key, {_kind, _part, width}} <- members, do: String.length(key) + width + 4)
      |> Enum.sum()

    {:map, members, max(width, 2)}
  end

  defp tree(list, float) when is_list(list) do
    parts = Enum.map(list, &tree(&1, float))
    width = for({_kind, _part, width} <- parts, do: width + 2) |> Enum.sum()
    {:list, parts, max(width, 2)}
  end

  defp tree(leaf, float) do
    text = if is_float(leaf), do: float.(leaf), else: Codec.encode!(leaf)
    {:leaf, text, String.length(text)}
  end

  defp lines({:leaf, text, _width}, _indent), do: text
  defp lines({:map, [], _width}, _indent), do: "{}"
  defp lines({:list, [], _width}, _indent), do: "[]"

  defp lines({:map, members, width}, indent) do
    member = fn {key, part}, indent -> [key, ": ", lines(part, indent)] end
    around(members, width, indent, {"{", "}"}, member)
  end

  defp lines({:list, parts, width}, indent),
    do: around(parts, width, indent, {"[", "]"}, &lines/2)

  defp around(parts, width, indent, {open, close}, line) when width + indent <= @width,
    do: [open, parts |> Enum.map(&line.(&1, indent)) |> Enum.intersperse(", "), close]

  defp around(parts, _width, indent, {open, close}, line) do
    inner = "\n" <> String.duplicate(" ", indent + 2)
    parts = parts |> Enum.map(&line.(&1, indent + 2)) |> Enum.intersperse([",", inner])
    [open, inner, parts, "\n", String.duplicate(" ", indent), close]
  end
end

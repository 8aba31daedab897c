defmodule PtcRunner.Json.Explain.About do
  @moduledoc false
  # Describes an operation on one line: its name and its literal fields.

  alias PtcRunner.Json.Explain.Format
  alias PtcRunner.Shown
  alias PtcRunner.Shown.Line

  @line 60
  @value 24

  # In this order; the fields of the first group are names.
  @names ["name", "tool", "field", "path", "fields"]
  @values ["value", "index", "count", "order", "precision", "default"]

  @doc """
  The line.

      iex> PtcRunner.Json.Explain.About.text("eq", %{"op" => "eq", "field" => "customer", "value" => "Ada"})
      ~s(eq customer "Ada")

      iex> PtcRunner.Json.Explain.About.text("get", %{"op" => "get", "path" => ["owner", "city"]})
      "get owner.city"

      iex> PtcRunner.Json.Explain.About.text("object", %{"n" => %{"op" => "count"}})
      "object"

  """
  @spec text(String.t(), term()) :: String.t()
  def text(op, %{"op" => _name} = node) do
    parts =
      Enum.map(@names, &named(&1, node)) ++ Enum.map(@values, &value(Map.get(node, &1, :none)))

    Enum.join([op | Enum.reject(parts, &is_nil/1)], " ") |> Format.fit(@line)
  end

  def text(op, _implicit_object), do: op

  @doc """
  A name as text for a line: quoted unless it has only word characters and hyphens.

      iex> PtcRunner.Json.Explain.About.name("a\\e[31m")
      ~S("a\\e[31m")

  """
  @spec name(term()) :: String.t()
  def name(name) when is_binary(name) and byte_size(name) in 1..64 do
    if String.valid?(name) and name =~ ~r/\A[\w\-]+\z/u, do: name, else: line(name)
  end

  def name(name), do: line(name)

  # `inspect/1` does not escape separators of lines and marks of direction.
  defp line(name), do: name |> Shown.text(128) |> Line.escape()

  defp named("path", %{"path" => path}) when is_list(path), do: several(path, ".")
  defp named("fields", %{"fields" => fields}) when is_list(fields), do: several(fields, ", ")
  defp named(key, node) when key in ["name", "tool", "field"], do: quoted(Map.get(node, key))
  defp named(_key, _node), do: nil

  defp quoted(name) when is_binary(name), do: name |> name() |> Format.fit(@value)
  defp quoted(_other), do: nil

  defp several(names, between) do
    names |> first(8) |> Enum.map_join(between, &name/1) |> Format.fit(@value)
  end

  # A field that the operation does not know is not checked: its list may be improper.
  defp first([name | rest], count) when count > 0, do: [name | first(rest, count - 1)]
  defp first(_end, _count), do: []

  defp value(:none), do: nil
  defp value(%{"op" => _operation}), do: nil
  defp value(value) when is_map(value) and map_size(value) > 0, do: "{…}"
  defp value([_ | _]), do: "[…]"
  defp value(value), do: value |> Shown.text(100) |> Format.fit(@value)
end

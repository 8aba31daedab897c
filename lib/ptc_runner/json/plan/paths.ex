defmodule PtcRunner.Json.Plan.Paths do
  @moduledoc false
  # Parts of the data as texts.

  alias PtcRunner.Json.Plan

  # Maximum number of characters of a name that is shown.
  @most 60

  @doc """
  The texts of parts, sorted, each once.

      iex> PtcRunner.Json.Plan.Paths.texts([{:context, ["orders", :each, "id"], true}, {:answer, ["find", "to"], true}, {:context, ["rows"], false}])
      ["answer of find.to", "count(rows)", "orders.id"]
  """
  @spec texts([Plan.source()]) :: [String.t()]
  def texts([]), do: []
  def texts([source]), do: [text(source)]

  def texts(sources) do
    # What `select` leaves as it is, because it is no object, is not told beside the fields of objects.
    objects = for {_root, path, _whole?} = source <- sources, :other not in path, do: source
    sources = if objects == [], do: sources, else: objects
    sources |> Enum.map(&text/1) |> :lists.usort()
  end

  @doc """
  The text of a part.

      iex> for {step, whole?} <- [{"id", true}, {:keys, true}, {"id", false}], do: PtcRunner.Json.Plan.Paths.text({:answer, ["find", step], whole?})
      ["answer of find.id", "keys(answer of find)", "count(answer of find.id)"]
  """
  @spec text(Plan.source()) :: String.t()
  def text({:now, _path, _whole?}), do: "time of the run"
  def text({:unknown, _path, _whole?}), do: "unknown"

  def text({:error, [name | steps], _whole?}),
    do: IO.iodata_to_binary(["error of ", name(name) | steps(steps)])

  def text({:context, [name], true}), do: name(name)

  # Most parts are a field of a list's items.
  def text({:context, [name, :each, field], true}) when is_binary(field),
    do: name(name) <> "." <> name(field)

  def text({root, [name | steps] = path, whole?}) do
    text = [start(root), name(name) | steps(steps)]

    cond do
      List.last(steps) == :keys -> IO.iodata_to_binary(["keys(", text, ")"])
      whole? -> IO.iodata_to_binary(text)
      # The items of a list in a list are another number than those of the list.
      true -> IO.iodata_to_binary(["count(", text, brackets(path), ")"])
    end
  end

  defp start(:context), do: []
  defp start(:memory), do: "memory."
  defp start(:answer), do: "answer of "

  defp brackets(path) do
    path
    |> Enum.reject(&silent?/1)
    |> Enum.reverse()
    |> Enum.take_while(&(&1 in [:each, :value]))
    |> Enum.map(fn _ -> "[]" end)
  end

  # What says only which values a part has.
  defp silent?(step), do: step in [:object, :other, :single] or is_tuple(step)

  defp steps([]), do: []

  defp steps([step | steps]) when not is_binary(step), do: steps(steps)

  defp steps([name | steps]), do: [".", name(name) | steps(steps)]

  @doc """
  A name; in quotes where it could be taken for something else.

      iex> for name <- ["order_id", "e-mail", "a.b", "a\\nIt reads: nothing"], do: PtcRunner.Json.Plan.Paths.name(name)
      ["order_id", "e-mail", ~s("a.b"), ~S("a\\nIt reads: nothing")]
  """
  @spec name(String.t()) :: String.t()
  def name(name) do
    if plain?(name), do: name, else: inspect(String.slice(name, 0, @most), binaries: :as_strings)
  end

  defp plain?(name), do: byte_size(name) in 1..@most and plain_bytes?(name)

  defp plain_bytes?(<<byte, rest::binary>>)
       when byte in ?a..?z or byte in ?A..?Z or byte in ?0..?9 or byte in ~c"_-$",
       do: plain_bytes?(rest)

  defp plain_bytes?(rest), do: rest == ""
end

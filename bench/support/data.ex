defmodule Bench.Data do
  @moduledoc false
  # Generated orders: the same rows for the same number, on every machine, without randomness.

  @type row :: %{String.t() => term}

  @typedoc """
  Where the rows come from: `:built` by Elixir code (all maps of a list share their keys), `:decoded`
  from JSON text by this project's decoder, or `:received` from another process (copied, nothing shared);
  `:heavy` is the same in a process with 50 MB more on its heap.
  """
  @type origin :: :built | :decoded | :received | :heavy

  # As a list, on a 64-bit machine.
  @ballast div(50_000_000, 16)

  @categories for n <- 1..20, do: "category #{n}"
  @cities for n <- 1..50, do: "city #{n}"

  @doc "A function that makes the data for the measuring process, in that process."
  @spec maker(origin, pos_integer) :: (... -> %{rows: [row], context: %{String.t() => [row]}})
  def maker(origin, count) do
    fn ->
      rows = rows(origin, count)
      %{rows: rows, context: %{"rows" => rows}}
    end
  end

  @spec rows(origin, pos_integer) :: [row]
  def rows(:built, count) do
    categories = List.to_tuple(@categories)
    cities = List.to_tuple(@cities)
    for id <- 1..count, do: row(id, categories, cities)
  end

  def rows(:decoded, count) do
    text = IO.iodata_to_binary(to_json(rows(:built, count)))
    {:ok, rows} = PtcRunner.Json.Codec.decode(text, timeout: :infinity)
    rows
  end

  def rows(:received, count) do
    Task.async(fn -> rows(:built, count) end) |> Task.await(:infinity)
  end

  def rows(:heavy, count) do
    load_heap()
    rows(:received, count)
  end

  @doc "Puts 50 MB on the heap of the calling process, to stay there."
  @spec load_heap() :: :ok
  def load_heap do
    Process.put(:ballast, Enum.to_list(1..@ballast))
    :ok
  end

  defp row(id, categories, cities) do
    %{
      "id" => id,
      "active" => :erlang.phash2({id, :active}, 10) < 7,
      "amount" => :erlang.phash2({id, :amount}, 1000),
      "price" => :erlang.phash2({id, :price}, 1_000_000) / 100,
      "category" => elem(categories, :erlang.phash2({id, :category}, 20)),
      "name" => "Customer " <> Integer.to_string(id),
      "tags" => ["new", "retail"],
      "owner" => %{
        "name" => "Ada",
        "address" => %{"city" => elem(cities, :erlang.phash2({id, :city}, 50)), "zip" => "10115"}
      }
    }
  end

  # A minimal encoder for these rows: their strings have no characters that JSON escapes.
  defp to_json(list) when is_list(list), do: [?[, commas(Enum.map(list, &to_json/1)), ?]]
  defp to_json(text) when is_binary(text), do: [?", text, ?"]
  defp to_json(integer) when is_integer(integer), do: Integer.to_string(integer)
  defp to_json(float) when is_float(float), do: Float.to_string(float)
  defp to_json(atom) when is_atom(atom), do: Atom.to_string(atom)

  defp to_json(map) when is_map(map) do
    [?{, commas(for {key, value} <- map, do: [to_json(key), ?:, to_json(value)]), ?}]
  end

  defp commas(parts), do: Enum.intersperse(parts, ?,)
end

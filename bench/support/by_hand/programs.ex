defmodule Bench.ByHand do
  @moduledoc false
  # The same computations in plain Elixir. The bars compare with the functions without a suffix:
  # the steps of the program in its order, fields read as row["field"]. The `_tuned` ones
  # may match patterns (so they raise or skip rows where a field is missing) and may reorder the steps.

  @type rows :: [Bench.Data.row()]

  @spec filter_sum(rows) :: number
  def filter_sum(rows) do
    rows
    |> Enum.filter(&(&1["amount"] > 500))
    |> Enum.map(& &1["amount"])
    |> Enum.sum()
  end

  @doc "The one-pass comprehension: no list in between."
  @spec filter_sum_one_pass(rows) :: number
  def filter_sum_one_pass(rows) do
    for %{"amount" => amount} when amount > 500 <- rows, reduce: 0 do
      sum -> sum + amount
    end
  end

  @spec filter_text(rows) :: number
  def filter_text(rows) do
    rows
    |> Enum.filter(&(&1["category"] == "category 7"))
    |> Enum.map(& &1["amount"])
    |> Enum.sum()
  end

  @doc "The one-pass comprehension: no list in between."
  @spec filter_text_one_pass(rows) :: number
  def filter_text_one_pass(rows) do
    for %{"category" => "category 7", "amount" => amount} <- rows, reduce: 0 do
      sum -> sum + amount
    end
  end

  @spec filter_sort(rows) :: rows
  def filter_sort(rows) do
    rows
    |> Enum.filter(&(&1["active"] == true and &1["amount"] > 250))
    |> Enum.sort_by(& &1["price"], :desc)
    |> Enum.map(&Map.take(&1, ["id", "name", "price"]))
    |> Enum.take(10)
  end

  @doc "The same in the order in which people write it: what is dropped is dropped before it is made."
  @spec filter_sort_written(rows) :: rows
  def filter_sort_written(rows) do
    rows
    |> Enum.filter(&(&1["active"] == true and &1["amount"] > 250))
    |> Enum.sort_by(& &1["price"], :desc)
    |> Enum.take(10)
    |> Enum.map(&Map.take(&1, ["id", "name", "price"]))
  end

  @spec select_count(rows) :: non_neg_integer
  def select_count(rows), do: rows |> Enum.map(&Map.take(&1, ["id", "name", "price"])) |> length()

  @spec filter_sort_tuned(rows) :: rows
  def filter_sort_tuned(rows) do
    matching =
      for %{"active" => true, "amount" => amount} = row when amount > 250 <- rows, do: row

    matching
    |> Enum.sort_by(fn %{"price" => price} -> price end, :desc)
    |> Enum.take(10)
    |> Enum.map(&Map.take(&1, ["id", "name", "price"]))
  end

  @spec map_object(rows) :: rows
  def map_object(rows) do
    for row <- rows do
      %{"id" => row["id"], "label" => row["name"], "value" => row["amount"]}
    end
  end

  @spec map_object_tuned(rows) :: rows
  def map_object_tuned(rows) do
    for %{"id" => id, "name" => name, "amount" => amount} <- rows do
      %{"id" => id, "label" => name, "value" => amount}
    end
  end

  @spec get_distinct(rows) :: non_neg_integer
  def get_distinct(rows) do
    rows |> Enum.map(& &1["owner"]["address"]["city"]) |> Enum.uniq() |> length()
  end

  @spec get_distinct_tuned(rows) :: non_neg_integer
  def get_distinct_tuned(rows) do
    cities = for %{"owner" => %{"address" => %{"city" => city}}} <- rows, do: city
    cities |> Enum.uniq() |> length()
  end

  @spec five_steps(rows) :: rows
  def five_steps(rows) do
    rows
    |> Enum.filter(&(&1["amount"] > 500))
    |> Enum.sort_by(& &1["price"], :desc)
    |> Enum.map(&Map.take(&1, ["id", "name", "price"]))
    |> Enum.take(3)
  end

  @doc "The tool of the programs that call one."
  @spec double(map) :: integer
  def double(%{"n" => n}), do: n * 2

  @spec tool_map(rows) :: [integer]
  def tool_map(rows) do
    tool = &double/1
    for _ <- rows, do: tool.(%{"n" => 21})
  end

  @spec tool_map_isolated(rows) :: [integer]
  def tool_map_isolated(rows) do
    tool = &double/1
    for _ <- rows, do: isolated(tool, %{"n" => 21})
  end

  @doc "The least that keeps a crash of `tool` away from the caller: a bare `spawn_monitor` and one message."
  @spec isolated((map -> term), map) :: term
  def isolated(tool, args) do
    parent = self()
    tag = make_ref()
    {_pid, monitor} = spawn_monitor(fn -> send(parent, {tag, tool.(args)}) end)

    receive do
      {^tag, result} ->
        Process.demonitor(monitor, [:flush])
        result

      {:DOWN, ^monitor, _, _, reason} ->
        exit(reason)
    end
  end
end

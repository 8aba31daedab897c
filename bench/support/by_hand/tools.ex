defmodule Bench.ByHand.Tools do
  @moduledoc false
  # Tool calls by hand: a process for each, or one process for all.

  alias Bench.ByHand

  @type rows :: [map]

  @doc "Rows of 6 fields."
  @spec rows(pos_integer) :: rows
  def rows(count) do
    for id <- 1..count do
      %{
        "id" => id,
        "name" => "Customer #{id}",
        "amount" => rem(id * 7_919, 1_000),
        "price" => id / 7,
        "active" => rem(id, 3) == 0,
        "n" => 21
      }
    end
  end

  @doc "As many bare `spawn_monitor`s as there are rows."
  @spec each_isolated(rows) :: [integer]
  def each_isolated(rows) do
    tool = &ByHand.double/1
    for _ <- rows, do: ByHand.isolated(tool, %{"n" => 21})
  end

  @doc "The same with an argument from each row."
  @spec each_isolated_with_row(rows) :: [integer]
  def each_isolated_with_row(rows) do
    tool = &ByHand.double/1
    for %{"n" => n} <- rows, do: ByHand.isolated(tool, %{"n" => n})
  end

  @doc "One process that gets the rows, maps the tool over them and sends the list back."
  @spec one_process(rows) :: [integer]
  def one_process(rows) do
    tool = &ByHand.double/1
    ByHand.isolated(fn rows -> for(_ <- rows, do: tool.(%{"n" => 21})) end, rows)
  end

  @doc "The same with an object of the row and the answer."
  @spec one_process_of_objects(rows) :: [map]
  def one_process_of_objects(rows) do
    tool = &ByHand.double/1

    object = fn row ->
      %{"id" => row["id"], "amount" => row["amount"], "n" => tool.(%{"n" => 21})}
    end

    ByHand.isolated(fn rows -> Enum.map(rows, object) end, rows)
  end

  @doc "As many bare `spawn_monitor`s, and an object of each row and its answer."
  @spec each_isolated_of_objects(rows) :: [map]
  def each_isolated_of_objects(rows) do
    tool = &ByHand.double/1

    for row <- rows do
      n = ByHand.isolated(tool, %{"n" => 21})
      %{"id" => row["id"], "amount" => row["amount"], "n" => n}
    end
  end

  @doc "A process that calls the tool and sends back how many rows it answered."
  @spec count_rows((map -> rows)) :: non_neg_integer
  def count_rows(tool), do: ByHand.isolated(&length(tool.(&1)), %{})
end

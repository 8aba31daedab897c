defmodule Bench.ByHand.Lisp do
  @moduledoc false
  # What the programs of the section `lisp` do, in plain Elixir.

  @spec filter([map]) :: [map]
  def filter(rows), do: Enum.filter(rows, fn row -> row["amount"] > 500 end)

  @spec map([map]) :: [number]
  def map(rows), do: Enum.map(rows, fn row -> row["amount"] * 2 end)

  @spec reduce([map]) :: number
  def reduce(rows), do: Enum.reduce(rows, 0, fn row, sum -> sum + row["amount"] end)

  @spec column([map]) :: [number]
  def column(rows), do: Enum.map(rows, & &1["amount"])

  @spec total([map]) :: number
  def total(rows), do: Enum.sum(Enum.map(rows, & &1["amount"]))

  @spec groups([map]) :: %{String.t() => [map]}
  def groups(rows), do: Enum.group_by(rows, & &1["category"])

  @spec sorted([map]) :: [map]
  def sorted(rows), do: Enum.sort_by(rows, & &1["price"])

  @spec fib(non_neg_integer) :: non_neg_integer
  def fib(n) when n < 2, do: n
  def fib(n), do: fib(n - 1) + fib(n - 2)

  @spec count(non_neg_integer, non_neg_integer) :: non_neg_integer
  def count(i, sum) when i == 1_000_000, do: sum
  def count(i, sum), do: count(i + 1, sum + i)

  @spec sum_range(non_neg_integer) :: non_neg_integer
  def sum_range(n), do: Enum.reduce(0..(n - 1)//1, 0, fn i, s -> s + i end)

  @doc "Filters, counts and sums the rows of pages of CSV text."
  @spec pages([String.t()]) :: {non_neg_integer, number}
  def pages(pages) do
    Enum.reduce(pages, {0, 0}, fn page, all ->
      page
      |> String.split("\n", trim: true)
      |> Enum.reduce(all, fn line, {count, sum} ->
        amount = line |> String.split(",") |> Enum.at(3) |> String.to_integer()
        if amount > 500, do: {count + 1, sum + amount}, else: {count, sum}
      end)
    end)
  end
end

defmodule Demo.Race do
  @moduledoc false
  # Times a program beside the same computation in plain Elixir.

  @warm_up 30
  @rounds 301

  @doc """
  Runs both in turns, prints the median time of each, and returns them as a row for the
  closing table. Raises if the two do not give the same answer.
  """
  @spec run(String.t(), (... -> term), (... -> term)) :: %{String.t() => term}
  def run(name, native, plain) do
    check_same!(name, native.(), plain.())
    for _ <- 1..@warm_up, do: {native.(), plain.()}
    {native_us, plain_us} = Enum.unzip(for _ <- 1..@rounds, do: {time(native), time(plain)})
    {native_us, plain_us} = {median(native_us), median(plain_us)}

    IO.puts("  native #{round(native_us)} µs, plain Elixir #{round(plain_us)} µs")

    %{
      "program" => name,
      "native, µs" => round(native_us),
      "plain Elixir, µs" => round(plain_us),
      "native / plain" => native_us / plain_us
    }
  end

  @doc "The median time of one function, in microseconds."
  @spec median_time((... -> term)) :: float
  def median_time(fun), do: median(for _ <- 1..@rounds, do: time(fun))

  defp check_same!(name, native, plain) do
    if native !== plain do
      raise "#{name}: the program gives\n#{inspect(native)}\nplain Elixir\n#{inspect(plain)}"
    end
  end

  defp time(fun) do
    began_at = System.monotonic_time(:nanosecond)
    fun.()
    (System.monotonic_time(:nanosecond) - began_at) / 1000
  end

  defp median(times), do: times |> Enum.sort() |> Enum.at(div(@rounds, 2))
end

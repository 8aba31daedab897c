defmodule PtcRunner.Test.LispCalling do
  @moduledoc """
  Random programs of PTC-Lisp that call tools in every place where a program may: in functions, loops and callbacks, in arguments, with and
  without `try`; they print and define too. Their tools are those of `PtcRunner.Test.Calling`.
  """

  @doc """
  Program number `n` of a seed; a text.

      iex> text = PtcRunner.Test.LispCalling.program(1, 1)
      iex> text == PtcRunner.Test.LispCalling.program(1, 1) and is_binary(text)
      true

  """
  @spec program(integer(), integer()) :: String.t()
  def program(seed, n) do
    :rand.seed(:exsss, {seed, n, 11})

    "(defn f [x] (tool/a {:of x}))\n(def k 0)\n(def v nil)\n" <>
      Enum.map_join(1..:rand.uniform(3), "\n", fn _ -> tree(3) end)
  end

  @doc "The memory of all programs: a function that calls a tool, and a value."
  @spec memory() :: map()
  def memory do
    {:ok, step} =
      PtcRunner.Lisp.run("(def seen 3) (defn g [x] (if x (tool/c {:g x :seen seen}) seen))",
        tools: %{"c" => & &1}
      )

    step.memory
  end

  defp tree(0), do: pick([&leaf/0, fn -> call(0) end])

  defp tree(depth) do
    inner = fn -> tree(depth - 1) end

    pick([
      &leaf/0,
      fn -> call(depth - 1) end,
      fn -> call(depth - 1) end,
      fn -> "(f #{inner.()})" end,
      fn -> "(g #{inner.()})" end,
      fn -> "(try #{call(depth - 1)} (catch e (println (ex-message e)) #{inner.()}))" end,
      fn -> "(mapv (fn [x] #{inner.()}) [1 2 k])" end,
      fn -> "(for [x [1 2 3] :when (not= x 2)] #{inner.()})" end,
      fn -> "(reduce (fn [v x] #{inner.()}) k [1 2])" end,
      fn -> "(loop [x 0] (if (< x 2) (do #{inner.()} (recur (inc x))) x))" end,
      fn -> "(do (def k (str #{inner.()})) k)" end,
      fn -> "(do (println \"p\" #{inner.()}) 7)" end,
      fn -> "(let [x #{inner.()}] [x #{inner.()}])" end,
      fn -> "(if #{inner.()} #{inner.()} #{inner.()})" end,
      fn -> "(sort-by (fn [x] (str (tool/b {:x x}))) [3 1 2])" end,
      fn -> "{:a #{inner.()} \"b\" #{inner.()}}" end,
      fn -> "(pmap (fn [x] (try (tool/b {:x x}) (catch e x))) [1 2])" end
    ])
  end

  defp call(depth) do
    name = Enum.random(["a", "b", "c"])

    pick([
      fn -> "(tool/#{name})" end,
      fn -> "(tool/#{name} {:n #{leaf()}})" end,
      fn -> "(tool/#{name} {:n-1 #{tree(depth)} \"m\" #{leaf()}})" end,
      fn -> "(first (map tool/#{name} [{:q #{leaf()}}]))" end
    ])
  end

  defp leaf do
    pick([
      fn -> Integer.to_string(:rand.uniform(9)) end,
      fn -> "\"t\"" end,
      fn -> "nil" end,
      fn -> "k" end,
      fn -> "seen" end,
      fn -> "(:id (first data/rows))" end,
      fn -> "(count data/rows)" end,
      fn -> ":key" end,
      fn -> "\#{1 2}" end,
      fn -> "(System/currentTimeMillis)" end
    ])
  end

  defp pick(makers), do: Enum.random(makers).()
end

defmodule PtcRunner.Test.Calling do
  @moduledoc """
  Random programs that call tools in every place where a program may: nested, in loops, in arguments, in conditions, with
  and without `on_error`. Their tools answer by their arguments alone.
  """

  @rows [%{"id" => 1, "n" => 2.5}, %{"id" => 2, "n" => nil}, %{"id" => 3, "n" => "x"}]

  @doc "Program number `n` of a seed; a map."
  @spec program(integer(), integer()) :: map()
  def program(seed, n) do
    :rand.seed(:exsss, {seed, n, 7})
    %{"program" => tree(4)}
  end

  @doc "The context of all programs."
  @spec context() :: map()
  def context, do: %{"rows" => @rows}

  @doc """
  The tools. What they answer depends on the name and the arguments: values of all kinds, errors, and what they raise.

      iex> tools = PtcRunner.Test.Calling.tools(fn _name, _args -> :ok end)
      iex> Map.keys(tools)
      ["a", "b", "c"]

  """
  @spec tools((String.t(), term() -> term())) :: %{String.t() => (term() -> term())}
  def tools(called) do
    for name <- ["a", "b", "c"], into: %{} do
      {name,
       fn args ->
         called.(name, args)
         answer(:erlang.phash2({name, args}, 24), args)
       end}
    end
  end

  defp answer(0, _args), do: {:error, :nothing}
  defp answer(1, _args), do: raise("no")
  defp answer(2, _args), do: throw(:no)
  defp answer(3, _args), do: {:tagged, ~D[2024-02-29], <<255>>, :done}
  defp answer(4, _args), do: nil
  defp answer(5, _args), do: 1.0e20
  defp answer(6, _args), do: -0.0
  defp answer(7, _args), do: 2 ** 100
  defp answer(8, _args), do: [1, %{"id" => 4}, "é"]
  defp answer(9, args), do: %{"id" => 9, "of" => args}
  defp answer(number, _args) when number < 16, do: number
  defp answer(number, _args), do: %{"id" => number, "n" => number / 2}

  defp tree(0), do: pick([&leaf/0, fn -> call(0) end])

  defp tree(depth) do
    pick([
      &leaf/0,
      fn -> call(depth - 1) end,
      fn -> call(depth - 1) end,
      fn -> loop(depth - 1) end,
      fn -> loop(depth - 1) end,
      fn -> %{"k" => tree(depth - 1), "l" => tree(depth - 1)} end,
      fn ->
        %{"op" => "let", "name" => "v", "value" => tree(depth - 1), "in" => tree(depth - 1)}
      end,
      fn ->
        %{
          "op" => "if",
          "condition" => tree(depth - 1),
          "then" => tree(depth - 1),
          "else" => tree(depth - 1)
        }
      end,
      fn ->
        %{"op" => pick(["and", "or"]), "conditions" => [tree(depth - 1), tree(depth - 1)]}
      end,
      fn -> %{"op" => "pipe", "steps" => [tree(depth - 1), tree(depth - 1)]} end
    ])
  end

  defp loop(depth) do
    pick([
      fn -> %{"op" => "map", "expr" => tree(depth)} end,
      fn -> %{"op" => pick(["filter", "reject"]), "where" => tree(depth)} end
    ])
    |> then(&%{"op" => "pipe", "steps" => [rows(), &1]})
  end

  defp rows do
    pick([
      %{"op" => "load", "name" => "rows"},
      %{"op" => "literal", "value" => Enum.to_list(1..:rand.uniform(6))},
      %{"op" => "literal", "value" => [1, 1, 2, 1]}
    ])
  end

  defp call(depth) do
    call = %{"op" => "call", "tool" => pick(["a", "b", "c"]), "args" => args(depth)}
    if :rand.uniform(10) < 8, do: Map.put(call, "on_error", pick([nil, 0, args(0)])), else: call
  end

  defp args(depth) do
    pick([
      fn -> %{} end,
      fn -> %{"x" => :rand.uniform(4)} end,
      fn -> %{"x" => %{"op" => "it"}} end,
      fn -> %{"x" => tree(depth)} end,
      fn -> %{"x" => [tree(depth), tree(depth)]} end,
      fn -> %{"x" => %{"op" => "var", "name" => "v"}} end
    ])
  end

  defp leaf do
    pick([
      %{"op" => "literal", "value" => 1},
      %{"op" => "literal", "value" => nil},
      %{"op" => "load", "name" => "rows"},
      %{"op" => "var", "name" => "v"}
    ])
  end

  defp pick(list) do
    case Enum.random(list) do
      fun when is_function(fun, 0) -> fun.()
      other -> other
    end
  end
end

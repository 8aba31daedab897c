defmodule PtcRunner.Test.Changed do
  @moduledoc """
  Programs that are changed as an injection would change them: one call more, another tool, another constant.
  """

  alias PtcRunner.Schema.Table

  @doc """
  The changes of a program that calls tools, each with its name; `seed` chooses the call.

      iex> program = %{"program" => %{"op" => "call", "tool" => "pay", "args" => %{"to" => "Ada"}}}
      iex> for {kind, changed} <- PtcRunner.Test.Changed.all(program, 1), do: {kind, changed != program}
      [one_more: true, tool: true, constant: true]

  """
  @spec all(map(), integer()) :: [{:one_more | :tool | :constant, map()}]
  def all(%{"program" => node} = program, seed) do
    case calls(node, [], :expr) do
      [] ->
        []

      calls ->
        {path, call} = Enum.at(calls, :erlang.phash2(seed, length(calls)))
        args = call["args"] || %{}
        name = args |> Map.keys() |> Enum.sort() |> List.first() || "extra"
        one_more = %{"op" => "let", "name" => "one_more", "value" => plain(call), "in" => node}

        [
          one_more: %{program | "program" => one_more},
          tool: put(program, path, Map.put(call, "tool", "other")),
          constant:
            put(program, path, Map.put(call, "args", Map.put(args, name, "9,999 to Mallory")))
        ]
    end
  end

  # What its arguments are made of may be bound only where it stands.
  defp plain(call), do: %{"op" => "call", "tool" => call["tool"], "args" => %{}}

  defp put(program, path, call), do: put_in(program, ["program" | path], call)

  defp calls(%{"op" => "literal"}, _path, _how), do: []

  defp calls(%{"op" => "call", "tool" => tool} = call, path, _how) when is_binary(tool),
    do: [{path, call} | inside(call, path)]

  defp calls(part, path, _how), do: inside(part, path)

  # What stands in a field that its operation does not have is no part of the program.
  defp inside(map, path) when is_map(map) and not is_struct(map) do
    parts = if is_binary(map["op"]), do: Map.take(map, fields(map["op"])), else: map
    Enum.flat_map(parts, fn {key, part} -> calls(part, path ++ [key], :any) end)
  end

  defp inside(list, path) when is_list(list) do
    parts = if List.improper?(list), do: [], else: Enum.with_index(list)
    Enum.flat_map(parts, fn {part, at} -> calls(part, path ++ [Access.at(at)], :any) end)
  end

  defp inside(_leaf, _path), do: []

  defp fields(op), do: Table.field_names(op, 2)
end

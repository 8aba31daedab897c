defmodule PtcRunner.Agent.Literals do
  @moduledoc false
  # JSON's null, true and false are no texts. `PtcRunner.SubAgent.Signature.Coercion` reads atoms as their names, because
  # data of Elixir have keywords; of JSON it would make "nil" of null. An agent does not take these values.

  alias PtcRunner.SubAgent.Signature.Base
  alias PtcRunner.SubAgent.Loop.JsonHandler.Atomizer

  @doc """
  The places that have null, true or false where the type demands a text.

      iex> PtcRunner.Agent.Literals.errors(%{"to" => nil, "n" => nil}, {:map, [{"to", :string}, {"n", {:optional, :string}}]})
      [%{path: ["to"], message: "expected string, got keyword"}]

  """
  @spec errors(term(), term()) :: [%{path: [String.t() | non_neg_integer()], message: String.t()}]
  def errors(value, type), do: value |> errors(type, []) |> Enum.reverse()

  defp errors(nil, {:optional, _type}, _path), do: []
  defp errors(value, {:optional, type}, path), do: errors(value, type, path)

  defp errors(value, {kind, _, _} = type, path) when kind in [:where, :struct, :defs],
    do: errors(value, Base.bare(type), path)

  defp errors(nil, :string, path), do: [error(path, "keyword")]
  defp errors(value, :string, path) when is_boolean(value), do: [error(path, "bool")]

  defp errors([_ | _] = list, {:list, type}, path), do: items(list, type, path, 0, [])

  defp errors(map, {kind, fields}, path) when kind in [:map, :closed_map] and is_map(map) do
    Enum.reduce(fields, [], fn {name, type}, found ->
      case field(map, name) do
        {:ok, value} -> errors(value, type, [name | path]) ++ found
        :error -> found
      end
    end)
  end

  defp errors(_value, _type, _path), do: []

  defp items([item | rest], type, path, index, found),
    do: items(rest, type, path, index + 1, errors(item, type, [index | path]) ++ found)

  defp items(_end, _type, _path, _index, found), do: found

  # As the coercion finds it: the atom key first.
  defp field(map, name) do
    with :error <- Map.fetch(map, Atomizer.safe_to_atom(name)), do: Map.fetch(map, name)
  end

  @doc """
  The places where a coercion has made a text of null, true or false, by the values before and after it. It finds those in
  unions, named types and maps with any keys, too.

      iex> PtcRunner.Agent.Literals.made(%{"id" => true, "n" => [nil]}, %{"id" => "true", "n" => [nil]})
      [%{path: ["id"], message: "expected string, got bool"}]

  """
  @spec made(term(), term()) :: [%{path: [String.t() | non_neg_integer()], message: String.t()}]
  def made(before, coerced), do: before |> made(coerced, [], []) |> Enum.reverse()

  defp made(nil, text, path, found) when is_binary(text), do: [error(path, "keyword") | found]

  defp made(value, text, path, found) when is_boolean(value) and is_binary(text),
    do: [error(path, "bool") | found]

  defp made([_ | _] = list, [_ | _] = coerced, path, found),
    do: made(list, coerced, path, 0, found)

  defp made(map, coerced, path, found) when is_map(map) and is_map(coerced) do
    Enum.reduce(Map.to_list(map), found, fn {key, value}, found ->
      case coerced do
        %{^key => text} -> made(value, text, [key | path], found)
        %{} -> found
      end
    end)
  end

  defp made(_value, _coerced, _path, found), do: found

  defp made([value | rest], [text | texts], path, index, found),
    do: made(rest, texts, path, index + 1, made(value, text, [index | path], found))

  defp made(_end, _texts, _path, _index, found), do: found

  @doc """
  The errors of both kinds, those of the type first. Arguments that a coercion has not changed have no such place.

      iex> type = {:map, [{"to", :string}]}
      iex> PtcRunner.Agent.Literals.of_coercion(%{"to" => nil}, %{"to" => "nil"}, type)
      [%{path: ["to"], message: "expected string, got keyword"}]
      iex> PtcRunner.Agent.Literals.of_coercion(%{"to" => "a"}, %{"to" => "a"}, type)
      []

  """
  @spec of_coercion(term(), term(), term()) ::
          [%{path: [String.t() | non_neg_integer()], message: String.t()}]
  def of_coercion(same, same, _type), do: []

  def of_coercion(before, coerced, type),
    do: with([] <- errors(before, type), do: made(before, coerced))

  defp error(path, kind),
    do: %{path: Enum.reverse(path), message: "expected string, got #{kind}"}
end

defmodule PtcRunner.SubAgent.Signature.Schema.Names do
  @moduledoc false
  # The names of types in one schema: names of different scopes become different.

  alias PtcRunner.SubAgent.Signature.Schema.{Found, Provider}

  @simple ~r/\A[A-Za-z0-9_.-]+\z/

  @doc """
  The names of a scope in the schema, and whether they are new: the same scope may stand in several places.
  """
  @spec define(Found.t(), map(), map(), Provider.t()) :: {map(), boolean(), Found.t()}
  def define(found, names, around, provider) do
    case Enum.find(found.scopes, fn {same, outer, _unique} ->
           same == names and outer == around
         end) do
      {_names, _around, unique} -> {unique, false, found}
      nil -> fresh(found, names, around, provider)
    end
  end

  defp fresh(found, names, around, provider) do
    {unique, taken} =
      names
      |> Map.keys()
      |> Enum.sort()
      |> Enum.map_reduce(found.taken, fn name, taken ->
        unique = name |> allowed(provider) |> free(taken, 1)
        {{name, unique}, MapSet.put(taken, unique)}
      end)

    unique = Map.new(unique)
    {unique, true, %{found | taken: taken, scopes: [{names, around, unique} | found.scopes]}}
  end

  defp allowed(name, %{name: :plain}), do: name
  defp allowed(name, _provider), do: if(name =~ @simple, do: name, else: "type")

  defp free(name, taken, count) do
    tried = if count == 1, do: name, else: "#{name}_#{count}"
    if tried in taken, do: free(name, taken, count + 1), else: tried
  end

  @doc """
  Where a schema finds the type of a name: a JSON Pointer in a URI.

      iex> PtcRunner.SubAgent.Signature.Schema.Names.pointer("a/b c")
      "#/$defs/a~1b%20c"

  """
  @spec pointer(String.t()) :: String.t()
  def pointer(name) do
    escaped = name |> String.replace("~", "~0") |> String.replace("/", "~1")
    "#/$defs/" <> URI.encode(escaped, &URI.char_unreserved?/1)
  end
end

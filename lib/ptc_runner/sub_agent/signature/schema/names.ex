defmodule PtcRunner.SubAgent.Signature.Schema.Names do
  @moduledoc false
  # The names of types in one schema: names of different scopes become different.

  alias PtcRunner.SubAgent.Signature.Schema.{Found, Provider}

  @simple ~r/\A[A-Za-z0-9_.-]+\z/

  @doc """
  The number of a scope, its names in the schema, and whether they are new: the same scope may stand in several places.
  `around` is the number of the scope around it.
  """
  @spec define(Found.t(), map(), non_neg_integer(), Provider.t()) ::
          {non_neg_integer(), map(), boolean(), Found.t()}
  def define(found, names, around, provider) do
    case found.scopes do
      %{{^names, ^around} => {number, unique}} -> {number, unique, false, found}
      _new -> fresh(found, names, around, provider)
    end
  end

  defp fresh(found, names, around, provider) do
    {unique, taken} =
      names
      |> Map.keys()
      |> Enum.sort()
      |> Enum.map_reduce(found.taken, fn name, taken ->
        {unique, taken} = name |> allowed(provider) |> free(taken)
        {{name, unique}, taken}
      end)

    {number, unique} = {map_size(found.scopes) + 1, Map.new(unique)}
    scopes = Map.put(found.scopes, {names, around}, {number, unique})
    {number, unique, true, %{found | taken: taken, scopes: scopes}}
  end

  defp allowed(name, %{name: :plain}), do: name
  defp allowed(name, _provider), do: if(name =~ @simple, do: name, else: "type")

  # `taken` has how often each name was asked for.
  defp free(name, taken) do
    case taken do
      %{^name => count} ->
        tried = "#{name}_#{count + 1}"
        taken = Map.put(taken, name, count + 1)

        if is_map_key(taken, tried),
          do: free(name, taken),
          else: {tried, Map.put(taken, tried, 1)}

      %{} ->
        {name, Map.put(taken, name, 1)}
    end
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

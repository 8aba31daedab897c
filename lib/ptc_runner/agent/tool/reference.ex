defmodule PtcRunner.Agent.Tool.Reference do
  @moduledoc false
  # References in an OpenAPI document.

  alias PtcRunner.Shown

  # References that lead from one to the next.
  @hops 20

  @doc """
  What a reference in the place of an object points to; another object is itself.

      iex> document = %{"a" => %{"$ref" => "#/b"}, "b" => %{"n" => 1}}
      iex> PtcRunner.Agent.Tool.Reference.target(%{"$ref" => "#/a"}, document)
      {:ok, %{"n" => 1}}
      iex> PtcRunner.Agent.Tool.Reference.target(%{"$ref" => "#/c"}, document)
      {:error, ~S($ref "#/c" points to nothing in the document)}

  """
  @spec target(term(), map()) :: {:ok, term()} | {:error, String.t()}
  def target(object, document), do: target(object, document, @hops)

  defp target(%{"$ref" => ref}, _document, 0),
    do: {:error, "$ref #{Shown.text(ref, 200)} has no end"}

  defp target(%{"$ref" => ref}, document, hops) do
    with "#/" <> pointer <- ref,
         {:ok, found} <- found(document, String.split(pointer, "/")) do
      target(found, document, hops - 1)
    else
      _no -> {:error, "$ref #{Shown.text(ref, 200)} points to nothing in the document"}
    end
  end

  defp target(other, _document, _hops), do: {:ok, other}

  defp found(found, []), do: {:ok, found}

  defp found(map, [token | tokens]) when is_map(map) do
    token = token |> decoded() |> String.replace("~1", "/") |> String.replace("~0", "~")
    with {:ok, inside} <- Map.fetch(map, token), do: found(inside, tokens)
  end

  defp found(_other, _tokens), do: :error

  # A per cent sign without two digits stands for itself.
  defp decoded(token) do
    URI.decode(token)
  rescue
    ArgumentError -> token
  end
end

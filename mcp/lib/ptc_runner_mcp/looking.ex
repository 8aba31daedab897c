defmodule PtcRunnerMcp.Looking do
  @moduledoc """
  The tools `search_tools` and `describe_tools`.
  """

  alias PtcRunnerMcp.{Catalogue, Methods, Result}

  @doc """
  Finds tools.

      iex> server = PtcRunnerMcp.new(tools: %{"rate" => fn _ -> 1.5 end})
      iex> {:ok, result} = PtcRunnerMcp.Looking.search(%{server: server, args: %{"query" => "rate"}})
      iex> result["structuredContent"]
      %{"value" => [%{"name" => "rate", "description" => nil}]}

  """
  @spec search(Methods.call()) :: {:ok, map()}
  def search(%{args: args} = call) do
    limit = args["limit"] || 10

    cond do
      not is_binary(args["query"]) -> wrong("query must be a text")
      not is_integer(limit) -> wrong("limit must be an integer from 1 to 10")
      true -> told(call, &Catalogue.search(&1, args["query"], limit))
    end
  end

  @doc """
  Tells what tools take and give.

      iex> {:ok, result} = PtcRunnerMcp.Looking.describe(%{server: PtcRunnerMcp.new([]), args: %{"names" => "rate"}})
      iex> hd(result["content"])["text"]
      "names must be a list of texts"

  """
  @spec describe(Methods.call()) :: {:ok, map()}
  def describe(%{args: %{"names" => names}} = call) when is_list(names) do
    if Enum.all?(names, &is_binary/1),
      do: told(call, &Catalogue.describe(&1, names)),
      else: describe(%{call | args: %{}})
  end

  def describe(_call), do: wrong("names must be a list of texts")

  defp told(%{server: server}, ask) do
    catalogue = server.catalogue.()

    case ask.(catalogue) do
      {:ok, value} -> {:ok, Result.value(value, notes(catalogue), server.most_text)}
      {:error, text} -> wrong(text)
    end
  end

  defp notes(%{notes: []}), do: %{}
  defp notes(%{notes: notes}), do: %{"notes" => notes}

  defp wrong(text), do: {:ok, Result.error(text)}
end

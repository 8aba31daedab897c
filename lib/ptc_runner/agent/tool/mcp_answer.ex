defmodule PtcRunner.Agent.Tool.McpAnswer do
  @moduledoc false
  # The result of the MCP request `tools/call`, as the answer of a tool.

  alias PtcRunner.Json.Codec
  alias PtcRunner.Shown

  @doc """
  The answer of a result. If the tool has an output schema, a text without structured content is read as JSON of any kind.

      iex> PtcRunner.Agent.Tool.McpAnswer.value(%{"content" => [%{"type" => "text", "text" => "12"}]}, false)
      {:ok, "12"}

      iex> PtcRunner.Agent.Tool.McpAnswer.value(%{isError: true, content: [%{type: "text", text: "no such issue"}]}, false)
      {:error, "no such issue"}

  """
  @spec value(term(), boolean()) :: {:ok, term()} | {:error, term()}
  def value({:ok, result}, typed?), do: value(result, typed?)
  def value({:error, reason}, _typed?), do: {:error, reason}
  def value(:error, _typed?), do: {:error, "the call answered :error"}

  def value(result, typed?) when is_map(result) do
    content = get(result, :content)
    structured = get(result, :structuredContent)
    error = get(result, :error)
    inner = get(result, :result)

    cond do
      get(result, :isError) == true -> {:error, error_text(content)}
      structured != nil -> {:ok, structured}
      is_list(content) and not List.improper?(content) -> {:ok, data(content, typed?)}
      is_map(error) -> {:error, get(error, :message) || error}
      is_map(inner) -> value(inner, typed?)
      true -> no_result(result)
    end
  end

  def value(other, _typed?), do: no_result(other)

  defp no_result(other),
    do:
      {:error,
       "the call must answer with the result of tools/call, got: #{Shown.text(other, 200)}"}

  # Keys may be atoms, as Elixir code writes them.
  defp get(map, key) do
    case map do
      %{^key => value} -> value
      %{} -> Map.get(map, Atom.to_string(key))
    end
  end

  defp error_text(content) when is_list(content) do
    texts =
      if List.improper?(content), do: [], else: for(item <- content, text = text(item), do: text)

    if texts == [],
      do: "the tool answered with an error without a text",
      else: Enum.join(texts, "\n")
  end

  defp error_text(_content), do: error_text([])

  defp data([], _typed?), do: nil
  defp data([item], typed?), do: item(item, typed?)
  defp data(items, typed?), do: Enum.map(items, &item(&1, typed?))

  defp item(item, typed?) do
    case text(item) do
      nil -> item
      text -> read(text, typed?)
    end
  end

  defp text(%{} = item) do
    with "text" <- get(item, :type), text when is_binary(text) <- get(item, :text) do
      text
    else
      _other -> nil
    end
  end

  defp text(_item), do: nil

  # A number alone stays the text that it is, unless the tool has a type.
  defp read(text, typed?) do
    if typed? or String.starts_with?(String.trim_leading(text), ["{", "["]) do
      case Codec.decode(text) do
        {:ok, value} -> value
        {:error, _error} -> text
      end
    else
      text
    end
  end
end

defmodule PtcRunner.SubAgent.Loop.JsonHandler.Detail do
  @moduledoc false
  # Where an answer is wrong, a line an error: `- results[0].id: expected int, got string "abc"`.

  alias PtcRunner.SubAgent.JsonParser
  alias PtcRunner.SubAgent.Loop.JsonHandler.Place

  # An LLM that made more mistakes than this made one mistake many times.
  @most 20
  # Longer values are cut off.
  @longest 60

  @doc false
  def lines(nil, response, _agent) when is_binary(response) do
    case JsonParser.locate(response) do
      {:error, {_reason, place}} when place != nil -> ["- " <> Place.describe(response, place)]
      _other -> []
    end
  end

  def lines(errors, response, agent) when is_list(errors) and is_binary(response) do
    value = value(response, agent)
    {shown, more} = Enum.split(errors, @most)
    lines = Enum.map(shown, &line(&1, value))
    if more == [], do: lines, else: lines ++ ["- and #{length(more)} more"]
  end

  def lines(_errors, _response, _agent), do: []

  # The value that was validated.
  defp value(response, agent) do
    case {JsonParser.parse(response), agent} do
      {{:ok, %{"items" => items}}, %{parsed_signature: {:signature, _, {:list, _}}}} ->
        {:ok, items}

      {parsed, _agent} ->
        parsed
    end
  end

  defp line(%{path: path, message: message}, value),
    do: "- #{path(path)}: #{message}#{found(message, value, path)}"

  # Error messages say what kind of value was found; a short value says it better.
  defp found(message, {:ok, value}, path) do
    if String.contains?(message, ", got ") do
      case at(value, path) do
        {:ok, value} when is_binary(value) or is_number(value) -> " " <> short(value)
        {:ok, value} when is_boolean(value) -> " #{value}"
        {:ok, nil} -> " null"
        _other -> ""
      end
    else
      ""
    end
  end

  defp found(_message, _error, _path), do: ""

  defp short(value) do
    text = inspect(value, printable_limit: @longest)
    if String.length(text) > 2 * @longest, do: String.slice(text, 0, @longest) <> "...", else: text
  end

  defp at(value, []), do: {:ok, value}

  defp at(map, [name | path]) when is_map(map) and is_binary(name) do
    with {:ok, value} <- fetch(map, name), do: at(value, path)
  end

  defp at(list, [index | path]) when is_list(list) and is_integer(index) do
    with {:ok, value} <- Enum.fetch(list, index), do: at(value, path)
  end

  defp at(_value, _path), do: :error

  # As validation looks a field up: with underscores, as it is, with hyphens.
  defp fetch(map, name) do
    low = String.replace(name, "-", "_")
    names = [low, name, String.replace(low, "_", "-")]
    Enum.find_value(names, :error, fn name -> with :error <- Map.fetch(map, name), do: nil end)
  end

  @doc false
  # `results[0].customer.id`
  def path([]), do: "root"

  def path(path) do
    path
    |> Enum.map(fn
      index when is_integer(index) -> ["[", Integer.to_string(index), "]"]
      name -> [".", to_string(name)]
    end)
    |> IO.iodata_to_binary()
    |> String.trim_leading(".")
  end
end

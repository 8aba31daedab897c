defmodule PtcRunner.Agent.Tool.OpenApiRequest do
  @moduledoc false
  # The request of an operation with its arguments: the path is filled and escaped, query and headers are texts.

  alias PtcRunner.Json.{Codec, Values}
  alias PtcRunner.Shown

  @typedoc "A parameter, or the body, with the name of its argument."
  @type argument :: %{
          :argument => String.t(),
          :in => String.t(),
          :required? => boolean(),
          :schema => term(),
          :description => term(),
          optional(atom()) => term()
        }

  @type t :: %{
          operation: String.t(),
          method: String.t(),
          path: String.t(),
          query: [{String.t(), String.t()}],
          headers: [{String.t(), String.t()}],
          body: term()
        }

  @doc """
  The names in a path.

      iex> PtcRunner.Agent.Tool.OpenApiRequest.names("/pets/{id}/photos/{photo}")
      ["id", "photo"]

  """
  @spec names(String.t()) :: [String.t()]
  def names(path), do: for({:name, name} <- parts(path), do: name)

  # Texts and names by turns.
  defp parts(path) do
    ~r/\{[^{}\/]+\}/
    |> Regex.split(path, include_captures: true)
    |> Enum.map(fn
      <<?{, _, _::binary>> = name -> {:name, binary_part(name, 1, byte_size(name) - 2)}
      text -> text
    end)
  end

  @doc "The arguments: a name that a parameter in another place has too is followed by its own place."
  @spec arguments([map()], map() | nil) :: [argument()]
  def arguments(parameters, body) do
    body = if body, do: [Map.merge(body, %{name: "body", in: "body"})], else: []

    {arguments, _taken} =
      Enum.map_reduce(parameters ++ body, MapSet.new(), fn parameter, taken ->
        name = free(parameter.name, parameter.in, taken)
        {Map.put(parameter, :argument, name), MapSet.put(taken, name)}
      end)

    arguments
  end

  defp free(name, place, taken),
    do: if(name in taken, do: free("#{name}_#{place}", place, taken), else: name)

  @doc "The function from arguments to the request of an operation."
  @spec new(String.t(), String.t(), String.t(), [argument()]) ::
          (map() -> {:ok, t()} | {:error, String.t()})
  def new(operation, method, path, arguments) do
    base = %{operation: operation, method: String.upcase(method), body: nil}
    parts = parts(path)

    fn args ->
      given =
        for %{argument: name} = argument <- arguments,
            (value = args[name]) != nil,
            do: {argument, value}

      with {:ok, path} <- path(parts, given),
           {:ok, headers} <- headers(given) do
        query = Enum.flat_map(given, fn {argument, value} -> query(argument, value) end)
        body = for {%{in: "body"}, value} <- given, do: value
        made = Map.merge(base, %{path: path, query: query, headers: headers})
        {:ok, if(body == [], do: made, else: %{made | body: hd(body)})}
      end
    end
  end

  defp path(parts, given) do
    values =
      for {%{in: "path", name: name} = argument, value} <- given,
          into: %{},
          do: {name, joined(value, argument, &escaped/1)}

    path =
      Enum.map_join(parts, fn
        {:name, name} -> Map.get(values, name, "")
        text -> text
      end)

    # A text of dots would lead to another path, and so would an empty one.
    if Enum.any?(values, fn {_name, text} -> text == "" end) or dots?(parts, path),
      do: {:error, "a part of the path must not be empty, . or .., got: #{Shown.quoted(path)}"},
      else: {:ok, path}
  end

  defp dots?(parts, path),
    do:
      Enum.any?(parts, &is_tuple/1) and
        path |> String.split("/") |> Enum.any?(&(&1 in [".", ".."]))

  defp escaped(text), do: URI.encode(text, &URI.char_unreserved?/1)

  defp headers(given) do
    headers =
      for {%{in: "header", name: name} = argument, value} <- given,
          do: {name, joined(value, argument, & &1)}

    case Enum.find(headers, fn {_name, text} -> text =~ ~r/[\x00-\x08\x0a-\x1f\x7f]/ end) do
      nil -> {:ok, headers}
      {name, _text} -> {:error, "the header #{Shown.name(name)} must not have control characters"}
    end
  end

  # `simple`: items and fields with commas.
  defp joined(value, %{style: "json"}, escape), do: value |> Codec.encode!() |> escape.()

  defp joined(list, _argument, escape) when is_list(list),
    do: Enum.map_join(list, ",", &escape.(text(&1)))

  defp joined(map, argument, escape) when is_map(map) and not is_struct(map) do
    between = if argument.explode?, do: "=", else: ","

    Enum.map_join(Enum.sort(map), ",", fn {name, value} ->
      escape.(text(name)) <> between <> escape.(text(value))
    end)
  end

  defp joined(value, _argument, escape), do: value |> text() |> escape.()

  defp query(%{in: "query", name: name} = argument, value), do: query(name, value, argument)
  defp query(_argument, _value), do: []

  defp query(name, value, %{style: "json"}), do: [{name, Codec.encode!(value)}]
  defp query(_name, [], _argument), do: []

  defp query(name, list, argument) when is_list(list) do
    if argument.explode?,
      do: for(item <- list, do: {name, text(item)}),
      else: [{name, Enum.map_join(list, between(argument.style), &text/1)}]
  end

  defp query(name, map, argument) when is_map(map) and not is_struct(map) do
    fields = for {key, value} <- Enum.sort(map), value != nil, do: {text(key), text(value)}

    cond do
      argument.style == "deepObject" -> for {key, value} <- fields, do: {"#{name}[#{key}]", value}
      argument.explode? -> fields
      true -> [{name, Enum.map_join(fields, ",", fn {key, value} -> key <> "," <> value end)}]
    end
  end

  defp query(name, value, _argument), do: [{name, text(value)}]

  defp between("spaceDelimited"), do: " "
  defp between("pipeDelimited"), do: "|"
  defp between(_form), do: ","

  defp text(text) when is_binary(text), do: text
  defp text(nil), do: ""
  defp text(atom) when is_atom(atom), do: Atom.to_string(atom)

  defp text(value),
    do: if(Values.value?(value), do: Values.text(value), else: Codec.encode!(value))
end

defmodule PtcRunner.SubAgent.Signature.ErrorText do
  @moduledoc false
  # Validation errors as an LLM reads them: the path, what was expected, and what stood there.

  alias PtcRunner.SubAgent.Signature.{Firewall, Places}

  @wanted %{
    "string" => "string",
    "int" => "integer",
    "float" => "float",
    "bool" => "boolean",
    "keyword" => "keyword",
    "map" => "map",
    "list" => "list",
    "datetime (%DateTime{})" => "datetime"
  }

  # What a message says without a look at the value.
  @kinds ["string", "int", "float", "bool", "keyword", "map", "list", "improper list", "nil"] ++
           ["tuple", "term"]

  # Longer texts are cut to this and three dots.
  @longest 100
  @cut 97

  @doc "All errors under a header, one a line; nothing for no errors."
  @spec text([map()], term(), keyword()) :: String.t()
  def text([], _data, _opts), do: ""

  def text(errors, data, opts) do
    header = Keyword.get(opts, :header, "Tool validation errors:")
    lines = for line <- lines(errors, data), do: ["\n- ", line]
    IO.iodata_to_binary([header | lines])
  end

  @doc "One line for each error."
  @spec lines([map()], term()) :: [String.t()]
  def lines(errors, data) do
    {lines, _places} = Enum.map_reduce(errors, Places.new(data), &line/2)
    lines
  end

  defp line(%{path: path, message: message}, places) do
    case wanted(message) do
      nil ->
        {join(path, message), places}

      wanted ->
        {found, places} = Places.fetch(places, path)
        hidden? = Enum.any?(path, &(is_binary(&1) and Firewall.hidden?(&1)))
        {join(path, rewritten(message, wanted, found, hidden?)), places}
    end
  end

  defp wanted("expected " <> rest) do
    case :binary.split(rest, ", got ") do
      [wanted, _got] -> @wanted[wanted]
      _ -> nil
    end
  end

  defp wanted(_message), do: nil

  # The value cannot be looked at: what the message says it is must not be its text.
  defp rewritten(message, wanted, :error, true) do
    [_expected, got] = :binary.split(message, ", got ")
    if got in @kinds, do: message, else: "expected #{wanted}, got term"
  end

  defp rewritten(message, _wanted, :error, false), do: message

  defp rewritten(_message, wanted, {:ok, value}, hidden?) do
    got = if hidden?, do: kind(value), else: literal(value)
    "expected #{wanted}, got #{got}"
  end

  defp join([], text), do: text
  defp join(path, text), do: IO.iodata_to_binary([path_text(path), ": ", text])

  defp path_text([first | rest]), do: [segment(first) | Enum.map(rest, &next_segment/1)]

  defp next_segment(name) when is_binary(name), do: [".", name]
  defp next_segment(index), do: segment(index)

  defp segment(name) when is_binary(name), do: name
  defp segment(index), do: ["[", Integer.to_string(index), "]"]

  defp literal(nil), do: "nil"
  defp literal(string) when is_binary(string), do: "string " <> quoted(string)
  defp literal(float) when is_float(float), do: "float #{inspect(float)}"

  defp literal(value) when is_integer(value) or is_atom(value),
    do: kind(value) <> " " <> cut(PtcRunner.Shown.text(value))

  defp literal(value), do: kind(value)

  @doc "What a value is, in a word."
  @spec kind(term()) :: String.t()
  def kind(nil), do: "nil"
  def kind(value) when is_binary(value), do: "string"
  def kind(value) when is_boolean(value), do: "boolean"
  def kind(value) when is_atom(value), do: "keyword"
  def kind(value) when is_integer(value), do: "integer"
  def kind(value) when is_float(value), do: "float"
  def kind(value) when is_list(value), do: if(proper?(value), do: "list", else: "improper list")
  def kind(%module{}), do: "struct #{inspect(module)}"
  def kind(value) when is_map(value), do: "map"
  def kind(value) when is_tuple(value), do: "tuple"
  def kind(_value), do: "term"

  defp proper?(list), do: not List.improper?(list)

  defp quoted(string) do
    if String.valid?(string), do: string |> cut() |> inspect(), else: inspect(string)
  end

  # The first code points, without looking at all of them.
  defp cut(text) do
    case split(text, @longest) do
      :short -> text
      :long -> binary_part(text, 0, byte_length(text, @cut, 0)) <> "..."
    end
  end

  defp split("", _left), do: :short
  defp split(_text, 0), do: :long
  defp split(<<_::utf8, rest::binary>>, left), do: split(rest, left - 1)

  defp byte_length(_text, 0, length), do: length

  defp byte_length(<<character::utf8, rest::binary>>, left, length),
    do: byte_length(rest, left - 1, length + byte_size(<<character::utf8>>))
end

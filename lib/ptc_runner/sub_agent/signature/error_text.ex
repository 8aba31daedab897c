defmodule PtcRunner.SubAgent.Signature.ErrorText do
  @moduledoc false
  # Formats validation errors for an LLM: the path, the expected type, and the actual value.
  #
  # The expected type is read from the message, because errors come through the public interface, where they are a
  # path and a text.

  alias PtcRunner.Shown
  alias PtcRunner.Shown.Line
  alias PtcRunner.SubAgent.Signature.{Firewall, Places}

  @wanted %{
    "string" => "string",
    "int" => "integer",
    "float" => "float",
    "bool" => "boolean",
    "keyword" => "keyword",
    "map" => "map",
    "list" => "list",
    "datetime (%DateTime{})" => "datetime",
    "date (%Date{})" => "date (YYYY-MM-DD)",
    "decimal" => "decimal",
    "number" => "number"
  }

  # Kinds of values that a message may name without the value.
  @kinds ["string", "int", "float", "bool", "keyword", "map", "list", "improper list", "nil"] ++
           ["tuple", "term"]

  # Longer texts are truncated to @cut and three dots.
  @longest 100
  @cut 97

  # Maximum bytes of the path and the message of one error, and of all lines.
  @part 2_000
  @all Shown.errors_limit()

  @doc """
  All errors under a header, one per line, up to 1 MB; an empty text for no errors. `exact: true`: keys are as they are declared, and not in
  one of their spellings.
  """
  @spec text([map()], term(), keyword()) :: String.t()
  def text([], _data, _opts), do: ""

  def text(errors, data, opts) do
    header = Keyword.get(opts, :header, "Tool validation errors:")
    lines = for line <- lines(errors, data, opts), do: ["\n- ", line]
    IO.iodata_to_binary([header | lines])
  end

  @doc """
  At most so many lines and bytes, and then the number of further errors, including `more` that are not in
  the list.
  """
  @spec first_lines([map()], term(), non_neg_integer(), pos_integer(), non_neg_integer()) ::
          [String.t()]
  def first_lines(errors, data, most, bytes, more \\ 0),
    do: first_lines_of(errors, Places.new(data), most, bytes, more)

  defp first_lines_of(errors, places, most, bytes, more) do
    {lines, rest} = take(errors, places, most, bytes, [])

    case length(rest) + more do
      0 -> Enum.reverse(lines)
      more -> Enum.reverse(["and #{more} more" | lines])
    end
  end

  defp take([error | rest] = errors, places, most, bytes, lines) when most > 0 do
    {line, places} = line(error, places)
    # With what joins the lines.
    left = bytes - byte_size(line) - 3

    if left < 0,
      do: {lines, errors},
      else: take(rest, places, most - 1, left, [line | lines])
  end

  defp take(errors, _places, _most, _bytes, lines), do: {lines, errors}

  @doc "One line for each error, up to 1 MB. `exact`: see `text/3`."
  @spec lines([map()], term(), keyword()) :: [String.t()]
  def lines(errors, data, opts \\ []) do
    places = Places.new(data, Keyword.get(opts, :exact, false))
    first_lines_of(errors, places, length(errors), @all, 0)
  end

  defp line(%{path: path, message: message}, places) do
    case wanted(message) do
      nil ->
        {join(path, message), places}

      wanted ->
        {found, places} = Places.fetch(places, path)
        {join(path, rewritten(message, wanted, found, Firewall.below?(path))), places}
    end
  end

  defp wanted("expected " <> rest) do
    case :binary.split(rest, ", got ") do
      [wanted, _got] -> @wanted[wanted]
      _ -> nil
    end
  end

  defp wanted(_message), do: nil

  # The value is not available: the message may name its kind, but not its text.
  defp rewritten(message, wanted, :error, true) do
    [_expected, got] = :binary.split(message, ", got ")
    if got in @kinds, do: message, else: "expected #{wanted}, got term"
  end

  defp rewritten(message, _wanted, :error, false), do: message

  defp rewritten(_message, wanted, {:ok, value}, hidden?) do
    got = if hidden?, do: kind(value), else: literal(value)
    "expected #{wanted}, got #{got}"
  end

  # Messages may contain names.
  defp join([], text), do: text |> Shown.cut(@part) |> Line.escape()

  defp join(path, text),
    do: Shown.cut(IO.iodata_to_binary(path_text(path)), @part) <> ": " <> join([], text)

  defp path_text([first | rest]), do: [segment(first) | Enum.map(rest, &next_segment/1)]

  defp next_segment(name) when is_binary(name), do: [".", segment(name)]
  defp next_segment(index), do: segment(index)

  defp segment(name) when is_binary(name), do: Line.escape(name)
  defp segment(index), do: ["[", Integer.to_string(index), "]"]

  defp literal(nil), do: "nil"
  defp literal(string) when is_binary(string), do: "string " <> quoted(string)
  defp literal(float) when is_float(float), do: "float #{inspect(float)}"

  defp literal(value) when is_integer(value) or is_atom(value),
    do: kind(value) <> " " <> cut(Shown.text(value))

  defp literal(%{__struct__: PtcRunner.Lisp.Keyword, name: name}) when is_binary(name),
    do: "keyword " <> cut(":" <> Shown.cut(name, @longest * 4))

  defp literal(value), do: kind(value)

  @doc "The kind of a value, in a word."
  @spec kind(term()) :: String.t()
  def kind(nil), do: "nil"
  def kind(value) when is_binary(value), do: "string"
  def kind(value) when is_boolean(value), do: "boolean"
  def kind(value) when is_atom(value), do: "keyword"
  def kind(value) when is_integer(value), do: "integer"
  def kind(value) when is_float(value), do: "float"
  def kind(value) when is_list(value), do: if(proper?(value), do: "list", else: "improper list")

  def kind(%{__struct__: PtcRunner.Lisp.Keyword, name: name}) when is_binary(name),
    do: "keyword"

  def kind(%module{}), do: "struct #{inspect(module)}"
  def kind(value) when is_map(value), do: "map"
  def kind(value) when is_tuple(value), do: "tuple"
  def kind(_value), do: "term"

  defp proper?(list), do: not List.improper?(list)

  defp quoted(string) do
    if String.valid?(string), do: string |> cut() |> inspect(), else: Shown.text(string, 1_024)
  end

  # The first code points, without reading all of them.
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

defmodule PtcRunner.Agent.Elsewhere do
  @moduledoc false
  # A declared field that the value of an answer lacks, and that stands beside the value: it would be lost without a word.

  alias PtcRunner.Agent.Parts
  alias PtcRunner.Json.Codec
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.JsonRepair
  alias PtcRunner.SubAgent.Signature.Type

  # Maximum number of objects beside a value, and of fields in lines, that are looked at.
  @most 64
  @shown 40

  # A key at the beginning of a line, or behind a bracket, a comma, a semicolon or a period; in quotes, in signs of Markdown, or bare.
  # What follows is a value of JSON; null is what the value has without the field. The parts of the text that are objects and lists are one byte each: 0 is the value itself.
  @field ~r/(?:\A|[\n\x00-\x02,;.}\]])[\s,;.}\])*`-]*+(["']?)([\w-]+)\1[*`]*+\s*[:=][*`]*+[ \t]*(?=["'\d\x01-]|(?:true|false)\b)/

  @operator ~r/\A[\s,;]*+((?:[!~-]|\xC2\xAC)++|(?i:not)(?=[ \t]*\z))[ \t]*\z/

  @doc """
  The error of a value that a text has, if the text says more of it: a declared field beside it, or an object or list directly behind
  another one that has such a field, or is another item. `part` is the text of the value, where several were found, and `spans` are the places of the objects and lists of the text.

      iex> alias PtcRunner.Agent.Elsewhere
      iex> type = {:map, [{"n", :int}, {"x", {:optional, :int}}]}
      iex> for text <- [~s({"n": 1}, x: 2), ~s({"n": 1}}, "x": 2}), ~s({"n": 1} {"x": 2}), ~s({"n": 1}\\nn: 1), ~s(x: {"n": 1})],
      ...>   do: Elsewhere.lost({text, text |> PtcRunner.Agent.Parts.of() |> elem(0)}, nil, %{"n" => 1}, type)
      [{:field, "x: 2"}, {:field, ~s("x": 2})}, :value, nil, nil]
      iex> Elsewhere.lost({~s([{"n": 1}], {"n": 2}), [{0, 10}, {12, 8}]}, nil, [%{"n" => 1}], {:list, type})
      :value

  """
  @spec lost({String.t(), spans :: [Parts.span()]}, String.t() | nil, term(), term()) ::
          {:field, String.t()} | :value | nil
  def lost({_text, spans}, _part, _value, type) when type == nil or spans == [], do: nil

  def lost({text, spans}, part, value, type) do
    with [_ | _] = names <- names(value, type),
         true <- is_list(value) or List.keymember?(names, false, 1) do
      spans = Enum.take(spans, @most)
      own = own(spans, part, text)
      absent = for {name, false} <- names, do: name

      cond do
        another?(spans, own, value, names, text) -> :value
        shown = field(spans, own, absent, text) -> {:field, shown}
        true -> nil
      end
    else
      _none -> nil
    end
  end

  # The spellings of the fields of an object, or of the one row of a list, each with whether the value has the field.
  defp names(value, type) do
    {core, names} = Type.core(type, %{})

    case {core, value} do
      {{kind, fields}, value} when kind in [:map, :closed_map] and is_map(value) ->
        for {name, _type} <- fields,
            spelling <- Enum.uniq([name, String.replace(name, "_", "-")]),
            do: {spelling, Type.key(value, name) != nil}

      {{:list, item}, [row]} when is_map(row) ->
        names(row, {:defs, names, item})

      _other ->
        []
    end
  end

  defp own(spans, nil, _text), do: Enum.take(spans, 1)
  defp own(spans, part, text), do: Enum.filter(spans, &(Parts.text(text, &1) == part))

  # Whether an object or list directly beside the value, with blanks, commas and semicolons between them, has more than the value.
  defp another?(spans, own, value, names, text) do
    [{0, 0} | spans]
    |> Enum.zip(spans)
    |> Enum.drop(1)
    |> Enum.any?(fn {one, next} ->
      (one in own or next in own) and beside?(one, next, text) and
        more?(if(one in own, do: next, else: one), value, names, text)
    end)
  end

  defp beside?({at, size}, {next, _size}, text),
    do: binary_part(text, at + size, next - at - size) =~ ~r/\A[\s,;]*+\z/

  defp more?(span, value, names, text) do
    case {decoded(Parts.text(text, span)), value} do
      {object, value} when is_map(object) and is_map(value) ->
        Enum.any?(names, fn {name, there?} -> not there? and is_map_key(object, name) end)

      {object, [_ | _]} when is_map(object) ->
        object not in value and Enum.any?(names, fn {name, _} -> is_map_key(object, name) end)

      {[object], [_ | _]} when is_map(object) ->
        object not in value and Enum.any?(names, fn {name, _} -> is_map_key(object, name) end)

      _other ->
        false
    end
  end

  defp decoded(text) do
    with {:error, _reason} <- Codec.decode(text),
         {:ok, value, _repairs} <- JsonRepair.read(text, nil, []) do
      value
    else
      {:ok, value} -> value
      {:error, _reason} -> nil
    end
  end

  defp field(_spans, _own, [], _text), do: nil

  defp field(spans, own, absent, text) do
    text = masked(text, spans, own)

    @field
    |> Regex.scan(text, return: :index)
    |> Enum.take(@most)
    |> Enum.find_value(fn [_all, {quoted, _size}, {at, size} | _] ->
      if binary_part(text, at, size) in absent, do: shown(text, quoted)
    end)
  end

  defp shown(text, at) do
    [line | _] =
      text |> binary_part(at, byte_size(text) - at) |> :binary.split(["\n", <<0>>, <<1>>])

    line |> String.trim() |> Shown.cut(@shown)
  end

  # Each object and list is one byte: what stands in it is none of its surroundings.
  defp masked(text, spans, own) do
    {parts, from} =
      Enum.map_reduce(spans, 0, fn {at, size} = span, from ->
        {[binary_part(text, from, at - from), if(span in own, do: 0, else: 1)], at + size}
      end)

    IO.iodata_to_binary([parts, binary_part(text, from, byte_size(text) - from)])
  end

  @doc """
  The operator directly between two objects or lists of a text, whose places are given, nil if there is none: without it the later one would be
  another value.

      iex> alias PtcRunner.Agent.{Elsewhere, Parts}
      iex> for between <- ["\\n!", " not ", ", -", "\\n- ", ". I am not sure: "] do
      ...>   text = ~s({"n": 1}) <> between <> ~s({"n": 1})
      ...>   {spans, nil} = Parts.of(text)
      ...>   Elsewhere.operator(text, spans)
      ...> end
      ["!", "not", "-", nil, nil]

  """
  @spec operator(String.t(), [Parts.span()]) :: String.t() | nil
  def operator(text, spans) do
    spans
    |> Enum.zip(Enum.drop(spans, 1))
    |> Enum.take(@most)
    |> Enum.find_value(fn {{at, size}, {next, _size}} ->
      case Regex.run(@operator, binary_part(text, at + size, next - at - size)) do
        [between, sign] -> if sign != "-" or String.ends_with?(between, "-"), do: sign
        nil -> nil
      end
    end)
  end
end

defmodule PtcRunner.Test.AnswerGenerator do
  @moduledoc """
  Random answers: JSON that mostly matches a type, in fences, in prose and damaged.

      iex> alias PtcRunner.Test.AnswerGenerator
      iex> AnswerGenerator.random_case(1, 1) == AnswerGenerator.random_case(1, 1)
      true
  """

  import PtcRunner.Test.Random

  alias PtcRunner.Test.{JsonText, RuledGenerator, SignatureGenerator}

  @prose [
    "",
    "",
    " ",
    "\r\n",
    "Here you are: ",
    "Größe – 答案: ",
    "[Note] ",
    "{placeholder} ",
    "[x] done\n",
    "See [1]. ",
    "{a: 1} ",
    "`x` ",
    "``",
    "say \"hi\" and it's fine ",
    <<0xFF, 0x80>>,
    "\uFEFF",
    "}{",
    "\\",
    "<think>{no}</think>"
  ]

  @fences [
    {"```json\n", "\n```"},
    {"```\n", "\n```"},
    {"```JSON ", "```"},
    {"````json\n", "\n````"},
    {"```python\nx = ", "\n```"},
    {"```jsonc\n", "\n```"},
    {"``` json\n", "\u00A0```"},
    {"```elixir\n", "\n````"},
    {"```json\n", ""},
    {"``````", "```"},
    {"", ""},
    {"", ""},
    {"", ""}
  ]

  @texts [
    "",
    "a",
    "```",
    "```json\n[1]\n```",
    "}]",
    "\"",
    "\\",
    "grün",
    "a.b",
    "2026-05-03T09:14:00Z"
  ]
  @keys ["id", "user_id", "user-id", "items", "__struct__", "x", "no-such atom 5", "größe"]

  @type random_case :: %{signature: tuple() | nil, text: binary(), cuts: [pos_integer()]}

  @doc "The `n`th case of a seed."
  @spec random_case(integer(), pos_integer()) :: random_case()
  def random_case(seed, n) do
    state = :rand.seed_s(:exsss, {seed, n, 11})
    {type, state} = build(top(rem(n, 4)), state)
    {text, state} = build(text(type || :any), state)
    {cuts, _state} = build(list_of(integer(1..12), 3..9), state)
    %{signature: type && {:signature, [], type}, text: text, cuts: cuts}
  end

  @doc "The `n`th answer of a seed that is valid JSON and nothing else: mostly of the type, with values of other types at some places."
  @spec valid_case(integer(), pos_integer()) :: %{type: term(), text: binary()}
  def valid_case(seed, n) do
    state = :rand.seed_s(:exsss, {seed, n, 13})
    {type, state} = build(top(rem(n, 4)), state)
    fitting = map(SignatureGenerator.value(type || :any), &{:value, &1})
    {{:value, value}, state} = build(fitting, state)
    {value, _state} = build(mixed(decoded(written(value))), state)
    value = if is_binary(value), do: [value], else: value
    %{type: type, text: written(value)}
  end

  @doc "The same for types with rules, unions, names and maps of a type."
  @spec ruled_case(integer(), pos_integer()) :: %{type: term(), text: binary()}
  def ruled_case(seed, n) do
    type = RuledGenerator.type(seed, n)
    value = RuledGenerator.value(type, rem(n, 3) == 0)
    {value, _state} = build(mixed(value), :rand.seed_s(:exsss, {seed, n, 19}))
    %{type: type, text: written(if(is_binary(value), do: [value], else: value))}
  end

  defp decoded(text), do: text |> PtcRunner.Json.Codec.decode() |> elem(1)

  # Some parts are replaced by values of other types.
  defp mixed(value) do
    other =
      one_of([
        17,
        2.5,
        -0.0,
        true,
        nil,
        "a, b",
        "17",
        "\": \"",
        "x\"}",
        [],
        [1],
        ["a"],
        %{},
        %{"k" => "v"},
        %{"k" => 7}
      ])

    frequency([{9, lazy(fn -> parts(value) end)}, {1, other}])
  end

  defp parts(list) when is_list(list),
    do: map(List.to_tuple(Enum.map(list, &mixed/1)), &Tuple.to_list/1)

  defp parts(map) when is_map(map) do
    {keys, values} = Enum.unzip(map)
    map(List.to_tuple(Enum.map(values, &mixed/1)), &Map.new(Enum.zip(keys, Tuple.to_list(&1))))
  end

  defp parts(value), do: map({}, fn {} -> value end)

  defp top(depth) do
    map = map(SignatureGenerator.type(depth), fn type -> {:map, [{"id", type}, {"x", :int}]} end)
    list = map(SignatureGenerator.type(depth), fn type -> {:list, type} end)
    frequency([{1, nil}, {1, SignatureGenerator.type(depth)}, {4, map}, {3, list}])
  end

  defp text(type) do
    piece = map({one_of(@prose), one_of(@fences), json(type)}, &piece/1)
    whole = map({list_of(piece, 1..3), one_of(@prose)}, &joined/1)

    frequency([
      {4, map({piece, one_of(@prose)}, &joined/1)},
      {3, whole},
      {2, map(whole, &spoil/1)}
    ])
  end

  defp piece({prose, {open, close}, json}), do: [prose, open, json, close]
  defp joined({parts, prose}), do: IO.iodata_to_binary([parts, prose])

  defp json(type) do
    fitting = map(SignatureGenerator.value(type), &written/1)
    wrapped = map(fitting, &~s({"items": #{&1}, "more-of": 1}))
    frequency([{8, fitting}, {2, wrapped}, {2, map(any(2), &written/1)}, {1, one_of(broken())}])
  end

  defp broken,
    do: [
      "{\"id\": 1,}",
      "[1, 2",
      "{'a': 1}",
      "[01]",
      "{\"a\" 1}",
      "[1e400]",
      "{\"id\": \"\\ud800\"}"
    ]

  defp any(0), do: one_of([nil, true, 0, -1, 1.5, 2 ** 70 | @texts])

  defp any(depth) do
    inner = lazy(fn -> any(depth - 1) end)
    entries = list_of({one_of(@keys), inner}, 0..4)
    frequency([{2, any(0)}, {2, list_of(inner, 0..4)}, {3, map(entries, &Map.new/1)}])
  end

  # The term as JSON would return it.
  defp written(term) do
    {:ok, text} = term |> plain() |> JsonText.encode()
    text
  end

  defp plain(value) when value in [nil, true, false] or is_number(value), do: value

  defp plain(text) when is_binary(text),
    do: if(String.valid?(text), do: text, else: Base.encode16(text))

  defp plain(struct) when is_struct(struct, DateTime), do: DateTime.to_iso8601(struct)
  defp plain(struct) when is_struct(struct), do: inspect(struct)

  defp plain(map) when is_map(map),
    do: Map.new(map, fn {key, value} -> {name(key), plain(value)} end)

  defp plain([first | rest]) when is_list(rest), do: [plain(first) | plain(rest)]
  defp plain([first | last]), do: [plain(first), plain(last)]
  defp plain([]), do: []
  defp plain(atom) when is_atom(atom), do: Atom.to_string(atom)
  defp plain(other), do: inspect(other)

  defp name(key) when is_binary(key), do: plain(key)
  defp name(key) when is_atom(key), do: Atom.to_string(key)
  defp name(key), do: inspect(key)

  # Replaces a byte, or truncates the text.
  defp spoil(text) do
    size = byte_size(text)

    map({integer(0..size), one_of(["`", "\"", "\\", "{", "]", ",", "\xFF", " ", "1", :cut])}, fn
      {at, :cut} -> binary_part(text, 0, at)
      {at, byte} -> binary_part(text, 0, at) <> byte <> binary_part(text, at, size - at)
    end)
  end
end

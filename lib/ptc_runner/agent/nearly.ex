defmodule PtcRunner.Agent.Nearly do
  @moduledoc false
  # Values of an answer that have one obvious meaning beside their type: null where there is a default, a time with more digits than
  # a datetime has. And those that have none: numbers with grouping signs.

  alias PtcRunner.Agent.Parts
  alias PtcRunner.IsoTime
  alias PtcRunner.Json.Codec
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.{Base, Firewall, Type}

  @time ~r/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d{7,}(?:Z|[+-]\d\d:?\d\d)/i

  # Operators and signs, the last ones ¬, ±, ≈, ≥, ≤ and ≠, by bytes: the text need not be UTF-8. Blanks may follow those of negation;
  # the items of a list in Markdown begin with - and a blank. A number that the value is multiplied with, and a call that does not only write it.
  @sign ~r/\A\s*(?:```[\w+.#-]*\s+)?(?|((?:[!~<>^&|?=+-]|\xC2[\xAC\xB1]|\xE2\x89[\x88\xA0\xA4\xA5])+)|((?:[!~]|\xC2\xAC|(?i:not\b))+)\s*|(\d[\d.]*\s*(?:[*\/%^]|\xC3\x97)|(?!(?:JSON\.\w+|json(?:\.\w+)?|p?print|console\.\w+|dict|list|[Aa]rray|[Oo]bject|echo|return|respond|answer|output|result|final(?:_answer)?|callback)\()[A-Za-z_][\w.]*\()\s*)([{\[])/

  # A text in quotes, in a fence or not, with nothing in brackets behind it.
  @quoted ~r/\A\s*(?:```[\w+.#-]*\s+)?("\s*(?:\\.|[^"\\])*+")[^{\[]*\z/s

  @doc """
  A type in which each field that has a default may be null.

      iex> PtcRunner.Agent.Nearly.nullable({:map, [{"n", {:where, :int, [default: 5]}}, {"m", :int}]})
      {:map, [{"n", {:optional, {:where, :int, [default: 5]}}}, {"m", :int}]}

  """
  @spec nullable(term()) :: term()
  def nullable(type), do: if(Base.makes?(type), do: null(type), else: type)

  defp null({kind, [_ | _] = fields}) when kind in [:map, :closed_map],
    do: {kind, Enum.map(fields, &null_field/1)}

  defp null(type), do: Type.map(type, &null/1)

  defp null_field({name, type}) do
    if default(type) == :error, do: {name, null(type)}, else: {name, {:optional, null(type)}}
  end

  @doc """
  A value with the defaults of its type in the place of null, and a warning for each.

      iex> PtcRunner.Agent.Nearly.defaults(%{"n" => nil, "m" => nil}, {:map, [{"n", {:where, :int, [default: 5]}}, {"m", {:optional, :int}}]})
      {%{"n" => 5, "m" => nil}, ["took the default of \\"n\\" for null"]}

  """
  @spec defaults(term(), term()) :: {term(), [String.t()]}
  def defaults(value, type),
    do: if(Base.makes?(type), do: Type.walk(value, type, &filled/3), else: {value, []})

  @doc """
  Arguments with the defaults of these names in the place of null, and a warning for each.

      iex> PtcRunner.Agent.Nearly.defaults_of(%{"n" => nil, "m" => nil}, %{"n" => 5, "k" => 1})
      {%{"n" => 5, "m" => nil}, ["took the default of \\"n\\" for null"]}

  """
  @spec defaults_of(term(), %{String.t() => term()}) :: {term(), [String.t()]}
  def defaults_of(args, defaults)
      when defaults == %{} or not is_map(args) or is_struct(args),
      do: {args, []}

  def defaults_of(args, defaults) do
    taken = for {name, default} <- defaults, %{^name => nil} <- [args], do: {name, default}
    {Map.merge(args, Map.new(taken)), for({name, _default} <- taken, do: taken([name]))}
  end

  @doc """
  The default of a type that does not have null as a value.

      iex> PtcRunner.Agent.Nearly.default({:optional, {:where, :int, [default: 5]}})
      {:ok, 5}

  """
  @spec default(term()) :: {:ok, term()} | :error
  def default({:optional, type}), do: default(type)
  def default({:where, {:optional, _type}, _rules}), do: :error

  def default({:where, type, rules}) when is_list(rules),
    do: with(:error <- Keyword.fetch(rules, :default), do: default(type))

  def default(_type), do: :error

  defp filled(map, fields, path) do
    {map, told} =
      Enum.reduce(fields, {map, []}, fn {name, type}, {map, told} ->
        with {:ok, default} <- default(type),
             key when key != nil <- Type.key(map, name),
             %{^key => nil} <- map do
          {%{map | key => default}, [taken(path ++ [name]) | told]}
        else
          _value -> {map, told}
        end
      end)

    {map, Enum.reverse(told)}
  end

  # Keys inside a firewalled field are not shown.
  defp taken(path) do
    {above, below} = Enum.split_while(path, &(not Firewall.hidden?(&1)))
    place = Enum.join(above ++ Enum.take(below, 1), ".")
    "took the default of #{Shown.quoted(place)} for null"
  end

  @doc """
  The paths and the texts of numbers with grouping signs: `1,234` and `1_234` are no numbers, in quotes and without.

      iex> repairs = [%{kind: :thousands, path: ["n"], line: 2, column: 7}, %{kind: :number_form, path: ["m"], line: 2, column: 19}]
      iex> PtcRunner.Agent.Nearly.grouped(repairs, ~s({\\n "n": 1,234, "m": +5}))
      [{["n"], "1,234"}]

  """
  @spec grouped([map()], String.t()) :: [{[String.t() | non_neg_integer()], String.t()}]
  def grouped(repairs, text) do
    for {%{kind: kind, path: path}, rest} <- placed(repairs, text),
        [number] <- [Regex.run(~r/\A[+-]?[\d_.,]*\d/, rest)],
        kind == :thousands or String.contains?(number, "_"),
        do: {path, number}
  end

  # The repairs of numbers, in the order of their places, each with the text from there on. The text is walked once.
  defp placed(repairs, text) do
    repairs
    |> Enum.filter(&(&1.kind in [:thousands, :number_form]))
    |> Enum.sort_by(&{&1.line, &1.column})
    |> Enum.map_reduce({1, 1, text}, fn %{line: line, column: column} = repair, place ->
      {_line, _column, rest} = place = forward(place, line, column)
      {{repair, rest}, place}
    end)
    |> elem(0)
  end

  # A column counts characters.
  defp forward({line, _column, text}, until, column) when line < until do
    case :binary.split(text, "\n") do
      [_line, rest] -> forward({line + 1, 1, rest}, until, column)
      [_last] -> {until, column, ""}
    end
  end

  defp forward({line, at, text}, _line, column), do: {line, column, skip(text, column - at)}

  defp skip(<<_character::utf8, rest::binary>>, count) when count > 0, do: skip(rest, count - 1)
  defp skip(<<_byte, rest::binary>>, count) when count > 0, do: skip(rest, count - 1)
  defp skip(text, _count), do: text

  @doc """
  A value with the texts of the numbers in their places.

      iex> PtcRunner.Agent.Nearly.put_texts(%{"rows" => [%{"n" => 1234}]}, [{["rows", 0, "n"], "1,234"}])
      %{"rows" => [%{"n" => "1,234"}]}

  """
  @spec put_texts(term(), [{list(), String.t()}]) :: term()
  def put_texts(value, numbers), do: put(value, Enum.reduce(numbers, %{}, &branch/2))

  # The texts by the steps of their paths.
  defp branch({[], text}, _branches), do: text

  defp branch({[step | path], text}, branches) when is_map(branches),
    do: Map.put(branches, step, branch({path, text}, Map.get(branches, step, %{})))

  defp branch(_number, text), do: text

  defp put(number, text) when is_number(number) and is_binary(text), do: text

  defp put(map, branches) when is_map(map) and not is_struct(map) and is_map(branches) do
    Enum.reduce(branches, map, fn
      {name, below}, map when is_map_key(map, name) -> Map.update!(map, name, &put(&1, below))
      _missing, map -> map
    end)
  end

  defp put([_ | _] = list, branches) when is_map(branches) do
    for {item, index} <- Enum.with_index(list),
        do: if(is_map_key(branches, index), do: put(item, branches[index]), else: item)
  end

  defp put(value, _branches), do: value

  @doc """
  The errors of a value with such texts, and one for each that its type takes.

      iex> PtcRunner.Agent.Nearly.about_grouped([{["n"], "1,234"}], [])
      [%{path: ["n"], message: "expected a number without grouping signs, or a text in quotes, got 1,234"}]

  """
  @spec about_grouped([{list(), String.t()}], [map()] | String.t()) :: [map(), ...]
  def about_grouped(numbers, errors) do
    errors = if is_list(errors), do: errors, else: []
    known = MapSet.new(errors, & &1.path)
    message = "expected a number without grouping signs, or a text in quotes, got "

    errors ++
      for {path, number} <- numbers,
          path not in known,
          do: %{path: path, message: message <> Shown.cut(number, 100)}
  end

  @doc """
  The operators, or the word "not", directly before the object or list that a text, or its fence, begins with; nil if there are none.

      iex> Enum.map(["!{}", "```json\\n-[1]", "not {}", "- [1]", "-[x] done", "So: !{}"], &PtcRunner.Agent.Nearly.sign/1)
      ["!", "-", "not", nil, nil, nil]

  """
  @spec sign(String.t()) :: String.t() | nil
  def sign(text) do
    with [_begin, {at, size}, {bracket, 1}] <- Regex.run(@sign, text, return: :index),
         true <- Parts.begun?(binary_part(text, bracket, byte_size(text) - bracket)) do
      binary_part(text, at, size)
    else
      _none -> nil
    end
  end

  @doc """
  The list or the object that a text is the JSON of, if it is a text in quotes; otherwise `nil`.

      iex> PtcRunner.Agent.Nearly.unquoted(~S("{\\"n\\": 1}"))
      ~s({"n": 1})

      iex> PtcRunner.Agent.Nearly.unquoted("[1]")
      nil

  """
  @spec unquoted(String.t()) :: String.t() | nil
  def unquoted(text) do
    with [_whole, json] <- Regex.run(@quoted, text),
         {:ok, inner} <- Codec.decode(json),
         {:ok, value} when is_map(value) or is_list(value) <- Codec.decode(inner) do
      inner
    else
      _other -> nil
    end
  end

  @doc """
  A warning for each time of a text that was read as a datetime of its type and has more than six digits of a second.

      iex> PtcRunner.Agent.Nearly.cut_times(%{"at" => ~U[2024-01-01 00:00:00.123456Z]}, ~s({"at": "2024-01-01T00:00:00.1234567Z"}), {:map, [{"at", :datetime}]})
      ["cut \\"2024-01-01T00:00:00.1234567Z\\" to microseconds"]

  """
  @spec cut_times(term(), String.t(), term()) :: [String.t()]
  def cut_times(value, text, type),
    do: if(Type.any?(type, &datetimes?/1), do: cut_times(value, text), else: [])

  # A default, and a field of a struct, may be any term.
  defp datetimes?({:where, _type, rules}), do: List.keymember?(rules, :default, 0)
  defp datetimes?({:struct, _module, _type}), do: true
  defp datetimes?(type), do: type == :datetime

  defp cut_times(value, text) do
    # Few values have one, and the search of a long text takes longer than a walk over its value.
    case datetimes(value, []) do
      [] ->
        []

      held ->
        held = MapSet.new(held)

        for [time] <- @time |> Regex.scan(text) |> Enum.uniq(),
            {:ok, read, _offset} <- [IsoTime.datetime(time)],
            read in held,
            do: "cut #{Shown.quoted(time)} to microseconds"
    end
  end

  @doc """
  A warning for each time that was cut to microseconds in the arguments of a call, found in what was given for them.

      iex> given = %{"at" => ["2024-01-01T00:00:00.1234567Z"]}
      iex> PtcRunner.Agent.Nearly.cut_arguments(%{"at" => [~U[2024-01-01 00:00:00.123456Z]]}, given)
      ["cut \\"2024-01-01T00:00:00.1234567Z\\" to microseconds"]

  """
  @spec cut_arguments(term(), term()) :: [String.t()]
  def cut_arguments(args, given) do
    if datetimes(args, []) == [],
      do: [],
      else: cut_times(args, given |> texts([]) |> Enum.join("\n"))
  end

  # Longer texts are no times.
  defp texts(text, found) when is_binary(text) and byte_size(text) <= 100, do: [text | found]

  defp texts(map, found) when is_map(map) and not is_struct(map),
    do: :maps.fold(fn _key, value, found -> texts(value, found) end, found, map)

  defp texts([first | rest], found), do: texts(rest, texts(first, found))
  defp texts(_value, found), do: found

  defp datetimes(%DateTime{} = time, found), do: [time | found]

  defp datetimes(map, found) when is_map(map) and not is_struct(map),
    do: :maps.fold(fn _key, value, found -> datetimes(value, found) end, found, map)

  defp datetimes([first | rest], found), do: datetimes(rest, datetimes(first, found))
  defp datetimes(_value, found), do: found
end

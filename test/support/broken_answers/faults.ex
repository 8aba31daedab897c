defmodule PtcRunner.Test.BrokenAnswers.Faults do
  @moduledoc "Faults of models in JSON, each as a change of its tokens. `nil`: it is not possible in this answer."

  alias PtcRunner.Json.Codec
  alias PtcRunner.Test.BrokenAnswers.Tokens

  @syntax ~w(missing_comma all_commas_of_lines extra_comma trailing_comma semicolon semicolons
    single_quotes python_repr one_single smart_quotes smart_strings no_start_quote no_end_quote
    no_key_start no_key_end inner_quotes raw_break raw_tab bad_apostrophe regex_escape bare_key bare_keys
    bare_word foreign_word all_foreign not_a_number line_comment hash_comment block_comment
    last_comment no_close no_closes wrong_close no_open extra_close extra_close_inside extra_open
    no_colon equals arrow plus point_last point_first underscores thousands ellipsis ellipsis_quoted
    twice twice_with_words bold triple_quotes javascript)a

  @typed ~w(camel_keys kebab_keys title_keys upper_keys one_camel bare_element bare_object
    string_of_list string_of_object quoted_number quoted_boolean all_quoted no_close_inside json_lines
    cut_optional)a

  # Pairs of faults are made of these.
  @pairs ~w(missing_comma trailing_comma bare_keys single_quotes python_repr foreign_word line_comment
    block_comment no_close no_closes no_colon raw_break bare_word plus one_camel quoted_number
    inner_quotes smart_quotes semicolon)a

  def all, do: @syntax ++ @typed
  def one, do: Enum.random(@syntax ++ @typed)
  def pair, do: Enum.take_random(@pairs, 2)

  @doc "Whether the fault is visible without the type."
  def syntax?(kind), do: kind in @syntax

  @doc "The answer with a fault."
  def apply(kind, answer), do: fault(kind, answer)

  # Commas.
  defp fault(:missing_comma, a), do: at(a, &comma?/1, fn _ -> [] end, &apart?/2)

  defp fault(:all_commas_of_lines, a),
    do: if(lines?(a), do: every(a, &comma?/1, fn _ -> [] end))

  defp fault(:extra_comma, a), do: at(a, &comma?/1, &[&1, &1])
  defp fault(:trailing_comma, a), do: before_close(a, ",")
  defp fault(:semicolon, a), do: at(a, &comma?/1, fn _ -> [text(";")] end)
  defp fault(:semicolons, a), do: every(a, &comma?/1, fn _ -> [text(";")] end)

  # Quotes.
  defp fault(:single_quotes, a), do: every(a, &string?/1, &[text(single(content(&1)))])
  defp fault(:one_single, a), do: at(a, &string?/1, &[text(single(content(&1)))])

  defp fault(:python_repr, a) do
    every(a, &(string?(&1) or word?(&1)), fn
      {:value, word, _type, _path} when word in [true, false, nil] -> [text(python(word))]
      string -> [text(repr(content(string)))]
    end)
  end

  defp fault(:smart_quotes, a), do: at(a, &string?/1, &[text(smart(content(&1)))])
  defp fault(:smart_strings, a), do: every(a, &string?/1, &[text(smart(content(&1)))])
  defp fault(:no_start_quote, a), do: at(a, &words?/1, &[text(drop_first(json(content(&1))))])
  defp fault(:no_end_quote, a), do: at(a, &words?/1, &[text(drop_last(json(content(&1))))])
  defp fault(:no_key_start, a), do: at(a, &key?/1, &[text(drop_first(json(content(&1))))])
  defp fault(:no_key_end, a), do: at(a, &key?/1, &[text(drop_last(json(content(&1))))])
  defp fault(:triple_quotes, a), do: at(a, &words?/1, &[text(~s("""#{content(&1)}"""))])

  defp fault(:inner_quotes, a) do
    with {index, {:value, string, type, path}} <- find(a, &several?/1) do
      [first | rest] = String.split(string, " ")
      {quoted, rest} = Enum.split(rest, Enum.random(1..length(rest)))
      string = Enum.join([first, ~s("#{Enum.join(quoted, " ")}") | rest], " ")
      raw = ~s("#{string}")
      a = %{a | value: put(a.value, path, string)}
      replace(a, index, [{:value, string, type, path} |> then(fn _ -> text(raw) end)])
    end
  end

  # Strings.
  defp fault(:raw_break, a), do: at(a, &holds?(&1, "\n"), &[text(~s("#{content(&1)}"))])
  defp fault(:raw_tab, a), do: at(a, &holds?(&1, "\t"), &[text(~s("#{content(&1)}"))])

  defp fault(:bad_apostrophe, a) do
    escape = &String.replace(json(content(&1)), "'", "\\'")
    at(a, &holds?(&1, "'"), &[text(escape.(&1))])
  end

  defp fault(:regex_escape, a),
    do: at(a, &match?({:value, "\\d+", _, _}, &1), fn _ -> [text(~S("\d+"))] end)

  # Names and words.
  defp fault(:bare_key, a), do: at(a, &key?/1, &[text(content(&1))])
  defp fault(:bare_keys, a), do: every(a, &key?/1, &[text(content(&1))])
  defp fault(:bare_word, a), do: at(a, &plain?/1, &[text(content(&1))])

  defp fault(:foreign_word, a) do
    at(a, &word?/1, fn {:value, word, _type, _path} ->
      [text(if word == nil, do: Enum.random(~w(None undefined NULL nil)), else: python(word))]
    end)
  end

  defp fault(:all_foreign, a),
    do: every(a, &word?/1, fn {:value, word, _type, _path} -> [text(python(word))] end)

  defp fault(:not_a_number, a) do
    words = ["NaN", "-Infinity", "nan", "Infinity"]
    at(a, &match?({:value, nil, _, _}, &1), fn _ -> [text(Enum.random(words))] end)
  end

  defp fault(:javascript, a) do
    every(a, &(key?(&1) or string?(&1)), fn
      {:key, name, _path} -> [text(name)]
      string -> [text(single(content(string)))]
    end)
  end

  # Comments.
  defp fault(:line_comment, a), do: comment(a, "// see above, or: ask")
  defp fault(:hash_comment, a), do: comment(a, "# the user's choice")

  defp fault(:block_comment, a) do
    note = Enum.random(["/* optional */", "/* was: \"x\", 3 */", "/* {} */"])
    at(a, &(comma?(&1) or close?(&1) or key?(&1)), &[text(" " <> note <> " "), &1])
  end

  defp fault(:last_comment, a) do
    note = "\n// end of the list, no more items\n"
    at(a, &close?/1, &[text(note), &1])
  end

  # Brackets.
  defp fault(:no_close, a), do: drop_ends(a, 1)
  defp fault(:no_closes, a), do: drop_ends(a, Enum.random(2..4))

  defp fault(:wrong_close, a) do
    at(a, &match?({:close, _bracket, [_ | _]}, &1), fn {:close, bracket, _path} ->
      [text(if bracket == "]", do: "}", else: "]")]
    end)
  end

  defp fault(:no_open, a), do: if(is_map(a.value), do: %{a | tokens: open_less(a.tokens)})

  defp fault(:extra_close, a) do
    bracket = Enum.random(["}", "]"])
    %{a | tokens: a.tokens ++ [text(Enum.random(["", "\n"]) <> bracket)]}
  end

  defp fault(:extra_close_inside, a),
    do:
      at(a, &match?({:close, _bracket, [_ | _]}, &1), fn {_, bracket, _} = t ->
        [t, text(bracket)]
      end)

  defp fault(:extra_open, a),
    do: if(is_map(a.value), do: %{a | tokens: [text("{") | a.tokens]})

  # Without its own bracket, the following text must not fit into the open one.
  defp fault(:no_close_inside, a) do
    at(a, &match?({:close, _bracket, [_ | _]}, &1), fn _ -> [] end, fn tokens, index ->
      rest = tokens |> Enum.drop(index + 1) |> Enum.reject(&match?({:blank, _}, &1))
      match?([{:comma, _, _}, {:key, _, _} | _], rest) and not same_name?(tokens, index, rest)
    end)
  end

  # Colons and numbers.
  defp fault(:no_colon, a), do: at(a, &colon?/1, fn _ -> [text(" ")] end)
  defp fault(:equals, a), do: every(a, &colon?/1, fn _ -> [text(Enum.random([" = ", "="]))] end)
  defp fault(:arrow, a), do: every(a, &colon?/1, fn _ -> [text(" => ")] end)
  defp fault(:plus, a), do: number(a, &(&1 > 0), &("+" <> &1))

  defp fault(:point_last, a),
    do: number(a, &(is_float(&1) and trunc(&1) == &1), &String.trim_trailing(&1, "0"))

  defp fault(:point_first, a),
    do: number(a, &(is_float(&1) and abs(&1) < 1), &String.replace(&1, "0.", "."))

  defp fault(:underscores, a), do: number(a, &(is_integer(&1) and &1 > 999), &grouped(&1, "_"))
  defp fault(:thousands, a), do: number(a, &(abs(&1) >= 1000), &grouped(&1, ","), &member?/2)

  # Dots.
  defp fault(:ellipsis, a) do
    dots = Enum.random(["...", "…"])
    at(a, &close?/1, &[text(", " <> dots), &1])
  end

  defp fault(:ellipsis_quoted, a) do
    at(a, &match?({:close, "]", _}, &1), &[text(",\n// ... more\n"), &1])
  end

  # The whole answer.
  defp fault(:twice, a),
    do: %{a | tokens: a.tokens ++ [text(Enum.random(["\n", "\n\n", " ", ""])) | a.tokens]}

  defp fault(:twice_with_words, a),
    do: %{a | tokens: a.tokens ++ [text("\n\nHere is the final JSON:\n\n") | a.tokens]}

  defp fault(:bold, a),
    do: at(a, &match?({:value, _, _, _}, &1), &[text("**"), &1, text("**")])

  # Faults that need a type.
  defp fault(:camel_keys, a), do: spelled(a, :every, &camel/1)
  defp fault(:one_camel, a), do: spelled(a, :one, &camel/1)
  defp fault(:kebab_keys, a), do: spelled(a, :every, &String.replace(&1, "_", "-"))
  defp fault(:title_keys, a), do: spelled(a, :every, &title/1)
  defp fault(:upper_keys, a), do: spelled(a, :every, &String.upcase/1)

  defp fault(:bare_element, a), do: unlisted(a, &(not is_map(&1)))
  defp fault(:bare_object, a), do: unlisted(a, &is_map/1)
  defp fault(:string_of_list, a), do: stringified(a, "[")
  defp fault(:string_of_object, a), do: stringified(a, "{")
  defp fault(:quoted_number, a), do: number(a, fn _ -> true end, &~s("#{&1}"))

  defp fault(:quoted_boolean, a) do
    quoted = fn {:value, word, _type, _path} -> [text(~s("#{word}"))] end
    at(a, &match?({:value, word, _, _} when is_boolean(word), &1), quoted)
  end

  defp fault(:all_quoted, a) do
    every(
      a,
      &match?({:value, value, _, _} when is_number(value) or is_boolean(value), &1),
      fn token ->
        [text(~s("#{Codec.encode!(elem(token, 1))}"))]
      end
    )
  end

  defp fault(:json_lines, %{type: {:list, {:map, _}}, value: [_, _ | _]} = a) do
    {:list, of} = a.type
    lines = for value <- a.value, do: value |> Tokens.of(of, {"", "", nil}) |> Tokens.text()
    %{a | tokens: [text(Enum.join(lines, "\n"))]}
  end

  defp fault(:json_lines, _answer), do: nil

  # Truncated after a field that is followed only by optional ones.
  defp fault(:cut_optional, %{type: {:map, fields}, value: value} = a) do
    with index when is_integer(index) <-
           Enum.find_index(Enum.reverse(fields), fn {_, type} ->
             not match?({:optional, _}, type)
           end),
         true <- index > 0 do
      kept = Enum.drop(fields, -index)
      tail = Enum.random(["", ",", ", ", "\n", ",\n  "])
      value = Map.take(value, Enum.map(kept, &elem(&1, 0)))
      tokens = value |> Tokens.of({:map, kept}, {" ", " ", nil}) |> Enum.drop(-1)
      %{a | value: value, tokens: tokens ++ [text(tail)]}
    else
      _all_required -> nil
    end
  end

  defp fault(:cut_optional, _answer), do: nil

  # Helpers.

  defp text(text), do: {:text, text}
  defp json(string), do: Codec.encode!(string)
  defp content({:key, name, _path}), do: name
  defp content({:value, string, _type, _path}), do: string

  defp comma?(token), do: match?({:comma, _, _}, token)
  defp colon?(token), do: match?({:colon, _}, token)
  defp close?(token), do: match?({:close, _, _}, token)
  defp key?(token), do: match?({:key, _, _}, token)
  defp string?({:key, _name, _path}), do: true
  defp string?({:value, string, _type, _path}), do: is_binary(string)
  defp string?(_token), do: false
  defp word?({:value, word, _type, _path}), do: word in [true, false, nil]
  defp word?(_token), do: false
  defp words?(token), do: value?(token, &(&1 =~ ~r/^\p{L}[^"\\\n\t]*$/u))

  defp several?(token),
    do: value?(token, &(&1 =~ ~r/^\p{L}[^"\\\n\t]* [^"\\\n\t]*\p{L} [^"\\\n\t]*$/u))

  defp holds?(token, part),
    do: value?(token, &(String.contains?(&1, part) and not (&1 =~ ~r/["\\]/)))

  defp plain?(token),
    do: value?(token, &(&1 =~ ~r/^\p{L}[\p{L} ]*$/u and &1 not in ["true", "false", "null"]))

  defp value?({:value, string, _type, _path}, test) when is_binary(string), do: test.(string)
  defp value?(_token, _test), do: false

  defp lines?(a), do: Enum.any?(a.tokens, &match?({:blank, "\n" <> _}, &1))

  # Without the comma, `1 2` are still two tokens.
  defp apart?(tokens, index) do
    before = Enum.at(tokens, index - 1)
    after_ = Enum.at(tokens, index + 1)
    ends? = Tokens.text([before]) |> String.ends_with?(["\"", "]", "}"])
    ends? or not match?({:blank, ""}, after_)
  end

  defp member?(tokens, index),
    do:
      match?(
        [{:colon, _} | _],
        tokens |> Enum.take(index) |> Enum.reverse() |> Enum.reject(&match?({:blank, _}, &1))
      )

  defp find(a, match, where \\ fn _, _ -> true end) do
    found =
      for {token, index} <- Enum.with_index(a.tokens),
          match.(token),
          where.(a.tokens, index),
          do: {index, token}

    if found == [], do: nil, else: Enum.random(found)
  end

  defp at(a, match, change, where \\ fn _, _ -> true end) do
    with {index, token} <- find(a, match, where), do: replace(a, index, change.(token))
  end

  defp replace(a, index, tokens),
    do: %{a | tokens: Enum.take(a.tokens, index) ++ tokens ++ Enum.drop(a.tokens, index + 1)}

  defp every(a, match, change) do
    if Enum.any?(a.tokens, match),
      do: %{a | tokens: Enum.flat_map(a.tokens, &if(match.(&1), do: change.(&1), else: [&1]))}
  end

  defp before_close(a, text), do: at(a, &close?/1, &[text(text), &1])

  # At the end of a line, after the comma if there is one.
  defp comment(a, note) do
    with true <- lines?(a), {index, _} <- find(a, &match?({:blank, "\n" <> _}, &1)) do
      replace(a, index, [text(" " <> note), Enum.at(a.tokens, index)])
    else
      _one_line -> nil
    end
  end

  defp drop_ends(a, count) do
    tokens = Enum.reverse(a.tokens)
    ends = Enum.take_while(tokens, &(close?(&1) or match?({:blank, _}, &1)))
    last = Enum.at(tokens, length(ends))
    closing = ends |> Enum.filter(&close?/1) |> length()

    if closing >= count and match?({:value, _, _, _}, last) do
      {dropped, _} =
        Enum.reduce(tokens, {[], count}, fn
          token, {kept, 0} -> {[token | kept], 0}
          {:close, _, _}, {kept, left} -> {kept, left - 1}
          {:blank, _}, state -> state
          token, {kept, left} -> {[token | kept], left}
        end)

      %{a | tokens: dropped}
    end
  end

  defp open_less([{:open, "{", [], _type}, _blank | rest]), do: rest
  defp open_less(tokens), do: tokens

  # Whether the next key belongs to an object that is not closed.
  defp same_name?(tokens, index, [_comma, {:key, name, _path} | _rest]) do
    {:close, _bracket, path} = Enum.at(tokens, index)

    Enum.any?(tokens, fn
      {:key, ^name, key_path} -> Enum.drop(key_path, -1) == path
      _other -> false
    end)
  end

  defp number(a, test, change, where \\ fn _, _ -> true end) do
    at(
      a,
      &(match?({:value, value, _, _} when is_number(value), &1) and test.(elem(&1, 1))),
      fn {:value, value, _type, _path} -> [text(change.(Codec.encode!(value)))] end,
      where
    )
  end

  defp grouped(digits, sign) do
    [whole | fraction] = String.split(digits, ".")
    whole = Regex.replace(~r/(?<=\d)(?=(\d{3})+$)/, whole, sign)
    Enum.join([whole | fraction], ".")
  end

  defp spelled(a, how, spell) do
    other? = &(key?(&1) and spell.(content(&1)) != content(&1))
    change = &[text(json(spell.(content(&1))))]

    case how do
      :every -> every(a, other?, change)
      :one -> at(a, other?, change)
    end
  end

  defp camel(name) do
    [first | rest] = String.split(name, "_")
    Enum.join([first | Enum.map(rest, &String.capitalize/1)])
  end

  defp title(name), do: name |> String.split("_") |> Enum.map_join(" ", &String.capitalize/1)

  # A list of one element, without its brackets.
  defp unlisted(a, test) do
    one = fn
      {:open, "[", path, _type} ->
        match?([value] when value != nil, get(a.value, path)) and test.(hd(get(a.value, path))) and
          path != []

      _token ->
        false
    end

    with {index, {:open, "[", path, _type}} <- find(a, one) do
      {before, [_open, _blank | rest]} = Enum.split(a.tokens, index)
      {inside, [_close | behind]} = Enum.split_while(rest, &(&1 != {:close, "]", path}))
      %{a | tokens: before ++ Enum.drop(inside, -1) ++ behind}
    end
  end

  defp stringified(a, bracket) do
    with {index, {:open, _bracket, path, type}} <-
           find(a, &match?({:open, ^bracket, [_ | _], _}, &1)) do
      {before, rest} = Enum.split(a.tokens, index)
      close = if bracket == "[", do: "]", else: "}"
      {_inside, [_close | behind]} = Enum.split_while(rest, &(&1 != {:close, close, path}))
      inner = get(a.value, path) |> Tokens.of(type, Tokens.style()) |> Tokens.text()
      %{a | tokens: before ++ [text(json(inner)) | behind]}
    end
  end

  defp get(value, path), do: Enum.reduce(path, value, fn step, value -> fetch(value, step) end)
  defp fetch(value, step) when is_integer(step), do: Enum.at(value, step)
  defp fetch(value, step), do: Map.fetch!(value, step)

  defp put(_value, [], new), do: new

  defp put(value, [step | rest], new) when is_integer(step),
    do: List.update_at(value, step, &put(&1, rest, new))

  defp put(value, [step | rest], new), do: Map.update!(value, step, &put(&1, rest, new))

  defp single(string) do
    inside = string |> json() |> String.slice(1..-2//1) |> String.replace(~S(\"), ~S("))
    "'" <> String.replace(inside, "'", "\\'") <> "'"
  end

  # As Python writes a string.
  defp repr(string) do
    if String.contains?(string, "'") and not String.contains?(string, "\""),
      do: json(string),
      else: single(string)
  end

  defp smart(string), do: "“" <> (string |> json() |> String.slice(1..-2//1)) <> "”"
  defp python(true), do: "True"
  defp python(false), do: "False"
  defp python(nil), do: "None"
  defp drop_first(string), do: String.slice(string, 1..-1//1)
  defp drop_last(string), do: String.slice(string, 0..-2//1)
end

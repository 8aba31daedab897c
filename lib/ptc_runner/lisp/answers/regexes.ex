defmodule PtcRunner.Lisp.Answers.Regexes do
  @moduledoc false
  # The built-ins for regular expressions, and `split` and `replace` with one.

  alias PtcRunner.Lisp.{Answers, Regex}
  alias PtcRunner.Lisp.Answers.{Patterns, Replacement, Search}

  # Maximum bytes of a text in which is searched.
  @most 32_768

  @doc """
  Evaluates a built-in. It ends at the limits: a time in milliseconds, and words.

      iex> alias PtcRunner.Lisp.{Answers.Regexes, Regex}
      iex> digits = %Regex{source: "\\\\d+"}
      iex> {{true, found}, _patterns} = Regexes.answer("re-seq", [digits, "1 or 22"], {:infinity, 0}, %{})
      iex> found
      ["1", "22"]
      iex> {{true, parts}, _patterns} = Regexes.answer("re-split", [digits, "a1b"], {:infinity, 0}, %{})
      iex> parts
      ["a", "b"]

  """
  @spec answer(String.t(), [term()], Search.limits(), Patterns.t()) ::
          {Answers.answer(), Patterns.t()}
  def answer("re-pattern", [source], _limits, patterns) when is_binary(source) do
    case Patterns.compiled(source, patterns) do
      {:ok, _compiled, patterns} -> {{true, %Regex{source: source}}, patterns}
      {:error, why} -> {wrong(why), patterns}
    end
  end

  def answer(name, args, {until, _max_heap} = limits, patterns) do
    case searched(name, args) do
      {key, text, found} ->
        with {:ok, compiled, patterns} <- Patterns.compiled(key, patterns) do
          found = Search.within(text, limits, &found.(compiled, &1, until))
          {answered(found, name, args), patterns}
        else
          {:error, why} -> {wrong(why), patterns}
        end

      :invalid_types ->
        {Answers.invalid_types(name, args), patterns}
    end
  end

  defp answered({:ok, value}, _name, _args), do: {true, value}

  defp answered({:error, limit}, _name, _args) when limit in [:timeout, :memory_exceeded],
    do: {:error, limit}

  defp answered({:error, :not_utf8}, name, args), do: Answers.invalid_types(name, args)

  defp answered({:error, :too_complex}, _name, _args),
    do: Answers.type_error("Regex complexity limit exceeded (ReDoS protection)")

  defp wrong(:too_long),
    do:
      Answers.runtime_error(
        "Regex pattern exceeds maximum length of #{Patterns.most_bytes()} bytes"
      )

  defp wrong({text, place}),
    do: Answers.runtime_error("Invalid regex at position #{place}: #{text}")

  # Which pattern is searched in which text, and what is made of it.
  defp searched("re-find", [%Regex{source: source}, text]) when is_binary(text),
    do: {source, cut(text), &find/3}

  defp searched("re-matches", [%Regex{source: source}, text]) when is_binary(text),
    do: {{:whole, source}, cut(text), &find/3}

  defp searched("re-seq", [%Regex{source: source}, text]) when is_binary(text),
    do: {source, cut(text), &seq/3}

  defp searched("re-split", [%Regex{source: source}, text]) when is_binary(text),
    do: {source, cut(text), &split/3}

  defp searched("split", [text, %Regex{source: source}]) when is_binary(text),
    do: {source, text, &split/3}

  defp searched("replace", [text, %Regex{source: source}, with])
       when is_binary(text) and is_binary(with),
       do: {source, text, &replace(&1, &2, &3, with)}

  defp searched("extract", [regex, text | more]) do
    case {source(regex), more} do
      {source, []} when source != nil and is_binary(text) ->
        {source, cut(text), &group(&1, &2, &3, 1)}

      {source, [group]} when source != nil and is_binary(text) and is_integer(group) ->
        {source, cut(text), &group(&1, &2, &3, group)}

      _other ->
        :invalid_types
    end
  end

  defp searched("extract-int", [regex, text | more]) do
    {group, default} =
      case more do
        [] -> {1, nil}
        [group] -> {group, nil}
        [group, default] -> {group, default}
      end

    if source(regex) != nil and is_binary(text) and is_integer(group),
      do: {source(regex), cut(text), &integer(&1, &2, &3, group, default)},
      else: :invalid_types
  end

  defp searched(_name, _args), do: :invalid_types

  defp source(%Regex{source: source}), do: source
  defp source(source) when is_binary(source), do: source
  defp source(_other), do: nil

  # The beginning of a long text, up to a whole character.
  defp cut(text) when byte_size(text) <= @most, do: text
  defp cut(text), do: whole(text, @most)

  defp whole(text, bytes) when bytes > @most - 4 do
    if bytes < byte_size(text) and :binary.at(text, bytes) in 0x80..0xBF,
      do: whole(text, bytes - 1),
      else: binary_part(text, 0, bytes)
  end

  defp whole(text, _bytes), do: binary_part(text, 0, @most)

  defp find(compiled, text, _until) do
    with {:ok, match} when match != nil <- Patterns.first(text, compiled),
         do: {:ok, texts(match, text)}
  end

  defp seq(compiled, text, until) do
    with {:ok, matches} <- Patterns.all(text, compiled, until),
         do: {:ok, Enum.map(matches, &texts(&1, text))}
  end

  # The text of a match, or the list of it and its groups.
  defp texts([place], text), do: part(text, place)
  defp texts(places, text), do: Enum.map(places, &part(text, &1))

  defp part(_text, {-1, _length}), do: ""
  defp part(text, {start, length}), do: binary_part(text, start, length)

  defp group(compiled, text, _until, group) do
    with {:ok, match} when match != nil <- Patterns.first(text, compiled) do
      case group >= 0 and Enum.at(match, group) do
        {start, length} when start >= 0 -> {:ok, binary_part(text, start, length)}
        _none -> {:ok, nil}
      end
    end
  end

  defp integer(compiled, text, until, group, default) do
    with {:ok, found} when found != nil <- group(compiled, text, until, group),
         {integer, ""} <- Integer.parse(found) do
      {:ok, integer}
    else
      {:error, _reason} = error -> error
      _none -> {:ok, default}
    end
  end

  # The parts between the matches, with the groups, also those that did not match. An empty match at the start of a part ends none.
  defp split(compiled, text, until) do
    with {:ok, matches} <- Patterns.all(text, compiled, until),
         do: {:ok, parts(matches, text, 0, elem(compiled, 1), [])}
  end

  defp parts([[{start, 0} | _] | matches], text, start, groups, made),
    do: parts(matches, text, start, groups, made)

  defp parts([[{start, length} | found] | matches], text, from, groups, made) do
    made = put_groups(found, text, groups, [binary_part(text, from, start - from) | made])
    parts(matches, text, start + length, groups, made)
  end

  defp parts([], text, from, _groups, made),
    do: Enum.reverse([binary_part(text, from, byte_size(text) - from) | made])

  defp put_groups(_found, _text, 0, made), do: made
  defp put_groups([], text, groups, made), do: put_groups([], text, groups - 1, ["" | made])

  defp put_groups([place | found], text, groups, made),
    do: put_groups(found, text, groups - 1, [part(text, place) | made])

  defp replace(compiled, text, until, with) do
    with {:ok, matches} <- Patterns.all(text, compiled, until),
         do: {:ok, Replacement.all(matches, text, Replacement.read(with))}
  end
end

defmodule PtcRunner.Test.Oracle.Pattern do
  @moduledoc false
  # Patterns, by the engine of Erlang: for the syntax that it shares with the `regex` crate.

  import PtcRunner.Test.Oracle.Fail, only: [fail: 1]

  @doc "Fails for what is no pattern. The text after the colon is that of the crate, so it is left out."
  @spec check(String.t()) :: :ok
  def check(pattern) do
    case compiled(pattern) do
      {:ok, _regex} -> :ok
      {:error, _reason} -> fail("Field 'pattern' is not a valid regular expression: …")
    end
  end

  @doc "Whether a text has a match. What is not UTF-8 has none."
  @spec matches?(String.t(), binary()) :: boolean()
  def matches?(pattern, text),
    do: String.valid?(text) and search(regex(pattern), text, 0) != nil

  @doc "What the first match gives, or the list of what each match gives."
  @spec extract(String.t(), String.t(), boolean()) :: term()
  def extract(pattern, text, all?) do
    regex = regex(pattern)

    if all?,
      do: regex |> matches(text, 0, nil) |> Enum.map(&given(&1, regex, pattern, text)),
      else: regex |> search(text, 0) |> given(regex, pattern, text)
  end

  defp regex(pattern) do
    {:ok, regex} = compiled(pattern)
    regex
  end

  # `$` does not match before a newline at the end.
  defp compiled(pattern), do: Regex.compile(pattern, [:unicode, :ucp, :dollar_endonly])

  # The places of the groups of the first match from an offset, the whole match first; nil for none.
  defp search(_regex, text, offset) when offset > byte_size(text), do: nil

  defp search(regex, text, offset),
    do: Regex.run(regex, text, return: :index, offset: offset, capture: :all)

  # An empty match at the end of the match before is left out.
  defp matches(regex, text, offset, last_end) do
    case search(regex, text, offset) do
      nil -> []
      [{^last_end, 0} | _groups] -> matches(regex, text, after_char(text, last_end), nil)
      [{start, size} | _] = found -> [found | matches(regex, text, start + size, start + size)]
    end
  end

  defp after_char(text, offset) do
    case binary_part(text, offset, byte_size(text) - offset) do
      <<char::utf8, _::binary>> -> offset + byte_size(<<char::utf8>>)
      _ -> offset + 1
    end
  end

  defp given(nil, _regex, _pattern, _text), do: nil

  defp given([whole | groups], regex, pattern, text) do
    case {Regex.names(regex), groups_of(pattern)} do
      {[], []} ->
        part(whole, text)

      {[], names} ->
        for {_name, n} <- Enum.with_index(names), do: groups |> Enum.at(n) |> part(text)

      {_, names} ->
        for {name, n} <- Enum.with_index(names),
            name,
            into: %{},
            do: {name, groups |> Enum.at(n) |> part(text)}
    end
  end

  defp part(nil, _text), do: nil
  defp part({-1, 0}, _text), do: nil
  defp part({start, size}, text), do: binary_part(text, start, size)

  # The groups of a pattern in their order: their names, nil for a group without one.
  defp groups_of(pattern) do
    ~r/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?P?<([A-Za-z_][A-Za-z0-9_]*)>|(?!\?))/su
    |> Regex.scan(pattern)
    |> Enum.flat_map(fn
      ["(?" <> _, name] -> [name]
      ["("] -> [nil]
      _ -> []
    end)
  end
end

defmodule PtcRunner.SubAgent.Signature.FromEcto.Pattern do
  @moduledoc false
  # Regular expressions of Elixir in the syntax of the rule `pattern`. What both mean differently is written in another way. What that
  # syntax does not have, such as look-around, is found where the rule is checked.

  # Without the flag `u`, these are ASCII.
  @sets %{
    ?d => "[0-9]",
    ?D => "[^0-9]",
    ?w => "[0-9A-Za-z_]",
    ?W => "[^0-9A-Za-z_]",
    ?s => ~S([\t\n\x0B\f\r ]),
    ?S => ~S([^\t\n\x0B\f\r ])
  }
  @flags [{"i", :caseless}, {"m", :multiline}, {"s", :dotall}, {"x", :extended}]
  # Options that do not change which texts are found.
  @silent ["u", :unicode, :ucp, "U", :ungreedy, :export, {:newline, :anycrlf}]

  @doc """
  The pattern of a regular expression, or why it has none.

      iex> alias PtcRunner.SubAgent.Signature.FromEcto.Pattern
      iex> Pattern.of(~r/\\A\\d{3}-[a-z]+\\z/i)
      {:ok, "(?i)^[0-9]{3}-[a-z]+$"}
      iex> Pattern.of(~r/a(?=b)/)
      {:error, "it has a look-around"}

  """
  @spec of(Regex.t()) :: {:ok, String.t()} | {:error, String.t()}
  def of(%Regex{} = regex) do
    opts = regex |> Regex.opts() |> listed()
    unicode? = "u" in opts or :unicode in opts
    flags = for {letter, name} <- @flags, letter in opts or name in opts, do: letter

    case opts -- (Enum.flat_map(@flags, &Tuple.to_list/1) ++ @silent) do
      [] ->
        many? = "m" in flags

        with {:ok, pattern} <- outside(regex.source, [], {unicode?, many?}) do
          flags = if flags == [], do: "", else: "(?#{flags})"
          {:ok, flags <> pattern}
        end

      [flag | _] ->
        {:error, "it has the flag #{inspect(flag)}"}
    end
  end

  # Until Elixir 1.18 the options are a text.
  defp listed(opts) when is_binary(opts), do: String.graphemes(opts)
  defp listed(opts), do: opts

  defp outside("", done, _how), do: {:ok, done |> Enum.reverse() |> IO.iodata_to_binary()}

  defp outside(<<"(?", rest::binary>>, done, how) do
    case rest do
      <<char, _::binary>> when char in ~c"=!" -> {:error, "it has a look-around"}
      <<"<", char, _::binary>> when char in ~c"=!" -> {:error, "it has a look-around"}
      <<char, _::binary>> when char in ~c">|(&R#" -> {:error, "it has a group of a special kind"}
      _group -> outside(rest, ["(?" | done], how)
    end
  end

  defp outside("(*" <> _rest, _done, _how), do: {:error, "it has a verb"}
  defp outside("[^" <> rest, done, how), do: first(rest, ["[^" | done], how)
  defp outside("[" <> rest, done, how), do: first(rest, ["[" | done], how)

  # At the ends of the text, also where lines are told apart.
  defp outside("\\A" <> rest, done, {_, many?} = how),
    do: outside(rest, [if(many?, do: "\\A", else: "^") | done], how)

  defp outside(<<"\\", char, rest::binary>>, done, {_, many?} = how) when char in ~c"zZ",
    do: outside(rest, [if(many?, do: "\\z", else: "$") | done], how)

  defp outside("\\b" <> rest, done, {false, _} = how),
    do: outside(rest, ["(?-u:\\b)" | done], how)

  defp outside("\\h" <> rest, done, how), do: outside(rest, ["[\\t ]" | done], how)

  defp outside("\\" <> rest, done, how) do
    with {:ok, text, rest} <- escape(rest, how), do: outside(rest, [text | done], how)
  end

  defp outside(<<char::utf8, rest::binary>>, done, how),
    do: outside(rest, [<<char::utf8>> | done], how)

  defp outside(_other, _done, _how), do: {:error, "it is not UTF-8"}

  # A bracket that is the first in a class does not close it.
  defp first("]" <> rest, done, how), do: inside(rest, ["\\]" | done], how)
  defp first(rest, done, how), do: inside(rest, done, how)

  defp inside("", _done, _how), do: {:error, "a class is not closed"}
  defp inside("]" <> rest, done, how), do: outside(rest, ["]" | done], how)

  defp inside("[:" <> rest, done, how) do
    case String.split(rest, ":]", parts: 2) do
      [name, rest] -> inside(rest, ["[:#{name}:]" | done], how)
      [_open] -> inside(rest, ["\\[:" | done], how)
    end
  end

  defp inside("\\b" <> rest, done, how), do: inside(rest, ["\\x08" | done], how)
  defp inside("\\h" <> rest, done, how), do: inside(rest, ["\\t " | done], how)

  defp inside("\\" <> rest, done, how) do
    with {:ok, text, rest} <- escape(rest, how), do: inside(rest, [text | done], how)
  end

  # Two of these are operators on classes.
  defp inside(<<char, char, rest::binary>>, done, how) when char in ~c"&~-",
    do: inside(rest, [<<?\\, char, ?\\, char>> | done], how)

  defp inside("[" <> rest, done, how), do: inside(rest, ["\\[" | done], how)

  defp inside(<<char::utf8, rest::binary>>, done, how),
    do: inside(rest, [<<char::utf8>> | done], how)

  defp inside(_other, _done, _how), do: {:error, "it is not UTF-8"}

  defp escape(<<char, rest::binary>>, {false, _}) when is_map_key(@sets, char),
    do: {:ok, Map.fetch!(@sets, char), rest}

  # Angle brackets begin and end words in the syntax of rules.
  defp escape(<<char, rest::binary>>, _how) when char in ~c"<>", do: {:ok, <<char>>, rest}
  defp escape("e" <> rest, _how), do: {:ok, "\\x1B", rest}
  defp escape("/" <> rest, _how), do: {:ok, "/", rest}

  defp escape(<<char, _rest::binary>>, _how) when char in ?1..?9 or char in ~c"gk",
    do: {:error, "it has a reference to a group"}

  defp escape(<<char, _rest::binary>>, _how) when char in ~c"BKGQERXNCH",
    do: {:error, "it has \\#{<<char>>}"}

  defp escape(<<char::utf8, rest::binary>>, _how), do: {:ok, "\\" <> <<char::utf8>>, rest}
  defp escape(_nothing, _how), do: {:error, "it ends with a backslash"}
end

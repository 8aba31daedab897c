defmodule PtcRunner.Json.ExactArguments do
  @moduledoc false
  # Numbers in the text of a program that end in a decimal argument of a tool. A number that is not the value of its float becomes the text of
  # its digits there, which is converted exactly. A number that also ends elsewhere stays: the program may compute with it.
  #
  #   text ──marks──▶ numbers are marks ──▶ what each argument can be ──▶ where the marks end ──▶ text
  #
  # What an argument can be is found through the operations that choose or bind a value and do not change it.

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Json.{Codec, Limits, NumberTokens, Program}
  alias PtcRunner.Json.ExactArguments.Forms
  alias PtcRunner.SubAgent.Signature.Exact

  # A number that may not be the value of its float: with many digits, or with a large exponent.
  @long ~r/[0-9.]{16}|[eE][+-]?[0-9]{3}/

  # Limits of decoding, which is done again when the program runs. A number must not lose digits because the machine is busy.
  @limits [timeout: Limits.text_timeout(), max_heap: 0]
  @compiling {Limits.text_timeout(), 0}

  @doc """
  A program for these tools, by their names or as a list. A compiled program is compiled again of its text. A program that has no text is returned as it
  is, and so is any program if there are no tools.

      iex> tool = %PtcRunner.Agent.Tool{name: "pay", fun: & &1, signature: {:signature, [{"sum", :decimal}], :any}}
      iex> program = ~s({"program": {"op": "call", "tool": "pay", "args": {"sum": 12345678901234567.89}}})
      iex> PtcRunner.Json.ExactArguments.quoted(program, %{"pay" => tool})
      ~s({"program": {"op": "call", "tool": "pay", "args": {"sum": "12345678901234567.89"}}})
      iex> PtcRunner.Json.ExactArguments.quoted(program, %{"pay" => & &1}) == program
      true

  """
  @spec quoted(term(), term()) :: term()
  def quoted(program, tools)
      when tools == %{} or tools == [] or not (is_map(tools) or is_list(tools)),
      do: program

  def quoted(%Program{source: text} = program, tools) when is_binary(text) do
    case quoted(text, tools) do
      ^text -> program
      other -> again(program, other)
    end
  end

  def quoted(text, tools) when is_binary(text) do
    with true <- any_terms?(tools),
         true <- text =~ @long,
         [_ | _] = tools <- with_decimals(tools),
         {marked, count, mark} when count > 0 <- marked(text),
         {:ok, program} <- Codec.decode(marked, @limits),
         [_ | _] = wanted <- wanted(program, Map.new(tools), mark),
         do: replaced(text, MapSet.new(wanted)),
         else: (_none -> text)
  end

  def quoted(program, _tools), do: program

  @doc """
  A program that is read before its run: as `quoted/2`, if it has a number that no float can hold and is no JSON otherwise. Any other
  one keeps the places of its findings.

      iex> tool = %PtcRunner.Agent.Tool{name: "pay", fun: & &1, signature: {:signature, [{"sum", :decimal}], :any}}
      iex> program = &~s({"program": {"op": "call", "tool": "pay", "args": {"sum": \#{&1}}}})
      iex> PtcRunner.Json.ExactArguments.readable(program.("1e400"), %{"pay" => tool}) == program.(~s("1e400"))
      true
      iex> PtcRunner.Json.ExactArguments.readable(program.("12345678901234567.89"), %{"pay" => tool}) == program.("12345678901234567.89")
      true

  """
  @spec readable(term(), map() | nil) :: term()
  def readable(text, tools) when is_binary(text) and is_map(tools) and tools != %{},
    do: if(NumberTokens.large?(text), do: quoted(text, tools), else: text)

  def readable(program, _tools), do: program

  @doc """
  The JSON of a program that `find` finds in a text, if the text has numbers that no float can hold, and all of these end in decimals.

      iex> tool = %PtcRunner.Agent.Tool{name: "pay", fun: & &1, signature: {:signature, [{"sum", :decimal}], :any}}
      iex> program = &~s({"program": {"op": "call", "tool": "pay", "args": {"\#{&1}": 1e400}}})
      iex> find = &PtcRunner.SubAgent.JsonParser.find(&1, [])
      iex> PtcRunner.Json.ExactArguments.found("It is " <> program.("sum"), [tool], find)
      {:ok, ~s({"program": {"op": "call", "tool": "pay", "args": {"sum": "1e400"}}})}
      iex> PtcRunner.Json.ExactArguments.found("It is " <> program.("id"), [tool], find)
      :error

  """
  @spec found(String.t(), [Tool.t()], (String.t() -> {:ok, String.t()} | {:error, term()})) ::
          {:ok, String.t()} | :error
  def found(text, tools, find) do
    with true <- tools != [] and NumberTokens.large?(text),
         {marked, count, mark} when count > 0 <- marked(text),
         {:ok, json} <- find.(marked),
         exact = json |> unmarked(mark) |> quoted(tools),
         nil <- NumberTokens.with_large_quoted(exact),
         do: {:ok, exact},
         else: (_not_exact -> :error)
  end

  defp unmarked(json, mark),
    do: Regex.replace(~r/"#{Regex.escape(mark)}\d+:([^"]*)"/, json, "\\1")

  defp again(program, text) do
    case Program.with_source(program, text, @compiling) do
      {:ok, program} -> program
      {:error, _limit} -> program
    end
  end

  # A run without such tools takes so little time that `Enum.any?/2` of a map counts.
  defp any_terms?(tools) when is_map(tools), do: tools |> :maps.to_list() |> any_terms?()
  defp any_terms?([tool | rest]), do: terms?(tool) or any_terms?(rest)
  defp any_terms?([]), do: false

  # The text of a signature has no decimals.
  defp terms?({_name, {_fun, options}}) when is_list(options), do: signed?(options)
  defp terms?({_name, {_fun, spec}}), do: not is_binary(spec)
  defp terms?({_name, %Tool{} = tool}), do: terms?(tool)
  defp terms?(%Tool{signature: {:signature, params, _result}}), do: params != []
  defp terms?(_other), do: false

  # The run says what is wrong with other lists.
  defp signed?([{:signature, signature} | _rest]),
    do: signature != nil and not is_binary(signature)

  defp signed?([_option | rest]), do: signed?(rest)
  defp signed?(_none), do: false

  defp with_decimals(tools) do
    for form <- tools,
        %Tool{name: name, signature: {:signature, params, _result}} <- [tool(form)],
        Exact.within?({:map, params}),
        do: {name, {:map, params}}
  end

  defp tool(%Tool{} = tool), do: tool
  defp tool({name, %Tool{} = tool}), do: %{tool | name: name}

  defp tool({name, {fun, spec} = form}) when is_function(fun) and not is_binary(spec) do
    Tool.of!(name, form)
  rescue
    # The run says what is wrong.
    _error in ArgumentError -> nil
  end

  defp tool(_function), do: nil

  # The text with a mark in the place of each number that may not be the value of its float, their number, and what marks begin with.
  defp marked(text) do
    mark = mark(text, "number ")
    {text, count} = each_long(text, fn digits, at -> ~s("#{mark}#{at}:#{digits}") end)
    {text, count, mark}
  end

  defp mark(text, mark),
    do: if(String.contains?(text, mark), do: mark(text, mark <> "_"), else: mark)

  defp each_long(text, fun) do
    NumberTokens.each(text, 0, fn digits, at ->
      if kept?(digits), do: {digits, at}, else: {fun.(digits, at), at + 1}
    end)
  end

  # Whether a number is an integer, which has all its digits, or the value of its float.
  defp kept?(token), do: not (token =~ @long) or not (token =~ ~r/[.eE]/)

  defp replaced(text, wanted) do
    {text, _count} =
      each_long(text, fn digits, at -> if at in wanted, do: ~s("#{digits}"), else: digits end)

    text
  end

  # The numbers that end in decimals, and nowhere else.
  defp wanted(program, tools, mark) do
    place = fn name, args, found ->
      case tools do
        %{^name => type} -> args |> beside(placed(args, type, mark), mark, found)
        %{} -> Forms.elsewhere(args, mark, found)
      end
    end

    found = Forms.found(program, mark, place)
    MapSet.to_list(MapSet.difference(found.wanted, found.elsewhere))
  end

  defp placed(args, type, mark) do
    args
    |> Forms.each_mark(mark, fn _at, digits -> {0.0, digits} end)
    |> Exact.placed(type)
  end

  # Arguments beside what they are with decimals in their places.
  defp beside(value, placed, mark, found) do
    case Forms.mark(value, mark) do
      {at, _digits} when is_float(placed) -> Forms.put(found, :elsewhere, at)
      {at, _digits} -> Forms.put(found, :wanted, at)
      nil -> parts(value, placed, mark, found)
    end
  end

  defp parts(map, placed, mark, found) when is_map(map) and is_map(placed) do
    Enum.reduce(map, found, fn {key, value}, found ->
      beside(value, Map.fetch!(placed, key), mark, found)
    end)
  end

  defp parts([first | rest], [placed | others], mark, found),
    do: parts(rest, others, mark, beside(first, placed, mark, found))

  defp parts(_other, _placed, _mark, found), do: found
end

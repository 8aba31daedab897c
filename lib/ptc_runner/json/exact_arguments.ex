defmodule PtcRunner.Json.ExactArguments do
  @moduledoc false
  # Numbers that stand in the text of a program as arguments of tools: where the tool declares a decimal, the number becomes the text of its
  # digits, which is converted exactly. A number that is the value of its float stays, and so does one that stands elsewhere in the program too.

  alias PtcRunner.{Aligned, Native, Quanta}
  alias PtcRunner.Agent.Tool
  alias PtcRunner.SubAgent.Signature.Exact
  require Quanta

  # A number that may not be the value of its float: with many digits, or with a large exponent.
  @long ~r/[0-9.]{17}|[eE][+-]?[0-9]{3}/
  @token ~r/"(?:[^"\\]|\\.)*+"|-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?/s

  # Milliseconds for the text of a program, which is read again when it runs.
  @limits {1_000, 0}

  @doc """
  A program for these tools, by their names or as a list. Any program that is no text is returned as it is.

      iex> tool = %PtcRunner.Agent.Tool{name: "pay", fun: & &1, signature: {:signature, [{"sum", :decimal}], :any}}
      iex> program = ~s({"program": {"op": "call", "tool": "pay", "args": {"sum": 12345678901234567.89}}})
      iex> PtcRunner.Json.ExactArguments.quoted(program, %{"pay" => tool})
      ~s({"program": {"op": "call", "tool": "pay", "args": {"sum": "12345678901234567.89"}}})
      iex> PtcRunner.Json.ExactArguments.quoted(program, %{"pay" => & &1}) == program
      true

  """
  @spec quoted(term(), map() | [Tool.t()]) :: term()
  def quoted(text, tools) when is_binary(text) and tools != %{} and tools != [] do
    with true <- Enum.any?(tools, &terms?/1),
         true <- text =~ @long,
         [_ | _] = tools <- with_decimals(tools),
         {:ok, program} <- decoded(text),
         {[_ | _] = wanted, others} <- numbers(program, Map.new(tools)),
         [_ | _] = digits <- wanted -- others,
         do: replaced(text, MapSet.new(digits)),
         else: (_none -> text)
  end

  def quoted(program, _tools), do: program

  # The text of a signature has no decimals.
  defp terms?({_name, {_fun, spec}}), do: not is_binary(spec)
  defp terms?({_name, %Tool{} = tool}), do: terms?(tool)
  defp terms?(%Tool{signature: {:signature, params, _result}}), do: params != []
  defp terms?(_other), do: false

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

  defp decoded(text) do
    Quanta.finish(Quanta.native(Native.json_decode_exact(Aligned.text(text), @limits)))
  catch
    :error, :nif_panicked -> :error
  end

  # The digits of the numbers that are decimals, and of all others.
  defp numbers(program, tools), do: walk(program, tools, {[], []})

  defp walk(%{"op" => "call", "tool" => name, "args" => args} = call, tools, found)
       when is_map(args) and is_map_key(tools, name) do
    args = plain(args)
    found = beside(args, Exact.placed(args, Map.fetch!(tools, name)), tools, found)
    call |> Map.delete("args") |> walk(tools, found)
  end

  defp walk({_float, digits}, _tools, {wanted, others}), do: {wanted, [digits | others]}

  defp walk(map, tools, found) when is_map(map),
    do: Enum.reduce(map, found, fn {_key, value}, found -> walk(value, tools, found) end)

  defp walk([first | rest], tools, found), do: walk(rest, tools, walk(first, tools, found))
  defp walk(_other, _tools, found), do: found

  # Arguments with the values of their literals.
  defp plain(%{"op" => "literal", "value" => value} = literal) when map_size(literal) == 2,
    do: value

  defp plain(%{"op" => op} = operation) when is_binary(op), do: operation
  defp plain(map) when is_map(map), do: Map.new(map, fn {key, value} -> {key, plain(value)} end)
  defp plain(list) when is_list(list), do: Enum.map(list, &plain/1)
  defp plain(value), do: value

  # Arguments beside what they are with decimals in their places.
  defp beside({_float, digits}, placed, _tools, {wanted, others}) do
    if is_float(placed),
      do: {wanted, [digits | others]},
      else: {[digits | wanted], others}
  end

  defp beside(map, placed, tools, found) when is_map(map) do
    Enum.reduce(map, found, fn {key, value}, found ->
      case value do
        %{"op" => op} when is_binary(op) -> walk(value, tools, found)
        _constant -> beside(value, Map.fetch!(placed, key), tools, found)
      end
    end)
  end

  defp beside([first | rest], [placed | others], tools, found) do
    found =
      case first do
        %{"op" => op} when is_binary(op) -> walk(first, tools, found)
        _constant -> beside(first, placed, tools, found)
      end

    beside(rest, others, tools, found)
  end

  defp beside(_other, _placed, _tools, found), do: found

  defp replaced(text, digits) do
    Regex.replace(@token, text, fn token ->
      if token in digits, do: ~s("#{token}"), else: token
    end)
  end
end

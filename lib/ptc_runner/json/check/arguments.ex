defmodule PtcRunner.Json.Check.Arguments do
  @moduledoc false
  # The arguments of tools that are described by JSON Schemas. Constant ones are judged as the call would judge them; of others, constants
  # in them that break a rule are found.

  alias PtcRunner.Agent.SchemaCall
  alias PtcRunner.Json.{Checked, Program}
  alias PtcRunner.Json.Check.Constants
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.ErrorText

  # Errors of one call that are told.
  @most 5

  @doc """
  The findings of the native check without its notes about calls, and what these calls break.

      iex> data = %{type: {:map, [{"n", {:where, :int, [min: 1]}}]}, others: nil}
      iex> note = {:note, :ruled_call, [], "call", ["t", {:map, [{"n", {:literal, 0}}]}], nil}
      iex> program = %{"program" => %{"op" => "call", "tool" => "t", "args" => %{"n" => 0}}}
      iex> {[], [{:error, finding}]} = PtcRunner.Json.Check.Arguments.found([note], %{schemas: %{"t" => data}}, program)
      iex> {finding.code, finding.message}
      {:wrong_argument, "Tool 't' does not take these arguments: n: expected at least 1, got 0"}

  """
  @spec found([tuple()], map(), term()) :: {[tuple()], [{:error | :warning, Checked.finding()}]}
  def found(findings, known, source) do
    case Enum.split_with(findings, &match?({_, :ruled_call, _, _, _, _}, &1)) do
      {[], findings} ->
        {findings, []}

      {calls, findings} ->
        wrong =
          for {:error, code, path, _op, details, _place} <- findings, do: {path, code, details}

        program = with {:ok, node} <- Program.term(source), do: node
        schemas = Map.get(known, :schemas, %{})

        {findings,
         for {severity, :ruled_call, path, _op, [tool, type], place} <- calls,
             data = schemas[tool],
             {:ok, told} <- [told(wrong, path)],
             {certain, line} <- broken(data, type, Program.inside(program, path), told) do
           certain = if severity == :note, do: certain, else: :warning
           {certain, finding(certain, path, tool, line, place)}
         end}
    end
  end

  # The arguments of which the native check has told an error; nothing more is said where something else is wrong in the call.
  @codes [:wrong_argument, :missing_argument, :unknown_argument]

  defp told(wrong, path) do
    Enum.reduce_while(wrong, {:ok, []}, fn {at, code, details}, {:ok, told} ->
      cond do
        not List.starts_with?(at, path) -> {:cont, {:ok, told}}
        code in @codes -> {:cont, {:ok, [Enum.at(details, 1) | told]}}
        true -> {:halt, :error}
      end
    end)
  end

  defp told?(_path, []), do: false
  defp told?([name | _], told), do: name in told
  defp told?([], _told), do: true

  defp finding(certain, path, tool, line, place) do
    {row, column} = place || {nil, nil}

    %{
      path: ["program" | path],
      message: "Tool '#{Shown.name(tool)}' does not take these arguments: #{line}",
      suggestion: nil,
      line: row,
      column: column,
      code: if(certain == :error, do: :wrong_argument, else: :maybe_wrong_argument)
    }
  end

  defp broken(data, type, node, told) do
    case constant(node) do
      {:ok, args} ->
        errors = data |> SchemaCall.errors(args) |> Enum.reject(&told?(&1.path, told))
        lines = errors |> Enum.take(@most) |> ErrorText.lines(args)
        for line <- lines, do: {:error, line}

      :error ->
        for {certain, path, message} <- Constants.found(type, data.type),
            not told?(path, told),
            do: {certain, "#{joined(path)}: #{message}"}
    end
  end

  defp joined(path),
    do: Enum.map_join(path, ".", fn part -> if part == :each, do: "*", else: Shown.name(part) end)

  # The arguments of a call, if nothing in them is computed.
  defp constant(%{"args" => args}), do: value(args)
  defp constant(%{}), do: {:ok, %{}}
  defp constant(_other), do: :error

  defp value(%{"op" => "literal", "value" => value}), do: {:ok, value}
  defp value(%{"op" => _op}), do: :error

  defp value(map) when is_map(map) and not is_struct(map) do
    with pairs when is_list(pairs) <-
           each(Map.to_list(map), fn {key, part} ->
             with {:ok, part} <- value(part), do: {:ok, {key, part}}
           end),
         do: {:ok, Map.new(pairs)}
  end

  defp value([_ | _] = list) do
    if List.improper?(list),
      do: :error,
      else: with(parts when is_list(parts) <- each(list, &value/1), do: {:ok, parts})
  end

  defp value(constant), do: {:ok, constant}

  defp each(parts, fun) do
    parts
    |> Enum.reduce_while([], fn part, done ->
      case fun.(part) do
        {:ok, part} -> {:cont, [part | done]}
        :error -> {:halt, :error}
      end
    end)
    |> then(&if(is_list(&1), do: Enum.reverse(&1), else: :error))
  end
end

defmodule PtcRunner.Json.Check.Arguments do
  @moduledoc false
  # The arguments of tools. Constant ones are judged as the call would judge them: what a run takes is no error, and what it refuses is
  # one. Of computed ones, constants in them that break a rule are found, and values of a kind that cannot be converted.

  alias PtcRunner.Agent.{Arguments, Tool}
  alias PtcRunner.Json.{Checked, Program}
  alias PtcRunner.Json.Check.Constants
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.KeyNormalizer
  alias PtcRunner.SubAgent.Signature.ErrorText

  # Errors of one call that are told, and the nesting of arguments in which undeclared fields are looked for.
  @most 5
  @deepest 100

  # What the native check says about arguments.
  @codes [:wrong_argument, :missing_argument, :unknown_argument]

  @doc """
  The findings of the native check without its notes about calls and without what a run takes, and what these calls break.

      iex> tool = %PtcRunner.Agent.Tool{name: "t", fun: & &1, signature: {:signature, [{"n", {:where, :int, [min: 1]}}], :any}}
      iex> note = {:note, :ruled_call, [], "call", ["t", {:map, [{"n", {:literal, 0}}]}], nil}
      iex> program = %{"program" => %{"op" => "call", "tool" => "t", "args" => %{"n" => 0}}}
      iex> {[], [{:error, finding}]} = PtcRunner.Json.Check.Arguments.found([note], %{callees: %{"t" => tool}}, program)
      iex> {finding.code, finding.message}
      {:wrong_argument, "Tool 't' does not take these arguments: n: expected at least 1, got 0"}

  """
  @spec found([tuple()], map(), term()) :: {[tuple()], [{:error | :warning, Checked.finding()}]}
  def found(findings, known, source) do
    case Enum.split_with(findings, &match?({_, :ruled_call, _, _, _, _}, &1)) do
      {[], findings} ->
        {findings, []}

      {calls, findings} ->
        program = with {:ok, node} <- Program.term(source), do: node
        callees = Map.get(known, :callees, %{})
        calls = for {_, _, _, _, [name, _], _} = call <- calls, do: {call, callees[name]}

        Enum.reduce(calls, {findings, []}, fn {call, tool}, {findings, found} ->
          {findings, more} = judged(call, tool, program, findings)
          {findings, found ++ more}
        end)
    end
  end

  defp judged(_call, nil, _program, findings), do: {findings, []}

  defp judged({severity, _code, path, _op, [name, type], place}, tool, program, findings) do
    {told, others} = told(findings, path)

    # Nothing more is said where something else is wrong in the call.
    if others != [] do
      {findings, []}
    else
      {untrue, broken} = broken(tool, type, Program.inside(program, path), told)

      {findings -- untrue,
       for {certain, line} <- broken do
         certain = if severity == :note, do: certain, else: :warning
         {certain, finding(certain, path, name, line, place)}
       end ++
         for argument <- dropped(tool, type) do
           line = "#{Shown.name(argument)} is not declared, and is not passed on"
           {:warning, %{finding(:warning, path, name, line, place) | code: :unknown_argument}}
         end}
    end
  end

  # The fields inside of arguments that a run drops. The native check has found the arguments themselves.
  defp dropped(tool, type) do
    for name <- Arguments.undeclared(tool, shape(type, @deepest)),
        is_binary(name) and String.contains?(name, "."),
        do: name
  end

  # A value that has the fields of a type.
  defp shape(_type, 0), do: nil
  defp shape({:optional, type}, left), do: shape(type, left)
  defp shape({:list, type}, left), do: [shape(type, left - 1)]

  defp shape({kind, fields}, left) when kind in [:map, :open_map] and is_list(fields),
    do: Map.new(fields, fn {name, type} -> {name, shape(type, left - 1)} end)

  defp shape(_type, _left), do: nil

  # The findings about the arguments of a call, and other errors in it. What is in an argument has a longer path.
  defp told(findings, path) do
    depth = length(path) + 2

    findings
    |> Enum.filter(fn {_, _, at, _, _, _} -> List.starts_with?(at, path) end)
    |> Enum.split_with(fn {_, code, at, _, _, _} -> code in @codes and length(at) <= depth end)
    |> then(fn {told, others} -> {told, for({:error, _, _, _, _, _} = it <- others, do: it)} end)
  end

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

  # What the native check has found and a run takes, and the lines about what a run refuses.
  defp broken(tool, type, node, told) do
    {constant, computed} = parts(node)
    computed = MapSet.new(computed, &spelled/1)
    {refused, args} = refused(tool, constant, computed)

    untrue =
      for {:error, code, _, _, [_tool, name | _], _} = it <- told,
          code != :unknown_argument and refused != nil,
          spelled(name) not in computed,
          not Enum.any?(refused, &of?(&1, name)),
          do: it

    names = for {_, _, _, _, [_tool, name | _], _} <- told -- untrue, do: name
    new = Enum.reject(refused || [], fn error -> Enum.any?(names, &of?(error, &1)) end)
    new = Enum.take(new, @most)

    lines = for line <- ErrorText.lines(new, args, exact: tool.data != nil), do: {:error, line}

    {untrue, lines ++ inside(type, type_of(tool), computed, refused, names)}
  end

  # Whether an error is about an argument.
  defp of?(%{path: [first | _]}, name), do: spelled(first) == spelled(name)
  defp of?(_error, _name), do: false

  defp spelled(name) when is_binary(name), do: KeyNormalizer.normalize_key(name)
  defp spelled(name), do: name

  # Constants and values of other kinds in what is computed.
  defp inside(type, params, computed, refused, told) do
    for {certain, [first | _] = path, message} <- Constants.found(type, params),
        refused == nil or spelled(first) in computed,
        not Enum.any?(told, &(spelled(&1) == spelled(first))),
        do: {certain, "#{joined(path)}: #{message}"}
  end

  defp type_of(%Tool{data: data}) when data != nil, do: data.type

  defp type_of(tool) do
    {:signature, params, _returns} = Arguments.signature(tool)
    {:map, params}
  end

  defp joined(path),
    do: Enum.map_join(path, ".", fn part -> if part == :each, do: "*", else: Shown.name(part) end)

  # The errors of the arguments in which nothing is computed; nil if they cannot be judged without the others.
  defp refused(tool, constant, computed) do
    with %Tool{} = tool <- without(tool, computed),
         {:refused, [_ | _] = errors, args, _text} <- Arguments.read(tool, constant) do
      {errors, args}
    else
      {:ok, _named, _passed, _warnings} -> {[], constant}
      _unknown -> {nil, constant}
    end
  end

  # The tool without these arguments.
  defp without(tool, computed) do
    if MapSet.size(computed) == 0, do: tool, else: rest(tool, computed)
  end

  defp rest(%Tool{data: %{type: {kind, fields}, others: nil} = data} = tool, computed)
       when kind in [:map, :closed_map] and is_list(fields),
       do: %{tool | data: %{data | type: {kind, kept(fields, computed)}}}

  defp rest(%Tool{data: nil, spec: nil, signature: {:signature, params, type}} = tool, computed),
    do: %{tool | signature: {:signature, kept(params, computed), type}}

  defp rest(%Tool{data: nil, spec: {{_, params, type}, {:map, _, fields}}} = tool, computed) do
    signature = {:signature, kept(params, computed), type}
    %{tool | spec: {signature, {:map, nil, kept(fields, computed)}}}
  end

  defp rest(_tool, _computed), do: nil

  defp kept(fields, computed),
    do: Enum.reject(fields, fn field -> spelled(elem(field, 0)) in computed end)

  # The constant arguments of a call, and the names of the others.
  defp parts(%{"args" => args}) when is_map(args) and not is_struct(args) do
    Enum.reduce(args, {%{}, []}, fn {name, part}, {constant, computed} ->
      case value(part) do
        {:ok, value} -> {Map.put(constant, name, value), computed}
        :error -> {constant, [name | computed]}
      end
    end)
  end

  defp parts(_none), do: {%{}, []}

  defp value(%{"op" => "literal", "value" => value}), do: {:ok, value}
  defp value(%{"op" => op}) when is_binary(op), do: :error

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

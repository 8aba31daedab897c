defmodule PtcRunner.Json.Check.Arguments do
  @moduledoc false
  # The arguments of tools. Constant ones are judged as the call would judge them: what a run takes is no error, and what it refuses is
  # one. Of computed ones, constants in them that break a rule are found, and values of a kind that cannot be converted.

  alias PtcRunner.Agent.{Arguments, Tool}
  alias PtcRunner.Json.{Checked, Program}
  alias PtcRunner.Json.Check.{Constants, Partly}
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
    {constant, partly, computed} = parts(node, not union?(type_of(tool), @deepest))
    computed = MapSet.new(computed, &spelled/1)
    {refused, args} = refused(tool, constant, computed)

    untrue =
      for {:error, code, _, _, [_tool, name | _], _} = it <- told,
          code != :unknown_argument and refused != nil,
          spelled(name) not in computed,
          not Enum.any?(refused, &of?(&1, name)),
          do: it

    {beside, shown} = beside(tool, constant, partly, computed)

    # What may be wrong is told less well than what is.
    vague =
      for {:warning, _, _, _, [_tool, name | _], _} = it <- told,
          Enum.any?(beside, &of?(&1, name)),
          do: it

    names = for {_, _, _, _, [_tool, name | _], _} <- told -- (untrue ++ vague), do: name
    new = Enum.reject((refused || []) ++ beside, &Enum.any?(names, fn name -> of?(&1, name) end))
    args = if is_map(args), do: Map.merge(args, shown), else: args
    new = Enum.take(new, @most)

    lines = for line <- ErrorText.lines(new, args, exact: tool.data != nil), do: {:error, line}
    names = names ++ for(%{path: [name | _]} <- beside, do: name)

    {untrue ++ vague, lines ++ inside(type, type_of(tool), computed, refused, names)}
  end

  # The errors about constants in arguments of which a part is computed, and these arguments as they are shown.
  defp beside(_tool, _constant, partly, _computed) when partly == %{}, do: {[], %{}}

  defp beside(tool, constant, partly, computed) do
    named = Map.new(partly, fn {name, known} -> {spelled(name), known} end)
    values = Map.new(partly, fn {name, {:some, value, _shown, _places}} -> {name, value} end)
    computed = MapSet.reject(computed, &is_map_key(named, &1))
    {errors, _args} = refused(tool, Map.merge(constant, values), computed)

    placed =
      for %{path: [first | path]} = error <- errors || [],
          {:some, _value, _shown, places} <- [named[spelled(first)]],
          {:ok, path} <- [Partly.place(path, places)],
          do: %{error | path: [first | path]}

    {placed, Map.new(partly, fn {name, {:some, _value, shown, _places}} -> {name, shown} end)}
  end

  # Whether a type has a union: which of its types a value has may depend on what is computed.
  defp union?(_type, 0), do: true
  defp union?({:one_of, _types, _field}, _left), do: true
  defp union?({:ref, _name}, _left), do: true
  defp union?({:where, type, _rules}, left), do: union?(type, left - 1)
  defp union?({:struct, _module, type}, left), do: union?(type, left - 1)
  defp union?({:defs, _names, type}, left), do: union?(type, left - 1)

  defp union?({kind, type}, left) when kind in [:optional, :list, :map_of],
    do: union?(type, left - 1)

  defp union?({_kind, fields}, left) when is_list(fields),
    do: Enum.any?(fields, fn {_name, type} -> union?(type, left - 1) end)

  defp union?(_type, _left), do: false

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

  # The constant arguments of a call, those of which a part is constant, and the names of all that are computed.
  defp parts(%{"args" => args}, maps?) when is_map(args) and not is_struct(args) do
    Enum.reduce(args, {%{}, %{}, []}, fn {name, part}, {constant, partly, computed} ->
      case Partly.known(part, maps?) do
        {:all, value} -> {Map.put(constant, name, value), partly, computed}
        :none -> {constant, partly, [name | computed]}
        some -> {constant, Map.put(partly, name, some), [name | computed]}
      end
    end)
  end

  defp parts(_none, _maps?), do: {%{}, %{}, []}
end

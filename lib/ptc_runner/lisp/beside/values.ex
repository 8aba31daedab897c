defmodule PtcRunner.Lisp.Beside.Values do
  @moduledoc false
  # Values of PTC-Lisp that the original has in another form: functions, variables, symbols, patterns, durations.
  #
  # What is ours is given as the value of an expression that the original evaluates: a function as its source, with what it has captured
  # around it. A function of the original is taken by the source that its own module makes of it. So neither side
  # depends on how the other one is built. What has no source cannot be taken: built-ins and what `comp` and others make are Elixir functions
  # there.

  alias PtcRunner.Lisp.{Duration, Evaluation, Function, Given, Preparing, Remembered, Symbol, Var}
  alias PtcRunner.Lisp.Regex, as: Pattern

  @typedoc "The modules of `ptc_runner`: its language, and what makes source of its functions."
  @type sides :: %{original: module(), sources: module()}

  # The source of a function of ours, in the metadata of the original's.
  @mark :ptc_runner_native

  @limits {:infinity, 0}

  # Milliseconds that are no seconds, see `java.util.Date.`.
  @moment 1_000_000_000_000

  @doc "Whether a value is a function of the original."
  @spec function?(term()) :: boolean()
  def function?({:closure, _params, _body, _captured, _history, _metadata}), do: true
  def function?(value), do: is_function(value)

  @doc "The value with functions of ours, and the names that they mention; `:error` where that cannot be."
  @spec take(term(), sides()) :: {:ok, term(), [String.t()]} | :error
  def take(value, sides) do
    if data?(value) do
      {:ok, value, []}
    else
      {ours, names} = taken(value, sides, [])
      {:ok, ours, names}
    end
  catch
    {__MODULE__, :cannot} -> :error
  end

  # Whether there is nothing to take in a value, which is then not built anew.
  defp data?([head | tail]), do: data?(head) and data?(tail)

  defp data?(map) when is_map(map) and not is_struct(map),
    do: Enum.all?(map, fn {_key, value} -> data?(value) end)

  defp data?(value),
    do: is_binary(value) or is_number(value) or is_atom(value) or value == []

  defp taken([head | tail], sides, names) do
    {ours, names} = taken(head, sides, names)
    {rest, names} = taken(tail, sides, names)
    {[ours | rest], names}
  end

  defp taken(%MapSet{} = set, sides, names) do
    {items, names} = set |> MapSet.to_list() |> taken(sides, names)
    {MapSet.new(items), names}
  end

  defp taken(%Function{kind: :closure, source: source} = function, sides, names)
       when is_binary(source) do
    {captured, names} = taken(function.captured, sides, names)
    {%{function | captured: captured}, mentioned(source) ++ names}
  end

  defp taken(%Function{} = function, sides, names) do
    {captured, names} = taken(function.captured, sides, names)
    {%{function | captured: captured}, names}
  end

  # Of the structs in the original's namespace, keywords are the same here.
  defp taken(%module{} = struct, _sides, names) do
    ours? = module in [Duration, PtcRunner.Lisp.Keyword, Pattern, Symbol, Var]

    if ours? or not String.starts_with?(Atom.to_string(module), "Elixir.PtcRunner.Lisp."),
      do: {struct, names},
      else: throw({__MODULE__, :cannot})
  end

  defp taken(map, sides, names) when is_map(map) do
    {pairs, names} =
      Enum.map_reduce(map, names, fn {key, value}, names ->
        {ours, names} = taken(value, sides, names)
        {{key, ours}, names}
      end)

    {Map.new(pairs), names}
  end

  defp taken({:closure, params, _body, captured, _history, metadata} = closure, sides, names)
       when is_list(params) or is_tuple(params) do
    source = source(closure, metadata, sides)
    mentioned = names(source)
    {captured, names} = captured(mentioned, by_name(captured), sides, names)
    {function(source, mentioned, captured, metadata), mentioned.globals ++ names}
  end

  defp taken(value, _sides, _names) when is_tuple(value) or is_function(value),
    do: throw({__MODULE__, :cannot})

  defp taken(other, _sides, names), do: {other, names}

  defp source(_closure, %{@mark => source}, _sides) when is_binary(source), do: source

  defp source(closure, _metadata, %{sources: sources}) do
    if function_exported?(sources, :serialize_closure, 1) do
      case sources.serialize_closure(closure) do
        source when is_binary(source) -> source
        _other -> throw({__MODULE__, :cannot})
      end
    else
      throw({__MODULE__, :cannot})
    end
  rescue
    # What it does not know of a newer release.
    _any -> throw({__MODULE__, :cannot})
  end

  defp by_name(captured) when is_map(captured) do
    for {name, value} <- captured, is_atom(name) or is_binary(name), into: %{} do
      {"#{name}", value}
    end
  end

  defp by_name(_other), do: %{}

  # The names that a source mentions and does not bind itself, and its tools.
  defp names(source) do
    case Preparing.compiled(source, Given.read([]), @limits) do
      {:ok, program, _signature} -> program.names
      _error -> throw({__MODULE__, :cannot})
    end
  end

  defp mentioned(source) do
    names = names(source)
    names.globals ++ names.builtins
  end

  # What surrounds a function of the original may have its built-ins, too.
  defp captured(mentioned, captured, sides, names) do
    {ours, names} = captured |> Map.take(mentioned.globals) |> taken(sides, names)

    shadowed =
      for {name, value} <- Map.take(captured, mentioned.builtins),
          {:ok, value, _names} <- [take(value, sides)],
          into: ours,
          do: {name, value}

    {shadowed, names}
  end

  defp function(source, mentioned, captured, metadata) do
    {expression, defined} = around(source, Map.keys(captured))
    given = Given.read([context: captured] ++ known(mentioned, captured))

    with {:ok, step} <- Evaluation.run(expression, given),
         %Function{} = function <- if(defined, do: step.memory[defined], else: step.return),
         do: %{function | doc: function.doc || docstring(metadata)},
         else: (_other -> throw({__MODULE__, :cannot}))
  end

  # A function is made where all its names are known. Those that it has not captured, and tools, are looked up when it is called.
  defp known(mentioned, captured) do
    memory =
      for name <- mentioned.globals, not is_map_key(captured, name), into: %{}, do: {name, nil}

    [memory: memory, tools: Map.new(mentioned.tools, &{&1, fn _args -> nil end})]
  end

  defp docstring(%{docstring: doc}) when is_binary(doc), do: doc
  defp docstring(_metadata), do: nil

  # A source with what it captures around it, as data of the same names; and the name that it defines.
  defp around(source, names) do
    expression =
      if names == [],
        do: source,
        else: "(let [#{Enum.map_join(names, " ", &"#{&1} data/#{&1}")}] #{source})"

    case Regex.run(~r/\A\(defn\s+([^\s\[\]"]+)/, source) do
      [_all, name] -> {expression, name}
      nil -> {expression, nil}
    end
  end

  @doc "The value as the original has it. What it does not evaluate stays as it is."
  @spec give(term(), sides()) :: term()
  def give(value, sides), do: if(data?(value), do: value, else: given(value, sides))

  defp given([head | tail], sides), do: [given(head, sides) | given(tail, sides)]

  defp given(%MapSet{} = set, sides),
    do: if(Enum.any?(set, &is_struct/1), do: MapSet.new(set, &given(&1, sides)), else: set)

  defp given(%module{} = value, sides) when module in [Duration, Function, Pattern, Symbol, Var],
    do: made(value, sides)

  defp given(map, sides) when is_map(map) and not is_struct(map),
    do: :maps.map(fn _key, value -> given(value, sides) end, map)

  defp given({mark, value}, sides) when mark in [:__ptc_return__, :__ptc_fail__],
    do: {mark, given(value, sides)}

  defp given(other, _sides), do: other

  defp made(value, %{original: original} = sides) do
    {expression, defined, opts} = expression(value, sides)

    case original.run(expression, opts) do
      {:ok, step} when defined != nil -> step.memory |> defined(defined) |> marked(value)
      {:ok, step} -> marked(step.return, value)
      _error -> value
    end
  catch
    # It has no source, or none that is a program by itself.
    {__MODULE__, :cannot} -> value
  end

  # What a definition binds itself.
  defp without(opts, name), do: Keyword.update!(opts, :memory, &Map.delete(&1, name))

  defp defined(memory, name) do
    with {:ok, made} <- Remembered.fetch(memory, name), do: made
  end

  defp marked({:closure, params, body, captured, history, metadata}, %Function{} = function)
       when is_map(metadata) do
    metadata = Map.put(metadata, @mark, function.source)

    metadata =
      if function.doc, do: Map.put_new(metadata, :docstring, function.doc), else: metadata

    {:closure, params, body, captured, history, metadata}
  end

  # In some releases a built-in is a tuple.
  defp marked(made, %Function{} = function),
    do: if(is_function(made) or is_tuple(made), do: made, else: function)

  defp marked(made, _value), do: made

  defp expression(%Function{kind: :closure, source: source}, _sides) when source in [nil, ""],
    do: throw({__MODULE__, :cannot})

  defp expression(%Function{kind: :closure, source: source, captured: captured}, sides) do
    {expression, defined} = around(source, Map.keys(captured))
    known = source |> names() |> known(captured) |> without(defined)
    {expression, defined, [context: give(captured, sides)] ++ known}
  end

  defp expression(%Function{kind: :builtin, name: name}, _sides), do: {name, nil, []}

  defp expression(%Function{kind: kind, captured: captured}, sides) do
    parts = Enum.map_join(1..map_size(captured)//1, " ", &"data/a#{&1}")
    name = kind |> Atom.to_string() |> String.replace("_", "-")
    context = Map.new(captured, fn {number, value} -> {"a#{number}", give(value, sides)} end)
    {"(#{name} #{parts})", nil, [context: context]}
  end

  defp expression(%Var{name: name}, _sides), do: {"(def #{name} nil)", nil, []}
  defp expression(%Symbol{name: name}, _sides), do: {"'#{name}", nil, []}

  defp expression(%Pattern{source: source}, _sides),
    do: {"(re-pattern data/source)", nil, [context: %{"source" => source}]}

  defp expression(%Duration{milliseconds: span}, _sides) do
    {from, to} = if span < 0, do: {@moment - span, @moment}, else: {@moment, @moment + span}

    {"(Duration/between (java.util.Date. data/from) (java.util.Date. data/to))", nil,
     [context: %{"from" => from, "to" => to}]}
  end
end

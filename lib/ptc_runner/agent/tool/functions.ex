defmodule PtcRunner.Agent.Tool.Functions do
  @moduledoc false
  # The public functions of a module, as tools.

  alias PtcRunner.Agent.{Spec, Tool}
  alias PtcRunner.Agent.Spec.Expansion
  alias PtcRunner.Agent.Tool.Import
  alias PtcRunner.{Options, Shown}
  alias PtcRunner.Sandbox.Modules
  alias PtcRunner.SubAgent.TypeExtractor.Docs

  # A function as it is chosen: its name and arity, its entry in the docs, and how many of its parameters have defaults.
  @typep chosen :: {atom(), arity(), tuple() | nil, non_neg_integer()}

  @doc "See `PtcRunner.Agent.Tool.from_module/2`."
  @spec tools(term(), term()) :: Import.result()
  def tools(module, opts) do
    with :ok <- module(module),
         :ok <- options(opts),
         do: Modules.read(fn -> all(module, opts) end)
  end

  defp all(module, opts) do
    exports = exports(module)
    docs = docs(module)

    with {:ok, chosen, left_out} <- chosen(module, exports, docs, opts),
         functions = for(one <- chosen, do: read(module, one)),
         given = given(Keyword.get(opts, :context, [])),
         :ok <- used(given, functions),
         {:ok, tools, dropped} <- Import.each(functions, &tool(module, &1, given)),
         do: {:ok, tools, left_out ++ dropped}
  end

  defp module(module) do
    if is_atom(module) and module != nil and Modules.loaded?(module),
      do: :ok,
      else: {:error, "the tools are functions of a module, got: #{Shown.text(module, 200)}"}
  end

  @options %{only: :any, except: :any, context: :any}

  defp options(opts) do
    Options.check!(opts, @options, "PtcRunner.Agent.Tool.from_module/2")
    {context, lists} = Keyword.pop(opts, :context, [])

    cond do
      not Enum.all?(lists, fn {_name, list} -> names?(list) end) ->
        {:error,
         "the options only: and except: are lists of names or of names with arities, got: #{Shown.text(opts, 200)}"}

      not from_context?(context) ->
        {:error,
         "the option context: is a list of names of parameters, each alone or with a key or a function, got: #{Shown.text(context, 200)}"}

      true ->
        :ok
    end
  end

  defp from_context?([name | rest]) when is_atom(name), do: from_context?(rest)

  defp from_context?([{name, from} | rest])
       when is_atom(name) and (is_atom(from) or is_binary(from) or is_function(from, 1)),
       do: from_context?(rest)

  defp from_context?(rest), do: rest == []

  # By the name of a parameter: the key of the context, or the function that takes what is passed from it.
  defp given(context) do
    for entry <- context, into: %{} do
      case entry do
        {name, from} -> {Atom.to_string(name), from}
        name -> {Atom.to_string(name), name}
      end
    end
  end

  # A name that no function has is a mistake of the application.
  defp used(given, functions) do
    named = for {_place, function} <- functions, param <- function.params, do: param.name

    case for {name, _from} <- given, name not in named, do: name do
      [] ->
        :ok

      [name | _] ->
        {:error,
         "no function has a parameter #{Shown.quoted(name)}, which the option context: names"}
    end
  end

  defp names?([]), do: true
  defp names?([name | rest]) when is_atom(name), do: names?(rest)

  defp names?([{name, arity} | rest]) when is_atom(name) and is_integer(arity) and arity >= 0,
    do: names?(rest)

  defp names?(_other), do: false

  # Names of callbacks of the compiler begin with two underscores.
  defp exports(module) do
    all =
      if function_exported?(module, :__info__, 1),
        do: module.__info__(:functions),
        else: Keyword.delete(module.module_info(:exports), :module_info)

    for {name, _arity} = function <- Enum.sort(all),
        not String.starts_with?(Atom.to_string(name), "__"),
        do: function
  end

  # The entries by function; nil if the module's file has none.
  defp docs(module) do
    case Code.fetch_docs(module) do
      {:docs_v1, _, _, _, _, _, docs} ->
        for {{:function, name, arity}, _, _, _, _} = entry <- docs,
            into: %{},
            do: {{name, arity}, entry}

      _none ->
        nil
    end
  end

  @spec chosen(module(), [{atom(), arity()}], map() | nil, keyword()) ::
          {:ok, [chosen()], [String.t()]} | {:error, String.t()}
  defp chosen(module, exports, docs, opts) do
    except = Keyword.get(opts, :except, [])

    with :ok <- known(module, exports, Keyword.get(opts, :only, []) ++ except) do
      case Keyword.fetch(opts, :only) do
        {:ok, only} ->
          found = for one <- exports, in?(one, only), not in?(one, except), do: of(one, docs)
          {:ok, without_shorter(found, only), []}

        :error when docs == nil ->
          {:error,
           "#{inspect(module)} has no docs (its code is only in memory, or the docs were removed): name its functions with only:"}

        :error ->
          all = for one <- exports, not in?(one, except), do: of(one, docs)
          documented(module, without_shorter(all, []))
      end
    end
  end

  defp known(module, exports, names) do
    case Enum.find(names, &(not Enum.any?(exports, fn one -> in?(one, [&1]) end))) do
      nil -> :ok
      {name, arity} -> {:error, "#{inspect(module)} has no public function #{name}/#{arity}"}
      name -> {:error, "#{inspect(module)} has no public function #{name}"}
    end
  end

  defp in?({name, _arity} = function, names), do: name in names or function in names

  defp of({name, arity} = function, docs) do
    case docs && docs[function] do
      nil -> {name, arity, nil, 0}
      {_, _, _, _, meta} = entry -> {name, arity, entry, Map.get(meta, :defaults, 0)}
    end
  end

  # A function with defaults is also exported with fewer parameters.
  defp without_shorter(functions, only) do
    shorter =
      for {name, arity, _entry, defaults} <- functions,
          defaults > 0,
          fewer <- (arity - defaults)..(arity - 1)//1,
          into: MapSet.new(),
          do: {name, fewer}

    Enum.reject(functions, fn {name, arity, _entry, _defaults} ->
      {name, arity} in shorter and {name, arity} not in only
    end)
  end

  # The functions that have a text. Hidden ones are left out without a word.
  defp documented(module, functions) do
    {kept, others} = Enum.split_with(functions, fn {_, _, entry, _} -> text?(entry) end)

    lines =
      for {name, arity, entry, _} <- others,
          not hidden?(entry),
          do: "#{place(module, name, arity)} is left out: it has no @doc"

    {:ok, kept, lines}
  end

  defp text?({_, _, _, %{}, _}), do: true
  defp text?(_entry), do: false
  defp hidden?({_, _, _, :hidden, _}), do: true
  defp hidden?(_entry), do: false

  defp place(module, name, arity), do: "#{inspect(module)}.#{name}/#{arity}"

  # What the docs and the spec say of a function, with its place in errors.
  defp read(module, {name, arity, entry, defaults}) do
    {documented, description} = if entry, do: Docs.entry(entry), else: {[], nil}

    {types, returns, lines} =
      case Expansion.function(module, name, arity) do
        {types, returns} ->
          {types, Spec.result(returns), nil}

        nil ->
          types = List.duplicate({:type, 0, :any, []}, arity)
          {types, :any, ["it has no @spec: its arguments are not validated"]}
      end

    {place(module, name, arity),
     %{
       name: name,
       description: description,
       params: parameters(types, documented, optional(entry, defaults)),
       returns: returns,
       lines: lines
     }}
  end

  defp tool(module, %{name: name, params: params} = function, given) do
    from = Map.take(given, Enum.map(params, & &1.name))
    {kind, made, unsaid} = params |> Enum.reject(&is_map_key(from, &1.name)) |> made(function)

    tool = %{
      made
      | name: Atom.to_string(name),
        description: function.description,
        fun: function(kind, module, name, params, from),
        needs: for({_name, key} <- from, not is_function(key), do: key)
    }

    {:ok, tool, function.lines || said(unsaid)}
  end

  # A function of one map with known keys has these keys as arguments, any other one its parameters.
  defp made([%{type: type, optional?: false}] = params, %{returns: returns}) do
    case Spec.of_param(type) do
      {shown, checked, form} ->
        {:map, signed(shown, checked, form, returns), Spec.unsaid(type, "")}

      nil ->
        positional(params, returns)
    end
  end

  defp made(params, %{returns: returns}), do: positional(params, returns)

  defp said(parts) do
    for {path, kinds} <- parts |> Enum.group_by(&elem(&1, 0), &elem(&1, 1)) |> Enum.sort() do
      place = if path == "", do: "the argument", else: Shown.name(path)
      "#{place} is not validated by #{kinds |> Enum.uniq() |> Enum.join(", ")}"
    end
  end

  defp signed(shown, checked, form, returns) do
    %Tool{
      name: "",
      fun: & &1,
      signature: {:signature, shown, returns},
      spec: {{:signature, checked, :any}, form}
    }
  end

  # Which parameters have defaults: the docs have their text, and the docs of a function have the number.
  defp optional({_, _, [head | _], _, _}, defaults) when defaults > 0 do
    # The names are strings, because names in docs may not exist as atoms.
    case Code.string_to_quoted(head, static_atoms_encoder: fn name, _meta -> {:ok, name} end) do
      {:ok, {_name, _, params}} when is_list(params) -> Enum.map(params, &match?({:\\, _, _}, &1))
      _other -> []
    end
  end

  defp optional(_entry, _defaults), do: []

  defp positional(params, returns) do
    {shown, checked, forms} =
      unzip(for %{name: as} = it <- params, do: Spec.argument(as, it.type, it.optional?))

    unsaid = for %{name: as} = it <- params, part <- Spec.unsaid(it.type, as), do: part
    {:positional, signed(shown, checked, {:map, nil, forms}, returns), unsaid}
  end

  defp unzip(arguments) do
    {Enum.map(arguments, &elem(&1, 0)), Enum.map(arguments, &elem(&1, 1)),
     Enum.map(arguments, &elem(&1, 2))}
  end

  # Each parameter with its type, and whether it has a default. The name is that of the docs, or of the spec; each once.
  defp parameters(params, documented, optional) do
    documented = documented ++ List.duplicate("", max(length(params) - length(documented), 0))
    optional = optional ++ List.duplicate(false, length(params) - length(optional))

    {parameters, _taken} =
      [params, documented, optional]
      |> Enum.zip()
      |> Enum.with_index(1)
      |> Enum.map_reduce(MapSet.new(), fn {{type, documented, optional?}, at}, taken ->
        found = Enum.find([documented, annotated(type)], &(Spec.name?(&1) and &1 not in taken))
        name = found || "arg#{at}"
        {%{name: name, type: type, optional?: optional?}, MapSet.put(taken, name)}
      end)

    parameters
  end

  defp annotated({:ann_type, _, [{:var, _, name}, _type]}), do: Atom.to_string(name)
  defp annotated(_param), do: ""

  # The function of a tool: of two arguments if parameters come from the context.
  defp function(:map, module, name, [_only], from) when from == %{},
    do: Function.capture(module, name, 1)

  defp function(:map, module, name, params, from) do
    fn args, %{context: context} ->
      apply(module, name, for(it <- params, do: taken(it.name, from, context, args)))
    end
  end

  defp function(:positional, module, name, params, from) when from == %{},
    do: &call(module, name, params, from, &1, %{})

  defp function(:positional, module, name, params, from),
    do: fn args, %{context: context} -> call(module, name, params, from, args, context) end

  # What the application gives, or `args`.
  defp taken(as, from, context, args) do
    case from do
      %{^as => fun} when is_function(fun) -> fun.(context)
      %{^as => key} -> Map.fetch!(context, key)
      _asked -> args
    end
  end

  # Elixir fills defaults from the left: those that are given must be the first ones. What comes from the context is given.
  defp call(module, name, params, from, args, context) do
    args = if is_map(args), do: args, else: %{}
    given? = fn it -> is_map_key(from, it.name) or is_map_key(args, it.name) end
    missing = Enum.filter(params, &(&1.optional? and not given?.(&1)))
    first = with [it | _] <- missing, do: it.name
    after_missing = params |> Enum.drop_while(&(&1.name != first)) |> Enum.drop(1)

    case for it <- after_missing, it.optional?, given?.(it), do: it.name do
      [given | _] when missing != [] ->
        {:error, "#{first} must be given if #{given} is"}

      _none ->
        passed =
          for it <- params, it not in missing, do: taken(it.name, from, context, args[it.name])

        apply(module, name, passed)
    end
  end
end

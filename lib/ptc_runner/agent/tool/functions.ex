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
         do: Modules.read(fn -> read(module, opts) end)
  end

  defp read(module, opts) do
    exports = exports(module)
    docs = docs(module)

    with {:ok, chosen, left_out} <- chosen(module, exports, docs, opts),
         {:ok, tools, dropped} <- chosen |> Enum.map(&placed(&1, module)) |> Import.each(& &1.()),
         do: {:ok, tools, left_out ++ dropped}
  end

  defp module(module) do
    if is_atom(module) and module != nil and Modules.loaded?(module),
      do: :ok,
      else: {:error, "the tools are functions of a module, got: #{Shown.text(module, 200)}"}
  end

  defp options(opts) do
    Options.check!(opts, %{only: :any, except: :any}, "PtcRunner.Agent.Tool.from_module/2")

    if Enum.all?(opts, fn {_name, list} -> names?(list) end),
      do: :ok,
      else:
        {:error,
         "the options only: and except: are lists of names or of names with arities, got: #{Shown.text(opts, 200)}"}
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

  # Those that have a text; those that are hidden are left out without a word.
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

  defp placed({name, arity, _, _} = chosen, module),
    do: {place(module, name, arity), fn -> tool(module, chosen) end}

  defp tool(module, {name, arity, entry, defaults}) do
    {names, description} = if entry, do: Docs.entry(entry), else: {[], nil}
    types = Expansion.function(module, name, arity)
    map = if arity == 1 and defaults == 0, do: Spec.of(Function.capture(module, name, 1))

    tool =
      case {types, map} do
        {{[param], returns}, {shown, checked, form}} ->
          made = signed(shown, checked, form, Spec.result(returns))
          {%{made | fun: Function.capture(module, name, 1)}, said(Spec.unsaid(param, ""))}

        {{params, returns}, nil} ->
          positional(module, name, params, names, optional(entry, defaults), Spec.result(returns))

        {nil, _map} ->
          params = List.duplicate({:type, 0, :any, []}, arity)

          {made, _lines} =
            positional(module, name, params, names, optional(entry, defaults), :any)

          {made, ["it has no @spec: its arguments are not validated"]}
      end

    {made, lines} = tool
    {:ok, %{made | name: Atom.to_string(name), description: description}, lines}
  end

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

  defp positional(module, name, params, documented, optional, returns) do
    names = names(params, documented)
    optional = optional ++ List.duplicate(false, length(params) - length(optional))

    arguments =
      for {param, as, missing?} <- Enum.zip([params, names, optional]),
          do: Spec.argument(as, param, missing?)

    {shown, checked, forms} = unzip(arguments)
    made = signed(shown, checked, {:map, nil, forms}, returns)
    unsaid = for {param, as} <- Enum.zip(params, names), part <- Spec.unsaid(param, as), do: part
    asked = Enum.zip(names, optional)
    {%{made | fun: &call(module, name, asked, &1)}, said(unsaid)}
  end

  defp unzip(arguments) do
    {Enum.map(arguments, &elem(&1, 0)), Enum.map(arguments, &elem(&1, 1)),
     Enum.map(arguments, &elem(&1, 2))}
  end

  # The names of the docs, or of the spec; each once.
  defp names(params, documented) do
    documented = documented ++ List.duplicate("", max(length(params) - length(documented), 0))

    {names, _taken} =
      params
      |> Enum.zip(documented)
      |> Enum.with_index(1)
      |> Enum.map_reduce(MapSet.new(), fn {{param, documented}, at}, taken ->
        found = Enum.find([documented, annotated(param)], &(Spec.name?(&1) and &1 not in taken))
        name = found || "arg#{at}"
        {name, MapSet.put(taken, name)}
      end)

    names
  end

  defp annotated({:ann_type, _, [{:var, _, name}, _type]}), do: Atom.to_string(name)
  defp annotated(_param), do: ""

  # Elixir fills defaults from the left: those that are given must be the first ones.
  defp call(module, name, asked, args) do
    args = if is_map(args), do: args, else: %{}

    {missing, _given} =
      Enum.split_with(asked, fn {as, optional?} -> optional? and not is_map_key(args, as) end)

    first = with [{as, _} | _] <- missing, do: as
    after_missing = asked |> Enum.drop_while(fn {as, _} -> as != first end) |> Enum.drop(1)

    case for {as, true} <- after_missing, is_map_key(args, as), do: as do
      [given | _] when missing != [] ->
        {:error, "#{first} must be given if #{given} is"}

      _none ->
        apply(module, name, for({as, _} = one <- asked, one not in missing, do: args[as]))
    end
  end
end

defmodule PtcRunner.SubAgent.Signature.FromEcto do
  @moduledoc false
  # A schema of Ecto as a type with rules. Ecto is no dependency: a schema says its fields through `__schema__/1` and `/2`, and a
  # changeset is a struct with the fields `required` and `validations`.
  #
  # * this file: the fields of a schema, embedded schemas and associations
  # * `Types`: the type of a field; `Validations`: the rules of a changeset; `Pattern`: the patterns of formats

  alias PtcRunner.Json.Suggestion
  alias PtcRunner.{Options, Shown}
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Annotations, Given, Type}
  alias PtcRunner.SubAgent.Signature.FromEcto.{Types, Validations}

  @options %{
    only: :any,
    except: :any,
    preload: :any,
    changeset: :any,
    types: :map,
    generated: :boolean,
    redacted: :boolean
  }

  @function "PtcRunner.SubAgent.Signature.from_ecto/2"

  @typep state :: %{
           opts: keyword(),
           changesets: %{module() => function() | false} | false,
           types: %{module() => Signature.type()},
           open: %{module() => String.t()},
           defs: %{String.t() => Signature.type()},
           dropped: [Signature.dropped()]
         }

  @doc "See `PtcRunner.SubAgent.Signature.from_ecto/2`."
  @spec read(term(), keyword()) ::
          {:ok, Signature.t(), [Signature.dropped()]} | {:error, String.t()}
  def read(module, opts) do
    Options.check!(opts, @options, @function)

    if schema?(module) do
      {type, state} =
        schema(module, chosen(module, opts), preloads(opts[:preload]), "", state(module, opts))

      type = if state.defs == %{}, do: type, else: {:defs, state.defs, type}
      {:ok, {:signature, [], type}, Enum.reverse(state.dropped)}
    else
      {:error, "#{Shown.text(module, 200)} is no schema of Ecto: it has no function __schema__/1"}
    end
  catch
    {__MODULE__, text} -> {:error, text}
  end

  defp state(module, opts) do
    types =
      for {module, given} <- Keyword.get(opts, :types, %{}), into: %{} do
        {module, own_type(module, given)}
      end

    %{
      opts: opts,
      changesets: changesets(opts[:changeset], module),
      types: types,
      open: %{},
      defs: %{},
      dropped: []
    }
  end

  # A function is that of the schema itself; embedded schemas have their own.
  defp changesets(false, _module), do: false
  defp changesets(nil, _module), do: %{}
  defp changesets(fun, module) when is_function(fun, 2), do: %{module => fun}

  defp changesets(functions, _module) when is_map(functions) and not is_struct(functions) do
    for {module, given} <- functions, given != false and not is_function(given, 2) do
      fail(
        "the option :changeset has no function of two arguments for #{Shown.text(module, 100)}: #{Shown.text(given, 100)}"
      )
    end

    functions
  end

  defp changesets(other, _module) do
    fail(
      "the option :changeset is a function of a struct and parameters, a map of such functions by schema, or false, got: " <>
        Shown.text(other, 200)
    )
  end

  defp own_type(module, given) do
    Given.type(given, inspect(module))
  catch
    {:no_type, text} -> fail("the option :types: #{text}")
  end

  defp schema?(module),
    do:
      is_atom(module) and module != nil and Code.ensure_loaded?(module) and
        function_exported?(module, :__schema__, 1)

  # The names of the fields of the schema itself that are read: all, or those that the options choose.
  defp chosen(module, opts) do
    all = names(module) ++ module.__schema__(:associations)
    only = list(opts, :only, all)
    except = list(opts, :except, [])

    for name <- only ++ except, name not in all do
      names = Enum.map(all, &Atom.to_string/1)
      close = Suggestion.sentence(to_string(name), names, &" Did you mean :#{&1}?")
      fail("#{inspect(module)} has no field #{inspect(name)}.#{close}")
    end

    fn name -> name in only and name not in except end
  end

  defp list(opts, key, default) do
    case Keyword.get(opts, key, default) do
      [] -> []
      [_ | _] = names -> if Enum.all?(names, &is_atom/1), do: names, else: bad_list(key, names)
      other -> bad_list(key, other)
    end
  end

  defp bad_list(key, given),
    do:
      fail(
        "the option #{inspect(key)} is a list of names of fields, got: #{Shown.text(given, 200)}"
      )

  # As `preload` of a repository takes them: each association with those that are loaded in it.
  defp preloads(nil), do: []
  defp preloads(name) when is_atom(name), do: [{name, []}]

  defp preloads(list) when is_list(list) do
    Enum.flat_map(list, fn
      {name, inner} when is_atom(name) -> [{name, preloads(inner)}]
      other -> preloads(other)
    end)
  end

  defp preloads(other),
    do: fail("the option :preload takes names of associations, got: #{Shown.text(other, 200)}")

  # The persisted fields in their order, then the virtual ones.
  defp names(module), do: module.__schema__(:fields) ++ asked(module, :virtual_fields)

  # Older releases of Ecto do not have all questions.
  defp asked(module, question) do
    module.__schema__(question) || []
  rescue
    _unknown in [FunctionClauseError, UndefinedFunctionError] -> []
  end

  @spec schema(module(), (atom() -> boolean()), keyword(), String.t(), state()) ::
          {Signature.type(), state()}
  defp schema(module, chosen, preloads, path, state) do
    {validations, state} = validations(module, path, state)
    about = about(module, validations)
    names = Enum.filter(names(module), chosen)
    {fields, state} = Enum.flat_map_reduce(names, state, &field(&1, about, path, &2))
    {more, state} = Enum.flat_map_reduce(preloads, state, &association(&1, module, path, &2))
    {{:map, fields ++ more}, state}
  end

  defp about(module, validations) do
    generated =
      case module.__schema__(:autogenerate_id) do
        nil -> []
        key -> [elem(key, 0)]
      end

    %{
      module: module,
      virtual: asked(module, :virtual_fields),
      generated: generated ++ asked(module, :autogenerate_fields),
      redacted: asked(module, :redact_fields),
      defaults: module.__struct__() |> Map.from_struct(),
      validations: validations
    }
  end

  defp field(name, about, path, %{opts: opts} = state) do
    here = Annotations.join(path, Atom.to_string(name))
    generated? = name in about.generated

    cond do
      name in about.redacted and opts[:redacted] != true ->
        {[], drop(state, here, "redact", "a redacted field is not shown to a model")}

      generated? and opts[:generated] == false ->
        {[], state}

      true ->
        kind = if name in about.virtual, do: :virtual_type, else: :type
        {type, state} = typed(field_type(about.module, kind, name), here, state)
        rules = Map.get(about.validations.rules, name, [])
        {type, lost} = Validations.put(type, rules)

        state =
          Enum.reduce(lost, state, fn {keyword, why}, state -> drop(state, here, keyword, why) end)

        {type, state} =
          with_default(type, if(not generated?, do: about.defaults[name]), here, state)

        type = if name in about.validations.required, do: type, else: Type.optional(type)
        {[{Atom.to_string(name), type}], state}
    end
  end

  defp field_type(module, kind, name) do
    module.__schema__(kind, name)
  rescue
    _unknown in [FunctionClauseError, UndefinedFunctionError] -> nil
  end

  # A list or an embedded schema that is empty by default says nothing.
  defp with_default(type, default, _path, state) when default in [nil, []], do: {type, state}

  defp with_default(type, default, path, state) do
    case Validations.ruled(type, default: default) do
      {:ok, type} -> {type, state}
      {:error, why} -> {type, drop(state, path, "default", why)}
    end
  end

  defp typed(ecto_type, path, state) do
    case Types.of(ecto_type, state.types) do
      {:embed, cardinality, module} ->
        embed(cardinality, module, path, state)

      {:list, inner} ->
        with({type, state} <- typed(inner, path, state), do: {{:list, type}, state})

      {:map_of, inner} ->
        with({type, state} <- typed(inner, path, state), do: {{:map_of, type}, state})

      {:ok, type} ->
        {type, state}

      {:any, why} ->
        {:any, drop(state, path, "type", why)}
    end
  end

  defp embed(cardinality, module, path, state) do
    {type, state} = nested(module, [], path, state)
    {of_cardinality(cardinality, type), state}
  end

  defp of_cardinality(:many, type), do: {:list, type}
  defp of_cardinality(_one, type), do: type

  # A schema that is within itself gets a name.
  defp nested(module, _preloads, _path, %{open: open} = state) when is_map_key(open, module),
    do: {{:ref, open[module]}, %{state | defs: Map.put_new(state.defs, open[module], nil)}}

  defp nested(module, preloads, path, state) do
    if not schema?(module), do: fail("#{path}: #{inspect(module)} is no schema of Ecto")
    name = name(module, state)
    state = %{state | open: Map.put(state.open, module, name)}
    {type, state} = schema(module, fn _name -> true end, preloads, path, state)
    state = %{state | open: Map.delete(state.open, module)}

    if is_map_key(state.defs, name),
      do: {{:ref, name}, %{state | defs: Map.put(state.defs, name, type)}},
      else: {type, state}
  end

  defp name(module, state) do
    last = module |> Module.split() |> List.last()
    taken = Map.values(state.open) ++ Map.keys(state.defs)

    [last]
    |> Stream.concat(Stream.map(Stream.iterate(2, &(&1 + 1)), &"#{last}#{&1}"))
    |> Enum.find(&(&1 not in taken))
  end

  # Associations that are not loaded are null.
  defp association({name, inner}, module, path, state) do
    here = Annotations.join(path, Atom.to_string(name))

    case related(module, name) do
      {cardinality, related} ->
        # Rows of a database are not cast, so nothing is required of them.
        {type, inside} =
          schema(related, fn _name -> true end, inner, here, %{state | changesets: false})

        type = Type.optional(of_cardinality(cardinality, type))
        {[{Atom.to_string(name), type}], %{inside | changesets: state.changesets}}

      nil ->
        fail("#{inspect(module)} has no association #{inspect(name)}")
    end
  end

  defp related(module, name) do
    case name in module.__schema__(:associations) && module.__schema__(:association, name) do
      %{cardinality: cardinality, related: related} when related != nil -> {cardinality, related}
      %{cardinality: cardinality, through: through} -> through(through, module, cardinality)
      _none -> nil
    end
  end

  defp through([], module, cardinality), do: {cardinality, module}

  defp through([name | rest], module, cardinality) do
    with {_cardinality, related} <- related(module, name), do: through(rest, related, cardinality)
  end

  defp validations(module, path, state) do
    case Validations.of(module, state.changesets) do
      {:ok, validations} -> {validations, state}
      {:error, why} -> {Validations.none(), drop(state, path, "changeset", why)}
    end
  end

  defp drop(state, path, keyword, why),
    do: %{state | dropped: [%{path: path, keyword: keyword, reason: why} | state.dropped]}

  @doc "Ends the reading with an error."
  @spec fail(String.t()) :: no_return()
  def fail(text), do: throw({__MODULE__, text})
end

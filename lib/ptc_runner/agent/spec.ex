defmodule PtcRunner.Agent.Spec do
  @moduledoc false
  # The arguments of a tool, from the `@spec` of its function. A program gives maps with string keys, and texts; the
  # function gets the keys, structs, dates and atoms of its spec.

  alias PtcRunner.Sandbox.Modules
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Annotations, Type}
  alias PtcRunner.Agent.Spec.{Expansion, Merged}
  alias PtcRunner.SubAgent.TypeExtractor.Memo

  # Dates that signatures have no type for: what an error calls them.
  @dates %{Date => "date", Time => "time", NaiveDateTime => "datetime without offset"}

  # Builtin types that signatures have.
  @said [:binary, :integer, :float, :number, :boolean, :any, :term, :map, :list]

  @typedoc "How a value is passed: unchanged, as a date, as one of these atoms, as a list, as a map or a struct."
  @type form ::
          :same
          | {:date, module()}
          | {:atoms, [atom()]}
          | {:list, form()}
          | {:map, module() | nil, [field()]}

  @typedoc "A key's name, the key (its name for a parameter), the form of its value, whether it may be missing, and whether it may be nil."
  @type field :: {String.t(), atom() | String.t(), form(), boolean(), boolean()}

  @typedoc """
  The arguments: their types as they are shown, their types as they are checked before they are passed, and their form.
  """
  @type t :: {[{String.t(), Signature.type()}], [{String.t(), Signature.type()}], form()}

  @doc """
  The arguments of a function of one map with known keys, or of such a map and of what the application gives; nil for any other
  function.

      iex> PtcRunner.Agent.Spec.of(fn x -> x end)
      nil

  """
  @spec of((term() -> term()) | (term(), term() -> term())) :: t() | nil
  def of(fun) do
    with {:type, :external} <- Function.info(fun, :type),
         {:module, module} = Function.info(fun, :module),
         {:name, name} = Function.info(fun, :name),
         {:arity, arity} = Function.info(fun, :arity),
         {{_shown, _checked, _form} = found, modules} <-
           Memo.fetch(module, {__MODULE__, name}, arity, &read/3) do
      # The memo knows when the function's own module changes.
      if Expansion.current?(modules), do: found, else: again(module, name, arity)
    else
      _other -> nil
    end
  end

  defp again(module, name, arity) do
    case Modules.read(fn -> read(module, {__MODULE__, name}, arity) end) do
      {found, _modules} -> found
      :none -> nil
    end
  end

  defp read(module, {_this, name}, arity) do
    with {param, modules} <- Expansion.of(module, name, arity),
         {_shown, _checked, _form} = found <- of_param(param) do
      {found, modules}
    else
      _other -> :none
    end
  rescue
    # `PtcRunner.SubAgent.TypeExtractor` logs why a module cannot be read.
    _error -> :none
  end

  @doc """
  The keys of a parameter that is a map with known keys, as arguments; nil for any other type.

      iex> PtcRunner.Agent.Spec.of_param({:type, 0, :integer, []})
      nil

  """
  @spec of_param(tuple()) :: t() | nil
  def of_param(param) do
    with {{:map, [_ | _] = fields}, {:map, _struct, _fields} = form} <- args(param),
         true <- Enum.all?(fields, &simple?/1) do
      {put(fields, :string), put(fields, :any), form}
    else
      _other -> nil
    end
  end

  @doc """
  One parameter as an argument of this name: its field as it is shown, as it is checked, and its form. With `missing?` it need
  not be given.

      iex> PtcRunner.Agent.Spec.argument("limit", {:type, 0, :integer, []}, true)
      {{"limit", {:optional, :int}}, {"limit", {:optional, :int}}, {"limit", "limit", :same, true, false}}

  """
  @spec argument(String.t(), tuple(), boolean()) :: {tuple(), tuple(), field()}
  def argument(name, param, missing?) do
    {type, form} = param |> opened() |> type()
    nil? = match?({:optional, _}, type) or type == :any
    type = if missing?, do: Type.optional(type), else: type
    {{name, put(type, :string)}, {name, put(type, :any)}, {name, name, form, missing?, nil?}}
  end

  @doc """
  The type of a result: of `{:ok, value}` that of the value, and none for errors. A date that is no text yet is any term.

      iex> ok = {:type, 0, :tuple, [{:atom, 0, :ok}, {:type, 0, :integer, []}]}
      iex> PtcRunner.Agent.Spec.result({:type, 0, :union, [ok, {:atom, 0, :error}]})
      :int

  """
  @spec result(tuple()) :: Signature.type()
  def result(returns) do
    values =
      Enum.flat_map(flat([opened(returns)]), fn
        {:type, _, :tuple, [{:atom, _, :ok}, value]} -> [value]
        {:type, _, :tuple, [{:atom, _, :error}, _reason]} -> []
        {:atom, _, :error} -> []
        other -> [other]
      end)

    {type, _form} = if values == [], do: {:any, :same}, else: union(values)
    put(type, :any)
  end

  # `map()` is an object. In the fields of a function's only argument it is any term.
  defp opened({:type, at, :map, :any}), do: {:type, at, :map, []}

  defp opened(tuple) when is_tuple(tuple),
    do: tuple |> Tuple.to_list() |> opened() |> List.to_tuple()

  defp opened(list) when is_list(list), do: Enum.map(list, &opened/1)
  defp opened(other), do: other

  @doc "Whether a name can be written in a signature."
  @spec name?(String.t()) :: boolean()
  def name?(name), do: name =~ ~r/\A[A-Za-z_][A-Za-z0-9_]*[?!]?\z/

  @doc "The parts of a type that a signature cannot say, each with its path."
  @spec unsaid(tuple(), String.t()) :: [{String.t(), String.t()}]
  def unsaid({:ann_type, _, [_name, type]}, path), do: unsaid(type, path)
  def unsaid({:paren_type, _, [type]}, path), do: unsaid(type, path)
  def unsaid({:type, _, :list, [type]}, path), do: unsaid(type, path)

  def unsaid({:type, _, :nonempty_list, [type]}, path),
    do: [{path, "nonempty_list"} | unsaid(type, path)]

  def unsaid({:type, _, :map, fields}, path) when is_list(fields) do
    Enum.flat_map(fields, fn
      {:type, _, _kind, [{:atom, _, :__struct__}, _module]} ->
        []

      {:type, _, _kind, [{:atom, _, key}, type]} ->
        unsaid(type, Annotations.join(path, Atom.to_string(key)))

      _other ->
        [{path, "its other keys"}]
    end)
  end

  def unsaid({:type, _, :union, _members} = union, path) do
    case type(union) do
      {:any, _form} -> [{path, "union"}]
      {{:optional, :any}, _form} -> [{path, "union"}]
      _one -> [union] |> flat() |> Enum.flat_map(&unsaid(&1, path))
    end
  end

  def unsaid({:type, _, name, _}, _path) when name in @said, do: []
  def unsaid({:type, _, name, _args}, path), do: [{path, Atom.to_string(name)}]
  def unsaid({:atom, _, _atom}, _path), do: []

  def unsaid({:remote_type, _, [{_, _, module}, {_, _, name}, _args]} = type, path) do
    if name == :t and (module in [String, DateTime] or is_map_key(@dates, module)),
      do: [],
      else: [{path, remote_name(type)}]
  end

  def unsaid({:user_type, _, name, _args}, path), do: [{path, Atom.to_string(name)}]
  def unsaid({:var, _, name}, path), do: [{path, Atom.to_string(name)}]
  def unsaid(_literal, path), do: [{path, "its value"}]

  defp remote_name({:remote_type, _, [{_, _, module}, {_, _, name}, _args]}),
    do: "#{inspect(module)}.#{name}"

  defp simple?({name, _type}), do: name?(name)

  # Arguments are a map, even where the spec also allows nil.
  defp args(param) do
    case type(param) do
      {{:optional, type}, form} -> {type, form}
      other -> other
    end
  end

  # A date without a type is a text for the model, and anything for the check: `given/2` reads it.
  defp put(:date, type), do: type

  defp put({kind, inner}, type) when kind in [:list, :optional, :map],
    do: {kind, put(inner, type)}

  defp put(fields, type) when is_list(fields), do: for({n, t} <- fields, do: {n, put(t, type)})
  defp put(scalar, _type), do: scalar

  # The type and the form of a value.
  defp type({:ann_type, _, [_name, type]}), do: type(type)
  defp type({:paren_type, _, [type]}), do: type(type)

  defp type({:type, _, kind, [type]}) when kind in [:list, :nonempty_list] do
    {type, form} = type(type)
    {{:list, type}, if(form == :same, do: :same, else: {:list, form})}
  end

  defp type({:type, _, :map, fields}) when is_list(fields), do: map(fields)
  defp type({:type, _, :union, members}), do: members |> flat() |> union()
  defp type({:type, _, :range, _bounds}), do: {:int, :same}
  defp type({:integer, _, _value}), do: {:int, :same}
  defp type({:op, _, :-, {:integer, _, _value}}), do: {:int, :same}
  defp type({:atom, _, atom}) when is_boolean(atom), do: {:bool, :same}
  defp type({:atom, _, atom}) when atom != nil, do: {:keyword, {:atoms, [atom]}}
  defp type({:type, _, name, []}), do: {builtin(name), :same}
  defp type({:remote_type, _, [{_, _, module}, {_, _, :t}, []]}), do: remote(module)
  defp type(_other), do: {:any, :same}

  # The members of unions in a union, where types have been opened.
  defp flat(members) do
    Enum.flat_map(members, fn
      {:type, _, :union, members} -> flat(members)
      {kind, _, [_name, type]} when kind == :ann_type -> flat([type])
      {:paren_type, _, [type]} -> flat([type])
      member -> [member]
    end)
  end

  defp builtin(:binary), do: :string

  defp builtin(name) when name in [:integer, :non_neg_integer, :pos_integer, :neg_integer],
    do: :int

  defp builtin(name) when name in [:byte, :char, :arity], do: :int
  defp builtin(name) when name in [:float, :number], do: :float
  defp builtin(:boolean), do: :bool
  defp builtin(:atom), do: :keyword
  defp builtin(name) when name in [:list, :nonempty_list], do: {:list, :any}
  defp builtin(_name), do: :any

  defp remote(String), do: {:string, :same}
  defp remote(DateTime), do: {:datetime, :same}
  defp remote(module) when is_map_key(@dates, module), do: {:date, {:date, module}}
  defp remote(_module), do: {:any, :same}

  defp union(members) do
    {nils, rest} = Enum.split_with(members, &match?({:atom, _, nil}, &1))

    {type, form} =
      if rest == [], do: {:any, :same}, else: rest |> Enum.map(&type/1) |> Merged.of()

    {if(nils == [], do: type, else: Type.optional(type)), form}
  end

  defp map(fields) do
    known = for {:type, _, kind, [{:atom, _, key}, type]} <- fields, do: {key, kind, type}

    case List.keytake(known, :__struct__, 0) do
      {{:__struct__, _kind, {:atom, _, module}}, rest} -> keys(rest, module)
      nil when known == [] -> {:map, :same}
      nil -> keys(known, nil)
    end
  end

  defp keys(known, struct) do
    fields = Enum.map(known, &field(&1, struct))
    {{:map, Enum.map(fields, &elem(&1, 0))}, {:map, struct, Enum.map(fields, &elem(&1, 1))}}
  end

  # Elixir adds the fields of a struct that its type does not name, as any term.
  defp field({key, kind, type}, struct) do
    {type, form} = type(type)
    missing? = kind == :map_field_assoc or (struct != nil and type == :any)
    nil? = match?({:optional, _}, type) or type == :any
    name = Atom.to_string(key)
    {{name, if(missing?, do: Type.optional(type), else: type)}, {name, key, form, missing?, nil?}}
  end

  @doc """
  The arguments as the function takes them, from those that have been checked; or the errors.

      iex> form = {:map, nil, [{"day", :day, {:date, Date}, false, false}, {"id", :id, :same, true, false}]}
      iex> PtcRunner.Agent.Spec.given(%{"day" => "2026-11-22"}, form)
      {:ok, %{day: ~D[2026-11-22]}}

      iex> form = {:map, nil, [{"day", :day, {:date, Date}, false, false}]}
      iex> PtcRunner.Agent.Spec.given(%{"day" => "tomorrow"}, form)
      {:error, [%{path: ["day"], message: ~s(expected date, as ISO 8601 text, got "tomorrow")}]}

  """
  @spec given(term(), form()) :: {:ok, term()} | {:error, [map(), ...]}
  def given(args, form) do
    {:ok, pass(args, form, [])}
  catch
    {__MODULE__, path, message} ->
      {:error, [%{path: Enum.reverse(path), message: message}]}
  end

  defp pass(nil, {:maybe, _form}, _path), do: nil
  defp pass(value, {:maybe, form}, path), do: pass(value, form, path)
  defp pass(value, :same, _path), do: value
  defp pass(%module{} = date, {:date, module}, _path), do: date

  defp pass(value, {:date, module}, path) do
    with true <- is_binary(value), {:ok, date} <- module.from_iso8601(value) do
      date
    else
      _no -> refuse(path, "expected #{@dates[module]}, as ISO 8601 text, got #{shown(value)}")
    end
  end

  defp pass(value, {:atoms, atoms}, path) do
    if value in atoms,
      do: value,
      else: refuse(path, "expected one of #{Shown.few(atoms, &shown/1)}, got #{shown(value)}")
  end

  defp pass(list, {:list, form}, path) when is_list(list),
    do: for({value, at} <- Enum.with_index(list), do: pass(value, form, [at | path]))

  defp pass(%_struct{} = struct, {:map, _module, _fields}, _path), do: struct

  defp pass(map, {:map, module, fields}, path) when is_map(map) do
    passed =
      for {name, key, form, _missing?, nil?} = field <- fields,
          {:ok, value} <- [value(map, field)],
          into: %{},
          do: {key, pass(value, if(nil?, do: {:maybe, form}, else: form), [name | path])}

    if module && function_exported?(module, :__struct__, 1),
      do: struct(module, passed),
      else: passed
  end

  defp pass(value, _form, _path), do: value

  # A key that need not be there, and cannot be nil, is left out if it is null.
  defp value(map, {name, key, _form, missing?, nil?}) do
    case map do
      %{^name => nil} when missing? and not nil? -> :none
      %{^name => value} -> {:ok, value}
      %{^key => value} -> {:ok, value}
      _no when missing? -> :none
      _no -> {:ok, nil}
    end
  end

  @spec refuse([term()], String.t()) :: no_return()
  defp refuse(path, message), do: throw({__MODULE__, path, message})

  defp shown(atom) when is_atom(atom) and atom != nil, do: inspect(Atom.to_string(atom))
  defp shown(value), do: Shown.text(value, 100)
end

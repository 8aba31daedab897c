defmodule PtcRunner.SubAgent.Signature.FromSchema do
  @moduledoc false
  # A JSON Schema of draft 2020-12 as a type with rules, and what of it types cannot say. This is the only reader; who reads decides
  # what becomes of the rest:
  #
  # * `read/2` lists it, and what is no schema is an error; `Signature.Given` refuses what is listed
  # * `lenient/2`, for tools of others, lists both, and such a place takes any value
  #
  # In parts:
  #
  # * this file: the parts of values, names of types that contain themselves
  # * `Reader`: what a schema demands at one place of the value; `Keywords`, `Alternative`: of what that consists
  # * `Types`: alternatives as types; `Place`: places and references; `Pattern`: patterns
  # * `Sound`: a schema without what is none

  alias PtcRunner.{Options, Shown}
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.FromSchema.{Keywords, Opened, Place, Reader, Size, Types}
  alias PtcRunner.SubAgent.Signature.{RuleCheck, Type, Validator}

  # Keys of schemas that are read at most, if there are references: of a schema, and of a tool's.
  @budget 200_000
  @budget_of_others 20_000
  # Maximum nesting of the value.
  @deepest 5_000
  # Parts of types that are repeated where a name is used a second time.
  @repeated 2_000

  @never {:one_of, [], nil}
  @no_value "schema"

  @type dropped :: %{path: String.t(), keyword: String.t(), reason: String.t()}

  @doc "See `PtcRunner.SubAgent.Signature.from_json_schema/2`."
  @spec read(term(), keyword()) :: {:ok, Signature.t(), [dropped()]} | {:error, String.t()}
  def read(schema, opts) do
    {type, state} = schema |> state(opts) |> whole()
    {:ok, {:signature, [], type}, for({dropped, _at} <- dropped(state), do: dropped)}
  catch
    {:no_schema, pointer, text} -> {:error, "#{Place.text(pointer)}: #{text}"}
  end

  @doc """
  The type of a schema that comes from elsewhere, and what is not kept of it, each with the path of the value. It never fails.

  A number is a `:number`, an object may be `{:open_map, fields, others}`, whose other fields have a type, and where a type is missing,
  its other keywords say it. The options:

    * `:object` - `true`: the value is an object, whatever the schema says
    * `:defaults` - `false`: without defaults
    * `:root` - where references lead: a document, whose parts are read when they are needed; by default the schema
    * `:without` - `"readOnly"` or `"writeOnly"`: without the fields that are so

  `refused` are the fields that may be missing, and that take no null.

      iex> schema = %{"required" => ["n"], "properties" => %{"n" => %{"type" => "number", "minimum" => "1"}, "at" => %{"type" => "moment"}}}
      iex> PtcRunner.SubAgent.Signature.FromSchema.lenient(schema, object: true)
      %{type: {:map, [{"at", {:optional, :any}}, {"n", :number}]}, refused: [],
        dropped: [{%{path: "#/properties/at", keyword: "type",
           reason: ~s("type" must be one of array, boolean, integer, null, number, object, string, or a list of them, got "moment")}, ["at"]},
          {%{path: "#/properties/n", keyword: "minimum", reason: ~s("minimum" must be a number, got "1")}, ["n"]}]}

  """
  @spec lenient(term(), keyword()) :: %{
          type: Opened.type(),
          refused: [String.t()],
          dropped: [{dropped(), path :: [String.t()]}]
        }
  def lenient(schema, opts) do
    schema? = is_boolean(schema) or (is_map(schema) and not is_struct(schema))
    state = if(schema?, do: schema, else: true) |> state(opts) |> within(opts[:root])

    state = %{
      state
      | lenient?: true,
        object?: opts[:object] == true,
        without: opts[:without],
        budget: @budget_of_others
    }

    state =
      if schema?,
        do: state,
        else:
          Reader.drop(
            state,
            state.start,
            @no_value,
            "it is no schema: #{Shown.text(schema, 200)}"
          )

    {type, state} = whole(state)
    %{type: type, refused: Enum.sort(state.refused), dropped: dropped(state)}
  end

  # The schema is beside the document.
  defp within(state, nil), do: state

  defp within(%{start: {schema, _, _}} = state, root) do
    beside = {schema, [""], ""}
    %{state | root: Place.root(root), start: beside, index: nil, refs?: true}
  end

  defp state(schema, opts) do
    root = Place.root(schema)
    %{refs?: refs?, named?: named?} = Place.scan(schema)

    %{
      root: root,
      start: root,
      index: if(named?, do: Place.index(root)),
      refs?: refs?,
      formats?: Keyword.get(opts, :formats, true),
      defaults?: Keyword.get(opts, :defaults, true),
      lenient?: false,
      object?: false,
      without: nil,
      budget: @budget,
      repeated: @repeated,
      depth: 0,
      dropped: %{},
      # The path of the value that is read, innermost first; its fields that may be missing and take no null.
      at: [],
      refused: [],
      # The places that are being read, with the name if one was needed; those that were read; names and their types.
      open: %{},
      known: %{},
      defs: %{}
    }
  end

  defp whole(%{start: {schema, _, _} = start} = state) do
    Keywords.schema!(schema, start, "the schema")
    {type, default, state} = convert([start], state)
    {type, state} = Types.with_default(type, default, start, state)
    {if(state.defs == %{}, do: type, else: {:defs, state.defs, type}), state}
  end

  defp dropped(state) do
    state.dropped
    |> Enum.sort_by(fn {_place, {number, _at, _why}} -> number end)
    |> Enum.map(fn {{path, keyword}, {_number, at, why}} ->
      {%{path: path, keyword: keyword, reason: why}, Enum.reverse(at)}
    end)
  end

  @doc "The type of a part that meets all of these places, its default, and whether it has no values."
  @spec convert([Place.t()], Reader.state()) ::
          {Signature.type(), {:ok, term()} | nil, Reader.state()}
  def convert([], state), do: {:any, nil, state}

  def convert([place | _] = places, %{depth: depth} = state) when depth >= @deepest do
    _ = places
    {:any, nil, Reader.drop(state, place, "type", "it is nested too deeply")}
  end

  def convert(places, %{refs?: false} = state), do: fresh(places, state)

  def convert(places, state) do
    case led(places, [], state) do
      {:ok, places, notes, led?, state} ->
        {type, default, state} = named(places, led?, state)
        {ruled(type, notes), default_of(notes, default), state}

      {:drop, place, why} ->
        {:any, nil, Reader.drop(state, place, "$ref", why)}
    end
  end

  defp default_of(%{"default" => value}, _default), do: {:ok, value}
  defp default_of(_notes, default), do: default

  defp ruled(type, %{"description" => text}) when is_binary(text),
    do: rules(type, description: text)

  defp ruled(type, _notes), do: type

  # A place that is only a reference is the place to which it leads.
  @beside ~w($ref description default title $comment examples deprecated readOnly writeOnly $defs definitions)

  defp led([{%{"$ref" => _} = schema, pointer, _base} = place], seen, state) do
    cond do
      pointer in seen ->
        {:drop, place, "it leads back to itself"}

      Enum.any?(schema, fn {key, _value} -> key not in @beside end) ->
        {:ok, [place], %{}, seen != [], state}

      true ->
        with {:ok, target} <- Reader.target(place, state),
             {:ok, places, notes, _led?, state} <- led([target], [pointer | seen], state) do
          {:ok, places, Map.merge(notes, Map.take(schema, ["description", "default"])), true,
           state}
        else
          {:drop, why} -> {:drop, place, why}
          dropped -> dropped
        end
    end
  end

  defp led(places, seen, state),
    do: {:ok, Enum.uniq_by(places, &elem(&1, 1)), %{}, seen != [], state}

  defp named(places, led?, state) do
    key = for {_schema, pointer, _base} <- places, do: pointer

    case state do
      %{open: %{^key => _}} -> recursive(key, state)
      %{known: %{^key => {type, default}}} -> again(key, type, default, state)
      _new -> first(key, places, led?, state)
    end
  end

  # The type contains itself.
  defp recursive(key, state) do
    case state.open[key] do
      nil ->
        name = name(key, state)

        state = %{
          state
          | open: Map.put(state.open, key, name),
            defs: Map.put(state.defs, name, :any)
        }

        {{:ref, name}, nil, state}

      name ->
        {{:ref, name}, nil, state}
    end
  end

  defp first(key, places, led?, state) do
    {type, default, state} = fresh(places, %{state | open: Map.put(state.open, key, nil)})
    {name, open} = Map.pop!(state.open, key)
    state = %{state | open: open}

    {type, state} =
      if name,
        do: {{:ref, name}, %{state | defs: Map.put(state.defs, name, type)}},
        else: {type, state}

    keep? = led? or match?([_, _ | _], places)
    known = if keep?, do: Map.put(state.known, key, {type, default}), else: state.known
    {type, default, %{state | known: known}}
  end

  # A type that is used again stands there again if it is small, else under a name.
  defp again(_key, {:ref, _name} = type, default, state), do: {type, default, state}

  defp again(key, type, default, state) do
    case Size.left(type, state.repeated) do
      :larger ->
        name = name(key, state)

        state = %{
          state
          | defs: Map.put(state.defs, name, type),
            known: Map.put(state.known, key, {{:ref, name}, default})
        }

        {{:ref, name}, default, state}

      left ->
        {type, default, %{state | repeated: left}}
    end
  end

  # The last part of the pointer, or all of it if another type has that name.
  defp name(key, state) do
    short = Enum.map_join(key, " & ", &List.first(&1, "#"))
    long = Enum.map_join(key, " & ", &Place.text/1)

    Enum.find([short, long], &(not is_map_key(state.defs, &1))) ||
      "#{long} #{map_size(state.defs)}"
  end

  defp fresh(places, state) do
    {alternatives, notes, state} = Reader.all(places, state)
    depth = state.depth

    {type, state} =
      Types.of(alternatives, hd(places), %{state | depth: depth + 1, object?: false})

    {type, state} = possible(type, places, state)
    {ruled(type, %{"description" => notes.description}), notes.default, %{state | depth: depth}}
  end

  # A schema of others that contradicts itself says nothing that could be kept. `false` says that there is no value.
  defp possible(@never, places, %{lenient?: true} = state) do
    if Enum.any?(places, &match?({false, _pointer, _base}, &1)),
      do: {@never, state},
      else: {:any, Reader.drop(state, hd(places), @no_value, "no value fits it")}
  end

  defp possible(type, _places, state), do: {type, state}

  @doc """
  A type with more rules; an optional type has them inside.

      iex> alias PtcRunner.SubAgent.Signature.FromSchema
      iex> FromSchema.rules({:optional, {:where, :int, [min: 1]}}, description: "a page")
      {:optional, {:where, :int, [min: 1, description: "a page"]}}

  """
  @spec rules(Signature.type(), keyword()) :: Signature.type()
  def rules(type, []), do: type
  def rules(@never, _rules), do: @never
  def rules({:optional, type}, rules), do: {:optional, rules(type, rules)}

  def rules({:where, type, old}, rules),
    do: {:where, type, old |> Keyword.merge(rules) |> RuleCheck.ordered()}

  def rules(type, rules), do: {:where, type, RuleCheck.ordered(rules)}

  @doc "Whether a value is valid; `:unknown` if the type has names."
  @spec valid?(term(), Opened.type()) :: boolean() | :unknown
  def valid?(value, type) do
    if refers?(type), do: :unknown, else: Validator.exact(value, Opened.bare(type)) == :ok
  end

  defp refers?(type), do: Type.any?(type, &match?({:ref, _name}, &1))

  @doc "The sentences of what is dropped."
  @spec sentences([dropped()]) :: [String.t()]
  def sentences(dropped) do
    for %{path: path, keyword: keyword, reason: why} <- dropped,
        do: "#{path} is not validated by #{Shown.name(keyword)}: #{why}"
  end

  @doc false
  @spec options(keyword()) :: :ok
  def options(opts) do
    Options.check!(
      opts,
      %{annotations: :boolean, formats: :boolean},
      "PtcRunner.SubAgent.Signature.from_json_schema/2"
    )
  end
end

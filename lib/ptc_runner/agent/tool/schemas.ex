defmodule PtcRunner.Agent.Tool.Schemas do
  @moduledoc false
  # The JSON Schemas of a tool from elsewhere: what is shown of it as a signature, and the types of its data. The schemas are read by
  # `PtcRunner.SubAgent.Signature.FromSchema`, which keeps what it can: what is not validated is listed, and never the whole is given up.
  #
  #   schema ──FromSchema──▶ type ──▶ data.type: what a call is checked against
  #                              └──▶ fields, notes: what prompts and checks before a run see of it

  alias PtcRunner.Agent.Nearly
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.{KeyNormalizer, Signature}
  alias PtcRunner.SubAgent.Signature.{Annotations, FromSchema, Type}
  alias PtcRunner.SubAgent.Signature.FromSchema.{Opened, Shared}

  @typedoc """
  What calls need of the schemas:

    * `signature` - the one that was made of them: another one in its place counts instead
    * `type` - of the arguments, with all rules; `returns` - of the answer
    * `others` - the type with the types of other fields, nil if there are none
    * `open` - what is said of arguments that are not declared: `:no`, `:said` (they are allowed) or `:unsaid` (these are errors, too: a
      tool does not have them; inside of arguments such fields are allowed, as the schema says)
    * `names` - the arguments that are declared
    * `defaults` - those of the arguments that know no null
    * `results` - whether an answer that does not fit is an error or a warning
  """
  @type data :: %{
          signature: Signature.t() | nil,
          type: Signature.type(),
          returns: Signature.type(),
          others: Opened.type() | nil,
          open: :no | :said | :unsaid,
          names: %{String.t() => Signature.type()},
          defaults: %{String.t() => term()},
          results: :enabled | :warn_only
        }

  @type arguments :: %{
          fields: [{String.t(), Signature.type()}],
          any?: boolean(),
          notes: Annotations.t(),
          data: data(),
          refused: [String.t()],
          lines: [String.t()]
        }

  @doc """
  The arguments of a schema. The options are those of `PtcRunner.SubAgent.Signature.FromSchema.lenient/2`.

      iex> schema = %{"type" => "object", "required" => ["path"], "properties" => %{
      ...>   "path" => %{"type" => "string", "description" => "Where", "format" => "path"}, "mode" => %{"enum" => ["r", "w"]},
      ...>   "at" => %{"anyOf" => [%{"type" => "number"}, %{"type" => "string"}]}}}
      iex> read = PtcRunner.Agent.Tool.Schemas.arguments(schema)
      iex> read.fields
      [{"at", {:optional, {:one_of, [:number, :string], nil}}}, {"mode", {:optional, :string}}, {"path", :string}]
      iex> {read.notes, read.lines}
      {%{enums: %{"mode" => ["r", "w"]}, descriptions: %{"path" => "Where"}}, ["path is not validated by format"]}
      iex> read.data.type
      {:map, [{"at", {:optional, {:one_of, [:number, :string], nil}}}, {"mode", {:optional, {:where, :string, [enum: ["r", "w"]]}}},
        {"path", :string}]}

  """
  @spec arguments(term(), keyword()) :: arguments()
  def arguments(schema, opts \\ []) do
    read = FromSchema.lenient(schema, [{:object, true} | opts])
    fields = Shared.fields(read.type)
    {shown, notes} = noted(fields, "")
    type = without_descriptions(read.type)

    %{
      fields: shown,
      any?: fields == [] and open(read.type) == :said,
      notes: notes,
      refused: read.refused,
      lines: Enum.map(read.dropped, &line(&1, "the object of arguments")),
      data: %{
        signature: nil,
        type: type |> Opened.bare() |> object(),
        returns: :any,
        others: if(Opened.any?(type), do: type),
        open: open(read.type),
        names: Map.new(fields),
        defaults: defaults(fields, read.refused),
        results: :enabled
      }
    }
  end

  defp defaults(fields, refused) do
    refused = MapSet.new(refused)

    for {name, type} <- fields,
        MapSet.member?(refused, name),
        {:ok, default} <- [Nearly.default(type)],
        into: %{},
        do: {name, default}
  end

  # Any object is a map.
  defp object(:any), do: :map
  defp object(type), do: type

  # Whether the arguments may have other names than those of their fields.
  defp open({:where, type, _rules}), do: open(type)
  defp open({:defs, names, {:ref, name}}), do: open(Map.get(names, name, :any))
  defp open({:defs, _names, type}), do: open(type)
  defp open({:one_of, [_ | _] = types, _field}), do: types |> Enum.map(&open/1) |> most()
  defp open({:closed_map, _fields}), do: :no
  defp open({:map, _fields}), do: :unsaid
  defp open(_any), do: :said

  defp most(all), do: Enum.find([:said, :unsaid, :no], &(&1 in all))

  @doc """
  The type of an answer, and what of its schema is not validated.

      iex> PtcRunner.Agent.Tool.Schemas.result(%{"type" => ["integer", "null"], "minimum" => 1, "default" => 5, "format" => "x"})
      {{:optional, {:where, :int, [min: 1]}}, []}

  """
  @spec result(term(), keyword()) :: {Signature.type(), lines :: [String.t()]}
  def result(schema, opts \\ []) do
    read = FromSchema.lenient(schema, [{:defaults, false} | opts])

    lines =
      for dropped <- read.dropped, do: "result: " <> line(dropped, "the object of arguments")

    {read.type |> Opened.bare() |> without_descriptions() |> shown(), lines}
  end

  # What contains itself is shown once.
  defp shown({:defs, names, type}), do: {:defs, names, once(type, names)}
  defp shown(type), do: type

  defp once({:ref, name}, names), do: Map.get(names, name, :any)
  defp once({kind, type}, names) when kind in [:optional, :list], do: {kind, once(type, names)}
  defp once({:where, type, rules}, names), do: {:where, once(type, names), rules}
  defp once(type, _names), do: type

  @doc """
  The signature that a program is checked against: with other arguments where the schema allows them, and with a mark that calls are
  noted, because its types do not have the rules.

      iex> PtcRunner.Agent.Tool.Schemas.checked({:signature, [{"a", :int}], :any}, %{open: :said})
      {:signature, {:open_map, [{"a", :int}]}, :any, :ruled}

  """
  @spec checked(Signature.t(), data()) :: tuple()
  def checked({:signature, params, returns}, data) do
    fields = for {name, type} <- params, do: {name, untwinned(type)}

    cond do
      twins?(params) -> {:signature, {:open_map, []}, returns, :ruled}
      data.open == :said -> {:signature, {:open_map, fields}, returns, :ruled}
      true -> {:signature, fields, returns, :ruled}
    end
  end

  # The native check takes names for one that differ only in hyphens and underscores: there, only constant arguments are judged.
  defp untwinned({kind, fields})
       when kind in [:map, :closed_map, :open_map] and is_list(fields) do
    if twins?(fields),
      do: :map,
      else: {kind, for({name, type} <- fields, do: {name, untwinned(type)})}
  end

  defp untwinned({kind, type}) when kind in [:optional, :list], do: {kind, untwinned(type)}
  defp untwinned({:union, types}), do: {:union, Enum.map(types, &untwinned/1)}
  defp untwinned(type), do: type

  defp twins?(fields) do
    names = for {name, _type} <- fields, do: KeyNormalizer.normalize_key(name)
    Enum.uniq(names) != names
  end

  defp line({%{keyword: "schema", reason: why}, at}, whole),
    do: "#{place(at, whole)} is not validated: #{why}"

  defp line({%{keyword: keyword}, at}, whole),
    do: "#{place(at, whole)} is not validated by #{Shown.name(keyword)}"

  defp place([], whole), do: whole
  defp place(at, _whole), do: at |> Enum.reduce("", &Annotations.join(&2, &1)) |> Shown.name()

  # Enumerations and descriptions of places that have a path are notes, for prompts and providers.
  defp noted(fields, path) do
    Enum.map_reduce(fields, %{enums: %{}, descriptions: %{}}, fn {name, type}, notes ->
      {type, notes} = noted(type, Annotations.join(path, name), notes)
      {{name, type}, notes}
    end)
  end

  defp noted({:optional, type}, path, notes) do
    {type, notes} = noted(type, path, notes)
    {{:optional, type}, notes}
  end

  defp noted({:list, type}, path, notes) do
    {type, notes} = noted(type, path, notes)
    {{:list, type}, notes}
  end

  defp noted({:where, {:list, _} = list, rules}, path, notes) do
    {description, rules} = Keyword.pop(rules, :description)
    {list, notes} = noted(list, path, notes)
    {Type.where(list, rules), put(notes, :descriptions, path, description)}
  end

  defp noted({:where, type, rules}, path, notes) when is_atom(type) do
    {description, rules} = Keyword.pop(rules, :description)
    {values, rules} = Keyword.pop(rules, :enum)
    notes = notes |> put(:descriptions, path, description) |> put(:enums, path, values)
    {Type.where(type, rules), notes}
  end

  defp noted({:where, type, rules}, path, notes) do
    {description, rules} = Keyword.pop(rules, :description)
    {type, notes} = noted(type, path, notes)
    {Type.where(type, rules), put(notes, :descriptions, path, description)}
  end

  defp noted({:defs, names, _type} = defs, path, notes) do
    {:defs, _names, type} = shown(defs)
    {type, notes} = noted(type, path, notes)
    {{:defs, names, type}, notes}
  end

  defp noted({kind, [_ | _] = fields}, path, notes) when kind in [:map, :closed_map] do
    {fields, notes} =
      Enum.map_reduce(fields, notes, fn {name, type}, notes ->
        {type, notes} = noted(type, Annotations.join(path, name), notes)
        {{name, type}, notes}
      end)

    {{kind, fields}, notes}
  end

  defp noted(type, _path, notes), do: {type, notes}

  # What is said of a list stands over what is said of its items.
  defp put(notes, _what, _path, nil), do: notes
  defp put(notes, what, path, value), do: %{notes | what => Map.put(notes[what], path, value)}

  defp without_descriptions({:where, type, rules}),
    do: type |> without_descriptions() |> Type.where(Keyword.delete(rules, :description))

  defp without_descriptions(type), do: Type.map(type, &without_descriptions/1)
end

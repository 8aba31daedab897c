defmodule PtcRunner.Test.EctoSchema do
  @moduledoc false
  # A stand-in for `Ecto.Schema`: a module with the reflection functions of a schema, and a struct as Ecto makes it. Ecto itself is not
  # available to these tests.
  #
  # `form: :old` describes enumerations and embedded schemas as Ecto did before 3.12 (and has no virtual types), `:new` as it does since.

  defmodule Metadata do
    @moduledoc false
    # As `Ecto.Schema.Metadata`.
    defstruct [:state, :source, :context, :schema, :prefix]
  end

  defmacro __using__(opts) do
    quote bind_quoted: [opts: opts] do
      about = PtcRunner.Test.EctoSchema.about(opts, __MODULE__)
      redact = about.redact

      if redact != [], do: @derive({Inspect, except: redact})
      defstruct about.struct

      for {question, answer} <- about.answers,
          do: def(__schema__(unquote(question)), do: unquote(Macro.escape(answer)))

      for {question, name, answer} <- about.named,
          do: def(__schema__(unquote(question), unquote(name)), do: unquote(Macro.escape(answer)))

      def __schema__(:type, _other), do: nil
      def __schema__(:association, _other), do: nil

      def __changeset__, do: unquote(Macro.escape(about.changeset))
    end
  end

  @doc false
  def about(opts, owner) do
    new? = Keyword.get(opts, :form, :new) == :new
    source = opts[:source]
    key = Keyword.get(opts, :primary_key, {:id, if(source, do: :id, else: :binary_id)})
    key_fields = if key, do: [key], else: []

    embeds =
      for {name, {cardinality, module}} <- Keyword.get(opts, :embeds, []),
          do: {name, embedded(name, cardinality, module, owner, new?)}

    assocs =
      for {name, given} <- Keyword.get(opts, :associations, []),
          do: {name, association(name, given, owner)}

    keys =
      for {name, %{__struct__: Ecto.Association.BelongsTo}} <- assocs, do: {:"#{name}_id", :id}

    stamps =
      if opts[:timestamps],
        do: [inserted_at: opts[:timestamps], updated_at: opts[:timestamps]],
        else: []

    own = for {name, type} <- Keyword.get(opts, :fields, []), do: {name, type(type, new?)}
    fields = key_fields ++ own ++ keys ++ embeds ++ stamps
    virtual = for {name, type} <- Keyword.get(opts, :virtual, []), do: {name, type(type, new?)}
    redact = Keyword.get(opts, :redact, [])
    autogenerate = if key, do: {elem(key, 0), elem(key, 0), elem(key, 1)}

    answers = %{
      source: source,
      prefix: nil,
      fields: names(fields),
      primary_key: names(key_fields),
      autogenerate_id: autogenerate,
      autogenerate_fields: names(stamps),
      embeds: names(embeds),
      associations: names(assocs),
      redact_fields: redact,
      read_after_writes: []
    }

    answers = if new?, do: Map.put(answers, :virtual_fields, names(virtual)), else: answers
    typed = for {name, type} <- fields, do: {:type, name, type}
    loose = if new?, do: for({name, type} <- virtual, do: {:virtual_type, name, type}), else: []

    %{
      redact: redact,
      answers: answers,
      named: typed ++ loose ++ for({name, assoc} <- assocs, do: {:association, name, assoc}),
      changeset:
        Map.new(fields ++ virtual ++ for({name, assoc} <- assocs, do: {name, {:assoc, assoc}})),
      struct:
        struct_fields(
          source,
          fields,
          virtual,
          assocs,
          opts[:embeds] || [],
          Keyword.get(opts, :defaults, []),
          owner
        )
    }
  end

  defp struct_fields(source, fields, virtual, assocs, embeds, defaults, owner) do
    meta =
      if source,
        do: [__meta__: struct(Metadata, state: :built, source: source, schema: owner)],
        else: []

    many = for {name, {:many, _module}} <- embeds, do: {name, []}
    plain = for {name, _type} <- fields ++ virtual, do: {name, nil}

    missing =
      for {name, assoc} <- assocs do
        {name,
         struct(Ecto.Association.NotLoaded,
           __field__: name,
           __owner__: owner,
           __cardinality__: assoc.cardinality
         )}
      end

    meta ++ Keyword.merge(plain, many ++ defaults) ++ missing
  end

  defp names(fields), do: for({name, _type} <- fields, do: name)

  defp embedded(name, cardinality, module, owner, new?) do
    given =
      struct(Ecto.Embedded, cardinality: cardinality, field: name, owner: owner, related: module)

    parameterized(Ecto.Embedded, given, new?)
  end

  defp type({:enum, values}, new?) do
    mappings =
      if Keyword.keyword?(values),
        do: values,
        else: for(value <- values, do: {value, Atom.to_string(value)})

    given = %{
      type: :string,
      embed_as: :self,
      mappings: mappings,
      on_load: Map.new(mappings, fn {key, value} -> {value, key} end),
      on_dump: Map.new(mappings),
      on_cast: Map.new(mappings, fn {key, _value} -> {Atom.to_string(key), key} end)
    }

    parameterized(Ecto.Enum, given, new?)
  end

  defp type({kind, inner}, new?) when kind in [:array, :map], do: {kind, type(inner, new?)}
  defp type(other, _new?), do: other

  defp parameterized(module, given, true), do: {:parameterized, {module, given}}
  defp parameterized(module, given, false), do: {:parameterized, module, given}

  defp association(name, {:belongs_to, module}, owner),
    do:
      struct(Ecto.Association.BelongsTo,
        field: name,
        owner: owner,
        related: module,
        owner_key: :"#{name}_id",
        related_key: :id
      )

  defp association(name, {:has_through, cardinality, through}, owner),
    do:
      struct(Ecto.Association.HasThrough,
        field: name,
        owner: owner,
        cardinality: cardinality,
        through: through
      )

  defp association(name, {cardinality, module}, owner),
    do:
      struct(Ecto.Association.Has,
        field: name,
        owner: owner,
        cardinality: cardinality,
        related: module,
        owner_key: :id
      )
end

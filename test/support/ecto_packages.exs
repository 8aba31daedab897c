# What the guides use of `Ecto.Schema` and `Ecto.Changeset`, for tests: this library does not depend on Ecto. Schemas are those of
# `PtcRunner.Test.EctoSchema`, changesets those of `PtcRunner.Test.EctoChangeset`.
unless Code.ensure_loaded?(Ecto.Schema) do
  defmodule Ecto.Schema do
    @moduledoc false

    @kinds [:fields, :defaults, :redact, :embeds, :associations]

    defmacro __using__(_opts) do
      quote do
        import Ecto.Schema, only: [schema: 2, embedded_schema: 1]

        for kind <- unquote(@kinds),
            do: Module.register_attribute(__MODULE__, kind, accumulate: true)
      end
    end

    defmacro schema(source, do: block), do: declared([source: source], block)
    defmacro embedded_schema(do: block), do: declared([], block)

    defp declared(opts, block) do
      quote do
        import Ecto.Schema
        unquote(block)
        use PtcRunner.Test.EctoSchema, unquote(opts) ++ Ecto.Schema.collected(__MODULE__)
      end
    end

    defmacro field(name, type, opts \\ []) do
      quote bind_quoted: [name: name, type: type, opts: opts] do
        @fields {name, if(type == Ecto.Enum, do: {:enum, opts[:values]}, else: type)}
        if opts[:default], do: @defaults({name, opts[:default]})
        if opts[:redact], do: @redact(name)
      end
    end

    defmacro belongs_to(name, module),
      do: quote(do: @associations({unquote(name), {:belongs_to, unquote(module)}}))

    defmacro has_many(name, module),
      do: quote(do: @associations({unquote(name), {:many, unquote(module)}}))

    defmacro embeds_many(name, module),
      do: quote(do: @embeds({unquote(name), {:many, unquote(module)}}))

    @doc false
    def collected(module) do
      for kind <- @kinds, do: {kind, module |> Module.get_attribute(kind) |> Enum.reverse()}
    end
  end

  defmodule Ecto.Changeset do
    @moduledoc false
    alias PtcRunner.Test.EctoChangeset

    def cast(data, params, names, _opts \\ []), do: EctoChangeset.cast(data, params, names)
    defdelegate cast_embed(changeset, name, opts \\ []), to: EctoChangeset
    defdelegate validate_required(changeset, names), to: EctoChangeset
    defdelegate validate_number(changeset, name, opts), to: EctoChangeset
    defdelegate validate_format(changeset, name, regex), to: EctoChangeset
    defdelegate apply_changes(changeset), to: EctoChangeset
  end
end

# What the guides use of `Ecto.Schema`, for tests: this library does not depend on Ecto. Rows are as Ecto makes them: with `__meta__`, and
# with associations that are not loaded.
unless Code.ensure_loaded?(Ecto.Schema) do
  defmodule Ecto.Schema.Metadata do
    @moduledoc false
    defstruct [:state, :source, :schema]
  end

  defmodule Ecto.Schema do
    @moduledoc false

    defmacro __using__(_opts) do
      quote do
        import Ecto.Schema,
          only: [schema: 2, embedded_schema: 1, field: 2, field: 3, belongs_to: 2, has_many: 2]

        Module.register_attribute(__MODULE__, :stand_in_fields, accumulate: true)
      end
    end

    defmacro schema(source, do: block) do
      quote do
        @stand_in_fields {:id, nil}
        unquote(block)
        meta = %Ecto.Schema.Metadata{state: :built, source: unquote(source), schema: __MODULE__}
        defstruct [{:__meta__, meta} | Enum.reverse(@stand_in_fields)]
      end
    end

    defmacro embedded_schema(do: block) do
      quote do
        unquote(block)
        defstruct Enum.reverse(@stand_in_fields)
      end
    end

    defmacro field(name, _type, opts \\ []) do
      quote do: @stand_in_fields({unquote(name), unquote(opts)[:default]})
    end

    defmacro belongs_to(name, _module) do
      quote do
        @stand_in_fields {unquote(:"#{name}_id"), nil}
        @stand_in_fields {unquote(name), Ecto.Schema.not_loaded(unquote(name), __MODULE__, :one)}
      end
    end

    defmacro has_many(name, _module) do
      quote do:
              @stand_in_fields(
                {unquote(name), Ecto.Schema.not_loaded(unquote(name), __MODULE__, :many)}
              )
    end

    @doc false
    def not_loaded(field, owner, cardinality) do
      struct!(Ecto.Association.NotLoaded,
        __field__: field,
        __owner__: owner,
        __cardinality__: cardinality
      )
    end
  end
end

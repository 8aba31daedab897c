# The structs of packages that this library does not depend on, for tests of ordinary Elixir data.
unless Code.ensure_loaded?(Decimal) do
  defmodule Decimal do
    @moduledoc false
    defstruct sign: 1, coef: 0, exp: 0

    # As in the package: "-12.50" is -1 times 1250 times 10 to the power of -2.
    def new(integer) when is_integer(integer), do: new(Integer.to_string(integer))

    def new(text) when is_binary(text) do
      [_all, sign, whole, fraction] =
        Regex.run(~r/^(-?)(\d+)(?:\.(\d+))?()$/, text) |> Enum.take(4)

      sign = if sign == "-", do: -1, else: 1

      %__MODULE__{
        sign: sign,
        coef: String.to_integer(whole <> fraction),
        exp: -byte_size(fraction)
      }
    end
  end
end

unless Code.ensure_loaded?(Ecto.Association.NotLoaded) do
  defmodule Ecto.Association.NotLoaded do
    @moduledoc false
    defstruct [:__field__, :__owner__, :__cardinality__]
  end
end

unless Code.ensure_loaded?(Ecto.Embedded) do
  defmodule Ecto.Embedded do
    @moduledoc false
    defstruct [
      :cardinality,
      :field,
      :owner,
      :related,
      :on_cast,
      on_replace: :raise,
      unique: true,
      ordered: true
    ]
  end

  defmodule Ecto.Association.BelongsTo do
    @moduledoc false
    defstruct [:field, :owner, :related, :owner_key, :related_key, cardinality: :one]
  end

  defmodule Ecto.Association.Has do
    @moduledoc false
    defstruct [:cardinality, :field, :owner, :related, :owner_key, :related_key]
  end

  defmodule Ecto.Association.HasThrough do
    @moduledoc false
    defstruct [:cardinality, :field, :owner, :owner_key, :through]
  end
end

# The structs of packages that this library does not depend on, for tests of ordinary Elixir data.
unless Code.ensure_loaded?(Decimal) do
  defmodule Decimal do
    @moduledoc false
    defstruct sign: 1, coef: 0, exp: 0
  end
end

unless Code.ensure_loaded?(Ecto.Association.NotLoaded) do
  defmodule Ecto.Association.NotLoaded do
    @moduledoc false
    defstruct [:__field__, :__owner__, :__cardinality__]
  end
end

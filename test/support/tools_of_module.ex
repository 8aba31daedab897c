defmodule PtcRunner.Test.ToolsOfModule do
  @moduledoc false
  # Functions of each kind, for the tests of `PtcRunner.Agent.Tool.from_module/2`.

  defmodule Item do
    @moduledoc false
    defstruct [:sku, :count]
    @type t :: %__MODULE__{sku: String.t(), count: pos_integer()}
  end

  @type status :: :open | :closed

  @doc """
  The orders of a customer.

  More is not shown.
  """
  @spec orders(customer :: integer(), status(), Date.t() | nil, keyword()) ::
          {:ok, [map()]} | {:error, term()}
  def orders(customer, status \\ :open, since \\ nil, opts \\ []),
    do: {:ok, [%{"is" => inspect({customer, status, since, opts})}]}

  @doc "Places an order."
  @spec place(%{
          required(:customer) => integer(),
          required(:items) => [Item.t()],
          optional(:note) => String.t()
        }) :: :error | {:ok, integer()}
  def place(%{customer: customer, items: [%Item{} | _] = items}),
    do: {:ok, customer + length(items)}

  def place(_order), do: :error

  @doc "The size of any map."
  @spec size(map()) :: non_neg_integer()
  def size(map), do: map_size(map)

  @doc "The time."
  @spec now() :: DateTime.t()
  def now, do: ~U[2026-11-23 11:00:00Z]

  @doc "Kinds that signatures do not have."
  @spec strange(pid(), {integer(), integer()}, 1..10, String.t() | integer(), (() -> term())) ::
          term()
  def strange(a, {_, _}, c, d, e), do: {a, c, d, e}

  @doc "A pattern has no name."
  @spec first([integer(), ...]) :: integer() | nil
  def first([one | _]), do: one

  @doc "It has no spec."
  def bare(left, right), do: "#{left}-#{right}"

  @doc false
  def hidden, do: 1

  @spec quiet() :: 1
  def quiet, do: 1

  @doc "One of two arities."
  @spec twice(integer()) :: integer()
  def twice(one), do: one

  @doc "Two of two arities."
  @spec twice(integer(), integer()) :: integer()
  def twice(one, two), do: one + two
end

defmodule PtcRunner.Test.SpecTools do
  @moduledoc """
  Tools with specs. Each one returns what it got, as text; those with patterns raise for anything else.
  """

  defmodule Ticket do
    @moduledoc false
    @enforce_keys [:id]
    defstruct [:id, :title, tags: []]
    @type t :: %__MODULE__{id: integer(), title: String.t() | nil}
  end

  @type address :: %{city: String.t(), zip: String.t() | nil}
  @type row :: %{:n => integer(), optional(:note) => String.t()}

  @doc "Refunds an order."
  @spec refund(%{order: integer(), amount: float()}) :: String.t()
  def refund(%{order: id, amount: amount}) when is_integer(id) and is_float(amount),
    do: "#{id}: #{amount}"

  @spec search(%{:q => String.t(), optional(:limit) => pos_integer()}) :: {:ok, String.t()}
  def search(%{q: q} = args), do: {:ok, inspect({q, args})}

  @spec nested(%{to: address(), rows: [row()], open: [address()] | nil}) :: String.t()
  def nested(%{to: %{city: _, zip: _}, rows: rows, open: _} = args) do
    for %{n: n} <- rows, do: true = is_integer(n)
    inspect(args)
  end

  @spec at(%{at: DateTime.t(), day: Date.t(), time: Time.t() | nil, local: NaiveDateTime.t()}) ::
          DateTime.t()
  def at(%{at: %DateTime{} = at, day: %Date{}, time: _, local: %NaiveDateTime{}}), do: at

  @spec status(%{status: :open | :closed | nil}) :: String.t()
  def status(%{status: status}) when status in [:open, :closed, nil], do: inspect(status)

  @spec close(Ticket.t()) :: String.t()
  def close(ticket), do: inspect(ticket)

  @spec own(%{ticket: %Ticket{id: integer()}}) :: String.t()
  def own(%{ticket: %Ticket{id: id} = ticket}) when is_integer(id), do: inspect(ticket)

  @spec any_map(map()) :: map()
  def any_map(map), do: map

  @spec others(%{:id => integer(), optional(String.t()) => term()}) :: String.t()
  def others(%{id: id}), do: "#{id}"

  @spec pair(%{id: integer()}, term()) :: term()
  def pair(%{"id" => id}, _other), do: id
  def pair(%{"id" => id}), do: id
end

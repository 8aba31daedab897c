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

  defmodule Money do
    @moduledoc false
    @type t :: %{cents: integer(), currency: :eur | :usd}
    @opaque account :: %{iban: String.t()}
  end

  @type page(item) :: %{items: [item], size: pos_integer()}

  @spec bounded(args) :: integer() when args: %{id: id, all: [id]}, id: integer()
  def bounded(%{id: id, all: all}), do: id + Enum.sum(all)

  @spec clauses(%{id: integer(), kind: :one}) :: String.t()
  @spec clauses(%{name: String.t(), kind: :two}) :: String.t()
  def clauses(%{id: id, kind: :one}) when is_integer(id), do: "#{id}"
  def clauses(%{name: name, kind: :two}), do: name

  @spec either(%{id: integer()} | %{name: String.t()} | nil) :: String.t()
  def either(%{id: id}) when is_integer(id), do: "#{id}"
  def either(%{name: name}), do: name

  @spec pay(%{:price => Money.t(), optional(:from) => Money.account(), :dry_run? => boolean()}) ::
          String.t()
  def pay(%{price: %{cents: cents, currency: :eur}, dry_run?: true} = args)
      when is_integer(cents),
      do: sorted(args)

  @spec page(page(Money.t())) :: integer()
  def page(%{items: items, size: size}), do: size + Enum.sum(for %{cents: c} <- items, do: c)

  @spec small(%{kind: :refund, level: 1..10, less: neg_integer(), on: true}) :: String.t()
  def small(%{kind: :refund, level: level, less: less, on: true})
      when is_integer(level) and is_integer(less),
      do: "#{level + less}"

  @doc "The text of a term. From Erlang 26 on the keys of small maps have no order."
  def sorted(term), do: inspect(term, custom_options: [sort_maps: true])

  @doc "Refunds an order."
  @spec refund(%{order: integer(), amount: float()}) :: String.t()
  def refund(%{order: id, amount: amount}) when is_integer(id) and is_float(amount),
    do: "#{id}: #{amount}"

  @spec search(%{:q => String.t(), optional(:limit) => pos_integer()}) :: {:ok, String.t()}
  def search(%{q: q} = args), do: {:ok, sorted({q, args})}

  @spec nested(%{to: address(), rows: [row()], open: [address()] | nil}) :: String.t()
  def nested(%{to: %{city: _, zip: _}, rows: rows, open: _} = args) do
    for %{n: n} <- rows, do: true = is_integer(n)
    sorted(args)
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

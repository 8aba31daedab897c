defmodule PtcRunner.Test.ToolsWithContext do
  @moduledoc false
  # Functions that take what the application gives beside what a program gives.

  @doc "Refunds an order."
  @spec refund(%{:order => integer(), optional(:note) => String.t()}, map()) :: term()
  def refund(%{order: order} = args, %{context: context}),
    do: %{"order" => order, "note" => args[:note], "by" => context.actor}

  @doc "The orders of the one who asks."
  @spec orders(scope :: map(), status :: :open | :closed, limit :: integer()) :: [map()]
  def orders(scope, status, limit \\ 10),
    do: [%{"by" => scope.user, "status" => status, "limit" => limit}]

  @doc "Pays, for an actor at the end."
  @spec pay(%{to: String.t()}, actor :: String.t()) :: {:ok, String.t()}
  def pay(%{to: to}, actor), do: {:ok, "#{actor} pays #{to}"}

  @doc "Needs nothing of a program."
  @spec whoami(actor :: term()) :: term()
  def whoami(actor), do: actor
end

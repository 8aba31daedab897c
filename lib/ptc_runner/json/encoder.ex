defprotocol PtcRunner.Json.Encoder do
  @moduledoc """
  Converts a struct, or a tuple, pid or other term that has no form in JSON, to a term that has one.

  `PtcRunner.Json.Codec` writes nil, booleans, numbers, strings, atoms, proper lists and maps
  natively; for all other terms it calls this protocol. `Date`, `Time`, `NaiveDateTime` and `DateTime`
  are written as their ISO 8601 strings, and a `Decimal` as its digits (`"12.50"`). Another struct without an implementation is passed to
  `Jason.Encoder` if the application has Jason; otherwise it is a `Protocol.UndefinedError`.

      defimpl PtcRunner.Json.Encoder, for: Money do
        def encode(money), do: %{"amount" => money.amount, "currency" => money.currency}
      end

  """

  @doc """
  A term that stands for `term`: the codec can write it, or it has an encoder itself.

      iex> PtcRunner.Json.Encoder.encode(~D[2025-11-20])
      "2025-11-20"

  """
  @spec encode(t) :: term
  def encode(term)
end

for module <- [Date, Time, NaiveDateTime, DateTime] do
  defimpl PtcRunner.Json.Encoder, for: module do
    def encode(time), do: @for.to_iso8601(time)
  end
end

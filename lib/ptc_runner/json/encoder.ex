defprotocol PtcRunner.Json.Encoder do
  @moduledoc """
  What stands in JSON for a struct, or for a tuple, pid or other term that JSON has no form for.

  `PtcRunner.Json.Codec` writes nil, booleans, numbers, strings, atoms, proper lists and maps
  natively; everything else it asks of this protocol. `Date`, `Time`, `NaiveDateTime` and `DateTime`
  are implemented as their ISO 8601 strings. A struct without an implementation is given to
  `Jason.Encoder` if the application has Jason, and is `Protocol.UndefinedError` otherwise.

      defimpl PtcRunner.Json.Encoder, for: Money do
        def encode(money), do: %{"amount" => money.amount, "currency" => money.currency}
      end

  """

  @doc """
  A term that stands for `term`: one that the codec can write, or whose encoder in turn gives one.

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

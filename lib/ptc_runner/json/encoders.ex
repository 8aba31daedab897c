# Encoders for the structs of this library: objects of their fields, without those that are nil or empty.
# Beside `ptc_runner` the structs are that package's, of any release, so no field is named here except
# `:tools`, which contains functions.

alias PtcRunner.Json.Codec.{DecodeError, EncodeError}

for module <- [PtcRunner.Step, PtcRunner.Turn] do
  defimpl PtcRunner.Json.Encoder, for: module do
    alias PtcRunner.Json.Encodable

    def encode(record),
      do: record |> Map.from_struct() |> Map.new(&named/1) |> Encodable.record()

    # Functions have no form in JSON, so only their names are written.
    defp named({:tools, tools}) when is_map(tools), do: {:tools, Map.keys(tools)}
    defp named(field), do: field
  end
end

for module <- [DecodeError, EncodeError] do
  defimpl PtcRunner.Json.Encoder, for: module do
    def encode(error),
      do: %{error: error.reason, message: Exception.message(error), position: error.position}
  end
end

# If a release of `ptc_runner` has its own implementation, that one is used.
if Code.ensure_loaded?(Jason.Encoder) do
  for module <- [PtcRunner.Step, PtcRunner.Turn, DecodeError, EncodeError],
      not Code.ensure_loaded?(Module.concat(Jason.Encoder, module)) do
    defimpl Jason.Encoder, for: module do
      def encode(struct, _opts), do: PtcRunner.Json.Codec.encode!(struct, as: :iodata)
    end
  end
end

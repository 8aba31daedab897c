# The structs of this library as JSON: objects of their fields, without those that are nil or empty.
# Beside `ptc_runner` the structs are that package's, of any release: no field is named here but those
# that hold functions.

alias PtcRunner.Json.Codec.{DecodeError, EncodeError}

for module <- [PtcRunner.Step, PtcRunner.Turn] do
  defimpl PtcRunner.Json.Encoder, for: module do
    alias PtcRunner.Json.Encodable

    def encode(record),
      do: record |> Map.from_struct() |> Map.replace_lazy(:tools, &names/1) |> Encodable.record()

    # Functions have no form, their names have.
    defp names(tools) when is_map(tools), do: Map.keys(tools)
    defp names(tools), do: tools
  end
end

for module <- [DecodeError, EncodeError] do
  defimpl PtcRunner.Json.Encoder, for: module do
    def encode(error),
      do: %{error: error.reason, message: Exception.message(error), position: error.position}
  end
end

# A release of `ptc_runner` that has an implementation of its own keeps it.
if Code.ensure_loaded?(Jason.Encoder) do
  for module <- [PtcRunner.Step, PtcRunner.Turn, DecodeError, EncodeError],
      not Code.ensure_loaded?(Module.concat(Jason.Encoder, module)) do
    defimpl Jason.Encoder, for: module do
      def encode(struct, _opts), do: PtcRunner.Json.Codec.encode!(struct, as: :iodata)
    end
  end
end

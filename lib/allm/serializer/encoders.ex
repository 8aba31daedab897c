# An application that has the ALLM package keeps its modules: see guides/engine.md.
unless Code.ensure_loaded?(ALLM) do
  # What stands in JSON for the library's structs: an object with a tag and every field.

  defimpl PtcRunner.Json.Encoder, for: ALLM.Engine do
    def encode(engine) do
      data = Map.from_struct(engine)

      %{
        "__type__" => "ALLM.Engine",
        "data" => %{
          data
          | adapter_opts: pairs(data.adapter_opts),
            retry: pairs(data.retry),
            tools: tools(data.tools)
        }
      }
    end

    defp pairs([{key, value} | rest]) when is_atom(key), do: [[key, value] | pairs(rest)]
    defp pairs(other), do: other

    # One call of the writer is less work than one a tool.
    defp tools([%ALLM.Tool{} = tool | rest]),
      do: [PtcRunner.Json.Encoder.ALLM.Tool.encode(tool) | tools(rest)]

    defp tools(other), do: other
  end

  defimpl PtcRunner.Json.Encoder, for: ALLM.Tool do
    def encode(tool) do
      data = Map.from_struct(tool)
      %{"__type__" => "ALLM.Tool", "data" => %{data | handler: handler(data.handler)}}
    end

    defp handler({module, function}) when is_atom(module) and is_atom(function),
      do: [module, function]

    defp handler(other), do: other
  end

  defimpl PtcRunner.Json.Encoder, for: ALLM.Error.ValidationError do
    def encode(error) do
      %{
        "__type__" => "ALLM.Error.ValidationError",
        "data" => %{
          reason: error.reason,
          message: error.message,
          errors: for({place, what} <- error.errors, do: [place, what])
        }
      }
    end
  end

  if Code.ensure_loaded?(Jason.Encoder) do
    for module <- [ALLM.Engine, ALLM.Tool, ALLM.Error.ValidationError] do
      defimpl Jason.Encoder, for: module do
        def encode(struct, _opts), do: ALLM.Serializer.to_iodata!(struct)
      end
    end
  end
end

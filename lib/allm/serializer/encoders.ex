# An application that has the ALLM package keeps its modules: see guides/engine.md.
unless Code.ensure_loaded?(ALLM) do
  # The JSON form of the library's structs: an object with a tag and every field.

  defimpl PtcRunner.Json.Encoder, for: ALLM.Engine do
    def encode(engine) do
      data =
        engine
        |> Map.from_struct()
        |> Map.update!(:tools, &tools/1)
        |> Map.update!(:adapter_opts, &pairs/1)
        |> Map.update!(:retry, &pairs/1)

      %{"__type__" => "ALLM.Engine", "data" => data}
    end

    defp pairs([{key, value} | rest]) when is_atom(key), do: [[key(key), value] | pairs(rest)]
    defp pairs(other), do: other

    # As values, these atoms would not become strings.
    defp key(key) when key in [nil, true, false], do: Atom.to_string(key)
    defp key(key), do: key

    # One call of the writer is faster than one call per tool.
    defp tools([%ALLM.Tool{} = tool | rest]),
      do: [PtcRunner.Json.Encoder.ALLM.Tool.encode(tool) | tools(rest)]

    defp tools(other), do: other
  end

  defimpl PtcRunner.Json.Encoder, for: ALLM.Tool do
    def encode(tool) do
      data = tool |> Map.from_struct() |> Map.update!(:handler, &handler/1)
      %{"__type__" => "ALLM.Tool", "data" => data}
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

# An application that has the ALLM package keeps its modules: see guides/engine.md.
unless Code.ensure_loaded?(ALLM) do
  defmodule ALLM.Serializer do
    @moduledoc """
    Encodes engines, tools and validation errors as JSON, and decodes them.

    In the JSON a struct is an object with a tag:

        {"__type__": "ALLM.Tool", "data": {"name": "now", "description": "the time", ...}}

    with every field, including nil ones. Modules and other atoms are encoded as their full name, keyword
    lists as arrays of `[key, value]`, a handler `{Module, :function}` as an array of both. A value
    without a JSON form raises `Protocol.UndefinedError` at any depth; a string that
    is not UTF-8 raises too. `PtcRunner.Json.Codec` writes the text.

    Decoding restores modules, keys of keyword lists and the keys of an engine's `params`, `context`
    and `metadata`, but only as atoms that exist. The values below stay as JSON has them: an atom
    becomes a string, a `DateTime` its ISO 8601 text. Atoms are never created.
    """

    alias ALLM.Error.ValidationError
    alias ALLM.Serializer.Restore
    alias PtcRunner.Json.Codec

    @modules %{
      "ALLM.Engine" => ALLM.Engine,
      "ALLM.Tool" => ALLM.Tool,
      "ALLM.Error.ValidationError" => ValidationError
    }
    @known Map.values(@modules)

    @type serializable :: ALLM.Engine.t() | ALLM.Tool.t() | ValidationError.t()

    @doc """
    The struct as JSON text.

        iex> tool = ALLM.Tool.new(name: "now", description: "the time", schema: %{type: "object"})
        iex> tool |> ALLM.Serializer.to_json!() |> PtcRunner.Json.Codec.decode!()
        %{"__type__" => "ALLM.Tool",
          "data" => %{"description" => "the time", "handler" => nil, "manual" => false, "metadata" => %{},
                      "name" => "now", "schema" => %{"type" => "object"}}}

        iex> engine = ALLM.Engine.new(params: %{on_retry: [self()]})
        iex> try do
        ...>   ALLM.Serializer.to_json!(engine)
        ...> rescue
        ...>   error in Protocol.UndefinedError -> error.value == self()
        ...> end
        true

    """
    @spec to_json!(serializable()) :: String.t()
    def to_json!(%_module{} = struct), do: Codec.encode!(struct)

    @doc """
    The JSON text of a struct, as iodata.

        iex> tool = ALLM.Tool.new(name: "now", description: "the time", schema: %{})
        iex> IO.iodata_to_binary(ALLM.Serializer.to_iodata!(tool)) == ALLM.Serializer.to_json!(tool)
        true

    """
    @spec to_iodata!(serializable()) :: iodata()
    def to_iodata!(%_module{} = struct), do: Codec.encode!(struct, as: :iodata)

    @doc """
    The struct of a JSON text.

    The tag determines the struct. For an object without a tag, the option `:as`, one of the three modules,
    determines it. An object with another tag is returned as a map.

        iex> engine = ALLM.Engine.new(model: "fake:m", adapter_opts: [timeout: 5], params: %{top_p: 1.0})
        iex> ALLM.Serializer.from_json(ALLM.Serializer.to_json!(engine)) == {:ok, engine}
        true

        iex> {:ok, engine} = ALLM.Serializer.from_json(~s({"model": "fake:m"}), as: ALLM.Engine)
        iex> engine == ALLM.Engine.new(model: "fake:m")
        true

        iex> ALLM.Serializer.from_json(~s({"__type__": "Elsewhere", "data": 1}))
        {:ok, %{"__type__" => "Elsewhere", "data" => 1}}

    Any other text returns an `ALLM.Error.ValidationError` with the reason `:invalid_request` and one of
    these as its `errors`:

    | errors | |
    |---|---|
    | `[json: :malformed]` | not JSON |
    | `[format: :missing_type_tag]` | no tag and no `:as`, or not an object |
    | `[format: :unknown_type_tag]` | no tag, and `:as` is not one of the three modules |
    | `[data: :missing]` | a tag without data |
    | `[data: :malformed_struct]` | data that are not an object, or not valid for the struct |
    | `[_unknown: :atom_decode_failed]` | a module or key that does not exist as an atom |

        iex> {:error, error} = ALLM.Serializer.from_json("{")
        iex> {error.reason, error.errors, Exception.message(error)}
        {:invalid_request, [json: :malformed], "invalid JSON for ALLM.Serializer.from_json/2"}

        iex> {:error, error} = ALLM.Serializer.from_json(~s({"adapter": "Elixir.No.Such.Adapter"}), as: ALLM.Engine)
        iex> error.errors
        [_unknown: :atom_decode_failed]

    """
    @spec from_json(String.t(), as: module()) ::
            {:ok, serializable() | map()} | {:error, ValidationError.t()}
    def from_json(json, opts \\ []) when is_binary(json) do
      PtcRunner.Options.check!(opts, %{as: :any}, "ALLM.Serializer.from_json/2")

      with {:ok, term} <- decode(json),
           {:ok, module, data} <- what(term, opts[:as]),
           {:ok, struct} <- Restore.struct(module, data) do
        {:ok, struct}
      else
        {:as_it_is, map} -> {:ok, map}
        {:error, error} -> {:error, invalid(error)}
      end
    end

    defp decode(json) do
      with {:error, _error} <- Codec.decode(json), do: {:error, {:json, :malformed}}
    end

    defp what(%{"__type__" => tag} = map, _as) do
      case @modules do
        %{^tag => module} -> tagged(module, map)
        _unknown -> {:as_it_is, map}
      end
    end

    defp what(%{} = _map, nil), do: {:error, {:format, :missing_type_tag}}
    defp what(%{} = map, as) when as in @known, do: {:ok, as, map}
    defp what(%{} = _map, _unknown), do: {:error, {:format, :unknown_type_tag}}
    defp what(_no_object, _as), do: {:error, {:format, :missing_type_tag}}

    defp tagged(module, %{"data" => %{} = data}), do: {:ok, module, data}
    defp tagged(_module, %{"data" => _no_object}), do: {:error, {:data, :malformed_struct}}
    defp tagged(_module, _map), do: {:error, {:data, :missing}}

    defp invalid(error) do
      message = "invalid JSON for ALLM.Serializer.from_json/2"
      ValidationError.new(:invalid_request, [error], message: message)
    end
  end
end

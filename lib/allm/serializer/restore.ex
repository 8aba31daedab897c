# An application that has the ALLM package keeps its modules: see guides/engine.md.
unless Code.ensure_loaded?(ALLM) do
  defmodule ALLM.Serializer.Restore do
    @moduledoc false
    # Restores structs from decoded JSON. Throws an error for values that cannot be restored.

    alias ALLM.{Engine, Tool}
    alias ALLM.Error.ValidationError

    @type error :: {atom(), atom()}

    @engine for field <- Map.keys(Engine.new()) -- [:__struct__], do: {to_string(field), field}
    @modules [:adapter, :tool_executor, :tool_result_encoder, :image_adapter]
    @atom_keyed [:params, :context, :metadata]

    @doc """
    The struct of that module; missing fields get their defaults, unknown ones are ignored.

        iex> ALLM.Serializer.Restore.struct(ALLM.Tool, %{"name" => "now"})
        {:error, {:data, :malformed_struct}}

    """
    @spec struct(module(), map()) :: {:ok, struct()} | {:error, error()}
    def struct(module, data) do
      {:ok, restore(module, data)}
    catch
      {:not_restored, error} -> {:error, error}
    end

    defp restore(Engine, data) do
      Engine.new(
        for {key, field} <- @engine,
            {:ok, value} <- [Map.fetch(data, key)],
            do: {field, engine_field(field, value)}
      )
    end

    defp restore(Tool, %{"name" => name, "description" => description, "schema" => schema} = data)
         when is_binary(name) do
      manual = Map.get(data, "manual", false)

      Tool.new(
        name: name,
        description: description,
        schema: schema,
        handler: Map.get(data, "handler"),
        manual: if(is_boolean(manual), do: manual, else: malformed()),
        metadata: Map.get(data, "metadata", %{})
      )
    end

    defp restore(ValidationError, %{"reason" => reason, "errors" => errors, "message" => message})
         when is_binary(reason) and is_list(errors) and is_binary(message) do
      ValidationError.new(atom(reason), Enum.map(errors, &field_error/1), message: message)
    end

    defp restore(_module, _data), do: malformed()

    defp engine_field(field, value) when field in @modules, do: module(value)

    defp engine_field(field, value) when field in @atom_keyed do
      if is_map(value), do: :maps.from_list(atom_keys(Map.to_list(value))), else: malformed()
    end

    defp engine_field(:adapter_opts, value),
      do: if(is_list(value), do: pairs(value), else: malformed())

    defp engine_field(:tools, value), do: if(is_list(value), do: tools(value), else: malformed())
    defp engine_field(:middleware, value), do: if(is_list(value), do: value, else: malformed())
    defp engine_field(:retry, "default"), do: :default
    defp engine_field(:retry, value) when is_list(value), do: pairs(value)
    defp engine_field(_field, value), do: value

    defp module(name) when is_binary(name), do: atom(name)
    defp module(name) when is_atom(name), do: name
    defp module(_other), do: malformed()

    defp tools(values), do: Enum.map(values, &tool/1)

    defp tool(%{"__type__" => "ALLM.Tool", "data" => %{} = data}), do: restore(Tool, data)
    defp tool(%{"__type__" => "ALLM.Tool", "data" => _no_object}), do: malformed()
    defp tool(%{"__type__" => "ALLM.Tool"}), do: not_restored({:data, :missing})
    defp tool(_other), do: malformed()

    # A list that was not a keyword list was written unchanged.
    defp pairs(values) do
      if Enum.all?(values, &match?([key, _value] when is_binary(key), &1)),
        do: atom_keys(for([key, value] <- values, do: {key, value})),
        else: values
    end

    defp atom_keys(pairs), do: for({key, value} <- pairs, do: {atom(key), value})

    defp field_error([place, what]) when is_binary(what), do: {place(place), atom(what)}
    defp field_error(_other), do: malformed()

    defp place(field) when is_binary(field), do: atom(field)
    defp place(path) when is_list(path), do: Enum.map(path, &place/1)
    defp place(other), do: other

    defp atom(name) do
      String.to_existing_atom(name)
    rescue
      # An atom cannot be longer than 255 characters.
      _no_such in [ArgumentError, SystemLimitError] ->
        not_restored({:_unknown, :atom_decode_failed})
    end

    @spec malformed() :: no_return()
    defp malformed, do: not_restored({:data, :malformed_struct})

    @spec not_restored(error()) :: no_return()
    defp not_restored(error), do: throw({:not_restored, error})
  end
end

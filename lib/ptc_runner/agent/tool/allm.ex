defmodule PtcRunner.Agent.Tool.Allm do
  @moduledoc false
  # The tools of `ALLM`, whose arguments are described by a JSON Schema.

  alias PtcRunner.Agent.{Tool, ToolSchema}
  alias PtcRunner.Json.Codec
  alias PtcRunner.Shown

  @doc "The tool of this name; `context` is that of its engine, or nil."
  @spec tool(String.t(), struct(), map() | nil) :: Tool.t()
  def tool(name, tool, context) do
    schema = tool.schema |> Codec.encode!() |> Codec.decode!()

    read = ToolSchema.read(schema, rules: :arguments)

    {signature, notes} =
      case read.type do
        {kind, fields} when kind in [:map, :closed_map] ->
          {{:signature, fields, :any}, read.notes}

        # Any object, or no object at all.
        _other ->
          {nil, nil}
      end

    %Tool{
      name: name,
      fun: handler(name, tool.handler, context),
      signature: signature,
      description: tool.description,
      notes: notes,
      schema: if(signature == nil, do: schema),
      warnings: Enum.map(read.warnings, &"#{name}: #{&1}")
    }
  end

  defp handler(_name, fun, _context) when is_function(fun, 1), do: fun
  defp handler(_name, fun, context) when is_function(fun, 2), do: given(fun, context)

  defp handler(_name, {module, function}, context) when is_atom(module) and is_atom(function) do
    if Code.ensure_loaded?(module) and function_exported?(module, function, 2),
      do: given(&apply(module, function, [&1, &2]), context),
      else: &apply(module, function, [&1])
  end

  defp handler(name, other, _context) do
    raise ArgumentError,
          "tool #{inspect(name)} must have a handler, got: #{Shown.text(other, 200)}"
  end

  # A handler gets the context of its engine; of a tool without an engine, that of the run.
  defp given(fun, nil), do: fn args, %{context: context} -> fun.(args, context) end
  defp given(fun, context), do: &fun.(&1, context)
end

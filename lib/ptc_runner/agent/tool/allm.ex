defmodule PtcRunner.Agent.Tool.Allm do
  @moduledoc false
  # The tools of `ALLM`, whose arguments are described by a JSON Schema.

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Agent.Tool.{Import, Schemas}
  alias PtcRunner.Json.Codec
  alias PtcRunner.Shown

  # Sentences about a tool that are listed.
  @listed 20

  @doc "The tool of this name; `context` is that of its engine, or nil."
  @spec tool(String.t(), struct(), map() | nil) :: Tool.t()
  def tool(name, tool, context) do
    schema = tool.schema |> Codec.encode!() |> Codec.decode!()

    fun = handler(name, tool.handler, context)
    read = Schemas.arguments(schema)
    {:ok, made, lines} = Import.tool(name, tool.description, {schema, read}, {:any, []}, fun)
    lines = Shown.first(lines, @listed, &"#{&1} more are not validated")
    %{made | warnings: Enum.map(lines, &"#{name}: #{&1}")}
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

defmodule PtcRunner.Json.Inputs do
  @moduledoc false
  # Checks the maps that a program is run with. An error in the program is reported before those of the maps.

  alias PtcRunner.Agent.Tool.Names
  alias PtcRunner.Json.{Limits, Program, Tools}
  alias PtcRunner.Shown

  @doc """
  Whether the context, the memory and the tools are maps, and the tools functions of one argument; `:forms` if some tools
  say more than their function. `context?`: the run has a context for its tools, and functions of two arguments are tools too.

      iex> {:error, error} = PtcRunner.Json.Inputs.check(~s({"program": {"op": "count"}}), %{}, [], %{}, {nil, nil, 9})
      iex> error
      {:execution_error, "Option :memory must be a map, got []"}

      iex> tools = %{:a => fn _ -> 1 end, "a" => fn _ -> 2 end}
      iex> PtcRunner.Json.Inputs.check(~s({"program": {"op": "it"}}), %{}, %{}, tools, {nil, nil, 9})
      {:error, {:validation_error, ~s(Option :tools: two tools have the name "a": rename one of them. They are :a and "a")}}

  """
  @spec check(Program.t() | Program.source(), term(), term(), term(), Limits.given(), boolean()) ::
          :ok | :forms | {:error, PtcRunner.Json.error()}
  def check(program, context, memory, tools, limits, context? \\ false)

  def check(program, context, memory, tools, limits, context?)
      when is_map(context) and is_map(memory) and is_map(tools) do
    list = :maps.to_list(tools)

    cond do
      twins?(list, tools) -> with(:ok <- well_formed(program, limits), do: {:error, twins(tools)})
      functions?(list) -> :ok
      true -> forms(list, program, limits, context?)
    end
  end

  def check(program, context, memory, tools, limits, _context?) do
    with :ok <- well_formed(program, limits) do
      named = [context: context, memory: memory, tools: tools]
      {name, value} = Enum.find(named, fn {_name, value} -> not is_map(value) end)
      {:error, {:execution_error, "Option :#{name} must be a map, got #{Shown.text(value)}"}}
    end
  end

  defp forms(tools, program, limits, context?) do
    case for {name, tool} <- tools, not tool?(tool, context?), do: name do
      [] -> :forms
      names -> with(:ok <- well_formed(program, limits), do: {:error, invalid_tools(names)})
    end
  end

  defp tool?(tool, context?) do
    is_function(tool, 1) or (context? and is_function(tool, 2)) or Tools.form?(tool)
  end

  defp well_formed(%Program{}, _limits), do: :ok

  defp well_formed(source, limits), do: Program.check(source, Limits.resolve(limits))

  defp text(name) when is_binary(name) or is_atom(name) or is_float(name), do: to_string(name)
  defp text(name), do: Shown.text(name)

  defp functions?([{_name, tool} | tools]) when is_function(tool, 1), do: functions?(tools)
  defp functions?(rest), do: rest == []

  # Whether a name stands there as an atom and as a text.
  defp twins?([{name, _tool} | rest], tools) when is_atom(name),
    do: is_map_key(tools, Atom.to_string(name)) or twins?(rest, tools)

  defp twins?([_tool | rest], tools), do: twins?(rest, tools)
  defp twins?([], _tools), do: false

  defp twins(tools),
    do: {:validation_error, "Option :tools: " <> Names.twins(Names.twin(tools), "tools")}

  defp invalid_tools(names) do
    {:validation_error,
     "Tools must be functions with arity 1. Invalid: #{Shown.few(names, &text/1)}"}
  end
end

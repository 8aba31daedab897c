defmodule PtcRunner.Json.Inputs do
  @moduledoc false
  # Checks the maps that a program is run with. An error in the program is reported before those of the maps.

  alias PtcRunner.Json.{Limits, Program, Tools}
  alias PtcRunner.Shown

  @doc """
  Whether the context, the memory and the tools are maps, and the tools functions of one argument; `:forms` if some tools
  say more than their function.

      iex> {:error, error} = PtcRunner.Json.Inputs.check(~s({"program": {"op": "count"}}), %{}, [], %{}, {nil, nil, 9})
      iex> error
      {:execution_error, "Option :memory must be a map, got []"}

  """
  @spec check(Program.t() | Program.source(), term(), term(), term(), Limits.given()) ::
          :ok | :forms | {:error, PtcRunner.Json.error()}
  def check(program, context, memory, tools, limits)
      when is_map(context) and is_map(memory) and is_map(tools) do
    tools = :maps.to_list(tools)

    if functions?(tools), do: :ok, else: forms(tools, program, limits)
  end

  def check(program, context, memory, tools, limits) do
    with :ok <- well_formed(program, limits) do
      named = [context: context, memory: memory, tools: tools]
      {name, value} = Enum.find(named, fn {_name, value} -> not is_map(value) end)
      {:error, {:execution_error, "Option :#{name} must be a map, got #{Shown.text(value)}"}}
    end
  end

  defp forms(tools, program, limits) do
    if Enum.all?(tools, fn {_name, tool} -> is_function(tool, 1) or Tools.form?(tool) end),
      do: :forms,
      else: with(:ok <- well_formed(program, limits), do: {:error, invalid_tools(tools)})
  end

  defp well_formed(%Program{}, _limits), do: :ok

  defp well_formed(source, limits), do: Program.check(source, Limits.resolve(limits))

  defp text(name) when is_binary(name) or is_atom(name) or is_float(name), do: to_string(name)
  defp text(name), do: Shown.text(name)

  defp functions?([{_name, tool} | tools]) when is_function(tool, 1), do: functions?(tools)
  defp functions?(rest), do: rest == []

  defp invalid_tools(tools) do
    names = for {name, tool} <- tools, not (is_function(tool, 1) or Tools.form?(tool)), do: name

    {:validation_error,
     "Tools must be functions with arity 1. Invalid: #{Shown.few(names, &text/1)}"}
  end
end

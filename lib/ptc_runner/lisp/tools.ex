defmodule PtcRunner.Lisp.Tools do
  @moduledoc false
  # The tools of a run: functions whose answers are told apart, see `PtcRunner.Lisp.ToolAnswer`.

  alias PtcRunner.Lisp.ToolAnswer
  alias PtcRunner.{Shown, Tool}

  @typedoc "The functions of tools by name, and whether equal calls are made once."
  @type t :: %{String.t() => {(term() -> ToolAnswer.t()), cache? :: boolean()}}

  @doc """
  Reads tools in the forms that `PtcRunner.Tool.new/2` takes.

      iex> {:ok, %{"double" => {fun, false}}} = PtcRunner.Lisp.Tools.read(%{"double" => &(&1["n"] * 2)})
      iex> fun.(%{"n" => 4})
      {:value, 8}

      iex> {:error, text} = PtcRunner.Lisp.Tools.read(%{"double" => 2})
      iex> text
      "Tool 'double': expected a function of one argument, {function, signature}, {function, options} or a PtcRunner.Tool, got: 2"

  """
  @spec read(map()) :: {:ok, t()} | {:error, String.t()}
  def read(tools) when tools == %{}, do: {:ok, tools}
  def read(tools), do: tools |> :maps.to_list() |> each(%{})

  defp each([{name, form} | rest], read) do
    with {:ok, name} <- name(name),
         {:ok, tool} <- tool(name, form),
         do: each(rest, Map.put(read, name, tool))
  end

  defp each([], read), do: {:ok, read}

  defp name(name) when is_binary(name), do: {:ok, name}
  defp name(name) when is_atom(name), do: {:ok, Atom.to_string(name)}

  defp name(other),
    do: {:error, "Tool #{Shown.text(other, 200)}: the name of a tool must be a string"}

  # Nothing is looked up of a plain function.
  defp tool(_name, fun) when is_function(fun, 1), do: {:ok, {ToolAnswer.of(fun), false}}

  defp tool(name, form) do
    case Tool.new(name, form) do
      {:ok, tool} -> {:ok, {ToolAnswer.of(tool.function), Map.get(tool, :cache) == true}}
      {:error, reason} when is_binary(reason) -> {:error, "Tool '#{Shown.name(name)}': #{reason}"}
      {:error, reason} -> {:error, "Tool '#{Shown.name(name)}': #{Shown.text(reason, 500)}"}
    end
  end
end

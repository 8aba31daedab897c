defmodule PtcRunner.Lisp.Names do
  @moduledoc false
  # Whether all names of a program are known, before it runs: variables of its memory, and tools.

  alias PtcRunner.Lisp.{Given, Program, Remembered}
  alias PtcRunner.Shown

  @doc """
  Checks the names; the first kind of names that are not known is the error.

      iex> alias PtcRunner.Lisp.{Given, Names, Program}
      iex> {:ok, program} = Program.build("(+ x (tool/find))", [], [], {1_000, 0})
      iex> Names.check(program, Given.read([]), %{})
      {:error, :unbound_var, "Undefined variable: x", {:names, ["x", "tool/find"]}}
      iex> Names.check(program, Given.read(memory: %{x: 1}), %{})
      {:error, :unknown_tool, "Unknown tool: find. No tools available.", {:names, ["tool/find"]}}

  """
  @spec check(Program.t(), Given.t(), map() | :any) :: :ok | Program.fail()
  def check(
        %Program{names: %{unbound: unbound, tools: tools}},
        %Given{memory: memory, own: own},
        known
      ) do
    missing = missing(unbound, memory)

    unknown =
      if checks?(own, known),
        do: tools |> Enum.reject(&is_map_key(known, &1)) |> Enum.uniq(),
        else: []

    with :ok <- bound(missing), :ok <- available(unknown, known) do
      :ok
    else
      {reason, message} ->
        {:error, reason, message, {:names, missing ++ Enum.map(unknown, &("tool/" <> &1))}}
    end
  end

  # A journal answers the calls of a replay.
  defp checks?(_own, :any), do: false
  defp checks?(own, _known), do: not match?(%{replay?: true}, own)

  defp missing([], _memory), do: []

  defp missing(names, memory),
    do: names |> Enum.uniq() |> Enum.filter(&(Remembered.fetch(memory, &1) == :error))

  defp bound([]), do: :ok
  defp bound([name]), do: {:unbound_var, "Undefined variable: #{Shown.name(name)}"}
  defp bound(names), do: {:unbound_var, "Undefined variables: #{list(names)}"}

  defp available([], _known), do: :ok
  defp available([name], known), do: {:unknown_tool, unknown(name, known)}

  defp available(names, known),
    do: {:unknown_tool, "Unknown tools: #{list(names)}. #{those(known)}"}

  @doc """
  The message about a tool that is not known.

      iex> PtcRunner.Lisp.Names.unknown("fnd", %{"find" => 1, "add" => 2})
      "Unknown tool: fnd. Available tools: add, find"

  """
  @spec unknown(String.t(), map()) :: String.t()
  def unknown(name, known), do: "Unknown tool: #{Shown.name(name)}. #{those(known)}"

  defp those(known) when known == %{}, do: "No tools available."
  defp those(known), do: "Available tools: #{known |> Map.keys() |> Enum.sort() |> list()}"

  defp list(names), do: Shown.few(names, &Shown.name/1)
end

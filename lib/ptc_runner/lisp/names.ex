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
      {:error, :unbound_var, "Undefined variable: x"}
      iex> Names.check(program, Given.read(memory: %{x: 1}), %{})
      {:error, :unknown_tool, "Unknown tool: find. No tools available."}

  """
  @spec check(Program.t(), Given.t(), map() | :any) :: :ok | {:error, atom(), String.t()}
  def check(
        %Program{names: %{unbound: unbound, tools: tools}},
        %Given{memory: memory, own: own},
        known
      ) do
    with :ok <- bound(missing(unbound, memory)),
         false <- known == :any or match?(%{replay?: true}, own),
         do: tools |> Enum.reject(&is_map_key(known, &1)) |> Enum.uniq() |> available(known),
         else:
           (
             true -> :ok
             error -> error
           )
  end

  @doc """
  The variables of a program that its memory does not have, and its tools that are not there, in the order of the text.

      iex> {:ok, program} = PtcRunner.Lisp.Program.build("(+ x y (tool/find))", [], [], {1_000, 0})
      iex> PtcRunner.Lisp.Names.unknown(program, %{"y" => 1}, [])
      {["x"], ["find"]}

  """
  @spec unknown(Program.t(), map(), [String.t()]) :: {[String.t()], [String.t()]}
  def unknown(%Program{names: %{unbound: unbound, tools: tools}}, memory, known),
    do: {missing(unbound, memory), Enum.uniq(tools) -- known}

  defp missing([], _memory), do: []

  defp missing(names, memory),
    do: names |> Enum.uniq() |> Enum.filter(&(Remembered.fetch(memory, &1) == :error))

  defp bound([]), do: :ok
  defp bound([name]), do: {:error, :unbound_var, "Undefined variable: #{Shown.name(name)}"}
  defp bound(names), do: {:error, :unbound_var, "Undefined variables: #{list(names)}"}

  defp available([], _known), do: :ok
  defp available([name], known), do: {:error, :unknown_tool, unknown(name, known)}

  defp available(names, known),
    do: {:error, :unknown_tool, "Unknown tools: #{list(names)}. #{those(known)}"}

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

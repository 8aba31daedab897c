defmodule PtcRunnerMcp.Catalogue do
  @moduledoc """
  The tools that programs may call, read once for many runs, and what is to be said about servers that are not ready.

  Descriptions come from elsewhere. They are shown as values, in one line each, and never as a part of this server's own texts.
  """

  alias PtcRunner.Agent
  alias PtcRunner.Agent.Tool

  # The library has these names.
  @taken ["search_tools", "describe_tools"]

  defstruct tools: [], names: %{}, notes: []

  @typedoc "See the module's documentation."
  @type t :: %__MODULE__{
          tools: [Tool.t()],
          names: %{String.t() => Tool.t()},
          notes: [String.t()]
        }

  @doc """
  The names that no tool may have.

      iex> PtcRunnerMcp.Catalogue.taken()
      ["search_tools", "describe_tools"]

  """
  @spec taken() :: [String.t()]
  def taken, do: @taken

  @doc """
  A catalogue of tools, in each form that `PtcRunner.Agent` takes.

      iex> catalogue = PtcRunnerMcp.Catalogue.new(%{"rate" => {fn _ -> 1.5 end, "(day :int) -> :float"}})
      iex> for tool <- catalogue.tools, do: tool.name
      ["rate"]
      iex> PtcRunnerMcp.Catalogue.new(%{"search_tools" => fn _ -> 1 end})
      ** (ArgumentError) this server has a tool "search_tools" of its own: rename yours

  """
  @spec new(term(), [String.t()]) :: t()
  def new(tools, notes \\ []) do
    tools = tools |> Tool.list!() |> Enum.map(&one_line/1) |> Tool.prepare()

    for %{name: name} <- tools, name in @taken do
      raise ArgumentError, "this server has a tool #{inspect(name)} of its own: rename yours"
    end

    %__MODULE__{tools: tools, names: Map.new(tools, &{&1.name, &1}), notes: notes}
  end

  defp one_line(%{description: text} = tool) when is_binary(text),
    do: %{tool | description: text |> String.split() |> Enum.join(" ")}

  defp one_line(tool), do: tool

  @doc """
  The tools that a program names, or all of them if it names one that is not there: then its error lists what there is. A run reads each tool that it is given.

      iex> catalogue = PtcRunnerMcp.Catalogue.new(%{"a" => fn _ -> 1 end, "b" => fn _ -> 2 end})
      iex> for name <- ["a", "c"], do: length(PtcRunnerMcp.Catalogue.used(catalogue, %{"program" => [%{"op" => "call", "tool" => name}]}))
      [1, 2]

  """
  @spec used(t(), map() | String.t()) :: [Tool.t()]
  def used(catalogue, program) when is_map(program) do
    named = program |> named([]) |> Enum.uniq()
    tools = for name <- named, tool = catalogue.names[name], do: tool
    if length(tools) == length(named), do: tools, else: catalogue.tools
  end

  def used(catalogue, _text), do: catalogue.tools

  # A program never computes the name of a tool.
  defp named(%{} = map, names) do
    names = if is_binary(map["tool"]), do: [map["tool"] | names], else: names
    Enum.reduce(map, names, fn {_key, value}, names -> named(value, names) end)
  end

  defp named(list, names) when is_list(list), do: Enum.reduce(list, names, &named/2)
  defp named(_other, names), do: names

  @doc """
  The tools that have words of a query, best first.

      iex> catalogue = PtcRunnerMcp.Catalogue.new(%{"rate" => {fn _ -> 1.5 end, signature: "(day :int) -> :float", description: "Rate of\\nthe day"}})
      iex> PtcRunnerMcp.Catalogue.search(catalogue, "day", 5)
      {:ok, [%{"name" => "rate", "description" => "Rate of the day"}]}

  """
  @spec search(t(), String.t(), integer()) :: {:ok, [map()]} | {:error, String.t()}
  def search(catalogue, query, limit),
    do: ask(catalogue, "search_tools", %{"query" => query, "limit" => limit})

  @doc """
  Arguments, results and descriptions of tools.

      iex> catalogue = PtcRunnerMcp.Catalogue.new(%{"rate" => {fn _ -> 1.5 end, signature: "(day :int) -> :float", effect: :read}})
      iex> PtcRunnerMcp.Catalogue.describe(catalogue, ["rate"])
      {:ok, [%{"name" => "rate", "tool" => "rate(day :int) -> :float (reads)"}]}

  """
  @spec describe(t(), [String.t()]) :: {:ok, [map()]} | {:error, String.t()}
  def describe(catalogue, names), do: ask(catalogue, "describe_tools", %{"names" => names})

  # The library answers this to programs that look for tools. The arguments are texts and numbers, so nothing in them is computed.
  defp ask(catalogue, name, args) do
    program = %{"program" => %{"op" => "call", "tool" => name, "args" => args}}

    case Agent.run(program, catalogue.tools, catalogue: true, timeout: 10_000, max_heap: 0) do
      {:ok, value, _info} -> {:ok, value}
      {:error, error, _feedback} -> {:error, PtcRunner.Json.format_error(error)}
    end
  end
end

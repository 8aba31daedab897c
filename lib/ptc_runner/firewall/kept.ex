defmodule PtcRunner.Firewall.Kept do
  @moduledoc false
  # Which entries of a program's value have firewalled data under a name that is not firewalled. They get a mark in the memory that keeps
  # them, so that no later program passes them to a tool.

  alias PtcRunner.Firewall.{Flow, Guard, Hidden, Inside, Marks, Shape}
  alias PtcRunner.Json.{Evaluation, Limits, Planning}

  @typedoc "What a run had: the data, what counts of its tools (see `PtcRunner.Firewall.Guard.tools/1`), and its limits."
  @type given :: {context :: map(), memory :: map(), Guard.tools(), Limits.given()}

  @typedoc "What `PtcRunner.Json.Planning.flows/2` has said of the program; nil if it has not been asked."
  @type plan :: Planning.flows() | {:error, term()} | nil

  @doc """
  Whether firewalled data flow into the entry of a name, by the plan of the program. `shape` is that of the program's value.

      iex> program = ~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "user"}, {"pin": {"op": "get", "field": "_pin"}, "id": {"op": "get", "field": "id"}}]}})
      iex> given = {%{"user" => %{"id" => 1, "_pin" => 2}}, %{}, %{}, {nil, nil, 10_000}}
      iex> flows? = PtcRunner.Firewall.Kept.flows(program, given, :clear)
      iex> Enum.map(["id", "pin"], flows?)
      [false, true]

  """
  @spec flows(Flow.program(), given(), Shape.t(), plan()) :: (String.t() -> boolean())
  def flows(program, {context, memory, tools, limits}, shape, plan \\ nil) do
    with {:ok, _flows, kept} <- plan || plan(program, limits) do
      # Each entry is looked at once: an object may have many keys whose names are not known.
      compares? = Flow.compares?(program)

      flows =
        Map.new(kept, fn {name, entry} ->
          own = if name == nil, do: shape, else: Shape.entry(shape, name)
          {name, Guard.flows?(entry, {context, memory}, tools, {own == :clear, compares?})}
        end)

      others = Map.get(flows, nil, false)
      redacted = if others, do: [], else: redacted(kept, context, memory)
      hides? = &(others or redacted == :beyond or &1 in redacted)
      fn name -> Map.get_lazy(flows, name, fn -> hides?.(name) end) end
    else
      # It has taken too long.
      {:error, _fault} -> fn _name -> true end
    end
  end

  defp plan(program, limits) do
    with {:ok, source} <- program |> Flow.program() |> Evaluation.source(limits),
         do: Planning.flows(source, limits)
  end

  # A row whose fields become entries may redact some of them.
  defp redacted(kept, context, memory) do
    rows = for {nil, {_made, parts}} <- kept, {root, path, _whole?} <- parts, do: {root, path}

    Enum.reduce_while(Enum.uniq(rows), [], fn row, names ->
      found =
        case row do
          {:context, path} -> Inside.redacted_names(context, path, names)
          {:memory, path} -> Inside.redacted_names(memory, path, names)
          _other -> names
        end

      if found == :beyond, do: {:halt, :beyond}, else: {:cont, found}
    end)
  end

  @doc """
  The memory after a run that had a firewall, with its marks.

      iex> program = ~s({"program": {"pin": {"op": "load", "name": "_pin"}}})
      iex> given = {%{"_pin" => 4711}, %{}, %{}, {nil, nil, 10_000}}
      iex> PtcRunner.Firewall.Kept.memory(%{"pin" => 4711}, %{"pin" => 4711}, program, given)
      %{"pin" => 4711, "_concealed" => ["pin"]}

  """
  @spec memory(map(), map(), PtcRunner.Json.program(), given(), plan()) :: map()
  def memory(memory, delta, program, given, plan \\ nil)
  def memory(memory, delta, _program, _given, _plan) when delta == %{}, do: memory

  def memory(memory, delta, program, {context, before, tools, _limits} = given, plan) do
    program = Flow.read(program)
    shape = Flow.of(program, before, fn -> hidden?(context, before, tools) end)
    told = {flows(program, given, shape, plan), fn -> Flow.written(program) end}
    Marks.put(memory, delta, shape, told, before)
  end

  defp hidden?(context, memory, tools) do
    Enum.any?(tools, fn {_name, {_effect, _declared, returns}} -> Hidden.open?(returns) end) or
      Hidden.in?(Enum.map([context, memory], &:maps.values/1))
  end
end

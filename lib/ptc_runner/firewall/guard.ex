defmodule PtcRunner.Firewall.Guard do
  @moduledoc false
  # Keeps firewalled data out of the arguments of tools.
  #
  # The plan of a program says which parts of the data flow into each argument. A part that is firewalled by its name, by the
  # data of the run, or by the signature of the tool that answers with it, is a reason to refuse the program before it runs. Of
  # answers whose fields are not known before, the flows are kept: `PtcRunner.Firewall.Watch` looks at these answers.

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Firewall.{Inside, Marks, Watch}
  alias PtcRunner.Json.Plan
  alias PtcRunner.Json.Plan.Paths
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature.Firewall

  # What is said of a value in the memory.
  @kept " (which an earlier program has taken from firewalled data)"

  @typedoc "What counts of a tool: its effect, the names of its arguments that are declared firewalled, and what it returns."
  @type tool :: {:read | :write, declared :: [String.t()], returns :: term()}

  @type tools :: %{String.t() => tool()}

  @doc """
  What counts of tools, in the forms in which they are given.

      iex> PtcRunner.Firewall.Guard.tools(%{"a" => & &1, "b" => {& &1, signature: "(id :int, _pin :int) -> {n :int}", effect: :read}})
      %{"a" => {:write, [], :any}, "b" => {:read, ["_pin"], {:map, [{"n", :int}]}}}

  """
  @spec tools(map() | [Tool.t()]) :: tools()
  def tools(tools) when is_list(tools), do: Map.new(tools, &{&1.name, of(&1)})
  def tools(forms), do: Map.new(forms, fn {name, form} -> {name, of(name, form)} end)

  defp of(_name, fun) when is_function(fun), do: {:write, [], :any}
  defp of(name, form), do: name |> Tool.of!(form) |> of()

  defp of(%Tool{signature: {:signature, params, returns}, effect: effect}) do
    {effect, for({name, _type} <- params, Firewall.hidden?(name), do: name), returns}
  end

  defp of(%Tool{effect: effect}), do: {effect, [], :any}

  @doc """
  Whether the flows of a plan keep firewalled data out of arguments: `nil`, or what is to be watched while the program runs; or the
  error.

      iex> flows = fn path -> %{"mail" => [{"to", [{:context, ["users", :each | path], true}]}]} end
      iex> data = {%{"users" => [%{"id" => 1, "_pin" => 2}]}, %{}}
      iex> tools = PtcRunner.Firewall.Guard.tools(%{"mail" => & &1})
      iex> PtcRunner.Firewall.Guard.check(flows.(["id"]), data, tools)
      {:ok, nil}
      iex> PtcRunner.Firewall.Guard.check(flows.([]), data, tools)
      {:error, {:validation_error, "Firewalled data flows into a tool: users._pin into the argument 'to' of tool 'mail', which writes. Give it only other fields, with get or select, or without these, with unset"}}

  """
  @spec check(%{String.t() => [tuple()]}, {context :: map(), memory :: map()}, tools()) ::
          {:ok, Watch.t() | nil} | {:error, {:validation_error, String.t()}}
  def check(flows, {context, memory}, tools) do
    sinks =
      for {name, arguments} <- Enum.sort_by(flows, &elem(&1, 0)),
          tool = Map.get(tools, name, {:write, [], :any}),
          {argument, from} <- arguments,
          not allowed?(tool, argument),
          source <- from,
          do: {name, argument, source}

    data = %{context: context, memory: memory, marks: Marks.flowing(memory)}

    case Enum.find_value(sinks, &secret(&1, data, tools)) do
      nil -> {:ok, sinks |> Enum.filter(&watched?/1) |> Watch.new()}
      text -> {:error, {:validation_error, text}}
    end
  end

  defp allowed?({:read, declared, _returns}, argument), do: argument in declared
  defp allowed?(_tool, _argument), do: false

  # What flows, as text, if it is firewalled.
  defp secret({_name, _argument, source} = sink, data, tools) do
    with path when path != nil <- hidden(source, data, tools), do: text(sink, path, tools)
  end

  # The path of what is firewalled in a part of the data.
  defp hidden({root, [_ | _] = path, _whole?} = source, %{marks: marks} = data, tools)
       when root in [:context, :memory] do
    cond do
      Firewall.below?(named(root, path)) and Inside.there?(Map.fetch!(data, root), path) ->
        Paths.text(source)

      root == :memory and hd(path) in marks ->
        Paths.text(source) <> @kept

      true ->
        held(source, Map.fetch!(data, root), tools)
    end
  end

  defp hidden({:answer, [tool | path], whole?} = source, _data, tools) do
    {_effect, _declared, returns} = Map.get(tools, tool, {:write, [], :any})

    cond do
      Firewall.below?(path) -> if Inside.named?(returns, path), do: Paths.text(source)
      whole? -> within(source, Inside.type(returns, path))
      true -> nil
    end
  end

  # It may be any part of the data.
  defp hidden({:unknown, _path, _whole?}, data, _tools) do
    with nil <- of_data(:context, data.context), do: of_data(:memory, data.memory)
  end

  defp hidden(_source, _data, _tools), do: nil

  # The current value of a program that has none around it stands in the memory under a name of the language.
  defp named(:memory, ["__input" | path]), do: path
  defp named(_root, path), do: path

  defp of_data(root, values) do
    Enum.find_value(values, fn {name, value} ->
      source = {root, [Shown.name(name)], true}
      if Firewall.hidden?(name), do: Paths.text(source), else: within(source, Inside.value(value))
    end)
  end

  # Only the way to it counts.
  defp held({_root, path, false} = source, data, _tools),
    do: within(source, Inside.through(data, path))

  defp held({_root, path, true} = source, data, _tools),
    do: within(source, Inside.value(data, path))

  defp within(_source, nil), do: nil

  defp within(source, :beyond),
    do: Paths.text(source) <> " (with too many parts to look at)"

  defp within({root, path, whole?}, below), do: Paths.text({root, path ++ below, whole?})

  # A firewalled field that the signature does not name may still be in the answer.
  defp watched?({_name, _argument, {:answer, [_tool | path], whole?}}),
    do: whole? or Firewall.below?(path)

  defp watched?({_name, _argument, {:unknown, _path, _whole?}}), do: true
  defp watched?(_sink), do: false

  @doc """
  Whether an entry of a program's value has firewalled data under a name that is not firewalled: `entry` is what it is made of, see
  `PtcRunner.Json.Planning.flows/2`. `clear?` says whether the program by itself takes nothing firewalled out of rows; `compares?`, whether it
  compares computed values, which may be rows. A field of a public name, of which only values are computed, is then not looked at.

      iex> data = {%{"users" => [%{"id" => 1, "_pin" => 2}]}, %{}}
      iex> users = &{:context, ["users", :each | &1], true}
      iex> for entry <- [{[users.(["_pin"])], []}, {[], [users.([])]}, {[users.([])], []}, {[users.(["id"])], []}],
      ...>   do: PtcRunner.Firewall.Guard.flows?(entry, data, %{}, {true, false})
      [true, false, true, false]

  """
  @spec flows?(
          {[Plan.source()], [Plan.source()]},
          {map(), map()},
          tools(),
          {clear? :: boolean(), compares? :: boolean()}
        ) :: boolean()
  def flows?({made, parts}, {context, memory}, tools, {clear?, compares?}) do
    data = %{context: context, memory: memory, marks: Marks.flowing(memory)}

    {values, parts} = Enum.split_with(parts, &any_value?/1)

    seen = if clear? and not compares?, do: &field/1, else: & &1

    Enum.any?(values ++ made, fn source ->
      open?(source, tools, clear?) or hidden(seen.(source), data, tools) != nil
    end) or
      Enum.any?(parts, &(hidden(put_elem(&1, 2, false), data, tools) != nil))
  end

  # Of a field only the way to it counts.
  defp field({root, path, true} = source) when root in [:context, :memory],
    do: if(is_binary(List.last(path)), do: {root, path, false}, else: source)

  defp field(source), do: source

  # It is or was the value of any field of an answer.
  defp any_value?({root, path, _whole?}), do: root == :answer and :value in path

  # It may have firewalled fields, and is not one field of a known name.
  defp open?({:unknown, _path, _whole?}, _tools, _clear?), do: true

  defp open?({:answer, [tool | path], true}, tools, clear?) do
    {_effect, _declared, returns} = Map.get(tools, tool, {:write, [], :any})

    Inside.open?(returns, path) and not (clear? and is_binary(List.last(path)))
  end

  defp open?(_source, _tools, _clear?), do: false

  @doc false
  # Also of what is found while the program runs.
  @spec text({String.t(), String.t() | :calls | nil, Plan.source()}, String.t(), tools()) ::
          String.t()
  def text({name, argument, _source}, path, tools) do
    why =
      case tools do
        %{^name => {:read, _declared, _returns}} -> "which does not declare it firewalled"
        _tools -> "which writes"
      end

    "Firewalled data flows into a tool: #{path} into #{argument(argument)} of tool '#{Shown.name(name)}', #{why}. " <>
      "Give it only other fields, with get or select, or without these, with unset"
  end

  defp argument(nil), do: "the arguments"
  defp argument(:calls), do: "the number of calls"
  defp argument(name), do: "the argument '#{Shown.name(name)}'"
end

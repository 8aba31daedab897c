defmodule PtcRunner.Json.Tools do
  @moduledoc false
  # What tools say about themselves beside their functions.

  alias PtcRunner.Agent.{Arguments, Calls, Tool}
  alias PtcRunner.Json.{Batch, ToolContext}
  alias PtcRunner.Options
  require Tool

  @options %{
    effect: {:one_of, [:read, :write]},
    max_calls: {:maybe, :count},
    timeout: {:maybe, :timeout},
    cache: :boolean,
    approve: :boolean,
    batch: {:maybe, {:up_to, 10_000}}
  }

  @usual %{
    effect: :write,
    max_calls: nil,
    timeout: nil,
    cache: false,
    approve: false,
    sent: nil,
    keyed: false,
    batch: nil
  }

  @typedoc """
  What a tool says, by its name; only of those that say something. `sent`: the arguments as the tool gets them; nil if it gets what the
  program gives. `keyed`: whether it is told the key of each call. `batch`: how many calls its function takes at once, if it takes a list.
  """
  @type settings :: %{
          String.t() => %{
            effect: :read | :write,
            max_calls: non_neg_integer() | nil,
            timeout: timeout() | nil,
            cache: boolean(),
            approve: boolean(),
            sent: (term() -> {:ok, term()} | :refused) | nil,
            keyed: boolean(),
            batch: pos_integer() | nil
          }
        }

  @doc "The kinds of the options of a tool that say how it may be called."
  @spec options() :: Options.kinds()
  def options, do: @options

  @doc "What a tool says that says nothing."
  @spec usual() :: map()
  def usual, do: @usual

  @doc "Whether a tool is given in a form that has more than a function of one argument."
  @spec form?(term()) :: boolean()
  def form?({fun, more}) when Tool.is_function_of_tool(fun),
    do:
      is_binary(more) or is_list(more) or (is_map(more) and not is_struct(more)) or
        match?({:signature, _, _}, more) or match?({_arguments, _result}, more)

  def form?(%Tool{}), do: true
  def form?(_other), do: false

  @doc "The settings, if calls of a tool are made together; else none."
  @spec batching(settings()) :: settings()
  def batching(settings) do
    if Enum.any?(settings, fn {_name, setting} -> setting.batch != nil end),
      do: settings,
      else: %{}
  end

  @doc """
  Whether one of these tools takes several calls at once.

      iex> settings = %{"find" => %{batch: 100}, "pay" => %{batch: nil}}
      iex> for names <- [["pay", "log"], ["pay", "find"]], do: PtcRunner.Json.Tools.batch?(names, settings)
      [false, true]

  """
  @spec batch?([String.t()], settings()) :: boolean()
  def batch?(names, settings),
    do: Enum.any?(names, &match?(%{^&1 => %{batch: most}} when most != nil, settings))

  @doc """
  The functions of tools, and what they say; `context` is what tools of two arguments get, see `PtcRunner.Json.ToolContext`.
  Raises `ArgumentError` for wrong options.

      iex> {tools, settings} = PtcRunner.Json.Tools.read!(%{"a" => &(&1 + 1), "b" => {&(&1 * 2), effect: :read, max_calls: 3}})
      iex> {tools["a"].(1), tools["b"].(4), settings}
      {2, 8, %{"b" => %{effect: :read, max_calls: 3, timeout: nil, cache: false, approve: false, sent: nil, keyed: false, batch: nil}}}

      iex> PtcRunner.Json.Tools.read!(%{"b" => {& &1, effect: :reed}})
      ** (ArgumentError) option :effect of tool "b" must be :read or :write, got: :reed

  """
  @spec read!(map(), map() | nil) :: {%{String.t() => (term() -> term())}, settings()}
  def read!(forms, context \\ nil) do
    tools = for {name, form} <- forms, do: {name, tool(name, form)}

    functions =
      for {name, tool} <- tools, do: {name, tool |> bound(context) |> function(forms[name])}

    {Map.new(functions),
     for(
       {name, tool} <- tools,
       setting = of(tool),
       setting != @usual,
       into: %{},
       do: {name, setting}
     )}
  end

  defp bound(%Tool{} = tool, context), do: ToolContext.bound(tool, context)
  defp bound(fun, context), do: ToolContext.function(fun, context)

  defp tool(_name, fun) when is_function(fun), do: fun

  # A function has the signature of its spec only for agents.
  defp tool(name, {fun, options}) when is_list(options) do
    tool = Tool.of!(name, {fun, options})
    if options[:signature], do: tool, else: %{tool | signature: nil, spec: nil}
  end

  defp tool(name, form), do: Tool.of!(name, form)

  # A function with options, but without a signature, answers as it would without them.
  defp function(%Tool{signature: nil, fun: fun, batch: batch}, form)
       when not is_struct(form, Tool),
       do: if(batch == nil, do: fun, else: Batch.function(fun))

  defp function(%Tool{} = tool, _form), do: Calls.validated(tool)
  defp function(fun, _form), do: fun

  @doc "What a tool of an agent, or a bare function, says."
  @spec of(Tool.t() | function()) :: map()
  def of(%Tool{} = tool) do
    tool
    |> Map.take([:effect, :max_calls, :timeout, :cache, :approve, :batch])
    |> Map.merge(%{sent: sent(tool), keyed: is_function(tool.fun, 2)})
  end

  def of(fun), do: %{@usual | keyed: is_function(fun, 2)}

  defp sent(%Tool{signature: nil, data: nil}), do: nil

  # Before the keys and structs of a spec, which only its function has.
  defp sent(%Tool{data: data} = tool) do
    fn args ->
      case Arguments.read(tool, args) do
        {:ok, _named, sent, _warnings} when data != nil -> {:ok, sent}
        {:ok, converted, _passed, _warnings} -> {:ok, converted}
        {:refused, _errors, _args, _text} -> :refused
      end
    end
  end
end

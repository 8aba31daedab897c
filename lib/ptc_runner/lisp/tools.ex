defmodule PtcRunner.Lisp.Tools do
  @moduledoc false
  # The tools of a run: functions whose answers are told apart, see `PtcRunner.Lisp.ToolAnswer`, and what the tools say of their calls.

  alias PtcRunner.Agent
  alias PtcRunner.Agent.Calls
  alias PtcRunner.Agent.Tool.Names
  alias PtcRunner.Json.{Batch, ToolContext, Tools}
  alias PtcRunner.Lisp.ToolAnswer
  alias PtcRunner.{Shown, Tool}

  @typedoc "The functions of tools by name."
  @type t :: %{String.t() => (term() -> ToolAnswer.t())}

  # What a tool may say of its calls, beside what `PtcRunner.Tool` knows.
  @said Tools.options() |> Map.delete(:cache) |> Map.keys()

  @doc """
  Reads tools in the forms that `PtcRunner.Tool.new/2` takes, also with the options of tools of PTC-JSON, and functions of two arguments;
  `context` is what these get. Returns the functions, and what the tools say.

      iex> {:ok, %{"double" => fun}, settings} = PtcRunner.Lisp.Tools.read(%{"double" => &(&1["n"] * 2)})
      iex> {fun.(%{"n" => 4}), settings}
      {{:value, 8}, %{}}

      iex> {:ok, _tools, settings} = PtcRunner.Lisp.Tools.read(%{"pay" => {& &1, approve: true, effect: :write}})
      iex> settings["pay"].approve
      true

      iex> {:error, text} = PtcRunner.Lisp.Tools.read(%{"double" => 2})
      iex> text
      "Tool 'double': expected a function of one argument, {function, signature}, {function, options} or a PtcRunner.Tool, got: 2"

      iex> PtcRunner.Lisp.Tools.read(%{:a => fn _ -> 1 end, "a" => fn _ -> 2 end})
      {:error, ~s(two tools have the name "a": rename one of them. They are :a and "a")}

  """
  @spec read(map(), map() | nil) :: {:ok, t(), Tools.settings()} | {:error, String.t()}
  def read(tools, context \\ nil)
  def read(tools, _context) when tools == %{}, do: {:ok, tools, %{}}
  def read(tools, context), do: tools |> :maps.to_list() |> each(context, %{}, %{})

  defp each([{name, form} | rest], context, read, settings) do
    with {:ok, name} <- name(name),
         false <- is_map_key(read, name),
         {:ok, fun, setting} <- tool(name, form, context) do
      settings = if setting == nil, do: settings, else: Map.put(settings, name, setting)
      each(rest, context, Map.put(read, name, fun), settings)
    else
      true -> {:error, Names.twins("#{name}", "tools")}
      error -> error
    end
  end

  defp each([], _context, read, settings), do: {:ok, read, settings}

  defp name(name) when is_binary(name), do: {:ok, name}
  defp name(name) when is_atom(name), do: {:ok, Atom.to_string(name)}

  defp name(other),
    do: {:error, "Tool #{Shown.text(other, 200)}: the name of a tool must be a string"}

  # Nothing is looked up of a plain function.
  defp tool(_name, fun, _context) when is_function(fun, 1), do: {:ok, ToolAnswer.of(fun), nil}

  defp tool(_name, fun, context) when is_function(fun, 2) do
    fun = ToolContext.function(fun, context)
    {:ok, ToolAnswer.of(fun), %{Tools.usual() | keyed: true}}
  end

  defp tool(_name, %Agent.Tool{} = tool, context), do: said(tool, true, context)

  # What a tool says of its calls is this library's.
  defp tool(name, {fun, options} = form, context)
       when is_list(options) and (is_function(fun, 1) or is_function(fun, 2)) do
    signed? = options[:signature] not in [nil, :skip]
    said? = is_function(fun, 2) or Enum.any?(@said, &List.keymember?(options, &1, 0))

    if signed? or said?,
      do: name |> Agent.Tool.of!({fun, known(options)}) |> said(signed?, context),
      else: original(name, form)
  rescue
    error in ArgumentError -> wrong(name, Exception.message(error))
  end

  defp tool(name, {fun, signature} = form, context)
       when (is_function(fun, 1) or is_function(fun, 2)) and signature != :skip and
              (is_binary(signature) or is_tuple(signature)) do
    name |> Agent.Tool.of!(form) |> said(true, context)
  rescue
    error in ArgumentError -> wrong(name, Exception.message(error))
  end

  defp tool(name, form, _context), do: original(name, form)

  # Options that only `ptc_runner` knows say nothing about how a tool is called.
  defp known(options) do
    for {key, value} <- Keyword.take(options, [:signature, :description, :cache | @said]),
        value not in [nil, :skip],
        do: {key, value}
  end

  defp said(tool, validated?, context) do
    tool = if validated?, do: tool, else: %{tool | signature: nil, spec: nil}
    bound = ToolContext.bound(tool, context)

    setting = Tools.of(tool)
    {:ok, ToolAnswer.of(function(bound)), if(setting != Tools.usual(), do: setting)}
  end

  defp function(%Agent.Tool{signature: nil, data: nil, batch: nil, fun: fun}), do: fun
  defp function(%Agent.Tool{signature: nil, data: nil, fun: fun}), do: Batch.function(fun)
  defp function(tool), do: Calls.validated(tool)

  # A `PtcRunner.Tool` may be the one of `ptc_runner`.
  defp original(name, form) do
    case Tool.new(name, form) do
      {:ok, tool} ->
        cache? = Map.get(tool, :cache) == true
        setting = if cache?, do: %{Tools.usual() | cache: true}
        {:ok, ToolAnswer.of(tool.function), setting}

      {:error, reason} when is_binary(reason) ->
        wrong(name, reason)

      {:error, reason} ->
        wrong(name, Shown.text(reason, 500))
    end
  end

  defp wrong(name, text), do: {:error, "Tool '#{Shown.name(name)}': #{text}"}
end

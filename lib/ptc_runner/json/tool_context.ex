defmodule PtcRunner.Json.ToolContext do
  @moduledoc false
  # What the application gives the tools of a run beside the arguments of a program: the option `:tool_context`. Tools of two
  # arguments get it in a map, which has room for more. A program neither sees nor changes it.

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Json.{Keyed, Values}
  alias PtcRunner.Shown
  alias PtcRunner.Shown.{Head, Raised, Size}

  # Maximum number of entries, and bytes of a text, that an audit has.
  @entries 20
  @bytes 256

  @typedoc "The second argument of a tool. Later versions may add keys."
  @type second :: %{
          required(:context) => map(),
          optional(:key) => String.t(),
          optional(:path) => [term()] | nil,
          optional(:attempt) => pos_integer(),
          optional(atom()) => term()
        }

  @doc """
  The context as a map: a keyword list becomes one, a map or a struct stays as it is.

      iex> PtcRunner.Json.ToolContext.named(actor: "ada")
      %{actor: "ada"}

  """
  @spec named(map() | keyword() | nil) :: map() | nil
  def named(list) when is_list(list), do: Map.new(list)
  def named(other), do: other

  @doc """
  The function of a tool, with what is said beside the arguments. A function of one argument is itself.

      iex> tool = %PtcRunner.Agent.Tool{name: "who", fun: fn _args, %{context: context} -> context.actor end}
      iex> PtcRunner.Json.ToolContext.bound(tool, %{actor: "ada"}).fun.(%{})
      "ada"

      iex> tool = %PtcRunner.Agent.Tool{name: "who", fun: fn _args, _more -> 1 end, needs: [:actor]}
      iex> PtcRunner.Json.ToolContext.bound(tool, nil)
      ** (ArgumentError) tool "who" needs :actor in the option :tool_context, which has no entry

  """
  @spec bound(Tool.t(), map() | nil) :: Tool.t()
  def bound(%Tool{fun: fun} = tool, _context) when is_function(fun, 1), do: tool

  def bound(%Tool{} = tool, context) do
    context = context || %{}
    Enum.each(tool.needs, &needed!(tool.name, &1, context))
    %{tool | fun: function(tool.fun, context)}
  end

  @doc "A function of one argument, for a tool's function that may take the context too."
  @spec function((map() -> term()) | (map(), second() -> term()), map() | nil) ::
          (map() -> term())
  def function(fun, _context) when is_function(fun, 1), do: fun

  def function(fun, context) when is_function(fun, 2) do
    second = %{context: context || %{}}
    &called(fun, &1, second)
  end

  defp needed!(_name, key, context) when is_map_key(context, key), do: :ok

  defp needed!(name, key, context) do
    has =
      case Map.keys(context) -- [:__struct__] do
        [] -> "no entry"
        keys -> Shown.few(Enum.sort(keys), &Shown.text(&1, @bytes))
      end

    raise ArgumentError,
          "tool #{Shown.quoted(name)} needs #{inspect(key)} in the option :tool_context, which has #{has}"
  end

  # What a tool has raised is told to the program. Some exceptions show the terms that they are about, and thrown values and the reasons
  # of exits are terms: these may be the context.
  defp called(fun, args, second) do
    fun.(args, Map.merge(second, Keyed.known()))
  rescue
    error -> reraise(concealed(error), __STACKTRACE__)
  catch
    kind, _value ->
      verb = if kind == :throw, do: "threw a value", else: "exited"
      reraise(RuntimeError.exception("it #{verb}, #{not_shown()}"), __STACKTRACE__)
  end

  defp concealed(%module{} = error) do
    if Raised.verbose?(module),
      do: RuntimeError.exception("#{inspect(module)}, #{not_shown()}"),
      else: error
  end

  defp not_shown, do: "which is not shown, because it may have data of the tool's context"

  @doc """
  What an audit says of the context: its public names, each with a number, a text or an atom. Of a struct it is the name of its module, with
  its id if it has one, and of any other term its kind.

      iex> PtcRunner.Json.ToolContext.audited(%{actor: "ada", tenant: 7, _token: "s3cret", socket: self(), day: ~D[2026-01-02]})
      %{"actor" => "ada", "day" => "2026-01-02", "socket" => "a term", "tenant" => 7}

  """
  @spec audited(map()) :: %{String.t() => term()}
  def audited(context) do
    context = if is_struct(context), do: Map.from_struct(context), else: context

    for {name, value} <- context |> Enum.sort() |> Enum.take(@entries),
        not Head.hidden?(name),
        into: %{},
        do: {label(name), said(value)}
  end

  defp label(name) when is_atom(name), do: name |> Atom.to_string() |> Shown.label()
  defp label(name) when is_binary(name), do: Shown.label(name)
  defp label(name), do: Shown.text(name, @bytes)

  defp said(value) when is_number(value) or is_boolean(value) or value == nil, do: value
  defp said(value) when is_atom(value), do: Atom.to_string(value)

  defp said(value) when is_binary(value),
    do: if(String.valid?(value), do: Shown.cut(value, @bytes), else: "a binary")

  defp said(%module{} = struct) do
    case struct do
      %{id: id} when is_integer(id) or is_binary(id) -> "#{inspect(module)} #{said(id)}"
      _no_id -> if Values.value?(struct), do: Values.text(struct), else: inspect(module)
    end
  end

  defp said(value) when is_list(value) or is_tuple(value) or is_map(value), do: Size.of(value)
  defp said(value), do: Size.kind(value)
end

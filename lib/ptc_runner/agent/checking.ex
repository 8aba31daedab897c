defmodule PtcRunner.Agent.Checking do
  @moduledoc false
  # Checks a program against the data, the tools and the result of an agent before it runs. What is known of the data is the
  # data itself: all of it is looked at, or nothing is known of it.

  alias PtcRunner.Agent.{Result, Run, Tool}
  alias PtcRunner.Firewall.Marks
  alias PtcRunner.Json
  alias PtcRunner.Json.{Check, Checked, Limits}
  alias PtcRunner.SubAgent.Signature.Firewall

  # All items of a list; the native side has a maximum number of values.
  @rows 0x7FFF_FFFF

  @doc """
  The certain errors of a program, and the tools that it may call.

      iex> {:ok, program} = PtcRunner.Json.compile(~s({"program": {"op": "pipe", "steps": [{"op": "load", "name": "n"}, {"op": "count"}]}}))
      iex> {[error], []} = PtcRunner.Agent.Checking.errors(program, [], context: %{n: 1})
      iex> error.message
      "count needs a list as current value, which is a number"

  """
  @spec errors(Json.program(), [Tool.t()], keyword()) :: {[Checked.finding()], [String.t()]}
  def errors(program, tools, opts) do
    given = Run.read(Keyword.take(opts, [:keys, :edition]))

    limits =
      Limits.resolve(
        Limits.given(
          opts[:timeout],
          opts[:max_heap],
          opts[:max_depth] || Limits.default_max_depth(),
          given[:keys],
          Keyword.get(opts, :strict, true),
          :values,
          given[:edition]
        )
      )

    {timeout, max_heap, reading} = limits

    case Check.run(program, reading, {timeout, max_heap}, known(tools, opts)) do
      {:ok, checked, found} ->
        strict? = match?(%Json.Program{strict: true}, program) or elem(reading, 2)
        {certain(Check.errors(found), checked.type, strict?, opts), checked.tools}

      # The run reports what is no program.
      {:error, _finding} ->
        {[], []}
    end
  end

  defp known(tools, opts) do
    %{
      context: opts |> Keyword.get(:context, %{}) |> Run.named() |> sampled(),
      memory: opts |> Keyword.get(:memory, %{}) |> sampled(),
      tools: Map.new(tools, &{&1.name, signature(&1, opts[:on_call] != nil)}),
      returns: with({:signature, _params, type} <- opts[:returns], do: Check.type(type))
    }
    |> Check.with_tools(for tool <- tools, do: {tool.name, tool})
    |> Check.with_rules(opts[:returns])
  end

  # What is decided about a call may be any answer.
  defp signature(tool, decided?) do
    signature = Check.of_tool(tool)

    if signature != nil and (decided? or tool.approve),
      do: put_elem(signature, 2, :any),
      else: signature
  end

  # A name that is no text is an error of the run.
  defp sampled(map) do
    concealed = MapSet.new(Marks.names(map))

    if Enum.all?(map, fn {name, _value} -> is_binary(name) end),
      do:
        Map.new(map, fn {name, value} ->
          hidden? = name in concealed or Firewall.hidden?(name)
          {name, value |> Check.sampled(@rows) |> told(hidden?)}
        end)
  end

  # The keys of an object under a firewalled name are not told, nor the values there.
  defp told(type, true), do: kind(type)
  defp told({:list, type}, false), do: {:list, told(type, false)}
  defp told({:optional, type}, false), do: {:optional, told(type, false)}
  defp told({:union, types}, false), do: {:union, Enum.map(types, &told(&1, false))}

  defp told({kind, fields}, false) when kind in [:map, :open_map] and is_list(fields),
    do: {kind, for({name, type} <- fields, do: {name, told(type, Firewall.hidden?(name))})}

  defp told(type, false), do: type

  defp kind({:list, type}), do: {:list, kind(type)}
  defp kind({:optional, type}), do: {:optional, kind(type)}
  defp kind({:union, types}), do: {:union, types |> Enum.map(&kind/1) |> Enum.uniq()}
  defp kind({:literal, _value} = literal), do: literal
  defp kind(type) when is_atom(type), do: type
  defp kind(_object), do: :map

  # An unknown name of the memory is null. In a program that is not strict, one of the context is null too. A value under
  # "look" is no result, and a result that declares the field "result" may be the whole object.
  defp certain(errors, type, strict?, opts) do
    looks? = looks?(type) or Result.declares?(opts[:returns], "result")

    Enum.reject(errors, fn
      %{code: :unknown_name, message: "var " <> _rest} -> true
      %{code: :unknown_name} -> not strict?
      %{code: :unknown_field} -> opts[:findings] == :ignore
      %{code: code} when code in [:wrong_result, :missing_result] -> looks?
      _error -> false
    end)
  end

  defp looks?({:union, members}), do: Enum.any?(members, &looks?/1)
  defp looks?({:open_map, _fields}), do: true
  defp looks?({:map, fields}), do: List.keymember?(fields, "look", 0)
  defp looks?(type), do: type in [:map, :any]
end

defmodule PtcRunner.Firewall.Watch do
  @moduledoc false
  # Looks at the answers whose fields are not known before a program runs, and refuses the calls into which they flow.

  alias PtcRunner.Firewall.{Guard, Inside}
  alias PtcRunner.Json.Plan.Paths
  alias PtcRunner.SubAgent.Signature.Firewall

  @typedoc "A tool, its argument or the number of its calls, and the part of an answer that flows into it."
  @type flow :: {String.t(), String.t() | :calls | nil, tuple()}

  @typedoc """
  `flows`: those into each tool. `looked`: the paths at which the answers of a tool are looked at; `:all` if it is not known whose
  answers flow. `found`: the paths of the firewalled fields that were found in the answers of tools.
  """
  @type t :: %{
          flows: %{String.t() => [flow()]},
          looked: %{String.t() => [list()]} | :all,
          found: %{{String.t(), list()} => String.t()}
        }

  @doc "What is to be watched of these flows; nil without any."
  @spec new([flow()]) :: t() | nil
  def new([]), do: nil

  def new(flows) do
    known = for {_tool, _argument, {:answer, [tool | path], _whole?}} <- flows, do: {tool, path}

    looked =
      if Enum.all?(flows, fn {_tool, _argument, source} -> elem(source, 0) == :answer end),
        do: known |> Enum.uniq() |> Enum.group_by(&elem(&1, 0), &elem(&1, 1)),
        else: :all

    %{flows: Enum.group_by(flows, &elem(&1, 0)), looked: looked, found: %{}}
  end

  @doc """
  Whether the answers of a tool are looked at.

      iex> watch = PtcRunner.Firewall.Watch.new([{"mail", "to", {:answer, ["find", "who"], true}}])
      iex> Enum.map(["find", "mail"], &PtcRunner.Firewall.Watch.looks?(watch, &1))
      [true, false]

  """
  @spec looks?(t(), String.t()) :: boolean()
  def looks?(%{looked: looked}, tool), do: looked == :all or is_map_key(looked, tool)

  @doc """
  Looks at an answer.

      iex> watch = PtcRunner.Firewall.Watch.new([{"mail", "to", {:answer, ["find", "who"], true}}])
      iex> watch = PtcRunner.Firewall.Watch.answered(watch, "find", %{"who" => %{"_pin" => 1}})
      iex> PtcRunner.Firewall.Watch.refusal(watch, "mail", %{})
      "Firewalled data flows into a tool: answer of find.who._pin into the argument 'to' of tool 'mail', which writes. Give it only other fields, with get or select, or without these, with unset"

  """
  @spec answered(t(), String.t(), term()) :: t()
  def answered(%{looked: looked} = watch, tool, value) do
    case looked do
      :all -> look(watch, tool, [], value)
      %{^tool => paths} -> Enum.reduce(paths, watch, &look(&2, tool, &1, value))
      _looked -> watch
    end
  end

  defp look(%{found: found} = watch, tool, path, _value) when is_map_key(found, {tool, path}),
    do: watch

  defp look(watch, tool, path, value) do
    case inside(value, path) do
      nil ->
        watch

      :beyond ->
        put_in(watch.found[{tool, path}], text(tool, path) <> " (with too many parts to look at)")

      below ->
        put_in(watch.found[{tool, path}], text(tool, path ++ below))
    end
  end

  # At a firewalled name there is a firewalled value.
  defp inside(value, path) do
    if Firewall.below?(path),
      do: if(Inside.there?(value, path), do: []),
      else: Inside.value(value, path)
  end

  defp text(tool, path), do: Paths.text({:answer, [tool | path], true})

  @doc "Why a tool is not called now; nil if nothing that is firewalled flows into it."
  @spec refusal(t(), String.t(), Guard.tools()) :: String.t() | nil
  def refusal(%{found: found}, _tool, _tools) when found == %{}, do: nil

  def refusal(%{flows: flows, found: found}, tool, tools) do
    flows
    |> Map.get(tool, [])
    |> Enum.find_value(fn flow ->
      if path = path(flow, found), do: Guard.text(flow, path, tools)
    end)
  end

  defp path({_tool, _argument, {:answer, [tool | path], _whole?}}, found),
    do: found[{tool, path}] || found[{tool, []}]

  defp path(_unknown, found), do: found |> :maps.values() |> hd()
end

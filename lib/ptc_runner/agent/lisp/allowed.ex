defmodule PtcRunner.Agent.Lisp.Allowed do
  @moduledoc false
  # What an agent that writes PTC-Lisp can be given: options that only the JSON language has are refused by their names, and so are
  # tools with firewalled parameters, because no program has anything to give them: programs see the public part of data and answers.

  alias PtcRunner.Agent.Tool
  alias PtcRunner.Lisp.Firewalled
  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature

  # Options of the JSON language; `nil` is as if they were not given.
  @only_json [
    :check,
    :findings,
    :max_depth,
    :strict,
    :edition,
    :keys,
    :operations,
    :repair,
    :truncated,
    :coerce
  ]

  # What can stand in a symbol behind `tool/` and `data/`.
  @name ~r/\A[A-Za-z+\-*<>=?!_%.&][A-Za-z0-9+\-*<>=?!_%.&']*\z/

  @doc """
  Whether the options ask for PTC-Lisp.

      iex> PtcRunner.Agent.Lisp.Allowed.lisp?(language: :lisp)
      true

  """
  @spec lisp?(keyword()) :: boolean()
  def lisp?(opts), do: Keyword.get(opts, :language) == :lisp

  @doc """
  Raises `ArgumentError` for an option that PTC-Lisp does not have.

      iex> PtcRunner.Agent.Lisp.Allowed.options!([language: :lisp, operations: [:core]], "PtcRunner.Agent.loop/3")
      ** (ArgumentError) option :operations of PtcRunner.Agent.loop/3 works with language: :json, not with language: :lisp

  """
  @spec options!(keyword(), String.t()) :: :ok
  def options!(opts, function) do
    for {name, value} <- opts, value != nil and only_json?(name, value) do
      raise ArgumentError,
            "option #{shown(name, value)} of #{function} works with language: :json, not with language: :lisp"
    end

    :ok
  end

  defp only_json?(:catalogue, value), do: value == true
  defp only_json?(:answer, value), do: value == :value
  defp only_json?(name, _value), do: name in @only_json

  defp shown(name, value) when name in [:catalogue, :answer], do: "#{name}: #{inspect(value)}"
  defp shown(name, _value), do: inspect(name)

  @doc """
  Raises `ArgumentError` for a tool that programs cannot call.

      iex> tools = PtcRunner.Agent.Tool.list!(%{"to pay" => & &1})
      iex> PtcRunner.Agent.Lisp.Allowed.tools!(tools, [])
      ** (ArgumentError) tool "to pay" has a name that cannot stand in a program of PTC-Lisp: give it one of letters, digits, - and _

  """
  @spec tools!([Tool.t()], keyword()) :: :ok
  def tools!(tools, opts) do
    for %Tool{} = tool <- tools do
      cond do
        not (tool.name =~ @name) ->
          refuse(
            tool,
            "has a name that cannot stand in a program of PTC-Lisp: give it one of letters, digits, - and _"
          )

        opts[:firewall] != false and firewalled?(tool.signature) ->
          refuse(tool, "has firewalled parameters. " <> only_json())

        true ->
          :ok
      end
    end

    :ok
  end

  defp refuse(tool, why), do: raise(ArgumentError, "tool #{Shown.quoted(tool.name)} #{why}")

  defp firewalled?(nil), do: false

  defp firewalled?({:signature, params, _returns}) do
    params = {:signature, params, :any}
    Signature.public_view(params) != params
  end

  @doc """
  The data that programs see: without firewalled fields, if there is a firewall. Raises `ArgumentError` for data that cannot be looked at.

      iex> data = %{"rows" => [%{"id" => 1, "_pin" => 2}]}
      iex> for firewall <- [true, false], do: PtcRunner.Agent.Lisp.Allowed.data!(data, firewall: firewall)
      [%{"rows" => [%{"id" => 1}]}, data]

  """
  @spec data!(map(), keyword()) :: map()
  def data!(data, opts),
    do: if(opts[:firewall] != false, do: Map.new(data, &public!/1), else: data)

  defp public!({name, value}) do
    case Firewalled.part(value) do
      {:ok, public} ->
        {name, public}

      :error ->
        raise ArgumentError,
              "the data may have firewalled fields, whose names begin with _: it has more than a million parts, or a function with such fields. " <>
                only_json()
    end
  end

  @doc "What to do where a field is firewalled."
  @spec only_json() :: String.t()
  def only_json do
    "Programs read such fields with language: :json, not with language: :lisp; firewall: false says that programs and the model may see them"
  end

  @doc """
  Whether programs can write a name behind `data/` or `tool/`.

      iex> Enum.map(["orders", "open-orders", "a b", "a/b"], &PtcRunner.Agent.Lisp.Allowed.name?/1)
      [true, true, false, false]

  """
  @spec name?(term()) :: boolean()
  def name?(name), do: is_binary(name) and name =~ @name
end

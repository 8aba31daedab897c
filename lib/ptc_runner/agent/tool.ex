defmodule PtcRunner.Agent.Tool do
  @moduledoc false
  # Converts an application's tools to one form: a name, a function of one argument, and, if
  # they are known, the signature, a description for the model, and the values that arguments may have.

  require Logger

  alias PtcRunner.Agent.{Spec, ToolSchema}
  alias PtcRunner.Json.Codec
  alias PtcRunner.{Options, Shown}
  alias PtcRunner.SubAgent.{Signature, TypeExtractor}
  alias PtcRunner.SubAgent.Signature.Annotations

  @enforce_keys [:name, :fun]
  defstruct [:name, :fun, :signature, :description, :notes, :schema, :spec, warnings: []]

  @type t :: %__MODULE__{
          name: String.t(),
          fun: (map() -> term()),
          signature: Signature.t() | nil,
          description: String.t() | nil,
          notes: Annotations.t() | nil,
          schema: map() | nil,
          spec: {Signature.t(), Spec.form()} | nil,
          warnings: [String.t()]
        }

  @options %{signature: :any, description: :any, enums: :any, descriptions: :any}

  @doc """
  The tools of a map by name, of a list of `ALLM.Tool`, or of an `ALLM.Engine`, sorted by name.

      iex> [tool] = PtcRunner.Agent.Tool.list!(%{"double" => {&(&1["n"] * 2), "(n :int) -> :int"}})
      iex> {tool.name, tool.signature, tool.fun.(%{"n" => 4})}
      {"double", {:signature, [{"n", :int}], :int}, 8}

      iex> PtcRunner.Agent.Tool.list!(%{"double" => 2})
      ** (ArgumentError) tool "double" must be a function of one argument, {function, signature}, {function, options} or an ALLM.Tool, got: 2

  """
  @spec list!(term()) :: [t()]
  def list!(%{__struct__: ALLM.Engine, tools: tools, context: context}), do: allm(tools, context)

  def list!([_ | _] = tools) do
    if not List.improper?(tools) and Enum.all?(tools, &match?(%{__struct__: ALLM.Tool}, &1)),
      do: allm(tools, %{}),
      else: refuse(tools)
  end

  def list!([]), do: []

  def list!(tools) when is_map(tools) and not is_struct(tools) do
    for {name, form} <- Enum.sort(tools), do: name |> name!() |> tool(form)
  end

  def list!(other), do: refuse(other)

  @spec refuse(term()) :: no_return()
  defp refuse(other) do
    raise ArgumentError,
          "tools must be a map of names, a list of ALLM.Tool or an ALLM.Engine, " <>
            "got: #{Shown.text(other, 200)}"
  end

  @doc "What is not validated in the arguments of these tools; logged, and part of the warnings of a run."
  @spec warnings([t()]) :: [String.t()]
  def warnings(tools) do
    warnings = Enum.flat_map(tools, & &1.warnings)
    for warning <- warnings, do: Logger.warning("a tool's JSON Schema: " <> warning)
    warnings
  end

  defp allm(tools, context) do
    tools |> Enum.map(&of_allm(&1.name, &1, context)) |> Enum.sort_by(& &1.name)
  end

  defp name!(name) when is_binary(name), do: name
  defp name!(name) when is_atom(name) and name != nil, do: Atom.to_string(name)

  defp name!(other),
    do: raise(ArgumentError, "a tool's name must be a string, got: #{Shown.text(other, 200)}")

  defp tool(name, %{__struct__: ALLM.Tool} = tool), do: of_allm(name, tool, %{})

  defp tool(name, fun) when is_function(fun, 1) do
    {:ok, {_signature, description}} = TypeExtractor.extract(fun)
    with_spec(%__MODULE__{name: name, fun: fun, description: description}, Spec.of(fun))
  end

  defp tool(name, {fun, signature}) when is_function(fun, 1) and is_binary(signature),
    do: tool(name, {fun, signature: signature})

  defp tool(name, {fun, {:signature, _, _} = signature}) when is_function(fun, 1),
    do: tool(name, {fun, signature: signature})

  defp tool(name, {fun, opts}) when is_function(fun, 1) and is_list(opts) do
    Options.check!(opts, @options, "tool #{inspect(name)}")
    found = tool(name, fun)
    signature = if opts[:signature], do: signature!(name, opts[:signature]), else: found.signature

    %{
      found
      | signature: signature,
        spec: if(opts[:signature], do: nil, else: found.spec),
        description: opts[:description] || found.description,
        notes: Annotations.of!(opts, {:map, if(signature, do: elem(signature, 1), else: [])})
    }
  end

  defp tool(name, other) do
    raise ArgumentError,
          "tool #{inspect(name)} must be a function of one argument, {function, signature}, " <>
            "{function, options} or an ALLM.Tool, got: #{Shown.text(other, 200)}"
  end

  defp signature!(name, signature) do
    Signature.parsed!(signature)
  rescue
    error in ArgumentError ->
      raise ArgumentError, "tool #{inspect(name)}: #{Exception.message(error)}"
  end

  # If a function takes one map with known keys, these are the tool's arguments. Its result is
  # not validated, because the spec does not tell `{:ok, value}` from the value.
  defp with_spec(tool, {shown, checked, form}),
    do: %{tool | signature: {:signature, shown, :any}, spec: {{:signature, checked, :any}, form}}

  defp with_spec(tool, nil), do: tool

  defp of_allm(name, tool, context) do
    schema = tool.schema |> Codec.encode!() |> Codec.decode!()

    read = ToolSchema.read(schema)

    {signature, notes} =
      case read.type do
        {kind, fields} when kind in [:map, :closed_map] ->
          {{:signature, fields, :any}, read.notes}

        # Any object, or no object at all.
        _other ->
          {nil, nil}
      end

    %__MODULE__{
      name: name,
      fun: handler(name, tool.handler, context),
      signature: signature,
      description: tool.description,
      notes: notes,
      schema: if(signature == nil, do: schema),
      warnings: Enum.map(read.warnings, &"#{name}: #{&1}")
    }
  end

  defp handler(_name, fun, _context) when is_function(fun, 1), do: fun
  defp handler(_name, fun, context) when is_function(fun, 2), do: &fun.(&1, context)

  defp handler(_name, {module, function}, context) when is_atom(module) and is_atom(function) do
    if Code.ensure_loaded?(module) and function_exported?(module, function, 2),
      do: &apply(module, function, [&1, context]),
      else: &apply(module, function, [&1])
  end

  defp handler(name, other, _context) do
    raise ArgumentError,
          "tool #{inspect(name)} must have a handler, got: #{Shown.text(other, 200)}"
  end
end

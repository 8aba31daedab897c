defmodule PtcRunner.Agent.Tool.OperationChoice do
  @moduledoc false
  # Which operations of an OpenAPI document become tools.

  alias PtcRunner.Json.Suggestion
  alias PtcRunner.Shown

  @typedoc "Names, methods with paths, or paths; and tags. Nil where there is no choice."
  @type t :: {only :: [String.t()] | nil, tags :: [String.t()] | nil}

  @doc """
  The choice of these options.

      iex> PtcRunner.Agent.Tool.OperationChoice.of(only: ["getPet"], tags: nil)
      {:ok, {["getPet"], nil}}

      iex> PtcRunner.Agent.Tool.OperationChoice.of(only: "getPet")
      {:error, ~s(the option only: is a list of texts, got: "getPet")}

  """
  @spec of(keyword()) :: {:ok, t()} | {:error, String.t()}
  def of(opts) do
    with {:ok, only} <- texts(:only, opts[:only]),
         {:ok, tags} <- texts(:tags, opts[:tags]),
         do: {:ok, {only, tags}}
  end

  defp texts(_name, nil), do: {:ok, nil}

  defp texts(name, list) do
    if is_list(list) and not List.improper?(list) and
         Enum.all?(list, &(is_binary(&1) or is_atom(&1))),
       do: {:ok, Enum.map(list, &to_string/1)},
       else: {:error, "the option #{name}: is a list of texts, got: #{Shown.text(list, 200)}"}
  end

  @doc "The operations that are chosen; an error for a name or a tag that there is not."
  @spec chosen([{String.t(), map()}], t()) :: {:ok, [{String.t(), map()}]} | {:error, String.t()}
  def chosen(operations, {only, tags}) do
    with :ok <- known(only, operations, &names/1, "operation"),
         :ok <- known(tags, operations, &tags/1, "tag"),
         do:
           {:ok,
            for(
              operation <- operations,
              among?(only, names(operation)),
              among?(tags, tags(operation)),
              do: operation
            )}
  end

  defp among?(nil, _names), do: true
  defp among?(wanted, names), do: Enum.any?(names, &(&1 in wanted))

  defp known(nil, _operations, _names, _what), do: :ok

  defp known(wanted, operations, names, what) do
    all = operations |> Enum.flat_map(names) |> Enum.uniq()

    case wanted -- all do
      [] ->
        :ok

      [name | _] ->
        meant = Suggestion.sentence(name, all, &" Did you mean #{Shown.quoted(&1)}?")
        {:error, "the document has no #{what} #{Shown.quoted(name)}.#{meant}"}
    end
  end

  # By its name, its method and path, or its path.
  defp names({_place, %{name: name, method: method, path: path}}),
    do: for(text <- [name, "#{String.upcase(method)} #{path}", path], is_binary(text), do: text)

  defp tags({_place, %{operation: %{"tags" => [_ | _] = tags}}}),
    do: Enum.filter(tags, &is_binary/1)

  defp tags(_operation), do: []
end

defmodule PtcRunner.Agent.ToolSchema.Pointer do
  @moduledoc false
  # References inside a schema: `#`, `#/$defs/name`. A schema that contains itself, and references that multiply,
  # end at a limit.

  # Maximum number of keys that references repeat.
  @budget 10_000
  # Maximum number of references that lead from one to the next.
  @deepest 200

  @type state :: %{
          :root => term(),
          :around => [[String.t()]],
          :budget => non_neg_integer(),
          optional(atom()) => term()
        }

  @doc "The budget of one schema."
  @spec budget() :: pos_integer()
  def budget, do: @budget

  @doc """
  The schema that a reference points to, and the state below it.

      iex> state = %{root: %{"$defs" => %{"a/b" => 1}}, around: [[]], budget: 9}
      iex> {:ok, found, _state} = PtcRunner.Agent.ToolSchema.Pointer.follow("#/$defs/a~1b", state)
      iex> found
      1
      iex> PtcRunner.Agent.ToolSchema.Pointer.follow("#", state)
      {:error, "it contains itself"}

  """
  @spec follow(term(), state()) :: {:ok, term(), state()} | {:error, String.t()}
  def follow("#" <> pointer, state) do
    tokens = pointer |> URI.decode() |> tokens()

    with true <- is_list(tokens),
         true <- tokens not in state.around || {:error, "it contains itself"},
         {:ok, state} <- spend_reference(state, length(tokens)),
         {:ok, found} <- find(state.root, tokens) do
      {:ok, found, %{state | around: [tokens | state.around]}}
    else
      {:error, _why} = error -> error
      _no -> {:error, "it points to nothing"}
    end
  rescue
    # A per cent sign without two digits.
    ArgumentError -> {:error, "it points to nothing"}
  end

  def follow(_ref, _state), do: {:error, "it is not in this schema"}

  @doc "Counts keys; only what stands below a reference counts, because only references repeat."
  @spec spend(state(), non_neg_integer()) :: {:ok, state()} | :error
  def spend(%{around: [_root]} = state, _keys), do: {:ok, state}
  def spend(%{budget: budget}, keys) when budget < keys, do: :error
  def spend(state, keys), do: {:ok, %{state | budget: state.budget - keys}}

  defp spend_reference(%{budget: budget, around: around}, keys)
       when budget <= keys or length(around) > @deepest,
       do: {:error, "too many references"}

  defp spend_reference(state, keys), do: {:ok, %{state | budget: state.budget - keys - 1}}

  defp tokens(""), do: []
  defp tokens("/" <> rest), do: rest |> String.split("/") |> Enum.map(&unescaped/1)
  defp tokens(_anchor), do: nil

  defp unescaped(token), do: token |> String.replace("~1", "/") |> String.replace("~0", "~")

  defp find(found, []), do: {:ok, found}

  defp find(map, [token | tokens]) when is_map(map),
    do: with({:ok, inside} <- Map.fetch(map, token), do: find(inside, tokens))

  defp find([_ | _] = list, [token | tokens]) do
    case Integer.parse(token) do
      {index, ""} when index in 0..999 -> list |> Enum.at(index) |> find(tokens)
      _other -> :error
    end
  end

  defp find(_other, _tokens), do: :error
end

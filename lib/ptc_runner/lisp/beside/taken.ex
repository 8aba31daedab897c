defmodule PtcRunner.Lisp.Beside.Taken do
  @moduledoc false
  # What a program finds of the original's values, made into values of this library before it runs: in its memory, in the results of
  # earlier programs, and in its data.
  #
  # Only values that the program mentions are looked at, and those that the functions in them mention.

  alias PtcRunner.Lisp.Beside.Values
  alias PtcRunner.Lisp.{Data, Given, Program, Remembered}

  # Names that have a meaning only in the original. A function of the memory may mention one.
  @left_out ~w(all-ns apropos describe dir doc meta ns-name ns-publics source step-done task task-reset)

  @typedoc "By the keys of the memory: the original's value, and the same here."
  @type taken :: %{term() => {term(), term()}}

  @doc "All of it; `:error` if one value cannot be taken, or belongs to what is left out."
  @spec all(Program.t(), Given.t(), Values.sides()) :: {:ok, Given.t(), taken()} | :error
  def all(program, given, sides) do
    with true <- data?(program, given.context),
         names = mentioned(program),
         {:ok, taken} <- memory(names, given.memory, sides, %{}, %{}),
         {:ok, history} <- history(program.source, given.history, sides),
         do: {:ok, %{with_taken(given, taken) | history: history}, taken},
         else: (_cannot -> :error)
  end

  @doc "What can be taken of the values that the program itself mentions."
  @spec what_can_be(Program.t(), Given.t(), Values.sides()) :: {Given.t(), taken()}
  def what_can_be(program, given, sides) do
    taken =
      for name <- mentioned(program),
          {:ok, key, value} <- [entry(given.memory, name)],
          {:ok, ours, _names} <- [Values.take(value, sides)],
          ours !== value,
          into: %{},
          do: {key, {value, ours}}

    {with_taken(given, taken), taken}
  end

  defp mentioned(%Program{names: names}), do: names.globals ++ names.builtins

  defp with_taken(given, taken) do
    changed = Map.new(taken, fn {key, {_theirs, ours}} -> {key, ours} end)
    %{given | memory: Map.merge(given.memory, changed)}
  end

  defp data?(program, context) do
    program
    |> Data.parts(context)
    |> Enum.all?(fn
      {_name, {:ok, value}} -> not Values.function?(value)
      {_name, :error} -> true
    end)
  end

  defp memory([name | rest], memory, sides, seen, taken) when is_map_key(seen, name),
    do: memory(rest, memory, sides, seen, taken)

  defp memory([name | rest], memory, sides, seen, taken) do
    seen = Map.put(seen, name, true)

    case entry(memory, name) do
      {:ok, key, value} ->
        with {:ok, ours, more} <- Values.take(value, sides) do
          taken = if ours === value, do: taken, else: Map.put(taken, key, {value, ours})
          memory(more ++ rest, memory, sides, seen, taken)
        end

      :error ->
        if name in @left_out, do: :error, else: memory(rest, memory, sides, seen, taken)
    end
  end

  defp memory([], _memory, _sides, _seen, taken), do: {:ok, taken}

  # The key of a name: a text, or an atom.
  defp entry(memory, name) do
    with {:ok, value} <- Remembered.fetch(memory, name),
         do:
           {:ok, if(is_map_key(memory, name), do: name, else: String.to_existing_atom(name)),
            value}
  end

  defp history(source, history, sides) do
    if history != [] and Remembered.reads_history?(source) do
      {read, rest} = Enum.split(history, 3)
      taken = Enum.map(read, &Values.take(&1, sides))

      if Enum.all?(taken, &is_tuple/1),
        do: {:ok, Enum.map(taken, &elem(&1, 1)) ++ rest},
        else: :error
    else
      {:ok, history}
    end
  end
end

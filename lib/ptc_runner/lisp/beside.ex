defmodule PtcRunner.Lisp.Beside do
  @moduledoc false
  # `PtcRunner.Lisp.run/2` in an application that has `ptc_runner`, with `config :ptc_runner_native, lisp: :native`.
  #
  #   options and tools ─▶ names of the program ─▶ values of its memory ─▶ native
  #           └────────────────────┴────────────────────────┴───────────▶ the original, unchanged
  #
  # Where a program runs is decided before it does anything: here, if its options mean the same here, if it is a program here,
  # and if what it finds in its memory can be taken. What only this library has is never given to the original, which would ignore it.

  alias PtcRunner.Lisp.Beside.{Choice, Taken, Values}
  alias PtcRunner.Lisp.{Evaluation, Given, Preparing}

  @typedoc "The modules of `ptc_runner`: its language under another name, and what makes source of its functions."
  @type sides :: Values.sides()

  @doc "Begins to count programs, beside these modules."
  @spec attach(sides()) :: :ok
  def attach(sides),
    do: :persistent_term.put(__MODULE__, {sides, :counters.new(2, [:write_concurrency])})

  @doc "Ends it."
  @spec detach() :: :ok
  def detach do
    :persistent_term.erase(__MODULE__)
    :ok
  end

  @doc """
  How many programs ran where; nil if nothing is decided.

      iex> PtcRunner.Lisp.Beside.counts()
      nil

  """
  @spec counts() :: %{native: non_neg_integer(), original: non_neg_integer()} | nil
  def counts do
    with {_sides, counters} <- :persistent_term.get(__MODULE__, nil),
         do: %{native: :counters.get(counters, 1), original: :counters.get(counters, 2)}
  end

  @doc "Runs a program at its place."
  @spec run(term(), term()) :: term()
  def run(program, opts) do
    {sides, counters} = :persistent_term.get(__MODULE__)
    {place, result} = run(program, opts, sides)
    :counters.add(counters, if(place == :native, do: 1, else: 2), 1)
    result
  end

  @doc "Runs a program beside these modules, and says where it ran."
  @spec run(term(), term(), sides()) :: {:native | :original, term()}
  def run(program, opts, sides) do
    case Choice.of(program, opts) do
      {:here, opts} -> here(program, Given.read(opts), sides)
      {:either, known, kept, parallel} -> either(program, known, kept, parallel, sides, opts)
      :original -> {:original, sides.original.run(program, opts)}
    end
  end

  # Values of the memory that cannot be taken stay as they are.
  defp here(program, given, sides) do
    {given, taken} =
      case Preparing.checked(program, given) do
        {:ok, program} -> Taken.what_can_be(program, given, sides)
        _error -> {given, %{}}
      end

    {:native, program |> Evaluation.run(given) |> given_back(given, taken, %{}, sides)}
  end

  defp either(text, known, kept, parallel, sides, opts) do
    with {:ok, given} <- read(known),
         {:ok, program} <- Preparing.checked(text, given),
         false <- String.contains?(text, parallel),
         {:ok, given, taken} <- Taken.all(program, given, sides) do
      {:native, program |> Evaluation.run(given) |> given_back(given, taken, kept, sides)}
    else
      _not_here -> {:original, sides.original.run(text, opts)}
    end
  end

  defp read(known) do
    {:ok, Given.read(known)}
  rescue
    ArgumentError -> :error
  end

  # The step with the original's kinds of values. What was taken and has not changed is the original's own value again.
  defp given_back({ended, %{memory: memory, return: return} = step}, given, taken, kept, sides) do
    memory =
      Map.new(memory, fn {name, value} ->
        case taken do
          %{^name => {theirs, ours}} when ours === value -> {name, theirs}
          _new -> {name, kept_or_given(value, given.memory, name, sides)}
        end
      end)

    step = %{step | memory: memory, return: Values.give(return, sides)}
    {ended, Map.merge(step, Map.take(kept, Map.keys(step)))}
  end

  defp given_back(paused, _given, _taken, _kept, _sides), do: paused

  defp kept_or_given(value, memory, name, sides) do
    case memory do
      %{^name => ^value} -> value
      _other -> Values.give(value, sides)
    end
  end
end

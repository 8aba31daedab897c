defmodule PtcRunner.Test.Random do
  @moduledoc """
  Random terms without a dependency. A *template* is any term. Functions of arity 1 in it
  are generators, which take a `:rand` state and return `{value, new_state}`; all other parts
  are constants. Map keys and structs are not searched for generators.

      iex> template = %{"op" => "take", "count" => PtcRunner.Test.Random.integer(0..3)}
      iex> {take, _state} = PtcRunner.Test.Random.build(template, :rand.seed_s(:exsss, 1))
      iex> take["count"] in 0..3
      true
  """

  @omitted :"$omitted"

  @type state :: :rand.state()
  @type generator(value) :: (state() -> {value, state()})
  @type template :: term()

  @doc "Builds a random term from a template."
  @spec build(template(), state()) :: {term(), state()}
  def build(generator, state) when is_function(generator, 1), do: generator.(state)
  def build(struct, state) when is_struct(struct), do: {struct, state}

  def build(map, state) when is_map(map) do
    {entries, state} =
      Enum.map_reduce(map, state, fn {key, template}, state ->
        {value, state} = build(template, state)
        {{key, value}, state}
      end)

    {for({key, value} <- entries, value != @omitted, into: %{}, do: {key, value}), state}
  end

  def build([first | rest], state) do
    {first, state} = build(first, state)
    {rest, state} = build(rest, state)
    {[first | rest], state}
  end

  def build(tuple, state) when is_tuple(tuple) do
    {elements, state} = tuple |> Tuple.to_list() |> build(state)
    {List.to_tuple(elements), state}
  end

  def build(constant, state), do: {constant, state}

  @doc "A template that is built only when its value is needed: it may be recursive."
  @spec lazy((... -> template())) :: generator(term())
  def lazy(fun), do: fn state -> build(fun.(), state) end

  @doc "The result of `fun` for a random term."
  @spec map(template(), (term() -> template())) :: generator(term())
  def map(template, fun) do
    fn state ->
      {value, state} = build(template, state)
      build(fun.(value), state)
    end
  end

  @doc "An integer of the range, all equally likely."
  @spec integer(Range.t()) :: generator(integer())
  def integer(first..last//1) do
    fn state ->
      {n, state} = :rand.uniform_s(last - first + 1, state)
      {first + n - 1, state}
    end
  end

  @doc "One of the templates, all equally likely."
  @spec one_of([template(), ...]) :: generator(term())
  def one_of(templates) do
    fn state ->
      {n, state} = :rand.uniform_s(length(templates), state)
      n |> :lists.nth(templates) |> build(state)
    end
  end

  @doc "One of the templates, with probability proportional to its weight."
  @spec frequency([{weight :: non_neg_integer(), template()}, ...]) :: generator(term())
  def frequency(weighted) do
    # The weights are added up only when a template is used, because most templates are not.
    fn state ->
      {n, state} = :rand.uniform_s(total(weighted, 0), state)
      weighted |> weighted_at(n) |> build(state)
    end
  end

  defp total([], sum), do: sum
  defp total([{weight, _template} | rest], sum), do: total(rest, sum + weight)

  defp weighted_at([{weight, template} | _], n) when n <= weight, do: template
  defp weighted_at([{weight, _} | rest], n), do: weighted_at(rest, n - weight)

  @doc "A list of random length."
  @spec list_of(template(), Range.t()) :: generator(list())
  def list_of(template, length), do: map(integer(length), &List.duplicate(template, &1))

  @doc "In a map: the entry is there in `percent` of 100 cases."
  @spec maybe(0..100, template()) :: generator(term())
  def maybe(percent, template), do: frequency([{percent, template}, {100 - percent, @omitted}])
end

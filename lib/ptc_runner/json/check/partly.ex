defmodule PtcRunner.Json.Check.Partly do
  @moduledoc false
  # What of an argument is constant, where some of it is computed. Native types join the items of a list, so a constant that does
  # not fit beside a computed item is found only here.

  alias PtcRunner.SubAgent.KeyNormalizer

  @typedoc "Where the constants are: everywhere, or in these items of a list (by their place among the constant ones), or below these keys."
  @type places ::
          :all
          | {:list, %{non_neg_integer() => {non_neg_integer(), places()}}}
          | {:map, %{term() => places()}}

  @typedoc """
  A constant; or the value without what is computed, the value as a person sees it, with null in its place, and where its constants are; or
  nothing.
  """
  @type known :: {:all, term()} | {:some, term(), term(), places()} | :none

  @doc """
  What is constant in an argument. `maps?`: also in objects of which a part is computed.

      iex> computed = %{"op" => "now"}
      iex> PtcRunner.Json.Check.Partly.known([1, %{"a" => 2}], true)
      {:all, [1, %{"a" => 2}]}
      iex> PtcRunner.Json.Check.Partly.known([computed, 2.5], true)
      {:some, [2.5], [nil, 2.5], {:list, %{0 => {1, :all}}}}
      iex> PtcRunner.Json.Check.Partly.known([%{"a" => 1, "b" => computed}], false)
      :none

  """
  @spec known(term(), boolean()) :: known()
  def known(%{"op" => "literal", "value" => value}, _maps?), do: {:all, value}

  def known(%{"op" => "list", "items" => items}, maps?) when is_list(items),
    do: known(items, maps?)

  def known(%{"op" => "object", "fields" => fields}, maps?) when is_map(fields),
    do: of_map(fields, maps?)

  def known(%{"op" => op}, _maps?) when is_binary(op), do: :none

  def known(map, maps?) when is_map(map) and not is_struct(map), do: of_map(map, maps?)

  def known([_ | _] = list, maps?) do
    parts = if List.improper?(list), do: [], else: for(part <- list, do: known(part, maps?))
    parts = Enum.with_index(parts, fn known, at -> {at, known} end)

    cond do
      parts == [] -> :none
      constant?(parts) -> {:all, for({_at, {:all, value}} <- parts, do: value)}
      true -> some(parts, &values/1, fn parts -> {:list, numbered(parts)} end)
    end
  end

  def known(constant, _maps?), do: {:all, constant}

  defp of_map(map, maps?) do
    parts = for {key, part} <- map, do: {key, known(part, maps?)}

    cond do
      constant?(parts) -> {:all, Map.new(parts, fn {key, {:all, value}} -> {key, value} end)}
      maps? -> some(parts, &Map.new/1, fn parts -> {:map, Map.new(parts, &spelled/1)} end)
      true -> :none
    end
  end

  defp constant?(parts), do: Enum.all?(parts, &match?({_at, {:all, _value}}, &1))

  defp some(parts, made, placed) do
    case for {at, known} <- parts, known != :none, do: {at, known} do
      [] ->
        :none

      kept ->
        value = made.(for {at, known} <- kept, do: {at, elem(known, 1)})
        shown = made.(for {at, known} <- parts, do: {at, shown(known)})
        {:some, value, shown, placed.(for {at, known} <- kept, do: {at, places(known)})}
    end
  end

  defp values(parts), do: for({_at, value} <- parts, do: value)
  defp shown({:all, value}), do: value
  defp shown({:some, _value, shown, _places}), do: shown
  defp shown(:none), do: nil
  defp places({:all, _value}), do: :all
  defp places({:some, _value, _shown, places}), do: places

  defp numbered(parts), do: parts |> Enum.with_index() |> Map.new(fn {part, at} -> {at, part} end)
  defp spelled({key, places}), do: {KeyNormalizer.normalize_key(key), places}

  @doc """
  The place in the argument of an error about its constants; `:error` if the error is about something of which a part is computed.

      iex> {:some, _value, _shown, places} = PtcRunner.Json.Check.Partly.known([%{"op" => "now"}, %{"a" => 1}], true)
      iex> {PtcRunner.Json.Check.Partly.place([0, "a"], places), PtcRunner.Json.Check.Partly.place([], places)}
      {{:ok, [1, "a"]}, :error}

  """
  @spec place([term()], places()) :: {:ok, [term()]} | :error
  def place(path, :all), do: {:ok, path}

  def place([at | path], {:list, items}) do
    with {:ok, {at, places}} <- Map.fetch(items, at),
         {:ok, path} <- place(path, places),
         do: {:ok, [at | path]}
  end

  def place([key | path], {:map, fields}) when is_binary(key) do
    with {:ok, places} <- Map.fetch(fields, KeyNormalizer.normalize_key(key)),
         {:ok, path} <- place(path, places),
         do: {:ok, [key | path]}
  end

  def place(_path, _places), do: :error
end

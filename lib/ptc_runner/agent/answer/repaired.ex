defmodule PtcRunner.Agent.Answer.Repaired do
  @moduledoc false
  # Reads a part of an answer with repairs, unless a repair may change what was meant.

  alias PtcRunner.Agent.Answer.{Asked, Fit}
  alias PtcRunner.Agent.{Nearly, Wrapper}
  alias PtcRunner.SubAgent.JsonRepair
  alias PtcRunner.SubAgent.JsonRepair.{Names, Twins}

  @doc "The value of a text that is read with repairs, if it fits."
  @spec read(String.t(), term(), Asked.t()) :: term()
  def read(text, found, asked) do
    limits = [{:truncated, asked.truncated}, {:lost, :refuse} | asked.limits]

    case JsonRepair.read(text, asked.type, limits) do
      {:ok, value, repairs} ->
        if unclear?(repairs, text, found, asked) do
          :error
        else
          with [] <- grouped(value, repairs, text, asked),
               [] <- clashing({:value, value}, asked),
               do: value |> Fit.unwrapped(asked) |> Fit.fitting(messages(repairs), asked)
        end

      {:error, {:lost, errors}} ->
        errors

      {:error, reason} ->
        cut(reason, found)
    end
  end

  # Whether it is not known which of several keys was meant by a repair.
  defp unclear?(repairs, text, found, asked) do
    Enum.any?(repairs, &(&1.kind == :key_spelling)) and
      case written(text, found, asked) do
        {:ok, value} -> Names.several?(Wrapper.inner(value, asked.type), asked.type)
        :error -> false
      end
  end

  # The value with the keys of the text.
  defp written(_text, {:value, value}, _asked), do: {:ok, value}

  defp written(text, _found, asked) do
    with {:ok, value, _repairs} <- JsonRepair.read(text, nil, asked.limits),
         do: {:ok, value},
         else: (_error -> :error)
  end

  @doc """
  The value of a text that is read with repairs and without its type, and coerced. Where JSON was found, it was coerced already, unless it is only a
  part of the answer. Without the type, it is not known which fields are missing at the end.
  """
  @spec coerced(String.t(), term(), Asked.t()) :: term()
  def coerced(text, found, asked) do
    truncated = if asked.truncated == :error, do: :refuse, else: asked.truncated

    with true <- asked.coerce? and (match?({:place, _}, found) or JsonRepair.part?(text)),
         {:ok, value, repairs} <-
           JsonRepair.read(text, nil, [
             {:truncated, truncated},
             {:exact, asked.type},
             {:lost, :refuse} | asked.limits
           ]),
         [] <- grouped(value, repairs, text, asked),
         [] <- clashing({:value, value}, asked) do
      {value, warnings} = value |> Fit.unwrapped(asked) |> Names.renamed(asked.type)

      with no when no in [:error, :literal] <-
             Fit.coerce(value, asked, messages(repairs) ++ warnings),
           do: {:unfit, value}
    else
      {:error, {:lost, errors}} -> errors
      {:error, reason} -> cut(reason, found)
      false -> :error
      wrong -> wrong
    end
  end

  # A number with grouping signs is the error that it is in quotes.
  defp grouped(value, repairs, text, asked) do
    case Nearly.grouped(repairs, text) do
      [] ->
        []

      numbers ->
        value = value |> Nearly.put_texts(numbers) |> Fit.unwrapped(asked)

        errors =
          with %{type: type} when type != nil <- asked,
               {:error, errors} <- Fit.judged(value, asked, []),
               do: errors,
               else: (_any -> [])

        {:wrong, value, Nearly.about_grouped(numbers, errors)}
    end
  end

  # A value that was found in the text is judged as it is.
  defp cut({:truncated, place}, {:place, _}), do: {:truncated, place}
  defp cut(_reason, _found), do: :error

  defp messages(repairs), do: Enum.map(repairs, & &1.message)

  @doc """
  The errors of two keys that are one field, with different values, or that the answer has as one key. `keys` is what reading has found of
  the keys: see `t:PtcRunner.Native.Types.form/0`.
  """
  @spec clashing(term(), Asked.t(), :declared | :plain | :hyphens | nil) :: [map()]
  def clashing(found, asked, keys \\ :hyphens)

  def clashing({:value, value}, %{type: type}, keys) when keys != :declared do
    value = if type == nil, do: value, else: Wrapper.inner(value, type)
    fields = if type == nil, do: [], else: Names.clashes(value, type)
    if keys == :hyphens, do: Enum.uniq(fields ++ Twins.clashes(value)), else: fields
  end

  def clashing(_found, _asked, _keys), do: []
end

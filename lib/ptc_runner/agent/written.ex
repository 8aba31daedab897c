defmodule PtcRunner.Agent.Written do
  @moduledoc false
  # Errors about dates, times and decimals that an answer has as JSON can have them: as texts. If the answer is wrong for
  # another reason, the model must not be told that these are.

  alias PtcRunner.SubAgent.Signature.{Coercion, Places}

  @types %{
    "expected date (%Date{})" => :date,
    "expected datetime (%DateTime{})" => :datetime,
    "expected decimal" => :decimal
  }

  @doc """
  The errors without those about texts that coercion reads; all of them if there are no others.

      iex> errors = [
      ...>   %{path: ["day"], message: "expected date (%Date{}), got string"},
      ...>   %{path: ["n"], message: "expected int, got string"}
      ...> ]
      iex> PtcRunner.Agent.Written.wrong(errors, %{"day" => "2026-11-23", "n" => "x"})
      [%{path: ["n"], message: "expected int, got string"}]

      iex> errors = [%{path: ["day"], message: "expected date (%Date{}), got string"}]
      iex> PtcRunner.Agent.Written.wrong(errors, %{"day" => "soon"}) == errors
      true

  """
  @spec wrong([map(), ...], term()) :: [map(), ...]
  def wrong(errors, value) do
    if Enum.any?(errors, &type/1), do: others(errors, value), else: errors
  end

  defp others(errors, value) do
    {wrong, _places} =
      Enum.flat_map_reduce(errors, Places.new(value), fn error, places ->
        {read?, places} = read?(error, places)
        {if(read?, do: [], else: [error]), places}
      end)

    if wrong == [], do: errors, else: wrong
  end

  defp read?(error, places) do
    with type when type != nil <- type(error),
         {{:ok, value}, places} <- Places.fetch(places, error.path) do
      {match?({:ok, _made, _warnings}, Coercion.coerce(value, type)), places}
    else
      nil -> {false, places}
      {:error, places} -> {false, places}
    end
  end

  defp type(%{message: message}) do
    [wanted | _got] = :binary.split(message, ", got ")
    @types[wanted]
  end
end

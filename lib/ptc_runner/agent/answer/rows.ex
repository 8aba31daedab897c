defmodule PtcRunner.Agent.Answer.Rows do
  @moduledoc false
  # Objects one after another, where a list is declared: they are its items, and none of them is lost.

  alias PtcRunner.Agent.Parts
  alias PtcRunner.SubAgent.Signature.Base

  # Maximum number of objects that are read one by one.
  @most 64

  @typep read ::
           {:ok, term(), [String.t()]}
           | {:error, [map(), ...], feedback :: String.t(), whole? :: boolean()}

  @doc """
  What was read of a text, or the list of all its objects if it has several and the list that was read has at most one of them. `nearly` reads a text.

  Between the objects stand blanks, commas and semicolons only. Where words stand there too, it is not known which of the objects are meant.

      iex> alias PtcRunner.Agent.Answer.{Asked, Rows}
      iex> asked = Asked.new({:signature, [], {:list, {:map, [{"n", :int}]}}}, [])
      iex> nearly = fn text, _asked -> {:ok, text |> PtcRunner.Json.Codec.decode!() |> List.wrap(), []} end
      iex> Rows.all({:ok, [%{"n" => 2}], []}, ~s({"n": 1}; {"n": 2}), asked, nearly)
      {:ok, [%{"n" => 1}, %{"n" => 2}], ["read 2 objects as a list"]}
      iex> Rows.all({:ok, [%{"n" => 2}], []}, ~s({"n": 1}; or {"n": 2}), asked, nearly)
      {:several, 2}

  """
  @spec all(read(), String.t(), map(), (String.t(), map() -> read())) ::
          read() | {:several, pos_integer()}
  def all(read, text, %{coerce?: true, repair?: true, type: type} = asked, nearly) do
    with true <- few?(read) and Base.list?(type),
         {[_, _ | _] = spans, nil} <- Parts.of(text),
         true <- Enum.all?(spans, fn {at, _size} -> :binary.at(text, at) == ?{ end) do
      of_rows(read, text, spans, asked, nearly)
    else
      _one_value -> read
    end
  end

  def all(read, _text, _asked, _nearly), do: read

  defp few?({:ok, value, _warnings}), do: match?([_], value)
  defp few?({:error, _errors, _feedback, _whole?}), do: true

  defp of_rows(read, text, spans, asked, nearly) do
    rows = Enum.map(spans, &Parts.text(text, &1))

    with true <- beside?(text, spans),
         {:ok, value, warnings} <- nearly.("[" <> Enum.join(rows, ",") <> "]", asked) do
      {:ok, value, ["read #{length(rows)} objects as a list" | warnings]}
    else
      _no_list -> several(read, rows, asked, nearly)
    end
  end

  # Nothing but blanks, commas and semicolons stands around and between the objects.
  defp beside?(text, spans) do
    {gaps, from} =
      Enum.map_reduce(spans, 0, fn {at, size}, from ->
        {binary_part(text, from, at - from), at + size}
      end)

    rest = binary_part(text, from, byte_size(text) - from)
    Enum.all?([rest | gaps], &(&1 =~ ~r/\A[\s,;]*+\z/)) and not (hd(gaps) =~ ~r/\S/)
  end

  # One of several objects was read as the list.
  defp several({:ok, value, _warnings} = read, rows, asked, nearly) do
    rows = Enum.take(rows, @most)
    values = for row <- rows, {:ok, value, _warnings} <- [nearly.(row, asked)], do: value

    case Enum.uniq([value | values]) do
      [_one] -> read
      several -> {:several, length(several)}
    end
  end

  defp several(error, _rows, _asked, _nearly), do: error
end

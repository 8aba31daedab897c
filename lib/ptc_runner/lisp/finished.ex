defmodule PtcRunner.Lisp.Finished do
  @moduledoc false
  # What a run gives back (the name `Result` is one of `ptc_runner`): its value and its memory in the forms that their readers expect.

  alias PtcRunner.Lisp.Keyword
  alias PtcRunner.SubAgent.Signature

  # Floats have no more significant digits.
  @most_digits 15

  @doc """
  The value with its floats rounded, through lists and plain maps.

      iex> PtcRunner.Lisp.Finished.rounded([1.256, %{"a" => 2.0}, 3], 2)
      [1.26, %{"a" => 2.0}, 3]

      iex> PtcRunner.Lisp.Finished.rounded(1.256, nil)
      1.256

  """
  @spec rounded(term(), non_neg_integer() | nil) :: term()
  def rounded(value, nil), do: value
  def rounded(value, precision), do: round_each(value, min(precision, @most_digits))

  defp round_each(float, precision) when is_float(float), do: Float.round(float, precision)

  defp round_each([item | rest], precision),
    do: [round_each(item, precision) | round_each(rest, precision)]

  defp round_each(map, precision) when is_map(map) and not is_struct(map),
    do: :maps.map(fn _key, value -> round_each(value, precision) end, map)

  defp round_each(other, _precision), do: other

  @doc """
  The memory with what the run has defined. Names of the vocabulary are atoms; another form of the same name is replaced.

      iex> defined = [{:count, 2}, {%PtcRunner.Lisp.Keyword{name: "total"}, 5}]
      iex> PtcRunner.Lisp.Finished.memory(%{total: 1, x: 0}, defined)
      %{:count => 2, "total" => 5, :x => 0}

  """
  @spec memory(map(), [{atom() | Keyword.t(), term()}]) :: map()
  def memory(memory, []), do: memory

  def memory(memory, [{%Keyword{name: name}, value} | defined]),
    do: memory |> without_atom(name) |> Map.put(name, value) |> memory(defined)

  def memory(memory, [{atom, value} | defined]) when is_atom(atom),
    do: memory |> Map.delete(Atom.to_string(atom)) |> Map.put(atom, value) |> memory(defined)

  defp without_atom(memory, name) do
    Map.delete(memory, String.to_existing_atom(name))
  rescue
    _no_atom in [ArgumentError, SystemLimitError] -> memory
  end

  @doc """
  Whether a value is of the type that a signature says; the text of all errors if not.

      iex> {:ok, signature} = PtcRunner.SubAgent.Signature.parse("() -> {n :int, rows [:int]}")
      iex> PtcRunner.Lisp.Finished.validated(%{"rows" => [1, "a"]}, signature)
      {:error, "return.n: expected field, got nil; return.rows.1: expected int, got string"}

      iex> PtcRunner.Lisp.Finished.validated(1, nil)
      :ok

  """
  @spec validated(term(), Signature.t() | nil) :: :ok | {:error, String.t()}
  def validated(_value, nil), do: :ok

  def validated(value, signature) do
    with {:error, errors} <- Signature.validate(signature, value), do: {:error, text(errors)}
  end

  defp text(errors) when is_list(errors) do
    Enum.map_join(errors, "; ", fn %{path: path, message: message} ->
      Enum.join(["return" | path], ".") <> ": " <> message
    end)
  end

  defp text(text), do: "return: #{text}"
end

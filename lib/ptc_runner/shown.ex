defmodule PtcRunner.Shown do
  @moduledoc false
  # Terms in messages: what `inspect/1` gives, but for integers that nobody would read. Their digits
  # take quadratic time to make, in one step that nothing can end.

  import Bitwise, only: [<<<: 2]

  @huge 1 <<< 33_220

  @doc """
  The text of a term; an integer of more than some 10,000 digits is shown by its size.

      iex> PtcRunner.Shown.text(%{"n" => 1.5})
      "%{\\"n\\" => 1.5}"

      iex> PtcRunner.Shown.text([Integer.pow(2, 40_000)])
      "[#Integer<40001 bits>]"

  """
  @spec text(term()) :: String.t()
  def text(term), do: inspect(term, inspect_fun: &shown/2)

  defp shown(integer, _opts)
       when is_integer(integer) and (integer >= @huge or integer <= -@huge),
       do: "#Integer<#{bits(abs(integer))} bits>"

  defp shown(term, opts), do: Inspect.inspect(term, opts)

  defp bits(integer) do
    <<first, rest::binary>> = :binary.encode_unsigned(integer)
    length(Integer.digits(first, 2)) + bit_size(rest)
  end
end

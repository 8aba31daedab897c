defmodule PtcRunner.SubAgent.Signature.Decimals do
  @moduledoc false
  # Values of `:decimal`: from texts and numbers to `Decimal`, exactly, or to texts where there is no `Decimal`.

  alias PtcRunner.Sandbox.Modules
  alias PtcRunner.Shown

  # Maximum bytes of a text, and of the digits of an integer.
  @longest 1_000

  @number ~r/\A[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,9})?\z/

  @doc """
  The answer to a question of coercion.

      iex> PtcRunner.SubAgent.Signature.Decimals.decimal("abc", false)
      {:error, ~s(cannot coerce "abc" to decimal)}

      iex> loaded? = false
      iex> Enum.map([" +12.50", 0.1, 7, "-.5", "1.e2"], &PtcRunner.SubAgent.Signature.Decimals.decimal(&1, false, loaded?))
      [{:ok, "12.50", []}, {:ok, "0.1", []}, {:ok, "7", []}, {:ok, "-0.5", []}, {:ok, "1e2", []}]

  """
  @spec decimal(term(), boolean(), boolean()) ::
          {:ok, term(), [String.t()]} | {:error, String.t()}
  def decimal(value, hidden?, loaded? \\ loaded?()) do
    with {:ok, text} <- text(value), {:ok, sign, coef, exp} <- parts(text) do
      made =
        if loaded?,
          do: %{__struct__: Decimal, sign: sign, coef: coef, exp: exp},
          else: whole(text)

      {:ok, made, []}
    else
      :error when hidden? -> {:error, "cannot coerce to decimal"}
      :error -> {:error, "cannot coerce #{Shown.text(value, 200)} to decimal"}
    end
  end

  defp text(integer) when is_integer(integer) do
    if Shown.Size.huge?(integer), do: :error, else: {:ok, Integer.to_string(integer)}
  end

  defp text(float) when is_float(float), do: {:ok, :erlang.float_to_binary(float, [:short])}

  defp text(text) when is_binary(text) and byte_size(text) <= @longest do
    trimmed = String.trim(text)
    if trimmed =~ @number, do: {:ok, String.trim_leading(trimmed, "+")}, else: :error
  end

  defp text(_other), do: :error

  # The text that validation takes: with a digit before the point, and one after it.
  defp whole("-" <> text), do: "-" <> whole(text)
  defp whole("." <> _digits = text), do: "0" <> text
  defp whole(text), do: String.replace(text, ~r/\.(?![0-9])/, "")

  defp parts("-" <> text), do: with({:ok, 1, coef, exp} <- parts(text), do: {:ok, -1, coef, exp})

  defp parts(text) do
    {mantissa, exp} =
      case String.split(text, ["e", "E"]) do
        [mantissa] -> {mantissa, 0}
        [mantissa, exp] -> {mantissa, String.to_integer(exp)}
      end

    case String.split(mantissa, ".") do
      [whole] ->
        {:ok, 1, String.to_integer(whole), exp}

      [whole, fraction] ->
        {:ok, 1, String.to_integer(whole <> fraction), exp - byte_size(fraction)}
    end
  end

  @doc "Whether the application has the library `Decimal`."
  @spec loaded?() :: boolean()
  def loaded?, do: Modules.loaded?(Decimal)
end

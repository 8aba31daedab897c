defmodule PtcRunner.Test.Oracle.Decimals do
  @moduledoc """
  Exact arithmetic on decimals by integers: what programs must compute of `Decimal` structs.

  A number is an integer, a float or a struct of `Decimal`. Wrong operands throw `:float` or `:zero`.
  """

  @precision 28

  @doc """
  A decimal.

      iex> PtcRunner.Test.Oracle.Decimals.new(-1250, -2)
      %{__struct__: Decimal, sign: -1, coef: 1250, exp: -2}
  """
  @spec new(integer(), integer()) :: struct()
  def new(coef, exp),
    do: %{__struct__: Decimal, sign: if(coef < 0, do: -1, else: 1), coef: abs(coef), exp: exp}

  @doc """
  The value of an operation. It is a decimal if an operand is one.

      iex> import PtcRunner.Test.Oracle.Decimals
      iex> binary("mul", new(1250, -2), 3)
      %{__struct__: Decimal, sign: 1, coef: 3750, exp: -2}
  """
  @spec binary(String.t(), term(), term()) :: term()
  def binary(op, a, b) when is_number(a) and is_number(b) do
    if op in ["div", "pct"] and b == 0, do: throw(:zero)

    case op do
      "add" -> a + b
      "sub" -> a - b
      "mul" -> a * b
      "div" -> a / b
      "pct" -> a / b * 100
    end
  end

  def binary(op, a, b) do
    if is_float(a) or is_float(b), do: throw(:float)
    exact(op, decimal(a), decimal(b))
  end

  defp decimal(n) when is_integer(n), do: new(n, 0)
  defp decimal(text) when is_binary(text), do: read(text)
  defp decimal(decimal), do: decimal

  # Only texts such as "-1.19".
  defp read(text) do
    {text, negative?} =
      if String.starts_with?(text, "-"),
        do: {binary_part(text, 1, byte_size(text) - 1), true},
        else: {text, false}

    [whole | fraction] = String.split(text, ".")
    digits = Enum.join([whole | fraction])
    exp = -String.length(Enum.join(fraction))
    %{new(String.to_integer(digits), exp) | sign: if(negative?, do: -1, else: 1)}
  end

  defp exact("sub", a, b), do: exact("add", a, %{b | sign: -b.sign})
  defp exact("pct", a, b), do: exact("div", exact("mul", a, new(100, 0)), b)

  defp exact("mul", a, b),
    do: %{a | sign: a.sign * b.sign, coef: a.coef * b.coef, exp: a.exp + b.exp}

  defp exact("add", a, b) do
    exp = min(a.exp, b.exp)
    sum = signed(a, exp) + signed(b, exp)
    # The sum of two negative zeros is one.
    if sum == 0 and a.sign == -1 and b.sign == -1,
      do: %{new(0, exp) | sign: -1},
      else: new(sum, exp)
  end

  defp exact("div", _a, %{coef: 0}), do: throw(:zero)

  defp exact("div", %{coef: 0} = a, b),
    do: %{a | sign: a.sign * b.sign, exp: a.exp - b.exp}

  defp exact("div", a, b) do
    {coef, places} = ending(a.coef, b.coef, 0) || rounded(a.coef, b.coef)
    %{a | sign: a.sign * b.sign, coef: coef, exp: a.exp - b.exp - places}
  end

  defp signed(%{sign: sign, coef: coef, exp: exp}, least),
    do: sign * coef * Integer.pow(10, exp - least)

  # The quotient with the fewest places, if it ends within the precision.
  defp ending(a, b, places) do
    scaled = a * Integer.pow(10, places)

    cond do
      length(Integer.digits(div(scaled, b))) > @precision -> nil
      rem(scaled, b) == 0 -> {div(scaled, b), places}
      places > 400 -> nil
      true -> ending(a, b, places + 1)
    end
  end

  defp rounded(a, b) do
    places =
      Enum.find(400..-400//-1, fn places ->
        {a, b} = scaled(a, b, places)
        div(a, b) < Integer.pow(10, @precision)
      end)

    {a, b} = scaled(a, b, places)
    {div(2 * a + b, 2 * b), places}
  end

  defp scaled(a, b, places) when places >= 0, do: {a * Integer.pow(10, places), b}
  defp scaled(a, b, places), do: {a, b * Integer.pow(10, -places)}

  @doc "The value of `round`, `abs`, `floor` and `ceil` of a decimal."
  @spec unary(String.t(), struct(), 0..15) :: term()
  def unary("abs", a, _places), do: %{a | sign: 1}

  def unary("round", a, places) do
    {n, d} = ratio(%{a | sign: 1})
    coef = div(2 * n * Integer.pow(10, places) + d, 2 * d)
    %{a | coef: coef, exp: -places}
  end

  def unary("floor", a, _places) do
    {n, d} = ratio(a)
    Integer.floor_div(n, d)
  end

  def unary("ceil", a, places), do: -unary("floor", %{a | sign: -a.sign}, places)

  defp ratio(%{exp: exp} = a) when exp >= 0, do: {signed(a, 0), 1}
  defp ratio(a), do: {a.sign * a.coef, Integer.pow(10, -a.exp)}

  @doc "The sum of values; nil is left out."
  @spec sum([term()]) :: term()
  def sum(values), do: values |> Enum.reject(&is_nil/1) |> Enum.reduce(0, &binary("add", &2, &1))

  @doc "The mean of the numbers; nil if there are none."
  @spec avg([term()]) :: term()
  def avg(values) do
    case Enum.reject(values, &is_nil/1) do
      [] -> nil
      numbers -> binary("div", sum(numbers), length(numbers))
    end
  end

  @doc "The text without an exponent."
  @spec text(struct()) :: String.t()
  def text(%{sign: sign, coef: coef, exp: exp}) do
    digits = Integer.to_string(coef)

    plain =
      if exp >= 0 do
        digits <> String.duplicate("0", exp)
      else
        {whole, fraction} = digits |> String.pad_leading(1 - exp, "0") |> String.split_at(exp)

        whole <> "." <> fraction
      end

    if sign < 0, do: "-" <> plain, else: plain
  end
end

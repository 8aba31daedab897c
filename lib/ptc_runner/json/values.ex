defmodule PtcRunner.Json.Values do
  @moduledoc false
  # Structs where they are read as values: which are values, and their texts. The native side compares them
  # (`native/ptc_core/src/value`); it must know the same structs.

  alias PtcRunner.Shown

  # Decimal and Ecto need not be there: their structs are known by name.
  @iso [Date, Time, NaiveDateTime, DateTime]
  @values [Decimal | @iso]
  @unloaded Ecto.Association.NotLoaded

  # Maximum number of parts of a term that is converted, and the counters of a conversion.
  @most_parts 2_000_000
  @parts 1
  @structs 2

  @doc """
  Whether the struct is a date, a time or a decimal.

      iex> PtcRunner.Json.Values.value?(~D[2024-02-29])
      true

      iex> PtcRunner.Json.Values.value?(1..2)
      false

  """
  @spec value?(term()) :: boolean()
  def value?(%{__struct__: module}), do: module in @values
  def value?(_other), do: false

  @doc """
  Whether the struct is an association that is not loaded.

      iex> PtcRunner.Json.Values.unloaded?(%{__struct__: Ecto.Association.NotLoaded})
      true

  """
  @spec unloaded?(term()) :: boolean()
  def unloaded?(%{__struct__: module}), do: module == @unloaded
  def unloaded?(_other), do: false

  @doc """
  The fields of a struct.

      iex> PtcRunner.Json.Values.fields(1..3) |> Map.take([:first, :last])
      %{first: 1, last: 3}

  """
  @spec fields(struct()) :: map()
  def fields(struct), do: Map.drop(struct, [:__struct__, :__meta__])

  @doc """
  A term as programs read it: structs as maps of their fields at any depth, associations that are not loaded as
  nil, dates, times and decimals unchanged. A term of more than 2,000,000 parts is returned as it is.

      iex> PtcRunner.Json.Values.plain([%{__struct__: Order, id: 1, at: ~D[2024-02-29]}])
      [%{id: 1, at: ~D[2024-02-29]}]

  """
  @spec plain(term()) :: term()
  def plain(term) do
    state = :counters.new(2, [])
    plain = plain(term, state)
    # Without structs it is the same term, not a copy of it.
    if :counters.get(state, @structs) > 0, do: plain, else: term
  catch
    {__MODULE__, :too_many} -> term
  end

  defp plain(%{__struct__: module} = struct, state) when is_atom(module) do
    count(state)

    cond do
      value?(struct) ->
        struct

      unloaded?(struct) ->
        :counters.add(state, @structs, 1)
        nil

      true ->
        :counters.add(state, @structs, 1)
        struct |> fields() |> plain(state)
    end
  end

  defp plain(map, state) when is_map(map) do
    count(state)
    Map.new(map, fn {key, value} -> {key, plain(value, state)} end)
  end

  defp plain([_ | _] = list, state), do: plain_items(list, [], state)
  defp plain(other, _state), do: other

  defp plain_items([item | rest], done, state) do
    count(state)
    plain_items(rest, [plain(item, state) | done], state)
  end

  # The tail of an improper list.
  defp plain_items(rest, done, _state), do: :lists.reverse(done, rest)

  # A term of few words can have any number of parts.
  defp count(state) do
    :counters.add(state, @parts, 1)
    if :counters.get(state, @parts) > @most_parts, do: throw({__MODULE__, :too_many})
  end

  @doc """
  A value as text: in ISO 8601, or the digits of a decimal.

      iex> PtcRunner.Json.Values.text(~U[2024-02-29 10:00:00Z])
      "2024-02-29T10:00:00Z"

      iex> PtcRunner.Json.Values.text(%{__struct__: Decimal, sign: -1, coef: 1250, exp: -2})
      "-12.50"

      iex> PtcRunner.Json.Values.text(%{__struct__: Decimal, sign: 1, coef: 5, exp: 1_000_000_000})
      "5E+1000000000"

  """
  @spec text(struct()) :: String.t()
  def text(%{__struct__: Decimal} = decimal) do
    case decimal(decimal) do
      {:ok, text} -> text
      :error -> Shown.text(decimal)
    end
  end

  def text(%{__struct__: module} = value) when module in @iso do
    module.to_iso8601(value)
  rescue
    # Another calendar, or fields that no date has.
    _error -> Shown.text(value)
  end

  def text(value), do: Shown.text(value)

  @doc "The text of a decimal; `:error` if it is malformed, or too long to be written."
  @spec decimal(map()) :: {:ok, String.t()} | :error
  def decimal(%{sign: sign, coef: coef, exp: exp}) when sign in [1, -1] and is_integer(exp) do
    case digits(coef) do
      nil -> :error
      digits -> {:ok, if(sign < 0, do: "-", else: "") <> scaled(digits, exp)}
    end
  end

  def decimal(_other), do: :error

  defp digits(:NaN), do: "NaN"
  defp digits(:inf), do: "Infinity"

  defp digits(coef) when is_integer(coef) and coef >= 0 do
    # Writing the digits of a long one takes quadratic time.
    if not Shown.Size.huge?(coef), do: Integer.to_string(coef)
  end

  defp digits(_other), do: nil

  # The scientific notation of the General Decimal Arithmetic, as `Decimal.to_string/1` has it.
  defp scaled(text, _exp) when text in ["NaN", "Infinity"], do: text
  defp scaled(digits, 0), do: digits

  defp scaled(digits, exp) do
    count = byte_size(digits)
    adjusted = exp + count - 1

    cond do
      exp < 0 and adjusted >= 0 ->
        {whole, fraction} = String.split_at(digits, count + exp)
        whole <> "." <> fraction

      exp < 0 and adjusted >= -6 ->
        "0." <> String.duplicate("0", -adjusted - 1) <> digits

      true ->
        {first, rest} = String.split_at(digits, 1)
        point = if rest == "", do: "", else: "."
        sign = if adjusted < 0, do: "", else: "+"
        "#{first}#{point}#{rest}E#{sign}#{adjusted}"
    end
  end
end

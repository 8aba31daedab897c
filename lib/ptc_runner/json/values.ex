defmodule PtcRunner.Json.Values do
  @moduledoc false
  # Structs where they are read as values: which are values, and their texts. The native side compares them
  # (`native/ptc_term/src/value`); it must know the same structs.

  alias PtcRunner.Shown

  # Decimal and Ecto need not be there: their structs are known by name.
  @iso [Date, Time, NaiveDateTime, DateTime]
  @values [Decimal | @iso]
  @unloaded Ecto.Association.NotLoaded

  # Maximum number of parts of a term that is converted, and the counters of a conversion.
  @most_parts 2_000_000
  @parts 1
  @structs 2

  # Maximum number of digits of an integer that is made of a decimal, and of a float.
  @most_digits 400
  @most_float_digits 17

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
  def plain(term), do: plain_of(term, & &1)

  @doc """
  A term as programs write it: `plain/1`, with texts as the names of a struct's fields. So it is an argument of a tool.

      iex> PtcRunner.Json.Values.written(%{"order" => %{__struct__: Order, id: 1, lines: [%{n: 2}]}})
      %{"order" => %{"id" => 1, "lines" => [%{n: 2}]}}

  """
  @spec written(term()) :: term()
  # A term without structs is not copied, however large it is.
  def written(term), do: if(structs?(term), do: plain_of(term, &Atom.to_string/1), else: term)

  defp structs?(%{__struct__: module} = struct) when is_atom(module), do: not value?(struct)
  defp structs?(map) when is_map(map), do: map |> :maps.iterator() |> :maps.next() |> of_map?()
  defp structs?([item | rest]), do: structs?(item) or structs?(rest)
  defp structs?(_other), do: false

  defp of_map?({_key, value, next}), do: structs?(value) or of_map?(:maps.next(next))
  defp of_map?(:none), do: false

  defp plain_of(term, name) do
    state = {:counters.new(2, []), name}
    plain = plain(term, state)
    # Without structs it is the same term, not a copy of it.
    if state |> elem(0) |> :counters.get(@structs) > 0, do: plain, else: term
  catch
    {__MODULE__, :too_many} -> term
  end

  defp plain(%{__struct__: module} = struct, {counters, name} = state) when is_atom(module) do
    count(state)

    cond do
      value?(struct) ->
        struct

      unloaded?(struct) ->
        :counters.add(counters, @structs, 1)
        nil

      true ->
        :counters.add(counters, @structs, 1)
        for {key, value} <- fields(struct), into: %{}, do: {named(key, name), plain(value, state)}
    end
  end

  defp plain(map, state) when is_map(map) do
    count(state)
    Map.new(map, fn {key, value} -> {key, plain(value, state)} end)
  end

  defp plain([_ | _] = list, state), do: plain_items(list, [], state)
  defp plain(other, _state), do: other

  # A map can say that it is a struct and have any keys.
  defp named(key, name) when is_atom(key), do: name.(key)
  defp named(key, _name), do: key

  defp plain_items([item | rest], done, state) do
    count(state)
    plain_items(rest, [plain(item, state) | done], state)
  end

  # The tail of an improper list.
  defp plain_items(rest, done, _state), do: :lists.reverse(done, rest)

  # A term of few words can have any number of parts.
  defp count({counters, _name}) do
    :counters.add(counters, @parts, 1)
    if :counters.get(counters, @parts) > @most_parts, do: throw({__MODULE__, :too_many})
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
  def text(value) do
    case exact_text(value) do
      {:ok, text} -> text
      :error -> Shown.text(value)
    end
  end

  @doc """
  The text of a date, a time or a decimal, as `text/1` has it; `:error` if it has none, and for all other terms.

      iex> PtcRunner.Json.Values.exact_text(~D[2024-02-29])
      {:ok, "2024-02-29"}

      iex> PtcRunner.Json.Values.exact_text(1..2)
      :error

  """
  @spec exact_text(term()) :: {:ok, String.t()} | :error
  def exact_text(%{__struct__: Decimal} = value), do: decimal(value)

  def exact_text(%{__struct__: module} = value) when module in @iso do
    {:ok, module.to_iso8601(value)}
  rescue
    # Another calendar, or fields that no date has.
    _error -> :error
  end

  def exact_text(_other), do: :error

  @doc """
  The integer that a decimal is; `:error` if it has a fraction or more than 400 digits, and for all other terms.

      iex> PtcRunner.Json.Values.integer(%{__struct__: Decimal, sign: -1, coef: 1200, exp: -2})
      {:ok, -12}

      iex> PtcRunner.Json.Values.integer(%{__struct__: Decimal, sign: 1, coef: 125, exp: -1})
      :error

  """
  @spec integer(term()) :: {:ok, integer()} | :error
  def integer(value) do
    with {:ok, sign, digits, exp} when exp >= 0 <- parts(value),
         true <- byte_size(digits) + exp <= @most_digits do
      {:ok, sign * String.to_integer(digits) * Integer.pow(10, exp)}
    else
      _no -> :error
    end
  end

  @doc """
  The float whose shortest text is the decimal's number; `:error` if there is none, and for all other terms.

      iex> PtcRunner.Json.Values.float(%{__struct__: Decimal, sign: 1, coef: 1250, exp: -2})
      {:ok, 12.5}

      iex> PtcRunner.Json.Values.float(%{__struct__: Decimal, sign: 1, coef: 12_345_678_901_234_567_891, exp: -2})
      :error

  """
  @spec float(term()) :: {:ok, float()} | :error
  def float(value) do
    with {:ok, sign, digits, exp} <- parts(value),
         true <- byte_size(digits) <= @most_float_digits and abs(exp) <= @most_digits,
         {float, ""} <- Float.parse("#{digits}.0e#{exp}"),
         {^digits, ^exp} <- shortest(float) do
      {:ok, sign * float}
    else
      _no -> :error
    end
  rescue
    # Beyond the largest float.
    ArgumentError -> :error
  end

  # The sign, digits and exponent of a decimal, the digits without zeros at the end.
  defp parts(%{__struct__: Decimal, sign: sign, coef: coef, exp: exp})
       when sign in [1, -1] and is_integer(coef) and coef >= 0 and is_integer(exp) do
    case digits(coef) do
      nil -> :error
      digits -> {digits, exp} |> trimmed() |> Tuple.insert_at(0, sign) |> Tuple.insert_at(0, :ok)
    end
  end

  defp parts(_other), do: :error

  defp shortest(float) do
    {mantissa, exp} =
      case float |> :erlang.float_to_binary([:short]) |> String.split("e") do
        [mantissa] -> {mantissa, 0}
        [mantissa, exp] -> {mantissa, String.to_integer(exp)}
      end

    [whole, fraction] = String.split(mantissa, ".")
    trimmed({String.trim_leading(whole <> fraction, "0"), exp - byte_size(fraction)})
  end

  defp trimmed({digits, exp}) do
    case String.trim_trailing(digits, "0") do
      "" -> {"0", 0}
      trimmed -> {trimmed, exp + byte_size(digits) - byte_size(trimmed)}
    end
  end

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

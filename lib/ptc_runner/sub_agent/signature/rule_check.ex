defmodule PtcRunner.SubAgent.Signature.RuleCheck do
  @moduledoc false
  # Rules against the type that they are for: whether they fit it, are well formed, and go together.

  alias PtcRunner.{Native, Quanta, Shown}
  alias PtcRunner.SubAgent.Signature.{Base, Renderer, RuleText, Validator}
  require Quanta

  # In the order in which they are checked and kept.
  @rules [
    :min,
    :max,
    :exclusive_min,
    :exclusive_max,
    :multiple_of,
    :min_length,
    :max_length,
    :pattern,
    :format,
    :enum,
    :ignore_case,
    :aliases,
    :default,
    :description,
    :unique,
    :min_items,
    :max_items,
    :yes_no,
    :struct,
    :whole
  ]

  @bounds [:min, :max, :exclusive_min, :exclusive_max]
  @numbers [:multiple_of | @bounds]
  @texts [:min_length, :max_length, :pattern, :format]
  @lists [:unique, :min_items, :max_items]
  @enums [:enum, :ignore_case, :aliases]
  @all [:default, :description]
  @formats [:date, :datetime, :time, :full_time, :email, :uri, :uuid]

  @doc """
  The names of all rules, in the order in which types have them.

      iex> hd(PtcRunner.SubAgent.Signature.RuleCheck.names())
      :min

  """
  @spec names() :: [atom()]
  def names, do: @rules

  @doc """
  Rules in the order in which types have them.

      iex> PtcRunner.SubAgent.Signature.RuleCheck.ordered(%{max: 2, min: 1})
      [min: 1, max: 2]

  """
  @spec ordered(%{atom() => term()} | keyword()) :: keyword()
  def ordered(rules) do
    rules = Map.new(rules)
    for rule <- @rules, is_map_key(rules, rule), do: {rule, Map.fetch!(rules, rule)}
  end

  @doc """
  The type with these rules, or the text of what is wrong; `names`: the types of the names around.

      iex> PtcRunner.SubAgent.Signature.RuleCheck.checked(:int, [min: 1], %{})
      {:ok, {:where, :int, [min: 1]}}

      iex> PtcRunner.SubAgent.Signature.RuleCheck.checked(:int, [min: 1, max: 0], %{})
      {:error, "no number is at least 1 and at most 0"}

  """
  @spec checked(term(), keyword(), map()) :: {:ok, term()} | {:error, String.t()}
  def checked(type, rules, names) do
    with :ok <- each(rules, &fits(&1, type)),
         :ok <- each(rules, &good/1),
         :ok <- together(Map.new(rules)),
         :ok <- values(type, rules),
         where = {:where, type, rules},
         :ok <- default(around(where, names), rules),
         do: {:ok, where}
  end

  @doc """
  Whether a number is narrower than another one, as the lower bound `:min` or the upper bound `:max`.

      iex> PtcRunner.SubAgent.Signature.RuleCheck.beyond?(:min, 3, 2.5)
      true

  """
  @spec beyond?(:min | :max, number() | struct(), number() | struct()) :: boolean()
  def beyond?(bound, number, other), do: valid?({:where, :any, [{bound, other}]}, number)

  defp around(type, names) when names == %{}, do: type
  defp around(type, names), do: {:defs, names, type}

  defp each(rules, check) do
    Enum.find_value(rules, :ok, fn rule -> with :ok <- check.(rule), do: nil end)
  end

  defp fits({rule, _value}, type) do
    if fits?(rule, type), do: :ok, else: {:error, "#{inspect(rule)} does not fit #{shown(type)}"}
  end

  defp fits?(rule, _type) when rule in @all, do: true
  defp fits?(rule, :any), do: rule not in [:yes_no, :struct, :whole]
  defp fits?(rule, type) when rule in @numbers, do: type in [:int, :float, :decimal, :number]
  defp fits?(rule, type) when rule in @texts, do: type == :string
  defp fits?(rule, type) when rule in @lists, do: match?({:list, _items}, type)
  defp fits?(:enum, type), do: is_atom(type) and type != :map
  defp fits?(rule, type) when rule in @enums, do: is_atom(type) and type != :map
  defp fits?(:yes_no, type), do: type == :bool
  defp fits?(:struct, type), do: type == :datetime
  defp fits?(:whole, type), do: type == :int

  defp good({rule, %{__struct__: Decimal} = number}) when rule in @numbers,
    do:
      if(PtcRunner.Json.Values.decimal(number) == :error,
        do: bad(rule, "a number", number),
        else: :ok
      )

  defp good({:multiple_of, number}) when is_number(number),
    do: if(number > 0, do: :ok, else: bad(:multiple_of, "a number above 0", number))

  defp good({rule, number}) when rule in @numbers,
    do: if(is_number(number), do: :ok, else: bad(rule, "a number", number))

  defp good({rule, count}) when rule in [:min_length, :max_length, :min_items, :max_items] do
    if is_integer(count) and count in 0..0xFFFF_FFFF_FFFF,
      do: :ok,
      else: bad(rule, "a number from 0 on", count)
  end

  defp good({:pattern, pattern}) do
    cond do
      not is_binary(pattern) -> bad(:pattern, "a text", pattern)
      unread?({:where, :any, [pattern: pattern]}) -> bad_pattern(pattern)
      true -> :ok
    end
  end

  defp good({:format, format}) do
    if format in @formats,
      do: :ok,
      else: bad(:format, "one of #{Enum.map_join(@formats, ", ", &inspect/1)}", format)
  end

  defp good({:enum, values}) do
    if match?([_ | _], values) and not List.improper?(values),
      do: :ok,
      else: bad(:enum, "a list of values", values)
  end

  defp good({:aliases, aliases}) do
    if is_map(aliases) and not is_struct(aliases) and Enum.all?(Map.keys(aliases), &is_binary/1),
      do: :ok,
      else: bad(:aliases, "a map of texts to values", aliases)
  end

  defp good({:description, text}) do
    if is_binary(text) and String.valid?(text),
      do: :ok,
      else: bad(:description, "a text in UTF-8", text)
  end

  defp good({rule, flag}) when rule in [:ignore_case, :unique, :yes_no, :struct, :whole],
    do: if(flag == true, do: :ok, else: bad(rule, "true", flag))

  defp good({:default, _value}), do: :ok

  defp bad(rule, wanted, value),
    do: {:error, "#{inspect(rule)} must be #{wanted}, got #{Shown.text(value, 200)}"}

  defp bad_pattern(pattern) do
    {:error,
     ":pattern must be a regular expression without look-around and back-references, got " <>
       Shown.text(pattern, 200)}
  end

  # Whether the native side does not take it as a type.
  defp unread?(type) do
    case Quanta.run(Native.signature_validate(type, nil, false)) do
      {:unknown, _type} -> true
      _read -> false
    end
  end

  defp together(%{min_length: least, max_length: most}) when least > most,
    do: {:error, ":min_length is above :max_length"}

  defp together(%{min_items: least, max_items: most}) when least > most,
    do: {:error, ":min_items is above :max_items"}

  defp together(rules) when is_map_key(rules, :ignore_case) and not is_map_key(rules, :enum),
    do: {:error, ":ignore_case needs an :enum"}

  defp together(rules) do
    lower = for rule <- [:min, :exclusive_min], is_map_key(rules, rule), do: rule
    upper = for rule <- [:max, :exclusive_max], is_map_key(rules, rule), do: rule

    Enum.find_value(lower, :ok, fn low ->
      Enum.find_value(upper, fn high ->
        if not possible?({low, rules[low]}, {high, rules[high]}),
          do:
            {:error,
             "no number is #{RuleText.wanted({low, rules[low]})} and #{RuleText.wanted({high, rules[high]})}"}
      end)
    end)
  end

  # Whether the lower bound keeps to the upper one.
  defp possible?({low, bound}, {high, limit}) do
    rule = if low == :min and high == :max, do: :max, else: :exclusive_max
    valid?({:where, :any, [{rule, limit}]}, bound)
  end

  defp values(type, rules) do
    plain = {:where, type, Keyword.drop(rules, [:ignore_case, :aliases, :default])}

    with :ok <- members(rules[:enum], plain, :enum),
         do: members(rules[:aliases] && Map.values(rules[:aliases]), plain, :aliases)
  end

  defp members(nil, _type, _rule), do: :ok

  defp members(values, type, rule) do
    # One of them may be nil.
    case Enum.drop_while(values, &member?(&1, type)) do
      [] ->
        :ok

      [value | _rest] ->
        {:error, "#{inspect(rule)} has #{Shown.text(value, 200)}: #{reason(value, type)}"}
    end
  end

  # Atoms are listed as texts too.
  defp member?(value, {:where, :keyword, rules}) when is_binary(value),
    do: value in (rules[:enum] || [value])

  defp member?(value, type), do: valid?(type, value)

  defp default(where, rules) do
    case Keyword.fetch(rules, :default) do
      {:ok, value} ->
        if valid?(where, value),
          do: :ok,
          else: {:error, ":default #{Shown.text(value, 200)}: #{reason(value, where)}"}

      :error ->
        :ok
    end
  end

  defp valid?(type, value), do: Validator.validate(value, type) == :ok

  defp reason(value, type) do
    case Validator.validate(value, type) do
      {:error, [%{path: [], message: message} | _more]} -> message
      {:error, [%{path: path, message: message} | _more]} -> "#{Enum.join(path, ".")}: #{message}"
      :ok -> "it does not fit"
    end
  end

  defp shown(type),
    do: type |> Base.unnamed() |> Renderer.render_type() |> Shown.cut(200)
end

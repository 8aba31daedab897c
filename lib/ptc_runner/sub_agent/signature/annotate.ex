defmodule PtcRunner.SubAgent.Signature.Annotate do
  @moduledoc false
  # Rules beside the types of a signature: finds the type at a path, checks the rules against it, and puts them there as
  # `{:where, type, rules}`.

  alias PtcRunner.Json.Suggestion
  alias PtcRunner.{Native, Quanta, Shown}
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Base, RuleText, Validator}
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

  @result "$result"

  @doc "The signature with the rules at the path, or the text of what is wrong."
  @spec annotate(Signature.t(), String.t(), keyword() | map()) ::
          {:ok, Signature.t()} | {:error, String.t()}
  def annotate({:signature, params, returns}, path, rules) when is_binary(path) do
    with {:ok, rules} <- keyword(rules), {:ok, place, segments} <- place(path, params) do
      case place do
        :param ->
          with {:ok, params} <- fields(params, segments, rules), do: signature(params, returns)

        :result ->
          with {:ok, type} <- put(returns, segments, rules), do: signature(params, type)
      end
    end
    |> placed(path)
  end

  def annotate(_signature, path, _rules),
    do: {:error, "a path must be a text, got #{Shown.text(path, 200)}"}

  defp signature(params, returns), do: {:ok, {:signature, params, returns}}

  defp placed({:ok, _signature} = done, _path), do: done
  defp placed({:error, {:rules, text}}, _path), do: {:error, text}

  defp placed({:error, text}, path) do
    place = if path == "", do: "the result", else: Shown.text(path, 200)
    {:error, "#{place}: #{text}"}
  end

  defp keyword(rules) when is_map(rules) and not is_struct(rules),
    do: rules |> Map.to_list() |> keyword()

  defp keyword([]), do: {:error, {:rules, "no rules are given"}}

  defp keyword(rules) do
    with true <- Keyword.keyword?(rules),
         nil <- Enum.find(rules, fn {key, _value} -> key not in @rules end) do
      {:ok, rules}
    else
      false ->
        {:error, {:rules, "rules must be a keyword list, got #{Shown.text(rules, 200)}"}}

      {key, _value} ->
        names = Enum.map(@rules, &inspect/1)
        close = Suggestion.sentence(inspect(key), names, &" Did you mean #{&1}?")

        {:error,
         {:rules, "#{inspect(key)} is not a rule.#{close} Rules: #{Enum.join(names, ", ")}"}}
    end
  end

  # A path of the result begins with an arrow or `$result`; it needs neither unless a parameter has the same name.
  defp place("->" <> path, _params),
    do: {:ok, :result, path |> String.trim_leading() |> segments()}

  defp place(path, params) do
    case segments(path) do
      [@result | rest] -> {:ok, :result, rest}
      [name | _rest] = all -> {:ok, if(keyed?(params, name), do: :param, else: :result), all}
      [] -> {:ok, :result, []}
    end
  end

  defp keyed?(fields, name), do: List.keymember?(fields, name, 0)

  # `:items` for `[]`.
  defp segments(path) do
    path
    |> String.replace("[]", ".[]")
    |> String.split(".", trim: true)
    |> Enum.map(&if(&1 == "[]", do: :items, else: &1))
  end

  defp put({:optional, type}, path, rules) do
    with {:ok, type} <- put(type, path, rules), do: {:ok, {:optional, type}}
  end

  defp put({:where, type, old}, [], rules), do: ruled(type, old, rules)

  defp put({:where, type, old}, path, rules) do
    with {:ok, type} <- put(type, path, rules), do: {:ok, where(type, old)}
  end

  defp put({:struct, module, type}, path, rules) do
    case put(type, path, rules) do
      {:ok, {:map, fields}} -> {:ok, {:struct, module, {:map, fields}}}
      {:ok, {:where, _map, rules}} -> {:ok, {:where, {:struct, module, type}, rules}}
      error -> error
    end
  end

  defp put({:defs, names, type}, path, rules) do
    with {:ok, type} <- put(type, path, rules), do: {:ok, {:defs, names, type}}
  end

  # Any name leads to the values.
  defp put({:map_of, type}, [_any | path], rules) do
    with {:ok, type} <- put(type, path, rules), do: {:ok, {:map_of, type}}
  end

  defp put({:list, type}, [:items | path], rules), do: items(type, path, rules)
  defp put({:list, type}, [], rules), do: list({:list, type}, [], rules)
  defp put({:list, type}, path, rules), do: items(type, path, rules)

  defp put({kind, fields}, [_name | _] = path, rules) when kind in [:map, :closed_map] do
    with {:ok, fields} <- fields(fields, path, rules), do: {:ok, {kind, fields}}
  end

  defp put(type, [], rules), do: ruled(type, [], rules)

  defp put(type, [name | _path], _rules),
    do: {:error, "#{shown(type)} has no #{part(name)}"}

  defp part(:items), do: "items"
  defp part(name), do: "field #{Shown.quoted(name)}"

  defp items(type, path, rules) do
    with {:ok, type} <- put(type, path, rules), do: {:ok, {:list, type}}
  end

  # Rules that a list cannot have are those of its items.
  defp list(type, old, rules) do
    {own, others} = Keyword.split(rules, @lists ++ @all)

    with {:ok, type} <- if(others == [], do: {:ok, type}, else: put(type, [:items], others)),
         do: if(own == [], do: {:ok, where(type, old)}, else: ruled_list(type, old, own))
  end

  defp ruled_list(type, old, rules), do: checked(type, merged(old, rules))

  defp fields(fields, [:items | _path], _rules),
    do: {:error, "#{shown({:map, fields})} has no items"}

  defp fields(fields, [name | path], rules) do
    case List.keyfind(fields, name, 0) do
      {^name, type} ->
        with {:ok, type} <- put(type, path, rules),
             do: {:ok, List.keyreplace(fields, name, 0, {name, type})}

      nil ->
        names = Enum.map(fields, &elem(&1, 0))
        close = Suggestion.sentence(name, names, &" Did you mean #{inspect(&1)}?")

        {:error,
         "there is no field #{Shown.quoted(name)}.#{close} Fields: #{Shown.few(names, &Shown.quoted/1)}"}
    end
  end

  defp ruled({:list, _items} = type, old, rules), do: list(type, old, rules)
  defp ruled(type, old, rules), do: checked(type, merged(old, rules))

  defp merged(old, rules) do
    all = Map.merge(Map.new(old), Map.new(rules))
    for rule <- @rules, is_map_key(all, rule), do: {rule, Map.fetch!(all, rule)}
  end

  defp where(type, []), do: type
  defp where(type, rules), do: {:where, type, rules}

  defp checked(type, rules) do
    with :ok <- each(rules, &fits(&1, type)),
         :ok <- each(rules, &good/1),
         :ok <- together(Map.new(rules)),
         :ok <- values(type, rules),
         where = {:where, type, rules},
         :ok <- default(where, rules),
         do: {:ok, where}
  end

  defp each(rules, check) do
    Enum.find_value(rules, :ok, fn rule -> with :ok <- check.(rule), do: nil end)
  end

  defp fits({rule, _value}, type) do
    if fits?(rule, type), do: :ok, else: {:error, "#{inspect(rule)} does not fit #{shown(type)}"}
  end

  defp fits?(rule, _type) when rule in @all, do: true
  defp fits?(rule, :any), do: rule not in [:yes_no, :struct, :whole]
  defp fits?(rule, type) when rule in @numbers, do: type in [:int, :float, :decimal]
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

  defp good({:description, text}),
    do: if(is_binary(text), do: :ok, else: bad(:description, "a text", text))

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
    case Enum.find(values, &(not member?(&1, type))) do
      nil -> :ok
      value -> {:error, "#{inspect(rule)} has #{Shown.text(value, 200)}: #{reason(value, type)}"}
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
    do: type |> Base.unnamed() |> Signature.Renderer.render_type() |> Shown.cut(200)
end

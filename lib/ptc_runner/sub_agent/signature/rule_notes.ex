defmodule PtcRunner.SubAgent.Signature.RuleNotes do
  @moduledoc false
  # What the text of a signature cannot say of a type, as lines for a prompt: rules, descriptions, and types that the text writes
  # as `:any` or `:map`. Firewalled fields are left out.

  alias PtcRunner.Agent.Describe
  alias PtcRunner.Shown
  alias PtcRunner.Shown.{Budget, Line}
  alias PtcRunner.SubAgent.Signature.{Annotations, Base, Firewall, RuleText}
  alias PtcRunner.SubAgent.Signature.Schema.Value

  # Maximum number of parts of a type that are read; bytes, fields and depth of a type in a line, and bytes of a value in it.
  @parts 20_000
  @type_bytes 300
  @fields 20
  @depth 2
  @value_bytes 200

  @silent [:ignore_case, :aliases, :description, :enum, :default, :yes_no, :struct, :whole]

  @doc """
  The lines about a type, in at most so many bytes. `start` is how the path of the whole is called, `nil` where it is not
  a name.

      iex> type = {:map, [{"rows", {:list, {:map, [{"total", {:where, :float, [min: 0, description: "in euros"]}}]}}},
      ...>   {"day", :date}, {"_pin", {:where, :int, [max: 9999]}}]}
      iex> PtcRunner.SubAgent.Signature.RuleNotes.lines(type, nil, 1_000)
      ["rows.total: in euros; at least 0", "day: a date (YYYY-MM-DD)"]

      iex> type = {:where, {:list, {:where, :string, [enum: ["a", "b"]]}}, [unique: true]}
      iex> PtcRunner.SubAgent.Signature.RuleNotes.lines({:map, [{"tags", type}]}, nil, 1_000)
      ["tags: different items", ~s(tags[] is one of "a", "b")]

  """
  @spec lines(term(), String.t() | nil, pos_integer()) :: [String.t()]
  def lines(type, start, bytes) do
    path = start || ""
    found = note(type, path, path, %{lines: [], left: bytes, more: 0, budget: Budget.new(@parts)})

    cond do
      found.more > 0 -> Enum.reverse(["and #{found.more} more rules" | found.lines])
      Budget.left(found.budget) <= 0 -> Enum.reverse(["and more rules" | found.lines])
      true -> Enum.reverse(found.lines)
    end
  end

  # `own` is the path of the type itself, `base` that of its fields: the items of a list are passed through.
  defp note(type, own, base, found) do
    if Budget.spend?(found.budget, 1), do: of(type, own, base, found), else: found
  end

  defp of({:optional, type}, own, base, found), do: note(type, own, base, found)

  defp of({:where, type, rules}, own, base, found) do
    found = said(found, own, rules[:description], kind(type) ++ words(rules))
    found = if rules[:enum], do: add(found, listed(own, rules[:enum])), else: found
    inside(type, own, base, found)
  end

  defp of(type, own, base, found),
    do: inside(type, own, base, said(found, own, nil, kind(type)))

  defp inside({:optional, type}, own, base, found), do: note(type, own, base, found)
  defp inside({:list, type}, own, base, found), do: note(type, own <> "[]", base, found)
  defp inside({:struct, _module, type}, own, base, found), do: inside(type, own, base, found)

  defp inside({kind, fields}, _own, base, found) when kind in [:map, :closed_map] do
    Enum.reduce(fields, found, fn {name, type}, found ->
      path = Annotations.join(base, name)
      if Firewall.hidden?(name), do: found, else: note(type, path, path, found)
    end)
  end

  defp inside({:map_of, type}, _own, base, found) do
    path = Annotations.join(base, "*")
    note(type, path, path, found)
  end

  defp inside({:one_of, types, field}, own, _base, found) do
    types
    |> Enum.with_index(1)
    |> Enum.reduce(found, fn {type, number}, found ->
      path = "#{own}(#{told(type, field) || number})"
      note(type, path, path, found)
    end)
  end

  defp inside({:defs, names, type}, own, base, found) do
    names
    |> Enum.sort()
    |> Enum.reduce(note(type, own, base, found), fn {name, type}, found ->
      found |> said(name, nil, [shown(type)]) |> then(&note(type, name, name, &1))
    end)
  end

  defp inside(_scalar, _own, _base, found), do: found

  # What the text of the signature does not say of a type.
  defp kind(:date), do: [RuleText.wanted({:format, :date})]
  defp kind(:decimal), do: [~s(a decimal number such as 12.50, or its text)]
  defp kind({:map_of, type}), do: ["any keys, each with #{shown(type)}"]
  defp kind({:one_of, [], _field}), do: ["no value"]
  defp kind({:one_of, types, _field}), do: ["one of " <> Shown.few(types, &shown/1)]
  defp kind({:ref, name}), do: ["a " <> Shown.label(name)]
  defp kind(_type), do: []

  defp shown(type), do: type |> text(@depth) |> Shown.cut(@type_bytes)

  # Only the beginning of a type: it may have any number of parts.
  defp text({:optional, type}, depth), do: text(type, depth) <> "?"
  defp text({:list, type}, depth), do: "[" <> text(type, depth) <> "]"
  defp text({:where, type, _rules}, depth), do: text(type, depth)
  defp text({:struct, _module, type}, depth), do: text(type, depth)
  defp text({:defs, _names, type}, depth), do: text(type, depth)
  defp text({:ref, name}, _depth), do: Shown.label(name)
  defp text({:map_of, _type}, _depth), do: ":map"
  defp text({:one_of, _types, _field}, _depth), do: ":any"
  defp text({kind, _fields}, 0) when kind in [:map, :closed_map], do: ":map"

  defp text({kind, fields}, depth) when kind in [:map, :closed_map] do
    {shown, more} = fields |> Enum.reject(&Firewall.hidden?(elem(&1, 0))) |> Enum.split(@fields)

    texts = for {name, type} <- shown, do: "#{Shown.label(name)} #{text(type, depth - 1)}"
    "{" <> Enum.join(if(more == [], do: texts, else: texts ++ ["…"]), ", ") <> "}"
  end

  defp text(type, _depth) when is_atom(type), do: inspect(type)
  defp text(_type, _depth), do: ":any"

  defp words(rules) do
    told = for {rule, _value} = all when rule not in @silent <- rules, do: RuleText.wanted(all)

    case Keyword.fetch(rules, :default) do
      {:ok, value} -> told ++ [Shown.cut(Value.text(value), @value_bytes) <> " if it is missing"]
      :error -> told
    end
  end

  # The value of the field that tells which of the types it is.
  defp told(_type, nil), do: nil

  defp told(type, field) do
    with {kind, fields} when kind in [:map, :closed_map] <- Base.bare(type),
         {_name, {:where, _type, rules}} <- List.keyfind(fields, field, 0),
         [value] <- rules[:enum] do
      Describe.value(value, 100)
    else
      _other -> nil
    end
  end

  defp listed(path, values) do
    subject = if path == "", do: "It", else: Line.escape(path)
    "#{subject} is one of #{Shown.few(values, &Describe.value(&1, 100))}"
  end

  defp said(found, _path, nil, []), do: found

  defp said(found, path, description, words) do
    description = description && description |> Shown.lines() |> String.trim_trailing(".")
    texts = Enum.reject([description, Enum.join(words, ", ")], &(&1 in [nil, ""]))
    subject = if path == "", do: "the value", else: Line.escape(path)
    add(found, "#{subject}: " <> Enum.join(texts, "; "))
  end

  defp add(found, line) do
    left = found.left - byte_size(line) - 1

    if left < 0 or found.more > 0,
      do: %{found | more: found.more + 1},
      else: %{found | lines: [line | found.lines], left: left}
  end
end

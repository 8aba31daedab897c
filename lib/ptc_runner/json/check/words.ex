defmodule PtcRunner.Json.Check.Words do
  @moduledoc false
  # The sentence of each finding of the native checker, and the name that was probably meant.

  alias PtcRunner.Shown
  alias PtcRunner.SubAgent.Signature

  # Maximum number of names that are listed, and maximum bytes of a type and of the members of a union.
  @most 20
  @shown 1_000
  @members 400

  @doc """
  The message and the suggestion of a finding.

      iex> PtcRunner.Json.Check.Words.of(:unknown_field, "sum", ["totl", "total", ["id", "total"]])
      {"sum reads field 'totl', which no value has. Did you mean 'total'?", "total"}

      iex> PtcRunner.Json.Check.Words.of(:wrong_kind, "sum", [{:items_field, "name"}, [:null, :number], [:text]])
      {"sum needs numbers in field 'name' of the items, which are texts", nil}

  """
  @spec of(atom(), String.t() | nil, list()) :: {String.t(), String.t() | nil}
  def of(:unknown_field, op, [field, suggestion, names]) do
    {"#{op(op)} reads field #{name(field)}, which no value has. " <> meant(suggestion, names),
     suggestion}
  end

  def of(:unknown_name, op, [name, part, suggestion, names]) do
    {"#{op(op)} finds no #{name(name)} in the #{part}. " <> meant(suggestion, names), suggestion}
  end

  def of(:unbound_name, op, [name, suggestion, names]) do
    meant = if names == [], do: "", else: ". " <> meant(suggestion, names)

    {"#{op(op)} #{name(name)} is null unless the memory has it: no operation around it binds it#{meant}",
     suggestion}
  end

  def of(:unknown_tool, _op, [name, suggestion, names]),
    do: {"Tool #{name(name)} not found. " <> meant(suggestion, names), suggestion}

  def of(:missing_argument, _op, [tool, argument, type]),
    do: {"Tool #{name(tool)} needs argument #{name(argument)} (#{shown(type)})", nil}

  def of(:unknown_argument, _op, [tool, argument, suggestion, names]) do
    {"Tool #{name(tool)} has no argument #{name(argument)}. " <> meant(suggestion, names),
     suggestion}
  end

  def of(:wrong_argument, _op, [tool, argument, path, wanted, got]) do
    {"Argument #{name(argument)} of tool #{name(tool)} must be #{shown(wanted)}, and is #{shown(got)}#{at(path)}",
     nil}
  end

  def of(:maybe_wrong_argument, _op, [tool, argument, path, wanted, got]) do
    {"Argument #{name(argument)} of tool #{name(tool)} must be #{shown(wanted)}, and may be #{shown(got)}#{at(path)}",
     nil}
  end

  def of(:wrong_result, _op, [path, wanted, got]),
    do: {"The result must be #{shown(wanted)}, and is #{shown(got)}#{at(path)}", nil}

  def of(:maybe_wrong_result, _op, [path, wanted, got]),
    do: {"The result must be #{shown(wanted)}, and may be #{shown(got)}#{at(path)}", nil}

  def of(:rule, _op, [path, reason]), do: {"The result is wrong#{at(path)}: #{reason}", nil}

  def of(:missing_result, _op, [path, wanted]),
    do: {"The result has no field #{path(path)}, which must be #{shown(wanted)}", nil}

  def of(:no_input, op, []), do: {"No input available in operation '#{op}'", nil}

  def of(:wrong_integer, op, [subject, :float]),
    do:
      {"#{op(op)} needs an integer#{inside(subject)}, which is a float. floor and ceil give an integer",
       nil}

  def of(:wrong_integer, op, [subject, _got]),
    do: {"#{op(op)} needs an integer#{inside(subject)}, which has a fraction", nil}

  def of(:wrong_kind, op, [subject, wanted, got]) do
    {number, verb} = number(subject)

    {"#{op(op)} needs #{kinds(wanted -- [:null, :other], number)}#{inside(subject)}, which #{verb} #{kinds(got, number)}",
     nil}
  end

  def of(:maybe_wrong_kind, op, [subject, wanted, got]) do
    {number, _verb} = number(subject)

    {"#{op(op)} needs #{kinds(wanted -- [:null, :other], number)}#{inside(subject)}, which may be #{kinds(got -- wanted, number)}",
     nil}
  end

  def of(:always, op, [holds?, subject, left, right]) do
    {"#{op(op)} is always #{holds?}: #{subject(subject)} is #{kinds(left, :one)}, and is compared with #{kinds(right, :one)}",
     nil}
  end

  def of(:not_in_enumeration, op, [subject, value, values]) do
    {"#{op(op)} compares #{subject(subject)} with #{Shown.text(value, 100)}, which it never is. There are: " <>
       Shown.few(Enum.take(values, @most), &Shown.text(&1, 100)), nil}
  end

  def of(:no_date, op, [subject, value]) do
    {"#{op(op)} compares #{subject(subject)}, which is a date or a time, with #{Shown.text(value, 100)}, which is none. One is written as \"2024-02-29\" or \"2024-02-29T10:30:00Z\"",
     nil}
  end

  def of(:null_is_greater, op, [subject]),
    do: {"#{op(op)} holds for null, which #{subject(subject)} may be", nil}

  def of(:never_runs, op, [field]), do: {"#{name(field)} of #{op(op)} never runs", nil}

  def of(:constant_call, _op, [tool]),
    do: {"Tool #{name(tool)} is called for each item with the same arguments", nil}

  def of(code, op, _details), do: {"#{op(op)}: #{code}", nil}

  defp op(nil), do: "The program"
  defp op(op), do: op

  defp name(name) when is_binary(name), do: "'#{Shown.name(name)}'"
  defp name(other), do: Shown.text(other, 100)

  # Names that begin with _ are not shown to a model.
  defp meant("_" <> _rest, names), do: meant(nil, names)

  defp meant(suggestion, _names) when is_binary(suggestion),
    do: "Did you mean #{name(suggestion)}?"

  defp meant(nil, names) do
    case for name <- names, not String.starts_with?(name, "_"), do: name do
      [] ->
        "There are none"

      names ->
        more = if length(names) > @most, do: ", and #{length(names) - @most} more", else: ""
        "There are: #{names |> Enum.take(@most) |> Enum.map_join(", ", &name/1)}#{more}"
    end
  end

  defp at([]), do: ""
  defp at(path), do: ", in #{path(path)}"

  defp path(path) do
    path
    |> Enum.map_join(fn
      :each -> "[]"
      part -> "." <> Shown.label(part)
    end)
    |> String.trim_leading(".")
  end

  defp inside(:input), do: " as current value"
  defp inside(:items), do: " as items"
  defp inside(subject), do: " in #{subject(subject)}"

  defp subject(:input), do: "the current value"
  defp subject(:items), do: "an item"
  defp subject({:field, field}), do: "field #{name(field)}"
  defp subject({:items_field, field}), do: "field #{name(field)} of the items"
  defp subject({:operand, operand}), do: name(operand)
  defp subject({:part, operand, index}), do: "#{name(operand)}[#{index}]"

  defp number(:items), do: {:many, "are"}
  defp number({:items_field, _field}), do: {:many, "are"}
  defp number(_subject), do: {:one, "is"}

  @kinds %{
    null: {"null", "null"},
    boolean: {"a boolean", "booleans"},
    number: {"a number", "numbers"},
    text: {"a text", "texts"},
    list: {"a list", "lists"},
    object: {"an object", "objects"},
    datetime: {"a date or a time", "dates or times"},
    other: {"another kind of value", "other kinds of values"}
  }

  defp kinds([], _number), do: "another value"

  defp kinds(kinds, number) do
    words = for kind <- kinds, do: elem(@kinds[kind], if(number == :one, do: 0, else: 1))

    case Enum.split(words, -1) do
      {[], [only]} -> only
      {first, [last]} -> Enum.join(first, ", ") <> " or " <> last
    end
  end

  @doc """
  A type as text, as in a signature where it can be one.

      iex> PtcRunner.Json.Check.Words.shown({:union, [:int, {:literal, nil}]})
      ":int or null"

  """
  @spec shown(term()) :: String.t()
  def shown(type), do: type |> text(4) |> Shown.cut(@shown)

  defp text(_type, 0), do: "…"

  defp text({:union, members}, deep) do
    {texts, _left} =
      Enum.map_reduce(members, @members, fn member, left ->
        text = if left > 0, do: text(member, deep - 1)
        {text, left - if(text, do: byte_size(text) + 4, else: 0)}
      end)

    shown = Enum.filter(texts, & &1)
    more = length(texts) - length(shown)
    Enum.join(shown, " or ") <> if(more > 0, do: " or one of #{more} more", else: "")
  end

  defp text({:literal, nil}, _deep), do: "null"
  defp text({:literal, value}, _deep), do: Shown.text(value, 100)
  defp text({:list, :never}, _deep), do: "[]"
  defp text({:list, {:union, _} = of}, deep), do: "[(#{text(of, deep - 1)})]"
  defp text({:list, of}, deep), do: "[#{text(of, deep - 1)}]"
  defp text({:optional, {:union, _} = of}, deep), do: "(#{text(of, deep - 1)})?"
  defp text({:optional, of}, deep), do: text(of, deep - 1) <> "?"

  defp text({kind, fields}, deep) when kind in [:map, :closed_map, :open_map] do
    shown = for {name, type} <- fields, not String.starts_with?(name, "_"), do: {name, type}
    more = if length(shown) > @most or kind == :open_map, do: ", …", else: ""

    inner =
      shown
      |> Enum.take(@most)
      |> Enum.map_join(", ", fn {n, t} -> "#{Shown.label(n)} #{text(t, deep - 1)}" end)

    "{#{inner}#{more}}"
  end

  defp text(type, _deep) when is_atom(type), do: inspect(type)
  defp text(type, _deep), do: Signature.render({:signature, [], type})
end

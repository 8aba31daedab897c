defmodule PtcRunner.Json.Plan.Pattern do
  @moduledoc false
  # What a plan knows of an argument: a constant, an object or a list of patterns, a part of the data as it is, or what an expression makes.

  alias PtcRunner.Json.Plan.Paths
  alias PtcRunner.Shown

  @typedoc """
  `{:is, constant}`; `:null`, where nothing is given; `{:among, constants}`, one of these, or null; `{:object, fields}` with these fields and no others; `{:list, items}`;
  `{:one_of, patterns}`; `{:part, root, steps}`, a part of the data as it is; `{:made, digest, constants}`, what an expression with this
  digest makes, with the constants in it; `:unknown`.
  """
  @type t ::
          {:is, term()}
          | :null
          | {:among, [term()]}
          | {:object, %{String.t() => t()}}
          | {:list, [t()]}
          | {:one_of, [t()]}
          | {:part, root(), [String.t() | :each]}
          | {:made, String.t(), constants :: [term()]}
          | :unknown

  @type root ::
          {:context | :memory | :error, String.t()}
          | {:answer, tool :: String.t(), digest_of_arguments :: String.t()}
          | :now
          | {:made, String.t(), constants :: [term()]}

  # Bytes of a constant that is shown, and alternatives that are.
  @shown 160
  @alternatives 5

  @doc """
  Whether two constants are one. Before OTP 27 the VM takes `0.0` and `-0.0` for one number.

      iex> alias PtcRunner.Json.Plan.Pattern
      iex> zero = 0.0
      iex> for other <- [zero, zero * -1, 0], do: {Pattern.same?(zero, other), Pattern.same?(%{"n" => [zero]}, %{"n" => [other]})}
      [{true, true}, {false, false}, {false, false}]

  """
  @spec same?(term(), term()) :: boolean()
  def same?(one, other) when is_binary(one) or is_integer(one) or is_atom(one), do: one === other
  def same?(one, other), do: one === other and exact(one) === exact(other)

  @doc "What only constants that are the same have in common."
  @spec exact(term()) :: term()
  def exact(value) when is_binary(value) or is_integer(value) or is_atom(value), do: value
  def exact(value), do: {:exact, :erlang.term_to_binary(value, [:deterministic])}

  @doc """
  Whether all values of a pattern are values of another one, and come from where those come from.

      iex> import PtcRunner.Json.Plan.Pattern
      iex> id = {:part, {:context, "orders"}, [:each, "id"]}
      iex> {within?({:is, 1}, {:is, 1}), within?({:is, 9}, {:is, 1}), within?({:is, 1}, {:one_of, [{:is, 1}, {:is, 2}]}), within?({:is, 1}, id)}
      {true, false, true, false}
      iex> {within?({:object, %{"id" => id}}, {:object, %{"id" => id}}), within?({:object, %{}}, {:object, %{"id" => id}})}
      {true, false}

  """
  @spec within?(t(), t()) :: boolean()
  def within?(:unknown, _approved), do: false
  def within?(pattern, approved), do: same?(pattern, approved) or part_of?(pattern, approved)

  defp part_of?({:one_of, all}, approved), do: Enum.all?(all, &within?(&1, approved))
  defp part_of?(pattern, {:one_of, all}), do: Enum.any?(all, &within?(pattern, &1))
  defp part_of?({:is, value}, {:among, all}), do: Enum.any?(all, &same?(&1, value))

  defp part_of?({:among, all}, {:among, approved}),
    do: MapSet.subset?(MapSet.new(all, &exact/1), MapSet.new(approved, &exact/1))

  defp part_of?({:among, all}, approved), do: Enum.all?(all, &within?({:is, &1}, approved))
  # What is read of the data may be null in any case.
  defp part_of?(:null, {:among, _all}), do: true
  defp part_of?(:null, {:made, _digest, _constants}), do: true
  defp part_of?(:null, {:part, _root, _steps}), do: true
  defp part_of?(:null, {:is, nil}), do: true

  defp part_of?({:object, fields}, {:object, approved}),
    do:
      map_size(fields) == map_size(approved) and
        Enum.all?(fields, fn {name, pattern} ->
          case approved do
            %{^name => other} -> within?(pattern, other)
            _other -> false
          end
        end)

  defp part_of?({:list, items}, {:list, approved}),
    do:
      length(items) == length(approved) and
        Enum.all?(Enum.zip(items, approved), fn {pattern, other} -> within?(pattern, other) end)

  defp part_of?({:is, value}, {:object, approved}) when is_map(value) and not is_struct(value),
    do:
      within?(
        {:object, Map.new(value, fn {name, part} -> {name, {:is, part}} end)},
        {:object, approved}
      )

  defp part_of?({:is, value}, {:list, approved}) when is_list(value),
    do:
      not List.improper?(value) and
        within?({:list, Enum.map(value, &{:is, &1})}, {:list, approved})

  defp part_of?(_pattern, _approved), do: false

  @doc """
  Whether a value can be one of a pattern. A part of the data may have any value.

      iex> alias PtcRunner.Json.Plan.Pattern
      iex> pattern = {:object, %{"to" => {:is, "Ada"}, "sum" => {:part, {:context, "sums"}, [:each]}}}
      iex> for args <- [%{"to" => "Ada", "sum" => 7}, %{"to" => "Bob", "sum" => 7}, %{"to" => "Ada"}], do: Pattern.fits?(args, pattern)
      [true, false, false]

  """
  @spec fits?(term(), t()) :: boolean()
  def fits?(value, {:is, constant}), do: same?(value, constant)
  def fits?(value, :null), do: value === nil
  def fits?(value, {:among, all}), do: value === nil or Enum.any?(all, &same?(&1, value))

  def fits?(value, {:object, fields}) when is_map(value) and map_size(value) == map_size(fields),
    do: fields?(:maps.to_list(fields), value)

  def fits?(_value, {:object, _fields}), do: false
  def fits?(value, {:list, items}) when is_list(value), do: items?(value, items)
  def fits?(_value, {:list, _items}), do: false
  def fits?(value, {:one_of, all}), do: Enum.any?(all, &fits?(value, &1))
  def fits?(_value, _pattern), do: true

  defp fields?([{name, pattern} | rest], value) do
    case value do
      %{^name => part} -> fits?(part, pattern) and fields?(rest, value)
      _other -> false
    end
  end

  defp fields?([], _value), do: true

  defp items?([value | values], [item | items]), do: fits?(value, item) and items?(values, items)
  defp items?([], []), do: true
  defp items?(_values, _items), do: false

  @doc "Whether a value can be one of both patterns."
  @spec overlap?(t(), t()) :: boolean()
  def overlap?({:is, value}, pattern), do: fits?(value, pattern)
  def overlap?(pattern, {:is, value}), do: fits?(value, pattern)
  def overlap?({:one_of, all}, pattern), do: Enum.any?(all, &overlap?(&1, pattern))
  def overlap?(pattern, {:one_of, all}), do: Enum.any?(all, &overlap?(&1, pattern))

  def overlap?({:among, all}, pattern), do: Enum.any?([nil | all], &fits?(&1, pattern))
  def overlap?(pattern, {:among, all}), do: Enum.any?([nil | all], &fits?(&1, pattern))

  def overlap?({:object, fields}, {:object, others}),
    do:
      map_size(fields) == map_size(others) and
        Enum.all?(fields, fn {name, pattern} ->
          is_map_key(others, name) and overlap?(pattern, others[name])
        end)

  def overlap?({:list, items}, {:list, others}),
    do:
      length(items) == length(others) and
        Enum.all?(Enum.zip(items, others), fn {pattern, other} -> overlap?(pattern, other) end)

  def overlap?({kind, _what}, {other, _which})
      when kind in [:object, :list] and other in [:object, :list],
      do: false

  def overlap?(_pattern, _other), do: true

  @doc """
  Whether each value of a pattern is one of another, wherever it comes from.

      iex> alias PtcRunner.Json.Plan.Pattern
      iex> any = {:part, {:context, "x"}, []}
      iex> {Pattern.narrower?({:is, 1}, any), Pattern.narrower?(any, {:is, 1})}
      {true, false}

  """
  @spec narrower?(t(), t()) :: boolean()
  def narrower?({:is, value}, pattern), do: fits?(value, pattern)
  def narrower?(:null, pattern), do: fits?(nil, pattern)
  def narrower?({:among, all}, pattern), do: Enum.all?([nil | all], &fits?(&1, pattern))
  def narrower?({:one_of, all}, pattern), do: Enum.all?(all, &narrower?(&1, pattern))
  def narrower?(pattern, {:one_of, all}), do: Enum.any?(all, &narrower?(pattern, &1))

  def narrower?({:object, fields}, {:object, others}),
    do:
      map_size(fields) == map_size(others) and
        Enum.all?(fields, fn {name, pattern} ->
          is_map_key(others, name) and narrower?(pattern, others[name])
        end)

  def narrower?({:list, items}, {:list, others}),
    do:
      length(items) == length(others) and
        Enum.all?(Enum.zip(items, others), fn {pattern, other} -> narrower?(pattern, other) end)

  def narrower?(_pattern, {kind, _what}) when kind in [:is, :among, :object, :list],
    do: false

  def narrower?(_pattern, :null), do: false
  def narrower?(_pattern, _any), do: true

  @doc "Whether a constant is in a pattern."
  @spec constant?(t()) :: boolean()
  def constant?({kind, _value}) when kind in [:is, :among], do: true
  def constant?({:made, _digest, constants}), do: constants != []
  def constant?({:part, {:made, _digest, constants}, _steps}), do: constants != []
  def constant?({:object, fields}), do: Enum.any?(fields, fn {_name, part} -> constant?(part) end)
  def constant?({:list, items}), do: Enum.any?(items, &constant?/1)
  def constant?({:one_of, all}), do: Enum.any?(all, &constant?/1)
  def constant?(_other), do: false

  @doc """
  The texts of an argument's patterns; `from` are the parts that flow into it, for what an expression makes.

      iex> import PtcRunner.Json.Plan.Pattern
      iex> texts([{:is, "Ada"}, {:part, {:context, "orders"}, [:each, "name"]}], [])
      ~s("Ada" or orders.name)
      iex> texts([{:object, %{"iban" => {:is, "DE1"}, "text" => {:made, "d", ["Dear "]}}}], ["orders.name"])
      ~s({iban: "DE1", text: computed from orders.name with "Dear "})

  """
  @spec texts([t()], [String.t()]) :: String.t()
  def texts(patterns, from) do
    texts = patterns |> Enum.flat_map(&alternatives/1) |> Enum.uniq()
    shown = texts |> Enum.take(@alternatives) |> Enum.map_join(" or ", &text(&1, from))
    more = length(texts) - @alternatives
    if more > 0, do: "#{shown} or #{more} more", else: shown
  end

  defp alternatives({:one_of, all}), do: Enum.reject(all, &(&1 == :null))
  defp alternatives({:among, all}), do: Enum.map(all, &{:is, &1})
  defp alternatives(pattern), do: [pattern]

  defp text({:is, value}, _from), do: Shown.text(value, @shown, binaries: :as_strings)
  defp text(:null, _from), do: "nil"

  defp text({:object, fields}, from) do
    fields
    |> Enum.sort()
    |> Enum.map_join(", ", fn {name, part} -> "#{Paths.name(name)}: #{text(part, from)}" end)
    |> then(&"{#{&1}}")
  end

  defp text({:list, items}, from), do: "[" <> Enum.map_join(items, ", ", &text(&1, from)) <> "]"
  defp text({kind, _all} = one, from) when kind in [:one_of, :among], do: texts([one], from)
  defp text({:part, :now, _steps}, _from), do: Paths.text({:now, [], true})

  defp text({:part, {root, name}, steps}, _from), do: Paths.text({root, [name | steps], true})

  defp text({:part, {:answer, name, _args}, steps}, _from),
    do: Paths.text({:answer, [name | steps], true})

  defp text(:unknown, _from), do: "unknown"

  defp text({:made, _digest, constants}, from), do: "computed" <> made_of(constants, from)

  defp text({:part, {:made, _digest, constants}, _steps}, from),
    do: "a part of what is computed" <> made_of(constants, from)

  defp made_of(constants, from) do
    with_them =
      constants |> Enum.take(@alternatives) |> Enum.map_join(", ", &Shown.text(&1, @shown))

    more = length(constants) - @alternatives
    with_them = if more > 0, do: "#{with_them} and #{more} more", else: with_them
    phrase(" from ", Enum.join(from, ", ")) <> phrase(" with ", with_them)
  end

  defp phrase(_before, ""), do: ""
  defp phrase(before, text), do: before <> text
end

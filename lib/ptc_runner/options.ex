defmodule PtcRunner.Options do
  @moduledoc false
  # Checks the options of public functions. Each function has a map of option names and the kinds of
  # their values. One pass over the list; an empty list costs nothing. A function that must be quick reads
  # them by a table, which also has their defaults.

  alias PtcRunner.Json.{Now, Suggestion}
  alias PtcRunner.Native.Rules
  alias PtcRunner.Sandbox.Guarded
  alias PtcRunner.Shown

  @typedoc """
  The kind of a value. `:any` is for values that the function checks itself; `:named` is a map or a keyword list; `{:maybe, kind}` also
  accepts nil, which stands for the default.
  """
  @type kind ::
          :any
          | :boolean
          | :text
          | :map
          | :named
          | :timeout
          | :max_heap
          | :depth
          | :count
          | :positive
          | :now
          | {:up_to, pos_integer()}
          | {:maybe | :or_infinity, kind()}
          | {:one_of, [term(), ...]}
          | {:function, arity()}

  @type kinds :: %{atom() => kind()}

  @typedoc "See `table/1`: the kinds, the places of the values, the defaults."
  @type table :: {kinds(), %{atom() => pos_integer()}, tuple()}

  # The native side stores a depth in 32 bits.
  @max_depth 0xFFFF_FFFF

  # Maximum bytes of a value, or of an unknown option's name, in a message.
  @shown 200

  @doc """
  Raises `ArgumentError` for an option that is not in `kinds`, and for a value that is not of its kind.
  If an option occurs twice, the first one counts.

      iex> PtcRunner.Options.check!([timeout: 50], %{timeout: :timeout}, "f/1")
      :ok

      iex> PtcRunner.Options.check!([timout: 50], %{timeout: :timeout, depth: :depth}, "f/1")
      ** (ArgumentError) f/1 has no option :timout (its value was 50). Did you mean :timeout? Options: :depth, :timeout

      iex> PtcRunner.Options.check!([timeout: "1"], %{timeout: :timeout}, "f/1")
      ** (ArgumentError) option :timeout of f/1 must be milliseconds from 0 to 4294967295 or :infinity, got: "1"

      iex> PtcRunner.Options.check!(%{}, %{timeout: :timeout}, "f/1")
      ** (ArgumentError) options of f/1 must be a keyword list, got: %{}

  """
  @spec check!(term(), kinds(), String.t()) :: :ok
  def check!([], _kinds, _function), do: :ok
  def check!(opts, kinds, function), do: each(opts, opts, kinds, function, :refuse)

  @doc "Like `check!/3`, where the name is made for an error only."
  @spec check_named!(term(), kinds(), (() -> String.t())) :: :ok
  def check_named!(opts, kinds, name) do
    if not fine?(opts, kinds), do: check!(opts, kinds, name.())
    :ok
  end

  defp fine?([{name, value} | rest], kinds) when is_map_key(kinds, name),
    do: good?(:erlang.map_get(name, kinds), value) and fine?(rest, kinds)

  defp fine?(rest, _kinds), do: rest == []

  @doc """
  The table of these options, each with the kind of its values and its default, for `read!/3`. The values of `hidden` ones, which
  come after the others, are always their defaults.
  """
  @spec table([{atom(), {kind(), default :: term()}}], [{atom(), {kind(), default :: term()}}]) ::
          table()
  def table(options, hidden \\ []) do
    places =
      for {{name, _option}, place} <- Enum.with_index(options, 1), into: %{}, do: {name, place}

    defaults = for {_name, {_kind, default}} <- options ++ hidden, do: default
    {kinds(options), places, List.to_tuple(defaults)}
  end

  @doc """
  The kinds of these options, for `check!/3`.

      iex> PtcRunner.Options.kinds(timeout: {:timeout, 1_000}, strict: {:boolean, false})
      %{strict: :boolean, timeout: :timeout}

  """
  @spec kinds([{atom(), {kind(), default :: term()}}]) :: kinds()
  def kinds(options), do: Map.new(options, fn {name, {kind, _default}} -> {name, kind} end)

  @doc """
  Checks the options like `check!/3`, and returns their values or defaults, in the order of the table.

      iex> table = PtcRunner.Options.table(timeout: {:timeout, 1_000}, strict: {:boolean, false})
      iex> PtcRunner.Options.read!([strict: true, strict: false], table, "f/1")
      {1_000, true}

  """
  @spec read!(term(), table(), String.t()) :: tuple()
  def read!(opts, {kinds, places, defaults}, function) do
    check!(opts, kinds, function)
    values(opts, places, defaults)
  end

  # Not tail-recursive, so that the first of equal options counts.
  defp values([{name, value} | rest], places, defaults) do
    case places do
      %{^name => place} -> :erlang.setelement(place, values(rest, places, defaults), value)
      # ignored, see `PtcRunner.Native.Rules`
      %{} -> values(rest, places, defaults)
    end
  end

  defp values([], _places, defaults), do: defaults

  @doc """
  Like `check!/3`, for a function of the reference implementation that ignores unknown options: raises only
  if an unknown option is close to a known one.

      iex> PtcRunner.Options.check_close!([other: 1], %{mode: :any}, "f/1")
      :ok

      iex> PtcRunner.Options.check_close!([moed: 1], %{mode: :any}, "f/1")
      ** (ArgumentError) f/1 has no option :moed (its value was 1). Did you mean :mode? Options: :mode

  """
  @spec check_close!(term(), kinds(), String.t()) :: :ok
  def check_close!([], _kinds, _function), do: :ok
  def check_close!(opts, kinds, function), do: each(opts, opts, kinds, function, :ignore)

  @doc """
  The options with these names that have a value; nil stands for the default.

      iex> PtcRunner.Options.given([timeout: nil, max_heap: 5_000, repair: false], [:timeout, :max_heap])
      [max_heap: 5_000]

  """
  @spec given(keyword(), [atom()]) :: keyword()
  def given(opts, names),
    do: for({name, value} when value != nil <- Keyword.take(opts, names), do: {name, value})

  defp each([{name, value} | rest], all, kinds, function, unknown) do
    case kinds do
      # The most frequent case; a tail call without any check.
      %{^name => :any} ->
        each(rest, all, kinds, function, unknown)

      %{^name => kind} ->
        if not good?(kind, value), do: bad(name, kind, all, function)
        each(rest, all, kinds, function, unknown)

      %{} ->
        unknown(unknown, name, value, kinds, function)
        each(rest, all, kinds, function, unknown)
    end
  end

  defp each([], _all, _kinds, _function, _unknown), do: :ok

  defp each(_other, all, _kinds, function, _unknown) do
    raise ArgumentError,
          "options of #{function} must be a keyword list, got: #{Shown.text(all, @shown)}"
  end

  @doc """
  Whether a value is of a kind.

      iex> Enum.map([0, 3, nil], &PtcRunner.Options.good?({:maybe, :positive}, &1))
      [false, true, true]

  """
  @spec good?(kind(), term()) :: boolean()
  def good?(:any, _value), do: true
  def good?(:boolean, value), do: is_boolean(value)
  def good?(:text, value), do: is_binary(value)
  def good?(:map, value), do: is_map(value)
  def good?(:named, value), do: is_map(value) or Keyword.keyword?(value)
  def good?(:timeout, value), do: Guarded.timeout?(value)
  def good?(:max_heap, value), do: Guarded.max_heap?(value)
  def good?(:depth, value), do: is_integer(value) and value in 1..@max_depth
  def good?(:count, value), do: is_integer(value) and value >= 0
  def good?(:positive, value), do: is_integer(value) and value > 0
  def good?(:now, value), do: Now.text(value) != :error
  def good?({:up_to, most}, value), do: is_integer(value) and value in 1..most
  def good?({:maybe, kind}, value), do: value == nil or good?(kind, value)
  def good?({:or_infinity, kind}, value), do: value == :infinity or good?(kind, value)
  def good?({:one_of, values}, value), do: value in values
  def good?({:function, arity}, value), do: is_function(value, arity)

  defp bad(name, kind, all, function) do
    {_name, first} = List.keyfind(all, name, 0)

    if not good?(kind, first) do
      raise ArgumentError,
            "option #{inspect(name)} of #{function} must be #{words(kind)}, " <>
              "got: #{Shown.text(first, @shown)}"
    end
  end

  defp words(:boolean), do: "true or false"
  defp words(:text), do: "a string"
  defp words(:map), do: "a map"
  defp words(:named), do: "a map or a keyword list"
  defp words(:timeout), do: "milliseconds from 0 to #{Guarded.max_timeout()} or :infinity"

  defp words(:max_heap),
    do: "0 (no limit) or a number of words, at least #{Guarded.least_heap()}"

  defp words(:depth), do: "a positive integer up to #{@max_depth}"
  defp words(:count), do: "a non-negative integer"
  defp words(:positive), do: "a positive integer"
  defp words(:now), do: "a DateTime or an ISO 8601 text, in the years 0 to 9999"
  defp words({:up_to, most}), do: "an integer from 1 to #{most}"
  defp words({:maybe, kind}), do: words(kind) <> ", or nil for the default"
  defp words({:or_infinity, kind}), do: words(kind) <> " or :infinity"
  defp words({:one_of, values}), do: values |> Enum.map(&inspect/1) |> either()
  defp words({:function, arity}), do: "a function of #{arity} argument#{if arity > 1, do: "s"}"

  defp either([value]), do: value
  defp either(values), do: Enum.join(Enum.drop(values, -1), ", ") <> " or " <> List.last(values)

  # Beside an original that ignores unknown options, they are ignored too, with a warning.
  defp unknown(what, name, value, kinds, function) do
    unless Rules.ignores?(function, name), do: refuse(what, name, value, kinds, function)
  end

  defp refuse(what, name, value, kinds, function) do
    names = kinds |> Map.keys() |> Enum.map(&Atom.to_string/1) |> Enum.sort()

    case {what, close(name, names)} do
      {:ignore, ""} -> :ok
      {_what, close} -> raise ArgumentError, refusal(name, value, close, names, function)
    end
  end

  defp refusal(name, value, close, names, function) do
    "#{function} has no option #{Shown.text(name, @shown)} (its value was " <>
      "#{Shown.text(value, @shown)}).#{close} Options: #{Enum.map_join(names, ", ", &":#{&1}")}"
  end

  # A string, for example a key of options that were read from JSON, can be close to a known atom.
  defp close(name, names) when is_atom(name), do: close(Atom.to_string(name), names)

  defp close(name, names) when is_binary(name),
    do: Suggestion.sentence(name, names, &" Did you mean :#{&1}?")

  defp close(_name, _names), do: ""
end

defmodule PtcRunner.Json.AtomKeys do
  @moduledoc false
  # Says that the keys of the context and of the memory are texts, where a run that did not find something was given atoms. The result is the original's: a name
  # or a field that is not there is nil, so only the log and the errors of strict programs can say it.

  alias PtcRunner.Json.{Limits, Message, Paused, Text, Values}
  alias PtcRunner.Shown
  require Logger

  # Maximum number of keys that are looked at.
  @keys 100

  # What was said: a table in which each program stands once for each place in the application's code, at most this often for a place,
  # and for at most so many places.
  @table __MODULE__
  @programs 10
  @places 1_000

  @doc "Makes the table of what was said. It lasts as long as the calling process, which is that of the application."
  @spec start() :: :ok
  def start do
    if :ets.whereis(@table) == :undefined,
      do: :ets.new(@table, [:named_table, :public, read_concurrency: true])

    :ok
  end

  @doc """
  Whether a value is what a program gives that has found nothing: null, 0, false, an empty list, or a list that begins with null.

      iex> for value <- [nil, 0, [nil, nil], [], 1, [0]], do: PtcRunner.Json.AtomKeys.nothing?(value)
      [true, true, true, true, false, false]

  """
  @spec nothing?(term()) :: boolean()
  def nothing?([first | _rest]), do: first == nil
  def nothing?(value), do: value in [nil, 0, false, []]

  @doc """
  Logs a warning if the context, the memory, or their rows and objects, have atoms as keys, which this program does not find.

  It is logged once for a program, a key and a place in the code that has called the library, and at most ten times for a key and a place. Where
  the code is typed in, as in IEx, it is always logged.
  """
  @spec warn(term(), term(), term(), Limits.given()) :: :ok
  def warn(context, memory, program, limits) do
    warn_of("context", context, program, limits) || warn_of("memory", memory, program, limits)
    :ok
  end

  # Whether there is such a key.
  defp warn_of(name, data, program, limits) do
    if key = found(data, program, limits, &found_key/1) do
      if new?(caller(), {name, key}, program),
        do: Logger.warning("PtcRunner.Json: the #{name} has #{said(key)}")

      true
    end
  end

  # A key of the context, or of its rows and objects; those of dates and decimals are no fields.
  defp found_key({key, value}) do
    if atom_key?(key), do: key, else: inner_key(key, value)
  end

  defp inner_key(name, [row | _rest]), do: inner_key(name, row)

  # A text that is not decoded has its own keys. Most rows have texts as keys, which the first one shows.
  defp inner_key(_name, %Text{}), do: nil

  defp inner_key(name, row) when is_map(row) and map_size(row) in 1..@keys do
    {first, _value, _more} = row |> :maps.iterator() |> :maps.next()
    keys = if is_atom(first) and not Values.value?(row), do: Map.keys(row) -- [:__struct__]

    if keys not in [nil, []] and Enum.all?(keys, &atom_key?/1),
      do: {name, Enum.min_by(keys, &Atom.to_string/1), is_struct(row)}
  end

  defp inner_key(_name, _value), do: nil

  defp atom_key?(key), do: is_atom(key) and key not in [nil, true, false, :__struct__]

  # Without a table, because the application was not started, everything is new.
  defp new?(nil, _key, _program), do: true

  defp new?(place, key, program) do
    seen = {place, key, :erlang.phash2(program)}
    count = {place, key}

    :ets.info(@table, :size) < @places * (@programs + 1) and :ets.insert_new(@table, {seen}) and
      :ets.update_counter(@table, count, 1, {count, 0}) <= @programs
  rescue
    ArgumentError -> true
  end

  # The place outside the library that has called it; nil for code that is evaluated, or if there is none.
  defp caller do
    with {:current_stacktrace, frames} <- Process.info(self(), :current_stacktrace),
         {:ok, mine} <- :application.get_key(:ptc_runner_native, :modules),
         {module, function, arity, location}
         when module not in [:erl_eval, :elixir, :elixir_compiler] <-
           Enum.find(frames, fn frame -> elem(frame, 0) not in [Process | mine] end) do
      {module, function, arity, location[:line]}
    else
      _evaluated -> nil
    end
  end

  @doc """
  The error of a fault. If it is about a name that the context has as an atom, it says so.

      iex> fault = {:execution, :unknown_name, "load", nil, ["n", [], 0]}
      iex> PtcRunner.Json.AtomKeys.error(fault, %{n: 1}, %{}, "{}", {nil, nil, 9})
      {:execution_error, ~s(Unknown name 'n' in operation 'load'. There are none. The context has the key :n, an atom, and keys are texts: give %{"n" => …}, or keys: :any)}

  """
  @spec error(Message.fault(), term(), term(), term(), Limits.given()) :: Message.error()
  def error(
        {:execution, :unknown_name, _op, _field, [name | _]} = fault,
        context,
        _memory,
        program,
        limits
      ) do
    {kind, text} = Message.error(fault)

    wanted = fn {key, _value} -> if atom_key?(key) and Atom.to_string(key) == name, do: key end

    case found(context, program, limits, wanted) do
      nil -> {kind, text}
      key -> {kind, "#{text}. The context has #{said(key)}"}
    end
  end

  # A tool whose name is not there is an error with the original's text.
  def error({:unknown_tool, name, tools} = fault, _context, _memory, program, _limits)
      when is_binary(name) and is_map(tools) do
    key =
      tools
      |> Map.keys()
      |> Enum.take(@keys)
      |> Enum.find(&(atom_key?(&1) and Atom.to_string(&1) == name))

    if key != nil and new?(caller(), {"tools", key}, program),
      do: Logger.warning("PtcRunner.Json: the map of tools has #{said(key)}")

    Message.error(fault)
  end

  # A program that is not one has read nothing.
  def error(fault, context, memory, program, limits) do
    if elem(Message.fault(fault), 0) in [
         :execution,
         :execution_error,
         :expensive_to_inspect,
         :worded
       ],
       do: warn(context, memory, program, limits)

    Message.error(fault)
  end

  defp said({name, key, struct?}) do
    options = if struct?, do: "keys: :any, structs: :values", else: "keys: :any"

    "the key #{Shown.text(key, 100)} in #{Shown.text(name, 100)}, an atom, and keys are texts: give #{options}"
  end

  defp said(key) do
    name = key |> Atom.to_string() |> Shown.quoted()

    "the key #{Shown.text(key, 100)}, an atom, and keys are texts: give %{#{name} => …}, or keys: :any"
  end

  defp found(context, program, {_timeout, _max_heap, reading}, wanted)
       when is_map(context) and map_size(context) > 0 do
    case Paused.reading(program, reading) do
      {_depth, true, _strict?, _values?, _edition} -> nil
      _strings -> context |> :maps.iterator() |> :maps.next() |> among(wanted, @keys)
    end
  end

  defp found(_context, _program, _limits, _wanted), do: nil

  defp among(:none, _wanted, _left), do: nil
  defp among(_more, _wanted, 0), do: nil

  defp among({key, value, more}, wanted, left) do
    with nil <- wanted.({key, value}), do: more |> :maps.next() |> among(wanted, left - 1)
  end
end

defmodule PtcRunner.Lisp.Program do
  @moduledoc """
  A compiled program of PTC-Lisp: `PtcRunner.Lisp.compile/2` makes one, and `PtcRunner.Lisp.run/2` accepts it instead of a text.

  It is plain data and contains its source: it can be stored, sent to other processes and nodes, and converted by
  `:erlang.term_to_binary/1`. After a restart or on another node, its native part does not exist, and each run compiles the source
  again; so compile the program once more there.

      iex> {:ok, program} = PtcRunner.Lisp.compile("(+ 1 data/n)")
      iex> stored = :erlang.term_to_binary(program)
      iex> {:ok, step} = PtcRunner.Lisp.run(:erlang.binary_to_term(stored), context: %{n: 2})
      iex> step.return
      3

  """

  alias PtcRunner.Lisp.{Answers.Patterns, ProblemWords, Regex, Remembered}
  alias PtcRunner.Native.Panic
  alias PtcRunner.{Aligned, Native, Quanta}
  require Quanta

  @enforce_keys [:source, :handle, :consts, :names]
  defstruct [:source, :handle, :consts, :names, added: [], shadowed: [], observed?: false]

  @typedoc """
  `source` is the text of the program; `handle` refers to the instructions in native memory, `consts` are the terms that the program
  contains, and `names` is what it mentions. Only `source` is for users to read.
  """
  @type t :: %__MODULE__{
          source: String.t(),
          handle: reference(),
          consts: tuple(),
          names: %{
            unbound: [String.t()],
            tools: [String.t()],
            globals: [String.t()],
            builtins: [String.t()],
            symbols: non_neg_integer(),
            data: [String.t()],
            calls: [site()]
          },
          added: [Remembered.found()],
          shadowed: [String.t()],
          observed?: boolean()
        }

  @typedoc false
  # A place that calls a tool, whether no more than once, and its arguments, with their values as far as these are constants.
  @type site :: {String.t(), once? :: boolean(), [{String.t(), {term()} | nil}] | nil}

  @typedoc false
  @type limits :: {timeout(), non_neg_integer()}

  @typedoc false
  # Where in its text an error of a program is: offset and length in bytes, or the names of which the first one in the text is wrong; nil: at no place.
  @type at :: {non_neg_integer(), non_neg_integer()} | {:names, [String.t()]} | nil

  @typedoc false
  @type fail ::
          {:error, reason :: atom(), message :: String.t(), at()}
          | {:error, :timeout | :memory_exceeded}

  # The reasons that a program cannot be compiled.
  @reasons [
    :parse_error,
    :invalid_form,
    :invalid_arity,
    :invalid_cond_form,
    :invalid_thread_form,
    :invalid_placeholder,
    :unsupported_pattern,
    :unsupported_method,
    :duplicate_key,
    :arity_mismatch,
    :unbound_var,
    :unknown_tool,
    :type_error,
    :symbol_limit_exceeded
  ]
  @of_text Map.new(@reasons, &{Atom.to_string(&1), &1})

  # More symbols than any text has.
  @any_symbols 0xFFFFFFFF

  @doc false
  # The error of a program that has so many symbols, and may have no more than `most`.
  @spec too_many_symbols(non_neg_integer(), non_neg_integer()) :: fail()
  def too_many_symbols(count, most) do
    reason = "symbol_limit_exceeded"

    {:error, :symbol_limit_exceeded,
     ProblemWords.message(reason, "too_many_symbols", [count, most]), nil}
  end

  @doc false
  # Compiles a text, with functions of the memory and the built-ins that the memory shadows. `observed?`: for an explanation. A text with more unique
  # symbols and keywords than `most_symbols` is not analyzed.
  @spec build(
          String.t(),
          [Remembered.found()],
          [String.t()],
          limits(),
          boolean(),
          non_neg_integer()
        ) :: {:ok, t()} | fail()
  def build(
        source,
        added,
        shadowed,
        limits,
        observed? \\ false,
        most_symbols \\ @any_symbols
      ) do
    wanted = {:program, MapSet.new(), min(most_symbols, @any_symbols)}

    case compiled({source, added, shadowed, observed?}, wanted, limits) do
      {:ok, handle, consts, names} ->
        program = %__MODULE__{
          source: source,
          handle: handle,
          consts: consts,
          names: named(names),
          added: added,
          shadowed: shadowed,
          observed?: observed?
        }

        with :ok <- patterns(source, consts), do: {:ok, program}

      {:error, {:problem, reason, code, parts, start, end_}} ->
        message = ProblemWords.message(reason, code, parts)
        reason = Map.fetch!(@of_text, reason)
        {:error, reason, message, place_of(reason, added, {start, end_})}

      {:error, limit} ->
        {:error, limit}
    end
  catch
    :error, :nif_panicked -> {:error, :execution_error, Panic.caught(), nil}
  end

  defp compiled({source, added, shadowed, observed?}, wanted, limits) do
    program = {Aligned.text(source), added, shadowed, observed?}
    Quanta.finish(Quanta.native(Native.lisp_compile(program, wanted, limits)))
  end

  # That there are too many symbols is at no place, and an error in a function of the memory may not be in the text of the program.
  defp place_of(:symbol_limit_exceeded, _added, _range), do: nil
  defp place_of(_reason, [], {start, end_}), do: {start, max(end_ - start, 0)}
  defp place_of(_reason, _added, _range), do: nil

  @doc false
  # The offset and the length of the part of its text that a run of a program was at: that of the first of these addresses that has one. Nothing is kept
  # of the text while a program runs. So it is compiled again, with the part of the text of each instruction.
  @spec place(t(), [non_neg_integer()], limits()) ::
          {non_neg_integer(), non_neg_integer()} | nil
  def place(%__MODULE__{} = program, addresses, limits) do
    %{source: source, added: added, shadowed: shadowed, observed?: observed?} = program

    case compiled({source, added, shadowed, observed?}, {:place, addresses}, limits) do
      {:ok, {start, end_}} -> {start, end_ - start}
      _no_place -> nil
    end
  catch
    # Where it was is no part of how it has ended.
    :error, :nif_panicked -> nil
  end

  # The literal patterns of a program must compile.
  defp patterns(source, consts) do
    if :binary.match(source, "\#\"") == :nomatch,
      do: :ok,
      else: consts |> Tuple.to_list() |> each_pattern()
  end

  defp each_pattern([%Regex{source: source} | rest]) do
    case Patterns.compile(source) do
      {:ok, _compiled} -> each_pattern(rest)
      {:error, :too_long} -> wrong(source, "longer than #{Patterns.most_bytes()} bytes", 0)
      {:error, {text, place}} -> wrong(source, text, place)
    end
  end

  defp each_pattern([_other | rest]), do: each_pattern(rest)
  defp each_pattern([]), do: :ok

  defp wrong(source, text, place) do
    shown = if byte_size(source) <= 512, do: source, else: String.slice(source, 0, 256) <> "…"

    {:error, :invalid_form,
     "invalid_form: invalid regex literal \#\"#{shown}\": #{text} at position #{place}", nil}
  end

  # As the native side lists them.
  defp named({unbound, tools, globals, builtins, symbols, data, calls}) do
    %{
      unbound: unbound,
      tools: tools,
      globals: globals,
      builtins: builtins,
      symbols: symbols,
      data: data,
      calls: calls
    }
  end

  @doc false
  # The program together with the functions that it finds in its memory. It mentions more names with each of them.
  @spec with_memory(t(), map(), [term()], limits()) :: {:ok, t()} | fail()
  def with_memory(program, memory, history, _limits) when memory == %{} and history == [],
    do: {:ok, program}

  def with_memory(program, memory, history, limits),
    do: with_memory(program, memory, history, limits, {[], []})

  defp with_memory(program, memory, history, {timeout, _max_heap} = limits, compiled_with) do
    %{globals: globals, builtins: builtins} = program.names
    {added, shadowed} = compiled_with
    texts = Enum.map_join(added, " ", &elem(&1, 0))

    mentioned = globals ++ shadowed

    with {:ok, functions} <-
           Remembered.functions(memory, history, mentioned, program.source <> texts, timeout) do
      found =
        {Enum.uniq(added ++ functions), Enum.uniq(shadowed ++ Remembered.known(memory, builtins))}

      with_found(program, memory, history, limits, {found, compiled_with})
    end
  end

  defp with_found(program, _memory, _history, _limits, {found, found}), do: {:ok, program}

  defp with_found(program, memory, history, limits, {{added, shadowed} = found, _before}) do
    with {:ok, program} <- build(program.source, added, shadowed, limits, program.observed?),
         do: with_memory(program, memory, history, limits, found)
  end

  @doc false
  # The program compiled again, with the functions of its memory.
  @spec again(t(), map(), [term()], limits()) :: {:ok, t()} | fail()
  def again(%__MODULE__{source: source}, memory, history, limits) do
    with {:ok, program} <- build(source, [], [], limits),
         do: with_memory(program, memory, history, limits)
  end

  defimpl Inspect do
    import Inspect.Algebra

    def inspect(program, opts),
      do: concat(["#PtcRunner.Lisp.Program<", to_doc(program.source, opts), ">"])
  end
end

defmodule PtcRunner.Json.Program do
  @moduledoc """
  A compiled program: `PtcRunner.Json.compile/2` makes one, and `PtcRunner.Json.run/2` accepts it
  instead of a text.

  It is plain data and contains its source: it can be stored, sent to other processes and nodes, and
  converted by `:erlang.term_to_binary/1`. After a restart or on another node, its native part does not exist,
  and each run compiles the source again; so compile the program once more there.

  New in this library: the original has no compiled programs.
  """

  alias PtcRunner.Json.{Edition, Fence, Limits, Message}
  alias PtcRunner.{Aligned, Native, Quanta}
  alias PtcRunner.Native.{Panic, Types}
  require Quanta

  @enforce_keys [:source, :handle, :consts, :max_depth]
  defstruct [
    :source,
    :handle,
    :consts,
    :max_depth,
    keys: :strings,
    strict: false,
    structs: :maps,
    edition: 1
  ]

  @typedoc """
  `source` is the program as it was given; `handle` refers to the instructions in native memory,
  and `consts` are the terms that the program contains. Only `source` is for users to read.
  """
  @type t :: %__MODULE__{
          source: String.t() | map(),
          handle: reference(),
          consts: tuple(),
          max_depth: pos_integer(),
          keys: :strings | :any,
          strict: boolean(),
          structs: :maps | :values,
          edition: Edition.t()
        }

  @typedoc "Milliseconds, and maximum words of the program's own constants and instructions; 0: no limit."
  @type limits :: {timeout(), non_neg_integer()}

  # a text, a map with the key "program", or the value of that key
  @typedoc false
  @type source :: String.t() | map() | {:checked, term()}

  @doc false
  # Compiles a program from its source, with these options.
  @spec compile(String.t() | map(), Limits.reading(), limits()) :: {:ok, t()} | {:error, term()}
  def compile(source, reading, limits) do
    reading = Edition.filled(reading)

    with {:ok, handle, consts} <- build(source, reading, limits) do
      {depth, any_keys?, strict?, values?, edition} = options(reading)
      keys = if any_keys?, do: :any, else: :strings
      structs = if values?, do: :values, else: :maps
      program = %__MODULE__{source: source, handle: handle, consts: consts, max_depth: depth}
      {:ok, %{program | keys: keys, strict: strict?, structs: structs, edition: edition || 2}}
    end
  end

  @doc false
  # How a run of the program with these limits reads structs.
  @spec structs(term(), Limits.given()) :: :maps | :values
  def structs(%__MODULE__{structs: :values}, _given), do: :values

  def structs(_program, {_timeout, _max_heap, reading}),
    do: if(reading |> options() |> elem(3), do: :values, else: :maps)

  @doc false
  # The program; compiled again if more is requested than it was compiled with.
  @spec asked(t(), Limits.given()) :: {:ok, t()} | {:error, term()}
  def asked(program, {_timeout, _max_heap, depth}) when is_integer(depth), do: {:ok, program}

  def asked(program, {timeout, max_heap, asked}) do
    own = own(program)
    asked = reading(program, asked)
    {timeout, max_heap, asked} = Limits.resolve({timeout, max_heap, asked})
    if asked == own, do: {:ok, program}, else: compile(program.source, asked, {timeout, max_heap})
  end

  @doc false
  # What is compiled to run a program with these options, and the options to compile it with.
  @spec again(t() | source(), Limits.reading()) :: {source(), Limits.reading()}
  def again(%__MODULE__{source: source} = program, asked), do: {source, reading(program, asked)}
  def again(source, asked), do: {source, asked}

  @doc false
  # The options to compile the program again: its own, and the requested ones in addition. It keeps its edition.
  @spec reading(t(), Limits.reading()) :: Limits.reading()
  def reading(program, asked) do
    {_depth, any_keys?, strict?, values?, _edition} = options(asked)
    {depth, own_keys?, own_strict?, own_values?, edition} = own(program)
    {depth, any_keys? or own_keys?, strict? or own_strict?, values? or own_values?, edition}
  end

  defp own(program) do
    {program.max_depth, program.keys == :any, program.strict, program.structs == :values,
     program.edition}
  end

  defp options(depth) when is_integer(depth), do: {depth, false, false, false, nil}
  defp options(options), do: options

  @doc false
  # The options for a program that is compiled for observation: of everything, or only of what findings are
  # made of; or that is planned.
  @spec observed(Limits.reading(), :observed | :findings | :plan) :: Types.reading()
  def observed(asked, what \\ :observed) do
    {depth, any_keys?, strict?, values?, edition} = asked |> Edition.filled() |> options()
    {what, depth, any_keys?, strict?, values?, edition || 2}
  end

  @doc false
  # Compiles a source on the native side: `{:ok, handle, consts}`, `{:error, fault}`, or, for observation,
  # `{:rejected, {:error, fault}, path}`.
  @spec build(source(), Types.reading(), limits()) ::
          {:ok, reference(), tuple()} | {:rejected, {:error, term()}, list()} | {:error, term()}
  def build(source, reading, limits) do
    reading = native(reading)
    Quanta.finish(Quanta.native(compiled(source, reading, limits)))
  catch
    :error, :nif_panicked -> {:error, {:execution_error, Panic.caught()}}
  end

  # Those of an observed program are complete.
  defp native({_what, _depth, _any_keys?, _strict?, _values?, _edition} = reading), do: reading
  defp native(reading), do: Edition.filled(reading)

  defp compiled(text, reading, limits) when is_binary(text),
    do: text |> Aligned.text() |> Native.compile_text(reading, limits)

  defp compiled({:checked, node}, reading, limits),
    do: Native.compile_node(node, reading, limits)

  defp compiled(%{"program" => node}, reading, limits),
    do: Native.compile_node(node, reading, limits)

  @doc false
  # Checks whether a source is a program; if not, returns the documented error.
  @spec check(source(), Limits.t()) :: :ok | {:error, Message.error()}
  def check(source, {timeout, max_heap, reading}) do
    case build(source, reading, {timeout, max_heap}) do
      {:ok, _handle, _consts} -> :ok
      {:error, fault} -> {:error, fault |> Fence.note(source) |> error({timeout, max_heap})}
    end
  end

  @doc false
  @spec rebuild(t(), limits()) :: {:ok, reference(), tuple()} | {:error, term()}
  def rebuild(%__MODULE__{source: source} = program, limits),
    do: build(source, own(program), limits)

  @doc false
  # The documented error for a fault.
  @spec error(:timeout | :memory_exceeded | Message.fault(), limits()) :: Message.error()
  def error(:timeout, {timeout, _max_heap}), do: {:timeout, timeout}

  def error(:memory_exceeded, {_timeout, max_heap}),
    do: {:memory_exceeded, Limits.bytes(max_heap)}

  def error(fault, _limits), do: Message.error(fault)

  defimpl Inspect do
    import Inspect.Algebra

    def inspect(program, opts) do
      concat(["#PtcRunner.Json.Program<", to_doc(program.source, opts), ">"])
    end
  end
end

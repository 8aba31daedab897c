defmodule PtcRunner.Json.Program do
  @moduledoc """
  A compiled program: `PtcRunner.Json.compile/2` makes one, and `PtcRunner.Json.run/2` accepts it
  instead of a text.

  It is plain data and contains its source: it can be stored, sent to other processes and nodes, and
  converted by `:erlang.term_to_binary/1`. After a restart or on another node, its native part does not exist,
  and each run compiles the source again; so compile the program once more there.

  Its native part has the instructions, and what `PtcRunner.Json.check/2`, `PtcRunner.Json.plan/2` and `PtcRunner.Json.explain/2` need to know of the source: they do not
  read it again, unless they are called with options that the program was not compiled with. That takes 16 bytes for each key and each value in a
  text of up to 4,096 of them, and up to 32 in a longer one. For a program that was given as a map, it takes 16 bytes for each part that is not inside of a constant.

  The native part also keeps the last answers about the program, once it was checked, planned or explained twice: the same check again, against equal types, or the same plan,
  is answered without new work. A kept answer takes at most 64 KB, with the types that were given; larger ones are not kept.

  `ptc_runner` has no compiled programs.
  """

  alias PtcRunner.Json.{Codec, Edition, Fence, Limits, Message}
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
    edition: 1,
    observed: nil
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
          edition: Edition.t(),
          observed: :observed | :findings | nil
        }

  @typedoc "Milliseconds, and maximum words of the program's own constants and instructions; 0: no limit."
  @type limits :: {timeout(), non_neg_integer()}

  # a text, a map with the key "program", or the value of that key
  @typedoc false
  @type source :: String.t() | map() | {:checked, term()}

  @typedoc false
  # What a program is compiled to observe: everything, or only what findings are made of.
  @type detail :: :observed | :findings | nil

  @doc false
  # Compiles a program from its source, with these options.
  @spec compile(String.t() | map(), Limits.reading(), limits()) :: {:ok, t()} | {:error, term()}
  def compile(source, reading, limits), do: made(source, reading, nil, limits)

  defp made(source, reading, detail, limits) do
    reading = Edition.filled(reading)
    observed = if detail, do: observed(reading, detail), else: reading

    with {:ok, handle, consts} <- build(source, observed, limits) do
      {depth, any_keys?, strict?, values?, edition} = options(reading)
      keys = if any_keys?, do: :any, else: :strings
      structs = if values?, do: :values, else: :maps
      source = with {:checked, node} <- source, do: %{"program" => node}
      program = %__MODULE__{source: source, handle: handle, consts: consts, max_depth: depth}
      program = %{program | keys: keys, strict: strict?, structs: structs, observed: detail}
      {:ok, %{program | edition: edition || 2}}
    end
  end

  @doc false
  # The program with another text in the place of its own, compiled as it was.
  @spec with_source(t(), String.t(), limits()) :: {:ok, t()} | {:error, term()}
  def with_source(program, text, limits), do: made(text, own(program), program.observed, limits)

  @doc false
  # The program, compiled for this observation. The text of a compiled program is not read again. A program that is a term is copied again,
  # because the terms of all its keys and constants are needed, and only the term has them.
  @spec observe(t() | source(), Limits.reading(), detail(), limits()) ::
          {:ok, t()} | {:rejected, {:error, term()}, list()} | {:error, term()}
  def observe(program, asked, detail, limits) do
    ask(
      program,
      asked,
      fn kept -> again(kept, program, detail, limits) end,
      fn source, reading -> made(source, reading, detail, limits) end
    )
  end

  # An exception if the native part is gone.
  defp again({handle, _consts, _text}, %{observed: detail} = program, detail, _limits)
       when is_reference(handle) do
    Native.source_bytes(handle)
    {:ok, program}
  end

  defp again({_handle, _consts, nil}, program, detail, limits),
    do: made(program.source, own(program), detail, limits)

  defp again({handle, _consts, text}, program, detail, limits) do
    reply = Quanta.finish(Quanta.native(Native.compile_again(handle, text, detail, limits)))

    with {:ok, handle, consts} <- reply,
         do: {:ok, %{program | handle: handle, consts: consts, observed: detail}}
  catch
    :error, :nif_panicked -> {:error, {:execution_error, Panic.caught()}}
  end

  @doc false
  # The program as terms: the value under "program". A text that is compiled is not decoded again.
  @spec term(t() | source() | {:unchecked, term()}) :: {:ok, term()} | :error
  def term(%__MODULE__{source: source} = program) when is_binary(source) do
    ask(
      program,
      program.max_depth,
      fn {handle, _consts, text} ->
        Quanta.finish(Quanta.native(Native.program_part(handle, text, [])))
      end,
      fn source, _reading -> term(source) end
    )
  end

  def term(%__MODULE__{source: source}), do: term(source)
  def term({checked, node}) when checked in [:checked, :unchecked], do: {:ok, node}
  def term(%{"program" => node}), do: {:ok, node}

  def term(text) when is_binary(text) do
    case Codec.decode(text) do
      {:ok, %{"program" => node}} -> {:ok, node}
      _too_large -> :error
    end
  end

  def term(_other), do: :error

  @doc false
  # The part of a program at a path from the value under "program"; nil if there is none.
  @spec part(t() | source() | {:unchecked, term()}, [String.t() | non_neg_integer()]) :: term()
  def part(program, path) do
    case term(program) do
      {:ok, node} -> inside(node, path)
      :error -> nil
    end
  end

  @doc false
  # The part of any term at a path; nil if there is none.
  @spec inside(term(), [String.t() | non_neg_integer()]) :: term()
  def inside(part, []), do: part

  def inside(list, [index | path]) when is_list(list) and is_integer(index),
    do: list |> Enum.at(index) |> inside(path)

  def inside(map, [key | path]) when is_map_key(map, key),
    do: map |> Map.fetch!(key) |> inside(path)

  def inside(_part, _path), do: nil

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

  @typedoc false
  # The native part of a program, its constants, and its text, if it is one.
  @type kept :: {reference(), tuple(), String.t() | nil}

  @doc false
  # Asks the native part of a compiled program, which keeps what was read of the source. Everything else is asked by its source:
  # a program that is not compiled, one that is asked for with more than it was compiled with, and one whose native part is on
  # another node, or was before a restart.
  @spec ask(
          t() | source(),
          Limits.reading(),
          (kept() -> reply),
          (source(), Limits.reading() ->
             reply)
        ) :: reply
        when reply: term()
  def ask(%__MODULE__{} = program, asked, of_kept, of_source) do
    own = own(program)

    case reading(program, asked) do
      ^own ->
        try do
          of_kept.({program.handle, program.consts, text(program.source)})
        rescue
          ArgumentError -> of_source.(program.source, own)
        end

      more ->
        of_source.(program.source, more)
    end
  end

  def ask(source, asked, _of_kept, of_source), do: of_source.(source, asked)

  defp text(text) when is_binary(text), do: Aligned.text(text)
  defp text(_node), do: nil

  @doc false
  # The options to compile the program again: its own, and the requested ones in addition. It keeps its edition.
  @spec reading(t(), Limits.reading()) :: Limits.reading()
  def reading(program, asked) do
    {_depth, any_keys?, strict?, values?, _edition} = options(asked)
    {depth, own_keys?, own_strict?, own_values?, edition} = own(program)
    {depth, any_keys? or own_keys?, strict? or own_strict?, values? or own_values?, edition}
  end

  @doc false
  # Whether atoms count as keys for a program that is asked for with these options, and whether structs are values.
  @spec read_as(t() | source() | nil, Limits.reading()) :: {boolean(), boolean()}
  def read_as(%__MODULE__{} = program, asked), do: read_as(nil, reading(program, asked))

  def read_as(_source, asked) do
    {_depth, any_keys?, _strict?, values?, _edition} = options(asked)
    {any_keys?, values?}
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
  @spec observed(Limits.reading(), :observed | :findings | :plan | :recipes) :: Types.reading()
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

  # The options of an observed program are complete.
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

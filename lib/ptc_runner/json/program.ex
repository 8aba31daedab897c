defmodule PtcRunner.Json.Program do
  @moduledoc """
  A compiled program: `PtcRunner.Json.compile/2` makes one, `PtcRunner.Json.run/2` takes it in
  place of the text.

  It is plain data and carries its source: it can be stored, sent to other processes and nodes, and
  go through `:erlang.term_to_binary/1`. Where the native part is gone, it is made again from the
  source with each run, so compile once more after a restart.

  New in this library: the original has no compiled programs.
  """

  alias PtcRunner.Json.{Limits, Message}
  alias PtcRunner.{Aligned, Native, Quanta}
  alias PtcRunner.Native.Panic

  @enforce_keys [:source, :handle, :consts, :max_depth]
  defstruct [:source, :handle, :consts, :max_depth]

  @typedoc """
  `source` is the program as it was given; `handle` refers to the instructions in native memory,
  and `consts` are the terms that the program contains. Only `source` is meant to be read.
  """
  @type t :: %__MODULE__{
          source: String.t() | map(),
          handle: reference(),
          consts: tuple(),
          max_depth: pos_integer()
        }

  @typedoc "Milliseconds, and words the program's own constants and instructions may take; 0: no limit."
  @type limits :: {timeout(), non_neg_integer()}

  @doc false
  # What the native side makes of a source: `{:ok, handle, consts}` or `{:error, fault}`.
  @spec build(String.t() | map(), pos_integer(), limits()) ::
          {:ok, reference(), tuple()} | {:error, term()}
  def build(source, max_depth, limits) when is_binary(source) do
    source |> Aligned.text() |> Native.compile_text(max_depth, limits) |> Quanta.finish()
  catch
    :error, :nif_panicked -> {:error, {:execution_error, Panic.caught()}}
  end

  def build(%{"program" => node}, max_depth, limits), do: build_node(node, max_depth, limits)

  @doc false
  # The same for what stands under `"program"`.
  @spec build_node(term(), pos_integer(), limits()) ::
          {:ok, reference(), tuple()} | {:error, term()}
  def build_node(node, max_depth, limits) do
    node |> Native.compile_node(max_depth, limits) |> Quanta.finish()
  catch
    :error, :nif_panicked -> {:error, {:execution_error, Panic.caught()}}
  end

  @doc false
  @spec rebuild(t(), limits()) :: {:ok, reference(), tuple()} | {:error, term()}
  def rebuild(%__MODULE__{source: source, max_depth: max_depth}, limits),
    do: build(source, max_depth, limits)

  @doc false
  # The documented error for a fault.
  @spec error(term(), limits()) ::
          {:parse_error | :validation_error | :execution_error, String.t()}
          | {:timeout | :memory_exceeded, non_neg_integer()}
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

defmodule PtcRunner.Json.Program do
  @moduledoc """
  A compiled program: `PtcRunner.Json.compile/2` makes one, `PtcRunner.Json.run/2` takes it in
  place of the text.

  It is plain data and carries its source: it can be stored, sent to other processes and nodes, and
  go through `:erlang.term_to_binary/1`. Where the native part is gone, it is made again from the
  source with each run, so compile once more after a restart.

  New in this library: the original has no compiled programs.
  """

  alias PtcRunner.Native
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

  # Reading and compiling a longer text would hold a scheduler for too long.
  @long_text 16_384

  @doc false
  def long_text, do: @long_text

  @doc false
  # What the native side makes of a source: `{:ok, handle, consts}` or `{:error, fault}`.
  def build(source, max_depth) when is_binary(source) do
    with :busy <- compile_now(source, max_depth),
         do: Native.compile_text_dirty(source, max_depth)
  catch
    :error, :nif_panicked -> {:error, {:execution_error, Panic.caught()}}
  end

  def build(%{"program" => node}, max_depth), do: build_node(node, max_depth)

  @doc false
  # The same for what stands under `"program"`.
  def build_node(node, max_depth) do
    with :busy <- Native.compile_node(node, max_depth),
         do: Native.compile_node_dirty(node, max_depth)
  catch
    :error, :nif_panicked -> {:error, {:execution_error, Panic.caught()}}
  end

  defp compile_now(source, _max_depth) when byte_size(source) > @long_text, do: :busy
  defp compile_now(source, max_depth), do: Native.compile_text(source, max_depth)

  @doc false
  def rebuild(%__MODULE__{source: source, max_depth: max_depth}), do: build(source, max_depth)

  defimpl Inspect do
    import Inspect.Algebra

    def inspect(program, opts) do
      concat(["#PtcRunner.Json.Program<", to_doc(program.source, opts), ">"])
    end
  end
end

defmodule PtcRunner.Json.Limits do
  @moduledoc false
  # The limits of a run: what the caller gives, and the defaults for what is not given. The defaults
  # may stand in the application environment, where a look costs more than a small program takes:
  # they are looked up only for runs that do not end in their first steps.

  alias PtcRunner.Sandbox.Guarded

  @default_timeout 1_000
  @default_max_heap 1_250_000
  @default_max_depth 10_000
  @text_timeout 5_000
  @words_per_byte 16
  @bytes_per_word 8

  @typedoc "Timeout in milliseconds, heap in words (0: no limit), nesting; nil: not given."
  @type given :: {timeout() | nil, non_neg_integer() | nil, pos_integer()}

  @typedoc "The same with nothing left open."
  @type t :: {timeout(), non_neg_integer(), pos_integer()}

  @doc "Milliseconds."
  @spec default_timeout() :: pos_integer()
  def default_timeout, do: @default_timeout

  @doc "Words."
  @spec default_max_heap() :: pos_integer()
  def default_max_heap, do: @default_max_heap

  @doc "Operations inside one another."
  @spec default_max_depth() :: pos_integer()
  def default_max_depth, do: @default_max_depth

  @doc """
  The limits of work on a text of so many bytes: those of the options, or else bounds that no honest
  text meets. Raises as `given/1` does.

      iex> PtcRunner.Json.Limits.of_text([timeout: 50], 1_000)
      {50, 1_250_000}

      iex> PtcRunner.Json.Limits.of_text([max_heap: 0], 1_000)
      {5_000, 0}

  """
  @spec of_text(keyword(), non_neg_integer()) :: {timeout(), non_neg_integer()}
  def of_text([], bytes), do: {@text_timeout, text_heap(bytes)}

  def of_text(opts, bytes) do
    timeout = Keyword.get(opts, :timeout, @text_timeout)
    max_heap = Keyword.get_lazy(opts, :max_heap, fn -> text_heap(bytes) end)
    Guarded.check_timeout!(timeout)
    Guarded.check_max_heap!(max_heap)
    {timeout, max_heap}
  end

  # The densest texts become three words a byte.
  defp text_heap(bytes), do: max(@default_max_heap, @words_per_byte * bytes)

  @doc """
  Words in bytes.

      iex> PtcRunner.Json.Limits.bytes(10)
      80

  """
  @spec bytes(non_neg_integer()) :: non_neg_integer()
  def bytes(words), do: words * @bytes_per_word

  @doc "Milliseconds."
  @spec text_timeout() :: pos_integer()
  def text_timeout, do: @text_timeout

  @doc """
  What the options give. Raises `ErlangError` or `ArgumentError` for what cannot be a limit.

      iex> PtcRunner.Json.Limits.given(timeout: 50)
      {50, nil, 10_000}

      iex> PtcRunner.Json.Limits.given(max_depth: 0)
      ** (ArgumentError) max_depth must be a positive integer, got: 0

  """
  @spec given(keyword()) :: given()
  def given([]), do: {nil, nil, @default_max_depth}

  def given(opts) do
    timeout = Keyword.get(opts, :timeout)
    max_heap = Keyword.get(opts, :max_heap)
    timeout && Guarded.check_timeout!(timeout)
    max_heap && Guarded.check_max_heap!(max_heap)
    {timeout, max_heap, max_depth(opts)}
  end

  @doc """
  How many tools may run beside one another. Raises `ArgumentError` for what is no such number.

      iex> PtcRunner.Json.Limits.tool_concurrency(tool_concurrency: 4)
      4

      iex> PtcRunner.Json.Limits.tool_concurrency(tool_concurrency: 0)
      ** (ArgumentError) tool_concurrency must be between 1 and 1,024, got: 0

  """
  @spec tool_concurrency(keyword()) :: pos_integer()
  def tool_concurrency(opts) do
    case Keyword.get(opts, :tool_concurrency, 1) do
      n when is_integer(n) and n in 1..1_024 ->
        n

      other ->
        raise ArgumentError,
              "tool_concurrency must be between 1 and 1,024, got: #{PtcRunner.Shown.text(other)}"
    end
  end

  defp max_depth(opts) do
    case Keyword.get(opts, :max_depth, @default_max_depth) do
      depth when is_integer(depth) and depth > 0 and depth <= 0xFFFF_FFFF ->
        depth

      other ->
        raise ArgumentError,
              "max_depth must be a positive integer, got: #{PtcRunner.Shown.text(other)}"
    end
  end

  @doc """
  Fills in the defaults: the application environment's, or else this library's.

      iex> PtcRunner.Json.Limits.resolve({50, nil, 100})
      {50, 1_250_000, 100}

  """
  @spec resolve(given()) :: t()
  def resolve({timeout, max_heap, max_depth}) do
    timeout = timeout || default(:default_timeout, @default_timeout)
    max_heap = max_heap || default(:default_max_heap, @default_max_heap)
    Guarded.check_timeout!(timeout)
    Guarded.check_max_heap!(max_heap)
    {timeout, max_heap, max_depth}
  end

  defp default(name, otherwise), do: Application.get_env(:ptc_runner, name, otherwise)
end

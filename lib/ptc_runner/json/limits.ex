defmodule PtcRunner.Json.Limits do
  @moduledoc false
  # The limits of a run and the options for reading its program: the given ones, and defaults for the others.
  # The defaults may be in the application environment, where a lookup costs more than a small program:
  # they are looked up only for runs with tools and for those that do not end in their first steps.

  alias PtcRunner.Json.{Deadline, Edition}
  alias PtcRunner.Sandbox.Guarded
  alias PtcRunner.Shown.Budget

  @default_timeout 1_000
  @default_max_heap 1_250_000
  @default_max_depth 10_000
  @text_timeout 5_000
  @words_per_byte 16
  @bytes_per_word 8

  # Of a program that is a term, each part counts as so many bytes of a text; so many parts are counted.
  @bytes_per_part 16
  @most_parts 2_000_000

  @typedoc """
  Options for reading a program: the maximum nesting of operations; or a tuple that also has whether atoms
  count as keys, whether the program is strict, whether structs are read as values, and the edition (nil: not given),
  if one of these is requested.
  """
  @type reading ::
          pos_integer()
          | {pos_integer(), any_keys? :: boolean(), strict? :: boolean(), values? :: boolean(),
             edition :: Edition.t() | nil}

  @typedoc "Timeout in milliseconds, heap in words (0: no limit); nil: not given."
  @type given :: {timeout() | nil, non_neg_integer() | nil, reading()}

  @typedoc "Timeout in milliseconds and heap in words, all known."
  @type t :: {timeout(), non_neg_integer(), reading()}

  @doc "Milliseconds."
  @spec default_timeout() :: pos_integer()
  def default_timeout, do: @default_timeout

  @doc "Words."
  @spec default_max_heap() :: pos_integer()
  def default_max_heap, do: @default_max_heap

  @doc "Maximum nesting of operations."
  @spec default_max_depth() :: pos_integer()
  def default_max_depth, do: @default_max_depth

  @doc """
  The limits of work on a text of `bytes` bytes: those of the options, or generous defaults that no ordinary
  text reaches. The options were checked, see `PtcRunner.Options`.

      iex> PtcRunner.Json.Limits.of_text([timeout: 50], 1_000)
      {50, 1_250_000}

      iex> PtcRunner.Json.Limits.of_text([max_heap: 0], 1_000)
      {5_000, 0}

  """
  @spec of_text(keyword(), non_neg_integer()) :: {timeout(), non_neg_integer()}
  def of_text([], bytes), do: {@text_timeout, text_heap(bytes)}

  def of_text(opts, bytes) do
    timeout =
      case opts[:until] do
        nil -> Keyword.get(opts, :timeout, @text_timeout)
        until -> Deadline.left(until)
      end

    max_heap = Keyword.get_lazy(opts, :max_heap, fn -> text_heap(bytes) end)
    {timeout, max_heap}
  end

  @doc """
  The options of several readings of a text, which share the timeout: all of them end at the same time.
  `began` is the start of the first one, a `System.monotonic_time/1` in milliseconds.

      iex> opts = PtcRunner.Json.Limits.shared([timeout: 50], System.monotonic_time(:millisecond) - 60)
      iex> PtcRunner.Json.Limits.of_text(opts, 1_000)
      {0, 1_250_000}

  """
  @spec shared(keyword(), integer()) :: keyword()
  def shared(opts, began) do
    case Keyword.get(opts, :timeout, @text_timeout) do
      :infinity -> opts
      timeout -> [{:until, began + timeout} | opts]
    end
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
  The limits from the values of the options. They were checked, see `PtcRunner.Options`.

      iex> PtcRunner.Json.Limits.given(50, nil, 10_000, :strings, false, :maps, nil)
      {50, nil, 10_000}

      iex> PtcRunner.Json.Limits.given(nil, nil, 100, :any, false, :values, 2)
      {nil, nil, {100, true, false, true, 2}}

  """
  @spec given(
          timeout() | nil,
          non_neg_integer() | nil,
          pos_integer(),
          :strings | :any,
          boolean(),
          :maps | :values,
          Edition.t() | nil
        ) :: given()
  def given(timeout, max_heap, max_depth, :strings, false, :maps, nil),
    do: {timeout, max_heap, max_depth}

  def given(timeout, max_heap, max_depth, keys, strict?, structs, edition),
    do: {timeout, max_heap, {max_depth, keys == :any, strict?, structs == :values, edition}}

  @doc """
  All defaults.
  """
  @spec default() :: t()
  def default, do: resolve({nil, nil, @default_max_depth})

  @doc """
  Fills in the defaults: the application environment's, or else this library's.

      iex> PtcRunner.Json.Limits.resolve({50, nil, 100})
      {50, 1_250_000, 100}

  """
  @spec resolve(given()) :: t()
  def resolve({timeout, max_heap, reading}),
    do: {timeout || usual_timeout(), max_heap || usual_max_heap(), reading}

  @doc """
  The limits of what is computed about a program: without `:timeout` and `:max_heap` it has as much time and as many words as a text that is
  decoded, and a program that is a term has as many words as a text of as many parts. What is known of a program grows with it, and a
  program that runs within the defaults is to be planned, checked and explained within them.

      iex> PtcRunner.Json.Limits.about({50, nil, 100}, String.duplicate(" ", 2_000_000))
      {50, 32_000_000, 100}

      iex> PtcRunner.Json.Limits.about({nil, 7_000, 100}, "{}")
      {5_000, 7_000, 100}

      iex> node = %{"op" => "list", "items" => List.duplicate(1, 10_000)}
      iex> PtcRunner.Json.Limits.about({50, nil, 100}, %{"program" => node})
      {50, 2_560_512, 100}

  """
  @spec about(given(), term()) :: t()
  def about({timeout, max_heap, reading} = given, source) do
    {usual, words, _reading} = resolve(given)

    words =
      if max_heap == nil and words > 0, do: max(words, text_heap(length_of(source))), else: words

    {timeout || max(usual, @text_timeout), words, reading}
  end

  defp length_of(%{__struct__: PtcRunner.Json.Program, source: source}), do: length_of(source)
  defp length_of(text) when is_binary(text), do: byte_size(text)
  defp length_of({_checked, node}), do: length_of(node)
  defp length_of(%{"program" => node}), do: length_of(node)
  defp length_of(node), do: @bytes_per_part * Budget.spent(@most_parts, &count(node, &1))

  # The parts of a program that is a term, up to a number: parts may be shared.
  defp count(map, left) when is_map(map) do
    Budget.spend!(left, map_size(map))
    Enum.each(:maps.values(map), &count(&1, left))
  end

  defp count([first | rest], left) do
    Budget.spend!(left)
    count(first, left)
    count(rest, left)
  end

  defp count(_leaf, _left), do: :ok

  # Options were checked already; the application environment is checked at each use.
  defp usual_timeout do
    case configured(:default_timeout) do
      {:ok, timeout} ->
        :ok = Guarded.check_timeout!(timeout)
        timeout

      :undefined ->
        @default_timeout
    end
  end

  defp usual_max_heap do
    case configured(:default_max_heap) do
      {:ok, max_heap} ->
        :ok = Guarded.check_max_heap!(max_heap)
        max_heap

      :undefined ->
        @default_max_heap
    end
  end

  # The environment of this application comes first, then that of `ptc_runner`.
  defp configured(name) do
    with :undefined <- :application.get_env(:ptc_runner_native, name),
         do: :application.get_env(:ptc_runner, name)
  end
end

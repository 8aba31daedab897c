defmodule PtcRunner.Json.Texts do
  @moduledoc false
  # The JSON texts in the context of a run, and those that tools answer. A long text in the context is indexed, and the run reads it
  # in place; any other is decoded.

  alias PtcRunner.Json.{Codec, Limits, Program, Text}
  alias PtcRunner.{Aligned, Native, Quanta, Shown}
  require Quanta

  # A shorter text is decoded in less time than an index and a run over it would take.
  @short 4_096

  @doc """
  Starts a run whose context has texts. `begin` starts it with a context that has none.

      iex> given = {%{"n" => PtcRunner.Json.text("[1, 2]"), "m" => 3}, %{}, 1_000, 0}
      iex> PtcRunner.Json.Texts.start({:checked, %{}}, given, 100, false, &elem(&2, 0))
      %{"n" => [1, 2], "m" => 3}

  """
  @spec start(term(), tuple(), Limits.reading(), boolean(), function()) :: term()
  def start(program, given, reading, forks?, begin) do
    in_place? = not forks? and not match?({:observed, _, _, _}, program)

    with {:ok, given, texts} <- read(given, in_place?) do
      if texts == [],
        do: begin.(program, given, reading, forks?),
        else: over_texts(program, given, reading, List.to_tuple(texts))
    end
  end

  @doc "The same arguments of a run, with the texts of its context decoded."
  @spec decoded(tuple()) :: {:ok, tuple()} | {:error, term()}
  def decoded(given), do: with({:ok, given, []} <- read(given, false), do: {:ok, given})

  # The time of reading counts.
  defp read(given, in_place?) do
    {timeout, max_heap, _reading} = Limits.resolve({elem(given, 2), elem(given, 3), 1})
    context = elem(given, 0)
    until = if timeout != :infinity, do: System.monotonic_time(:millisecond) + timeout
    texts = for {key, %Text{} = text} <- context, do: {key, text.binary}
    texts = Enum.sort(texts)

    result =
      Enum.reduce_while(texts, {:ok, context, []}, fn {key, binary}, {:ok, context, indexed} ->
        case read(key, binary, {left(until), max_heap}, in_place?) do
          {:ok, term} -> {:cont, {:ok, %{context | key => term}, indexed}}
          {:indexed, text} -> {:cont, {:ok, context, [text | indexed]}}
          error -> {:halt, error}
        end
      end)

    with {:ok, context, indexed} <- result do
      given = given |> put_elem(0, context) |> put_elem(2, left(until)) |> put_elem(3, max_heap)
      {:ok, given, indexed}
    end
  end

  defp left(nil), do: :infinity
  defp left(until), do: max(until - System.monotonic_time(:millisecond), 0)

  defp read(key, binary, limits, in_place?)
       when is_binary(binary) and byte_size(binary) > @short and in_place? do
    binary = Aligned.text(binary)

    case Quanta.finish(Quanta.native(Native.json_index(binary, limits)), byte_size(binary)) do
      {:ok, index, _words} -> {:indexed, {key, binary, index}}
      {:error, reason} when reason in [:invalid, :unfit] -> read(key, binary, limits, false)
      error -> error
    end
  end

  defp read(key, binary, {timeout, max_heap}, _in_place?) when is_binary(binary) do
    case Codec.decode(binary, timeout: timeout, max_heap: max_heap) do
      {:ok, term} -> {:ok, term}
      {:error, %{reason: reason}} when reason in [:timeout, :memory_exceeded] -> {:error, reason}
      {:error, error} -> {:error, {:execution_error, "Context '#{name(key)}': #{text(error)}"}}
    end
  end

  defp read(key, _other, _limits, _in_place?),
    do: {:error, {:execution_error, "Context '#{name(key)}': the JSON text is not a binary"}}

  defp name(key) when is_binary(key), do: Shown.name(key)
  defp name(key), do: Shown.text(key)

  defp text(error), do: "JSON decode error: " <> Exception.message(error)

  defp over_texts(%Program{handle: handle, consts: consts} = program, given, _reading, texts) do
    Native.run_over_texts(handle, consts, given, texts)
  rescue
    # The handle is from another node, or from this one before a restart.
    ArgumentError ->
      with {:ok, handle, consts} <- Program.rebuild(program, {elem(given, 2), elem(given, 3)}),
           do: Native.run_over_texts(handle, consts, given, texts)
  end

  defp over_texts({:unchecked, node}, given, reading, _texts),
    do: over_unchecked(node, given, reading)

  defp over_texts(source, given, reading, texts) do
    with {:ok, handle, consts} <-
           Program.build(source, reading, {elem(given, 2), elem(given, 3)}),
         do: Native.run_over_texts(handle, consts, given, texts)
  end

  # A program that is not checked is not compiled before its run.
  defp over_unchecked(node, given, reading) do
    with {:ok, given} <- decoded(given) do
      Native.run_node(node, false, PtcRunner.Json.Edition.filled(reading), given)
    end
  end

  @doc """
  The answer of a tool: what a text stands for, and any other answer as it is.

      iex> PtcRunner.Json.Texts.answer(PtcRunner.Json.text(~s({"a": 1})))
      %{"a" => 1}

      iex> PtcRunner.Json.Texts.answer(PtcRunner.Json.text("[1,]"))
      {:error, "the answer is not JSON. JSON decode error: Unexpected token at position 3"}

  """
  @spec answer(term()) :: term()
  # The process of the tool has the limits.
  def answer(%Text{binary: binary}) when is_binary(binary) do
    case Codec.decode(binary, timeout: :infinity, max_heap: 0) do
      {:ok, term} -> term
      {:error, error} -> {:error, "the answer is not JSON. " <> text(error)}
    end
  end

  def answer(other), do: other
end

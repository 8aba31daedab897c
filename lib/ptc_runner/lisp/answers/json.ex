defmodule PtcRunner.Lisp.Answers.Json do
  @moduledoc false
  # The built-ins for JSON texts.

  alias PtcRunner.Json.{Codec, Deadline}
  alias PtcRunner.Json.Codec.{DecodeError, EncodeError}
  alias PtcRunner.Lisp.Answers

  @doc """
  Reads or writes JSON.

      iex> alias PtcRunner.Lisp.Answers.Json
      iex> Json.answer("json/parse-string", [~S({"a": [1, null]})], {1_000, 0})
      {true, %{"a" => [1, nil]}}
      iex> Json.answer("json/parse-lines", ["1\\n\\nx"], {1_000, 0})
      {true, [1, nil]}
      iex> Json.answer("json/generate-string", [%{"a" => :count}], {1_000, 0})
      {true, nil}

  """
  @spec answer(String.t(), [term()], Answers.limits()) :: Answers.answer()
  def answer("json/parse-string", [text], limits) when is_binary(text) do
    with {:ok, value} <- decoded(text, limits), do: {true, value}
  end

  def answer("json/parse-lines", [text], {timeout, max_heap}) when is_binary(text) do
    limits = {Deadline.from_now(timeout), max_heap}
    text |> String.split(["\r\n", "\n"]) |> lines(limits, [])
  end

  def answer("json/generate-string", [value], limits) do
    if writable?(value), do: encoded(value, limits), else: {true, nil}
  end

  def answer(_name, [_other], _limits), do: {true, nil}

  defp decoded(text, {timeout, max_heap}) do
    case Codec.decode(text, timeout: timeout, max_heap: max_heap) do
      {:ok, value} ->
        {:ok, value}

      {:error, %DecodeError{reason: limit}} when limit in [:timeout, :memory_exceeded] ->
        {:error, limit}

      {:error, _not_json} ->
        {:ok, nil}
    end
  end

  defp lines([line | rest], {deadline, max_heap} = limits, made) do
    if String.trim(line) == "" do
      lines(rest, limits, made)
    else
      with {:ok, value} <- decoded(line, {Deadline.left(deadline), max_heap}),
           do: lines(rest, limits, [value | made])
    end
  end

  defp lines([], _limits, made), do: {true, Enum.reverse(made)}

  defp encoded(value, {timeout, max_heap}) do
    case Codec.encode(value, timeout: timeout, max_heap: max_heap) do
      {:ok, text} ->
        {true, text}

      {:error, %EncodeError{reason: limit}} when limit in [:timeout, :memory_exceeded] ->
        {:error, limit}

      {:error, _not_writable} ->
        {true, nil}
    end
  end

  # Keywords, special numbers, sets, dates and functions are not written.
  defp writable?(value) when is_binary(value) or is_number(value), do: true
  defp writable?(value) when is_boolean(value) or is_nil(value), do: true
  defp writable?([item | rest]), do: writable?(item) and writable?(rest)
  defp writable?([]), do: true
  defp writable?(%_struct{}), do: false

  defp writable?(map) when is_map(map) do
    Enum.all?(:maps.to_list(map), fn {key, value} ->
      (is_binary(key) or is_integer(key)) and writable?(value)
    end)
  end

  defp writable?(_other), do: false
end

defmodule PtcRunner.Agent.Reply do
  @moduledoc false
  # What a model function returned: its forms, and the provider's numbers.

  alias PtcRunner.Sandbox.Guarded
  alias PtcRunner.Shown

  @typedoc """
  A text (nil: none, for example a refusal) with the provider's numbers; the errors for which a stream was stopped,
  with the text up to there; or the end or the repetition of the call.
  """
  @type t ::
          {:text, String.t() | nil, numbers()}
          | {:stopped, errors :: [map(), ...], String.t() | nil}
          | {:retry, milliseconds :: non_neg_integer()}
          | {:halt, reason :: term()}
          | {:error, reason :: term()}

  @typedoc "Such as tokens."
  @type numbers :: %{optional(term()) => number()}

  @doc """
  The form of a reply.

      iex> PtcRunner.Agent.Reply.read({:ok, %{role: "assistant", content: nil}, %{input_tokens: 5, model: "m"}})
      {:text, nil, %{input_tokens: 5}}

      iex> PtcRunner.Agent.Reply.read({:halt, {:error, [%{path: ["n"], message: "expected int, got string"}]}})
      {:stopped, [%{path: ["n"], message: "expected int, got string"}], nil}

      iex> PtcRunner.Agent.Reply.read({:halt, :budget})
      {:halt, :budget}

      iex> PtcRunner.Agent.Reply.read(:hello)
      ** (ArgumentError) the model must answer with a text, {:ok, text}, {:ok, text, usage}, {:retry, milliseconds}, {:halt, reason} or {:error, reason}, got: :hello

  """
  @spec read(term()) :: t()
  def read({:ok, content}), do: text(content, %{}, {:ok, content})
  def read({:ok, content, usage} = reply), do: text(content, numbers(usage), reply)
  def read({:error, reason}), do: {:error, reason}

  def read({:retry, ms} = reply),
    do: if(Guarded.timeout?(ms) and ms != :infinity, do: {:retry, ms}, else: unknown(reply))

  def read({:halt, {:error, [%{path: _, message: _} | _] = errors}}), do: {:stopped, errors, nil}

  def read({:halt, {:error, [%{path: _, message: _} | _] = errors}, text}) when is_binary(text),
    do: {:stopped, errors, text}

  def read({:halt, reason}), do: {:halt, reason}
  def read(content), do: text(content, %{}, content)

  # A message of a provider has its text under `content`, which is nil for a refusal.
  defp text(text, numbers, _reply) when is_binary(text) or text == nil, do: {:text, text, numbers}
  defp text(%{content: content}, numbers, reply), do: content(content, numbers, reply)
  defp text(%{"content" => content}, numbers, reply), do: content(content, numbers, reply)
  defp text(_other, _numbers, reply), do: unknown(reply)

  defp content(text, numbers, _reply) when is_binary(text) or text == nil,
    do: {:text, text, numbers}

  defp content(_other, _numbers, reply), do: unknown(reply)

  @spec unknown(term()) :: no_return()
  defp unknown(reply) do
    raise ArgumentError,
          "the model must answer with a text, {:ok, text}, {:ok, text, usage}, {:retry, milliseconds}, " <>
            "{:halt, reason} or {:error, reason}, got: #{Shown.text(reply, 1_000)}"
  end

  # Some providers report none, others a struct.
  defp numbers(nil), do: %{}
  defp numbers(%_struct{} = usage), do: usage |> Map.from_struct() |> numbers()

  defp numbers(usage) when is_map(usage) or is_list(usage) do
    if is_list(usage) and not Keyword.keyword?(usage), do: no_usage(usage)
    for {name, number} <- usage, is_number(number), into: %{}, do: {name, number}
  end

  defp numbers(usage), do: no_usage(usage)

  @spec no_usage(term()) :: no_return()
  defp no_usage(usage) do
    raise ArgumentError, "the model's usage must be a map, got: #{Shown.text(usage, 200)}"
  end

  @doc """
  The sums of the numbers of two replies.

      iex> PtcRunner.Agent.Reply.add(%{input_tokens: 5}, %{input_tokens: 7, output_tokens: 1})
      %{input_tokens: 12, output_tokens: 1}

  """
  @spec add(numbers(), numbers()) :: numbers()
  def add(a, b), do: Map.merge(a, b, fn _name, a, b -> sum(a, b) end)

  # The sum of two floats may exceed the largest float.
  defp sum(a, b) do
    a + b
  rescue
    ArithmeticError -> max(a, b)
  end

  @doc """
  The tokens among a reply's numbers: their total, or the sum of those whose name ends with `tokens`.

      iex> PtcRunner.Agent.Reply.tokens(%{input_tokens: 5, output_tokens: 2, cost: 0.1})
      7

      iex> PtcRunner.Agent.Reply.tokens(%{"prompt_tokens" => 5, "completion_tokens" => 2, "total_tokens" => 7})
      7

  """
  @spec tokens(numbers()) :: number()
  def tokens(%{total_tokens: total}), do: total
  def tokens(%{"total_tokens" => total}), do: total

  def tokens(numbers) do
    for {name, number} <- numbers, tokens?(name), reduce: 0 do
      total -> sum(total, number)
    end
  end

  defp tokens?(name) when is_atom(name), do: name |> Atom.to_string() |> tokens?()
  defp tokens?(name), do: is_binary(name) and String.ends_with?(name, "tokens")
end

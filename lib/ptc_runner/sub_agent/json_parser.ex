defmodule PtcRunner.SubAgent.JsonParser do
  @moduledoc """
  Finds the JSON in an LLM's answer: bare, in a fence, or with prose around it.

      iex> PtcRunner.SubAgent.JsonParser.parse(~s(Here you are: {"total": 3}. Anything else?))
      {:ok, %{"total" => 3}}

  ## Where it is looked for

    * in the first fence of three backticks, if there is one: all of its content, any JSON value
    * else at the first `{` or `[`, whatever stands before it; what follows the value is ignored
    * if that is no JSON: anywhere in the text, if there is exactly one value and nothing that looks
      like an answer gone wrong. So notes in `[brackets]` or `{braces}`, fences with other tags and
      code before the answer do no harm. Nothing is repaired.

  Backticks and brackets inside JSON strings are content. Only the bytes of the JSON itself must be
  UTF-8.

  ## What it becomes

  JSON is strict (RFC 8259). Keys are strings, of equal ones in an object the first counts. Integers
  are exact, up to 1024 digits; a number with fraction or exponent is the nearest float, and an
  error where that would be infinite. Values may nest 1,000,000 deep.

  The time is linear in the text, whatever it holds. Strings are copied out of the text, so the
  value keeps nothing of it alive.
  """

  alias PtcRunner.Json.Limits
  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.Native.Panic

  @typedoc "A value as JSON has it; maps have string keys."
  @type json ::
          nil | boolean() | number() | String.t() | [json()] | %{optional(String.t()) => json()}

  @typedoc """
  There is nothing like JSON in the text, or nothing that is ended; it is not JSON; or a limit was met.
  """
  @type reason :: :no_json_found | :invalid_json | :timeout | :memory_exceeded

  @typedoc "See `parse/2`: milliseconds, words."
  @type option :: {:timeout, timeout()} | {:max_heap, non_neg_integer()}

  @doc """
  The value in an answer.

  ## Options

    * `:timeout` - milliseconds or `:infinity`, by default #{Limits.text_timeout()}
    * `:max_heap` - words that the value may take, 0 for no limit; by default 16 for each byte of the
      text, or 1,250,000 if that is more

      iex> PtcRunner.SubAgent.JsonParser.parse("```json\\n[1, 2]\\n```")
      {:ok, [1, 2]}

      iex> PtcRunner.SubAgent.JsonParser.parse("See [1]... sorry: {\\"a\\": 1,}")
      {:ok, [1]}

      iex> PtcRunner.SubAgent.JsonParser.parse("I do not know.")
      {:error, :no_json_found}

      iex> PtcRunner.SubAgent.JsonParser.parse("{a: 1}")
      {:error, :invalid_json}

      iex> PtcRunner.SubAgent.JsonParser.parse(String.duplicate("[", 10_000), max_heap: 1_000)
      {:error, :memory_exceeded}

  """
  @spec parse(String.t(), [option()]) :: {:ok, json()} | {:error, reason()}
  def parse(text, opts \\ []) when is_binary(text) do
    with {:error, {reason, _place}} <- locate(text, opts), do: {:error, reason}
  end

  @doc false
  # The same; an error says where: {kind, offset} | {kind, limit, offset} | nil.
  @spec locate(String.t(), [option()]) :: {:ok, json()} | {:error, {reason(), tuple() | nil}}
  def locate(text, opts \\ []) do
    limits = Limits.of_text(opts, byte_size(text))

    case Quanta.finish(Native.answer_parse(text, limits)) do
      {:error, reason} when is_atom(reason) -> {:error, {reason, nil}}
      answer -> answer
    end
  catch
    :error, :nif_panicked ->
      _text = Panic.caught()
      {:error, {:invalid_json, nil}}
  end
end

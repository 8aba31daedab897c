defmodule PtcRunner.SubAgent.JsonParser do
  @moduledoc """
  Finds the JSON in an LLM's answer: bare, in a fence, or with prose around it.

      iex> PtcRunner.SubAgent.JsonParser.parse(~s(Here you are: {"total": 3}. Anything else?))
      {:ok, %{"total" => 3}}

  ## Where the parser searches

    * in the first fence of three backticks, if there is one: its whole content, any JSON value
    * else at the first `{` or `[`, with any text before it; text after the value is ignored
    * if that is not JSON: anywhere in the text, if there is exactly one value and nothing that looks
      like a faulty answer. So notes in `[brackets]` or `{braces}`, fences with other tags and
      code before the answer do no harm. Only `repair/2` repairs.

  Backticks and brackets inside JSON strings are content. Only the bytes of the JSON itself must be
  UTF-8.

  ## Decoded values

  The JSON must conform to RFC 8259. Keys are strings; of duplicate keys in an object the first counts. Integers
  are exact, up to 1024 digits. A number with fraction or exponent is the nearest float, and an
  error if that would be infinite. Values may nest 1,000,000 deep.

  The time is linear in the length of any text. Strings are copied out of the text, so the
  value does not keep the text alive.
  """

  alias PtcRunner.Json.Limits
  alias PtcRunner.{Aligned, Native, Options, Quanta}
  alias PtcRunner.Native.{Panic, Telemetry}
  alias PtcRunner.SubAgent.{JsonRepair, Signature}
  alias PtcRunner.SubAgent.JsonRepair.{Left, Names}
  require Quanta
  require Telemetry

  @typedoc "A JSON value; maps have string keys."
  @type json ::
          nil | boolean() | number() | String.t() | [json()] | %{optional(String.t()) => json()}

  @typedoc """
  The text has no JSON, or no complete JSON; the JSON is invalid; or a limit was met.
  """
  @type reason :: :no_json_found | :invalid_json | :timeout | :memory_exceeded

  @typedoc "See `parse/2`: milliseconds, words."
  @type option :: {:timeout, timeout()} | {:max_heap, non_neg_integer()}

  @options %{timeout: :timeout, max_heap: :max_heap}
  @repair_options Map.put(@options, :truncated, {:one_of, [:error, :complete]})

  @doc """
  Finds the value in an answer.

  ## Options

    * `:timeout` - milliseconds or `:infinity`, by default #{Limits.text_timeout()}
    * `:max_heap` - words that the value may take, 0 for no limit; by default 16 for each byte of the
      text, or 1,250,000 if that is more

  A fenced block has precedence over other text:

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
    Options.check!(opts, @options, "PtcRunner.SubAgent.JsonParser.parse/2")
    with {:error, {reason, _place}} <- locate(text, opts), do: {:error, reason}
  end

  @typedoc """
  A repair: its kind, its position (line and column from 1, columns in
  characters), the path of its value, and a sentence for logs.
  """
  @type repair :: %{
          kind: atom(),
          line: pos_integer(),
          column: pos_integer(),
          path: [String.t() | non_neg_integer()],
          message: String.t()
        }

  @typedoc """
  The text ends before the answer is complete. `items` is the number of complete items of the outermost
  list that is open, `path` the path to that list, or to the last field if no list is open.
  """
  @type truncated ::
          {:truncated,
           %{
             path: [String.t() | non_neg_integer()],
             items: non_neg_integer() | nil,
             message: String.t()
           }}

  @typedoc "Different values are equally likely: the positions where the readings differ."
  @type ambiguous :: {:ambiguous, [%{line: pos_integer(), column: pos_integer()}]}

  @doc """
  Finds the value in an answer that may be almost valid, and the repairs.

  A valid text gives the value of `parse/1` and `[]`. Otherwise the readings of the text are compared:
  the reading with the fewest and cheapest repairs counts. If readings with different values have the
  same cost, there is no result.

  Of more than 2,000 repairs the first 2,000 are listed.

      iex> {:ok, value, [repair]} = PtcRunner.SubAgent.JsonParser.repair(~s({"total": 3 "ok": true}))
      iex> value
      %{"ok" => true, "total" => 3}
      iex> repair
      %{kind: :missing_comma, line: 1, column: 12, path: ["total"],
        message: ~s(line 1, column 12: added a comma after "total")}

      iex> PtcRunner.SubAgent.JsonParser.repair(~s({"total": 3}))
      {:ok, %{"total" => 3}, []}

      iex> PtcRunner.SubAgent.JsonParser.repair("I do not know.")
      {:error, :no_json_found}

  """
  @spec repair(String.t()) ::
          {:ok, json(), [repair()]} | {:error, reason() | ambiguous() | truncated()}
  def repair(text) when is_binary(text), do: repair(text, nil)

  @doc """
  Repairs a text with a signature or a type: only readings count that give a value of the type.

  The signature may be a text, parsed, or a type of a signature. It determines where a string
  ends, which key is meant, and whether a list is expected. Keys get their declared names, even if a
  spelling with hyphens would be valid (`handle_json_answer` accepts it unchanged). If a required field
  is missing, no reading matches the type. A text that is JSON but not of the type, and cannot be
  repaired, gives the value of `parse/1` and `[]`; validation then reports its errors.

      iex> signature = "{user_id :int, tags [:string]}"
      iex> text = "Sure! {userId: '7', tags: 'new', }"
      iex> {:ok, value, repairs} = PtcRunner.SubAgent.JsonParser.repair(text, signature)
      iex> value
      %{"tags" => ["new"], "user_id" => 7}
      iex> :key_spelling in Enum.map(repairs, & &1.kind)
      true

      iex> PtcRunner.SubAgent.JsonParser.repair(~s({"user_id": 7,}), "{user_id :int, name :string}")
      {:error, :invalid_json}

  ## Options

    * `:timeout`, `:max_heap` - as in `parse/2`
    * `:truncated` - what happens if the text ends before the answer is complete. `:error` (the default) returns
      `{:error, {:truncated, place}}`. `:complete` closes what is open, also lists, so the value may lack items and
      its last number may lack digits.

  A text was cut off if it ends inside a string, a key, a number or a literal, after a comma or a colon, or with an open
  list. A number at its end may have had more digits, also if blanks follow. Missing brackets of objects are added after a complete value, if the object has all declared fields, optional ones
  included. Without a type, an object is closed whatever its fields are.

      iex> {:error, {:truncated, place}} = PtcRunner.SubAgent.JsonParser.repair(~s({"rows": [1, 2), "{rows [:int]}")
      iex> place
      %{path: ["rows"], items: 2, message: ~s(The answer ends inside "rows", after 2 items: it was cut off)}

      iex> {:ok, value, _repairs} = PtcRunner.SubAgent.JsonParser.repair(~s({"user": {"name": "Ann"), "{user {name :string}}")
      iex> value
      %{"user" => %{"name" => "Ann"}}

  One object per line, where a list is declared, has no bracket that could be missing: such a list is complete if its last
  object is.

      iex> text = String.duplicate("[1 ", 100_000)
      iex> PtcRunner.SubAgent.JsonParser.repair(text, nil, timeout: 0)
      {:error, :timeout}

  Raises `ArgumentError` for an invalid signature.
  """
  @spec repair(String.t(), String.t() | term(), [option() | {:truncated, :error | :complete}]) ::
          {:ok, json(), [repair()]} | {:error, reason() | ambiguous() | truncated()}
  def repair(text, signature, opts \\ []) when is_binary(text) do
    Options.check!(opts, @repair_options, "PtcRunner.SubAgent.JsonParser.repair/3")
    began = System.monotonic_time(:millisecond)
    read = fn -> repaired(text, JsonRepair.type(signature), Limits.shared(opts, began)) end
    if Telemetry.on?(), do: Telemetry.repair(text, read), else: read.()
  end

  defp repaired(text, type, opts) do
    found = with {:error, {reason, _place}} <- locate(text, opts), do: {:error, reason}

    cond do
      found in [error: :timeout, error: :memory_exceeded] ->
        found

      not right?(found, type) or JsonRepair.part?(text) ->
        repaired(JsonRepair.read(text, type, opts), found)

      # A bracket that closed too early: the value is not all that the text says.
      type != nil and left?(text, found, opts) ->
        repaired(JsonRepair.read(text, type, opts), {:error, :invalid_json})

      true ->
        {:ok, value} = found
        {:ok, value, []}
    end
  end

  defp left?(text, {:ok, value}, opts) do
    with {:ok, start, length} <- native(text, opts, &Native.answer_find/2),
         do: Left.behind({start, length}, text, value) != nil,
         else: (_error -> false)
  end

  defp right?({:error, _reason}, _type), do: false
  defp right?({:ok, _value}, nil), do: true

  defp right?({:ok, value}, type),
    do: Signature.validate({:signature, [], type}, value) == :ok and Names.declared?(value, type)

  defp repaired({:ok, value, _repairs}, {:ok, value}), do: {:ok, value, []}
  defp repaired({:ok, value, repairs}, _found), do: {:ok, value, repairs}
  defp repaired({:error, _reason}, {:ok, value}), do: {:ok, value, []}
  defp repaired({:error, :no_reading}, {:error, reason}), do: {:error, reason}
  defp repaired({:error, reason}, {:error, _reason}), do: {:error, reason}

  @doc false
  # Parses a text; an error has its position: {kind, offset} | {kind, limit, offset} | nil.
  @spec locate(String.t(), keyword()) :: {:ok, json()} | {:error, {reason(), tuple() | nil}}
  def locate(text, opts \\ []), do: native(text, opts, &Native.answer_parse/2)

  @doc false
  # The part of the text that is the JSON. It is not decoded.
  @spec find(String.t(), keyword()) :: {:ok, String.t()} | {:error, {reason(), tuple() | nil}}
  def find(text, opts) do
    with {:ok, start, length} <- native(text, opts, &Native.answer_find/2),
         do: {:ok, binary_part(text, start, length)}
  end

  defp native(text, opts, read) do
    limits = Limits.of_text(opts, byte_size(text))
    reply = Quanta.native(read.(Aligned.text(text), limits))

    case Quanta.finish(reply, byte_size(text)) do
      {:error, reason} when is_atom(reason) -> {:error, {reason, nil}}
      answer -> answer
    end
  catch
    :error, :nif_panicked ->
      _text = Panic.caught()
      {:error, {:invalid_json, nil}}
  end
end

defmodule PtcRunner.SubAgent.JsonRepair do
  @moduledoc false
  # Calls the native repair of an almost valid answer, and describes its repairs in words.

  alias PtcRunner.{Aligned, Native, Quanta}
  alias PtcRunner.Json.Limits
  alias PtcRunner.Native.Panic
  alias PtcRunner.SubAgent.JsonRepair.{Cut, Joined, Lost, Sentence}
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Exact, Firewall}
  require Quanta

  # Maximum length of the text that a repair shows.
  @shown 40

  # The native side truncates paths to this length: the rest may have firewalled fields.
  @deepest 64

  # The repairs whose text is a key, not a part of its value.
  @of_keys [:bare_key, :key_spelling]

  # The repairs that move quotes and brackets.
  @brackets [:extra_open, :extra_close, :missing_close]
  @moves [:inner_quote, :missing_start_quote, :missing_end_quote | @brackets]

  @type repair :: PtcRunner.SubAgent.JsonParser.repair()

  @type refusal ::
          :no_reading
          | :timeout
          | :memory_exceeded
          | {:ambiguous, [map()]}
          | {:truncated, map()}
          | {:lost, [map(), ...]}

  @doc false
  # `type` is a type term, or nil for any value; the option `:exact` is the type along which numbers keep their digits, by default `type`. Of the
  # others only `:timeout`, `:max_heap` and `:truncated` are used: `:complete` closes what is open at the end of the text, `:error` only objects
  # from which nothing can be missing, `:refuse` nothing. With `lost: :refuse`, repairs that change what is said are errors.
  @spec read(String.t(), term(), keyword()) :: {:ok, term(), [repair()]} | {:error, refusal()}
  def read(text, type, opts) do
    limits = Limits.of_text(opts, byte_size(text))
    aligned = Aligned.text(text)
    of = Keyword.get(opts, :exact, type)

    Native.repair_value(aligned, type, at_end(opts), Exact.within?(of), limits)
    |> Quanta.run()
    |> outcome(text, Keyword.get(opts, :lost))
    |> placed(of)
    |> unless_only_typed(aligned, type, opts)
  catch
    :error, :nif_panicked -> panicked()
  end

  @doc false
  # Repairs an answer; `list?`: the type is a list, which may be wrapped. `:ok`: the value is valid,
  # with normalized keys; `:undecided`: it still has to be atomized and validated.
  @spec answer(String.t(), term(), boolean(), keyword()) ::
          {:ok | :undecided, map() | list(), [repair()]} | {:error, refusal()}
  def answer(text, type, list?, opts) do
    limits = Limits.of_text(opts, byte_size(text))
    text = Aligned.text(text)

    Native.repair_answer(text, type, list?, at_end(opts), Exact.within?(type), limits)
    |> Quanta.run()
    |> outcome(text, nil)
    |> placed(type)
    |> unless_only_typed(text, type, opts)
  catch
    :error, :nif_panicked -> panicked()
  end

  defp placed({:error, _reason} = error, _type), do: error

  defp placed({found, value, repairs}, type),
    do: {found, if(Exact.within?(type), do: Exact.placed(value, type), else: value), repairs}

  # A quote that ends a string is read as a part of it, and a bracket as superfluous, only where the syntax is broken, and not
  # because a value is not of the type: the text would become another value.
  defp unless_only_typed({:error, _reason} = error, _text, _type, _opts), do: error
  defp unless_only_typed(outcome, _text, nil, _opts), do: outcome

  defp unless_only_typed(outcome, text, _type, opts) do
    with [_ | _] = moves <- moves(outcome),
         {:ok, _value, _repairs} = untyped <- read(text, nil, Keyword.delete(opts, :lost)),
         [_ | _] <- moves -- moves(untyped),
         false <- simpler?(outcome, untyped) do
      {:error, :no_reading}
    else
      _as_read -> outcome
    end
  end

  # Where the syntax is broken and quotes or brackets move without the type too, fewer brackets may move with it: no text becomes another one.
  defp simpler?(outcome, untyped) do
    [typed, others] = for read <- [outcome, untyped], do: all_moves(read)
    length(typed) < length(others) and Enum.all?(typed, &(&1 in @brackets))
  end

  defp moves(outcome), do: outcome |> all_moves() |> Enum.uniq()

  defp all_moves(outcome) do
    repairs = elem(outcome, tuple_size(outcome) - 1)
    for %{kind: kind} when kind in @moves <- repairs, do: kind
  end

  defp at_end(opts) do
    case Keyword.get(opts, :truncated, :error) do
      :complete -> 0
      :error -> 1
      :refuse -> 2
    end
  end

  defp panicked do
    _text = Panic.caught()
    {:error, :no_reading}
  end

  defp outcome({found, value, repairs}, text, lost) when found in [:ok, :undecided] do
    with false <- Joined.any?(repairs, text),
         [] <- if(lost == :refuse, do: Lost.errors(repairs, text), else: []),
         false <- Joined.divided?(repairs, text) do
      {found, value, Enum.map(repairs, &told(&1, text))}
    else
      true -> {:error, :no_reading}
      errors -> {:error, {:lost, errors}}
    end
  end

  defp outcome({:error, {:ambiguous, places}}, _text, _lost),
    do: {:error, {:ambiguous, for({line, column} <- places, do: %{line: line, column: column})}}

  defp outcome({:error, {:truncated, path, items, after?}}, _text, _lost),
    do: {:error, {:truncated, Cut.place(path, items, after?)}}

  defp outcome({:error, reason}, _text, _lost), do: {:error, reason}

  defp told({kind, start, stop, line, column, path}, text) do
    {path, hidden?} = public(path, kind)

    found =
      cond do
        start == stop -> ""
        hidden? -> "…"
        true -> shown(binary_part(text, start, min(stop - start, @shown)))
      end

    place = ["line ", Integer.to_string(line), ", column ", Integer.to_string(column), ": "]
    message = IO.iodata_to_binary([place | Sentence.text(kind, found, path)])
    %{kind: kind, line: line, column: column, path: path, message: message}
  end

  # The path up to its first firewalled field, and whether the repaired text is part of that field's value.
  defp public(path, kind) do
    case Enum.split_while(path, &(not Firewall.hidden?(&1))) do
      {_whole, []} -> {path, length(path) >= @deepest}
      {above, [field]} -> {above ++ [field], kind not in @of_keys}
      {above, [field | _below]} -> {above ++ [field], true}
    end
  end

  # A copy, without a truncated character.
  defp shown(part) do
    case :unicode.characters_to_binary(part) do
      whole when is_binary(whole) -> :binary.copy(whole)
      {_incomplete, whole, _rest} -> whole
    end
  end

  @doc false
  # The type of a signature, which may be a text, a parsed signature, or a type.
  @spec type(term()) :: term()
  def type(nil), do: nil

  def type(text) when is_binary(text), do: text |> Signature.parsed!() |> type()

  def type({:signature, _params, type}), do: type

  def type(given) when is_list(given) or is_map(given),
    do: given |> Signature.parsed!() |> type()

  def type(type), do: type

  @doc false
  # Whether the found value is only a part of the answer, because the bracket before it is missing.
  @spec part?(String.t()) :: boolean()
  def part?(<<blank, rest::binary>>) when blank in [?\s, ?\t, ?\n, ?\r], do: part?(rest)

  def part?(<<byte, _rest::binary>>) when byte in [?{, ?[], do: false
  def part?(""), do: false
  def part?(text), do: text |> Aligned.text() |> Native.answer_is_part()
end

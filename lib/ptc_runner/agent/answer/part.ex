defmodule PtcRunner.Agent.Answer.Part do
  @moduledoc false
  # From a part of an answer to its value: unchanged, or else coerced, or else repaired, or else repaired
  # and coerced. The first result that fits the signature counts. The text is searched once; a repair is a search of its
  # own, and is tried without the signature only where no JSON was found.

  alias PtcRunner.Agent.Answer.{Asked, Fit, Repaired, Told}
  alias PtcRunner.Agent.{Around, Nearly, Parts, Uncoerced, Wrapper}
  alias PtcRunner.Native.Telemetry
  alias PtcRunner.SubAgent.{JsonParser, JsonRepair}
  alias PtcRunner.SubAgent.JsonRepair.{Cut, Names}
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Answer, Feedback}
  alias PtcRunner.SubAgent.Signature.Enums

  require Telemetry

  @limits [:timeout, :memory_exceeded]

  @doc "The value of a part; what does not fit as it stands may have one obvious meaning."
  @spec nearly(String.t(), Asked.t(), read() | nil) ::
          {:ok, term(), warnings :: [String.t()]}
          | {:error, [map(), ...], feedback :: String.t(), whole? :: boolean()}
  def nearly(text, asked, read \\ nil) do
    {text, told} = unquoted(text, asked)

    case one(text, asked, if(told == [], do: read)) do
      {:ok, value, warnings} ->
        {:ok, value, told ++ warnings ++ Nearly.cut_times(value, text, asked.type)}

      {:error, errors, feedback, {text, found}} ->
        with :error <- surrounded(errors, text, found, asked),
             do: {:error, errors, feedback, not match?({:place, _place}, found)}
    end
  end

  @doc "The JSON in a text that is JSON, where a list or an object is declared, with what is told of that; or else the text."
  @spec unquoted(String.t(), Asked.t()) :: {String.t(), [String.t()]}
  def unquoted(text, %{coerce?: true, repair?: true, wrapped?: false}) do
    case Nearly.unquoted(text) do
      nil -> {text, []}
      inner -> {inner, ["read the text as JSON"]}
    end
  end

  def unquoted(text, _asked), do: {text, []}

  # An object may stand alone in a list, or under a key.
  defp surrounded(errors, text, {:value, value}, %{coerce?: true, repair?: true} = asked) do
    paths = for %{path: path} <- errors, do: path
    # The wrapper of a value is no object of the type.
    least = if asked.wrapped?, do: 1, else: 0

    with true <- Around.any?(value, paths),
         {:ok, json} <- JsonParser.find(text, asked.limits),
         {json, told} <- Around.removed(json, asked.type, paths, least),
         {:ok, value, warnings} <- one(json, asked),
         do: {:ok, value, told ++ warnings ++ Nearly.cut_times(value, text, asked.type)},
         else: (_not_surrounded -> :error)
  end

  defp surrounded(_errors, _text, _found, _asked), do: :error

  @doc """
  The value of a part. An error has the text in which the value is wrapped, and what was found in it. `read` is what `first/2` has found in the
  text, if it was read.
  """
  @spec one(String.t(), Asked.t(), read() | nil) ::
          {:ok, term(), warnings :: [String.t()]}
          | {:error, [map(), ...], feedback :: String.t(), {String.t(), term()}}
  def one(text, asked, read \\ nil) do
    {text, outcome, form} = read || first(text, asked)
    found = found(outcome)
    keys = form && elem(form, 0)
    # Declared keys have no other spelling.
    asked = if keys == :declared, do: %{asked | spelling: :keep}, else: asked

    with [] <- Repaired.clashing(found, asked, keys),
         [] <- misspelled(outcome, found, asked),
         {:error, errors} <- outcome |> exact(asked) |> respelled(found, asked),
         no when no in [:error, :literal] or (is_tuple(no) and elem(no, 0) == :unfit) <-
           converted(text, outcome, {found, keys}, asked) do
      errors = errors |> left(found, asked) |> beside(found, asked)
      {errors, feedback} = both(errors, no, text, found, asked)
      {:error, errors, feedback, {text, found}}
    else
      [_ | _] = errors ->
        {:error, errors, Told.feedback(errors, text, {:place, nil}, asked), {text, :wrong}}

      {:truncated, %{path: path, message: message}} ->
        {:error, [%{path: path, message: message}], Cut.feedback(message), {text, found}}

      {:ok, value, warnings} ->
        {:ok, if(asked.wrapped?, do: Wrapper.unwrapped(value), else: value), warnings}

      {:wrong, value, errors} ->
        {:error, errors, Told.feedback(errors, text, {:value, value}, asked), {text, :wrong}}

      # A text that met a limit is not read again.
      {:limit, wrong} ->
        {:error, wrong, Feedback.text(hd(wrong).message, nil, text, %{}, []), {text, :limit}}
    end
  end

  # Where the syntax can be repaired and values are still wrong, both are told.
  defp both([%{path: []} = syntax] = errors, {:unfit, value}, text, {:place, place}, asked)
       when place != nil do
    found = {:value, value}

    with {:error, [%{path: [_ | _]} | _] = wrong} <- Fit.judged(value, asked, []) do
      wrong = wrong |> left(found, asked) |> beside(found, asked)
      {[syntax | wrong], Told.both(syntax, wrong, text, place, found, asked)}
    else
      _no_values -> {errors, Told.feedback(errors, text, {:place, place}, asked)}
    end
  end

  defp both(errors, _no, text, found, asked),
    do: {errors, Told.feedback(errors, text, found, asked)}

  defp left(errors, {:value, value}, %{coerce?: true, type: type}) when type != nil,
    do: Uncoerced.left(errors, Wrapper.inner(value, type), type)

  defp left(errors, _found, _asked), do: errors

  defp beside(errors, {:value, value}, %{type: type} = asked) when type != nil do
    until = Keyword.get(asked.limits, :until, :infinity)
    Enums.beside(errors, Wrapper.inner(value, type), type, asked.enums, until)
  end

  defp beside(errors, _found, _asked), do: errors

  @typedoc "The text, in which a value that is no object or list is wrapped, what reading it has found, and the form of the value."
  @type read :: {String.t(), Answer.judged(), PtcRunner.Native.Types.form() | nil}

  @doc """
  The place of the object or list in a text that was read, if there are only blanks around it; otherwise nil. Then nothing in the text is a comment,
  thinking, or another value.

      iex> alias PtcRunner.Agent.Answer.{Asked, Part}
      iex> asked = Asked.new({:signature, [], :map}, [])
      iex> for text <- [~s( {"n": 1}\\n), ~s(So: {"n": 1})], do: text |> Part.first(asked) |> Part.whole()
      [{1, 8}, nil]

  """
  @spec whole(read()) :: Parts.span() | nil
  def whole({text, _outcome, {_keys, start, size}}) do
    behind = start + size

    if blank?(binary_part(text, 0, start)) and
         blank?(binary_part(text, behind, byte_size(text) - behind)) and
         text |> binary_part(start, size) |> Parts.begun?(),
       do: {start, size}
  end

  def whole(_no_value), do: nil

  defp blank?(<<byte, rest::binary>>) when byte in [?\s, ?\t, ?\n, ?\r], do: blank?(rest)
  defp blank?(rest), do: rest == ""

  @doc "Reads a part."
  @spec first(String.t(), Asked.t()) :: read()
  def first(text, %{own: type, limits: limits, wrapped?: true} = asked) do
    whole = Wrapper.around(text, type, limits)
    {_whole, outcome, _form} = read = read_all(whole, asked)

    with {:value, value} <- found(outcome),
         true <- is_map(value) or is_list(value) or not string?(text),
         {:ok, whole} <- Wrapper.around_found(whole, value, type, limits) do
      read_all(whole, asked)
    else
      _wrapped_or_none -> read
    end
  end

  def first(text, asked), do: read_all(text, asked)

  defp read_all(text, asked) do
    coerce? = natively?(asked)

    case Answer.read_all(text, asked.signature, coerce?, asked.limits) do
      {{:error, reason, _place}, _form} when coerce? and reason in @limits ->
        uncoerced(text, asked)

      {outcome, form} ->
        {text, outcome, form}
    end
  end

  # What a coercion has built in vain counts for the limits; the deadline is the same.
  defp uncoerced(text, asked) do
    case Answer.read_all(text, asked.signature, false, asked.limits) do
      {outcome, {:declared, start, size}} -> {text, outcome, {:plain, start, size}}
      {outcome, form} -> {text, outcome, form}
    end
  end

  # Enumerations beside the type are checked before a coerced value counts, and a coercion that is observed is one of its own.
  defp natively?(%{coerce?: coerce?, enums: enums}),
    do: coerce? and enums == %{} and not Telemetry.on?()

  defp found(outcome), do: elem(outcome, tuple_size(outcome) - 1)

  # The backticks in a string are its content, also if it was cut off.
  defp string?(text), do: text =~ ~r/\A\s*"/

  defp exact(outcome, asked) do
    case outcome do
      {:ok, value, _found} -> Fit.allowed(value, asked, [])
      {:coerced, value, warnings, _found} -> {:ok, value, warnings}
      {:invalid, {errors, _more}, _line, _found} -> {:error, errors}
      {:error, reason, _found} when reason in @limits -> {:limit, [Fit.error(reason)]}
      {:error, reason, _found} -> {:error, [Fit.error(reason)]}
    end
  end

  # An optional field in another spelling is an undeclared key, and its value would be lost.
  defp respelled(
         {:ok, _value, _told} = right,
         {:value, found},
         %{spelling: :read, type: type} = asked
       )
       when type != nil do
    with true <- Names.optional?(type),
         {value, [_ | _] = warnings} <- found |> Wrapper.inner(type) |> Names.renamed(type) do
      with {:error, _errors} = wrong <- Fit.judged(value, asked, warnings),
           no when no in [:error, :literal] <- Fit.coerce(value, asked, warnings),
           do: wrong
    else
      _as_declared -> right
    end
  end

  defp respelled(other, _found, _asked), do: other

  # Where no key is read in another spelling, an optional field would be lost without a word: it is told with all other errors.
  defp misspelled(outcome, {:value, found}, %{spelling: :refuse, type: type} = asked)
       when type != nil do
    with true <- Names.optional?(type),
         [_ | _] = misspelled <- found |> Wrapper.inner(type) |> Names.misspelled(type) do
      case exact(outcome, asked) do
        {:error, errors} -> misspelled ++ Enum.reject(errors, &at_any?(&1, misspelled))
        _right_or_limit -> misspelled
      end
    else
      _as_declared -> []
    end
  end

  defp misspelled(_outcome, _found, _asked), do: []

  defp at_any?(%{path: path}, errors), do: Enum.any?(errors, &(&1.path == path))

  defp converted(text, outcome, {found, keys}, asked) do
    with :error <- coerced(outcome, found, keys, asked),
         true <- asked.repair? and (not right?(outcome, asked) or JsonRepair.part?(text)),
         :error <- Repaired.read(text, found, asked) do
      Repaired.coerced(text, found, asked)
    else
      false -> :error
      other -> other
    end
  end

  # Whether the JSON that was found has the type: a repair would give the same.
  defp right?({:ok, _value, _found}, _asked), do: true
  defp right?({:error, _reason, {:value, _}}, %{type: nil}), do: true
  defp right?(_outcome, _asked), do: false

  defp coerced({:invalid, _errors, _line, _found}, {:value, value}, :declared, asked) do
    value = Wrapper.inner(value, asked.type)
    # The native side has tried it.
    if natively?(asked), do: Fit.uncoerced(value, asked), else: Fit.coerce(value, asked, [])
  end

  defp coerced(_outcome, {:value, value}, _keys, asked) do
    value = Wrapper.inner(value, asked.type)

    {value, warnings} =
      if asked.repair? and asked.coerce?, do: Names.renamed(value, asked.type), else: {value, []}

    Fit.coerce(value, asked, warnings)
  end

  defp coerced(_outcome, _none, _keys, _asked), do: :error
end

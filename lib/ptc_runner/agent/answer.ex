defmodule PtcRunner.Agent.Answer do
  @moduledoc false
  # From the text of an answer to its value: unchanged, or else coerced, or else repaired, or else repaired
  # and coerced. The first result that fits the signature counts. The text is searched once; a repair is a search of its
  # own, and is tried without the signature only where no JSON was found.

  alias PtcRunner.Agent.Answer.{Asked, Fit, Rows, Told}

  alias PtcRunner.Agent.{
    Around,
    Behind,
    Candidates,
    Commented,
    Elsewhere,
    Nearly,
    Thinking,
    Uncoerced,
    Wrapper
  }

  alias PtcRunner.Json.NumberTokens
  alias PtcRunner.SubAgent.{JsonParser, JsonRepair, Signature}
  alias PtcRunner.SubAgent.JsonRepair.{Cut, Names, Twins}
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Answer, Feedback}
  alias PtcRunner.SubAgent.Signature.{Base, Enums, Exact}

  @limits [:timeout, :memory_exceeded]

  @type result ::
          {:ok, term(), warnings :: [String.t()]}
          | {:error, errors :: [map(), ...], feedback :: String.t(), whole? :: boolean()}

  @doc """
  See `PtcRunner.Agent.answer/3`; the options are already validated. `whole?`: the text has a whole JSON value, or met a
  limit, so that its beginning need not be read to explain the errors.
  """
  @spec read(String.t(), Signature.t() | nil, keyword()) :: result()
  def read(text, signature, opts) do
    with {:error, _errors, _feedback, _whole?} = error <- as_it_is(text, signature, opts) do
      case with_large(text, signature) do
        nil -> error
        text -> with {:error, _, _, _} <- as_it_is(text, signature, opts), do: error
      end
    end
  end

  # A number that no float can hold is the text of its digits, which is a decimal too.
  defp with_large(text, {:signature, _params, type}),
    do: if(Exact.within?(type), do: NumberTokens.with_large_quoted(text))

  defp with_large(_text, nil), do: nil

  defp as_it_is(text, signature, opts) do
    {text, _commented?} = blanked = text |> Thinking.blanked() |> Commented.blanked()
    asked = Asked.new(signature, opts)

    read =
      case Nearly.sign(text) do
        nil -> chosen(text, asked)
        sign -> refused([signed(sign, "before")], text, asked)
      end

    with {:error, _errors, _feedback, _whole?} <- read,
         true <- Commented.all?(blanked),
         do: refused([commented()], text, asked),
         else: (_other -> read)
  end

  defp chosen(text, asked) do
    choosing = [fenced: true, plain: asked.wrapped?]

    case Candidates.choose(text, &value_of(&1, asked), choosing) do
      :one ->
        alone(text, nil, asked)

      {:only, part} ->
        alone(text, part, asked)

      {:last, part, count} ->
        with {:ok, value, warnings} <- alone(text, part, asked),
             do: {:ok, value, ["took the last of #{count} answers" | warnings]}

      {:several, count} ->
        refused([several(count)], text, %{asked | limits: []})
    end
  end

  defp alone(text, part, asked) do
    with {:ok, value, _warnings} = right <- read_part(part, text, asked) do
      case around(text, part, value, asked) do
        nil -> right
        error -> refused([error], text, asked)
      end
    end
  end

  # The error of what stands beside a value and would be lost.
  defp around(text, part, value, asked) do
    cond do
      sign = Behind.found(text, part, value) -> signed(sign, "behind")
      sign = Elsewhere.operator(text) -> signed(sign, "before")
      true -> elsewhere(Elsewhere.lost(text, part, value, asked.own))
    end
  end

  defp elsewhere(nil), do: nil
  defp elsewhere(:value), do: several(2)
  defp elsewhere({:field, field}), do: signed(field, "beside")

  defp read_part(nil, text, asked) do
    with {:several, count} <- text |> nearly(asked) |> Rows.all(text, asked, &nearly/2),
         do: refused([several(count)], text, %{asked | limits: []})
  end

  defp read_part(part, _text, asked), do: nearly(part, asked)

  defp refused(errors, text, asked),
    do: {:error, errors, Told.feedback(errors, text, {:place, nil}, asked), true}

  @doc """
  The value of an answer that is valid as it stands, or its errors. Which of several values counts is decided as by `read/3`, so that both agree.

      iex> PtcRunner.Agent.Answer.exactly(~s(<think>{"n": 1}</think>{"n": "2"}), {:signature, [], {:map, [{"n", :string}]}}, [])
      {:ok, %{"n" => "2"}}

  """
  @spec exactly(String.t(), Signature.t() | nil, keyword()) ::
          {:ok, term()} | {:error, [map(), ...]}
  def exactly(text, signature, opts) do
    {text, _commented?} = blanked = text |> Thinking.blanked() |> Commented.blanked()
    asked = Asked.new(signature, opts)
    strict = Asked.new(signature, coerce: false, repair: false)
    strict = %{strict | limits: asked.limits, spelling: :refuse}

    sign = Nearly.sign(text)
    choosing = [fenced: true, plain: asked.wrapped?]

    read =
      case sign || Candidates.choose(text, &value_of(&1, asked), choosing) do
        ^sign when sign != nil -> {:error, [signed(sign, "before")]}
        :one -> alone_exactly(text, nil, signature, asked, strict)
        {:only, part} -> alone_exactly(text, part, signature, asked, strict)
        {:last, part, _count} -> alone_exactly(text, part, signature, asked, strict)
        {:several, count} -> {:error, [several(count)]}
      end

    if match?({:error, _errors}, read) and Commented.all?(blanked),
      do: {:error, [commented()]},
      else: read
  end

  defp alone_exactly(text, part, signature, asked, strict) do
    with {:ok, value} = right <- made_exactly(part || text, signature, asked, strict) do
      case around(text, part, value, asked) do
        nil -> right
        error -> {:error, [error]}
      end
    end
  end

  # What `read/3` takes without a repair and without a warning is not converted.
  defp made_exactly(text, signature, asked, strict) do
    with {:error, errors, _feedback, _found} <- one(text, strict) do
      with {^text, []} <- unquoted(text, asked),
           {:ok, value, []} <- nearly(text, %{asked | repair?: false, spelling: :refuse}),
           do: {:ok, value},
           else: (_converted -> {:error, errors})
    else
      {:ok, nil, _none} when asked.wrapped? -> missing(text, asked)
      {:ok, value, _none} -> {:ok, value |> with_defaults(signature) |> Answer.made(signature)}
    end
  end

  defp with_defaults(value, nil), do: value

  defp with_defaults(value, {:signature, _params, type}),
    do: value |> Nearly.defaults(type) |> elem(0)

  # A value that is missing in its wrapper, or null, may have a default.
  defp missing(text, asked) do
    case nearly(text, %{asked | repair?: false}) do
      {:ok, value, _told} -> {:ok, value}
      _null -> {:ok, nil}
    end
  end

  defp signed(sign, where),
    do: %{path: [], message: "The answer has #{sign} #{where} its value: write the value alone"}

  defp commented,
    do: %{path: [], message: "The answer stands in a comment: write the value alone"}

  defp several(count),
    do: %{path: [], message: "The answer has #{count} different values: write one"}

  defp value_of(text, asked) do
    # An object where a list is declared may be one of its lines.
    with false <-
           String.starts_with?(text, "{") and Base.list?(asked.type) and
             not (text =~ ~s("items")),
         {:ok, value, _warnings} <- nearly(text, asked) do
      {:ok, value}
    else
      _other -> :error
    end
  end

  # What does not fit as it stands may have one obvious meaning.
  defp nearly(text, asked) do
    {text, told} = unquoted(text, asked)

    case one(text, asked) do
      {:ok, value, warnings} ->
        {:ok, value, told ++ warnings ++ Nearly.cut_times(value, text)}

      {:error, errors, feedback, {text, found}} ->
        with :error <- surrounded(errors, text, found, asked),
             do: {:error, errors, feedback, not match?({:place, _place}, found)}
    end
  end

  # A text that is JSON, where a list or an object is declared.
  defp unquoted(text, %{coerce?: true, repair?: true, wrapped?: false}) do
    case Nearly.unquoted(text) do
      nil -> {text, []}
      inner -> {inner, ["read the text as JSON"]}
    end
  end

  defp unquoted(text, _asked), do: {text, []}

  # An object may stand alone in a list, or under a key.
  defp surrounded(errors, text, {:value, value}, %{coerce?: true, repair?: true} = asked) do
    paths = for %{path: path} <- errors, do: path
    # The wrapper of a value is no object of the type.
    least = if asked.wrapped?, do: 1, else: 0

    with true <- Around.any?(value, paths),
         {:ok, json} <- JsonParser.find(text, asked.limits),
         {json, told} <- Around.removed(json, asked.type, paths, least),
         {:ok, value, warnings} <- one(json, asked),
         do: {:ok, value, told ++ warnings ++ Nearly.cut_times(value, text)},
         else: (_not_surrounded -> :error)
  end

  defp surrounded(_errors, _text, _found, _asked), do: :error

  # An error has the text in which the value is wrapped, and what was found in it.
  defp one(text, asked) do
    {text, outcome} = read = outcome(text, asked)
    found = found(read)

    with [] <- clashing(found, asked, Twins.may_have?(text)),
         [] <- misspelled(outcome, found, asked),
         {:error, errors} <- outcome |> exact(asked) |> respelled(found, asked),
         no when no in [:error, :literal] or (is_tuple(no) and elem(no, 0) == :unfit) <-
           converted(text, outcome, found, asked) do
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

  # The text, in which a value that is no object or list is wrapped, and what reading it has found.
  defp outcome(text, %{own: type, limits: limits, wrapped?: true} = asked) do
    whole = Wrapper.around(text, type, limits)
    read = read_all(whole, asked)

    with {:value, value} <- found(read),
         true <- is_map(value) or is_list(value) or not string?(text),
         {:ok, whole} <- Wrapper.around_found(whole, value, type, limits) do
      read_all(whole, asked)
    else
      _wrapped_or_none -> read
    end
  end

  defp outcome(text, asked), do: read_all(text, asked)

  defp read_all(text, asked), do: {text, Answer.read_all(text, asked.signature, asked.limits)}
  defp found({_text, outcome}), do: elem(outcome, tuple_size(outcome) - 1)

  # The backticks in a string are its content, also if it was cut off.
  defp string?(text), do: text =~ ~r/\A\s*"/

  defp exact(outcome, asked) do
    case outcome do
      {:ok, value, _found} -> Fit.allowed(value, asked, [])
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

  defp converted(text, outcome, found, asked) do
    with :error <- coerced(found, asked),
         true <- asked.repair? and (not right?(outcome, asked) or JsonRepair.part?(text)),
         :error <- repaired(text, found, asked) do
      repaired_and_coerced(text, found, asked)
    else
      false -> :error
      other -> other
    end
  end

  # Whether the JSON that was found has the type: a repair would give the same.
  defp right?({:ok, _value, _found}, _asked), do: true
  defp right?({:error, _reason, {:value, _}}, %{type: nil}), do: true
  defp right?(_outcome, _asked), do: false

  # Two keys that are one field, with different values, or that the answer has as one key.
  defp clashing(found, asked, hyphens? \\ true)

  defp clashing({:value, value}, %{type: type}, hyphens?) do
    value = if type == nil, do: value, else: Wrapper.inner(value, type)
    fields = if type == nil, do: [], else: Names.clashes(value, type)
    if hyphens?, do: Enum.uniq(fields ++ Twins.clashes(value)), else: fields
  end

  defp clashing(_found, _asked, _hyphens?), do: []

  defp coerced({:value, value}, asked) do
    value = Wrapper.inner(value, asked.type)

    {value, warnings} =
      if asked.repair? and asked.coerce?, do: Names.renamed(value, asked.type), else: {value, []}

    Fit.coerce(value, asked, warnings)
  end

  defp coerced(_none, _asked), do: :error

  defp repaired(text, found, asked) do
    limits = [{:truncated, asked.truncated}, {:lost, :refuse} | asked.limits]

    case JsonRepair.read(text, asked.type, limits) do
      {:ok, value, repairs} ->
        if unclear?(repairs, text, found, asked) do
          :error
        else
          with [] <- grouped(value, repairs, text, asked),
               [] <- clashing({:value, value}, asked),
               do: value |> Fit.unwrapped(asked) |> Fit.fitting(messages(repairs), asked)
        end

      {:error, {:lost, errors}} ->
        errors

      {:error, reason} ->
        cut(reason, found)
    end
  end

  # Whether it is not known which of several keys was meant by a repair.
  defp unclear?(repairs, text, found, asked) do
    Enum.any?(repairs, &(&1.kind == :key_spelling)) and
      case written(text, found, asked) do
        {:ok, value} -> Names.several?(Wrapper.inner(value, asked.type), asked.type)
        :error -> false
      end
  end

  # The value with the keys of the text.
  defp written(_text, {:value, value}, _asked), do: {:ok, value}

  defp written(text, _found, asked) do
    with {:ok, value, _repairs} <- JsonRepair.read(text, nil, asked.limits),
         do: {:ok, value},
         else: (_error -> :error)
  end

  # Where JSON was found, it was coerced already, unless it is only a part of the answer. Without the type, it is not known
  # which fields are missing at the end.
  defp repaired_and_coerced(text, found, asked) do
    truncated = if asked.truncated == :error, do: :refuse, else: asked.truncated

    with true <- asked.coerce? and (match?({:place, _}, found) or JsonRepair.part?(text)),
         {:ok, value, repairs} <-
           JsonRepair.read(text, nil, [
             {:truncated, truncated},
             {:exact, asked.type},
             {:lost, :refuse} | asked.limits
           ]),
         [] <- grouped(value, repairs, text, asked),
         [] <- clashing({:value, value}, asked) do
      {value, warnings} = value |> Fit.unwrapped(asked) |> Names.renamed(asked.type)

      with no when no in [:error, :literal] <-
             Fit.coerce(value, asked, messages(repairs) ++ warnings),
           do: {:unfit, value}
    else
      {:error, {:lost, errors}} -> errors
      {:error, reason} -> cut(reason, found)
      false -> :error
      wrong -> wrong
    end
  end

  # A number with grouping signs is the error that it is in quotes.
  defp grouped(value, repairs, text, asked) do
    case Nearly.grouped(repairs, text) do
      [] ->
        []

      numbers ->
        value = value |> Nearly.put_texts(numbers) |> Fit.unwrapped(asked)

        errors =
          with %{type: type} when type != nil <- asked,
               {:error, errors} <- Fit.judged(value, asked, []),
               do: errors,
               else: (_any -> [])

        {:wrong, value, Nearly.about_grouped(numbers, errors)}
    end
  end

  # A value that was found in the text is judged as it is.
  defp cut({:truncated, place}, {:place, _}), do: {:truncated, place}
  defp cut(_reason, _found), do: :error

  defp messages(repairs), do: Enum.map(repairs, & &1.message)
end

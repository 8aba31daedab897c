defmodule PtcRunner.Agent.Answer do
  @moduledoc false
  # From the text of an answer to its value: unchanged, or else coerced, or else repaired, or else repaired
  # and coerced. The first result that fits the signature counts. The text is searched once; a repair is a search of its
  # own, and is tried without the signature only where no JSON was found.

  alias PtcRunner.Agent.{Around, Candidates, Literals, Nearly, Thinking, Uncoerced, Wrapper}
  alias PtcRunner.Json.Limits
  alias PtcRunner.Options
  alias PtcRunner.SubAgent.{JsonParser, JsonRepair, KeyNormalizer, Signature}
  alias PtcRunner.SubAgent.JsonRepair.{Cut, Names}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Answer, Feedback}
  alias PtcRunner.SubAgent.Signature.{Annotations, Base, Coercion, Enums}

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
    text = Thinking.blanked(text)
    asked = asked(signature, opts)
    choosing = [fenced: true, plain: asked.wrapped?]

    case Candidates.choose(text, &value_of(&1, asked), choosing) do
      :one ->
        nearly(text, asked)

      {:only, part} ->
        nearly(part, asked)

      {:last, part, count} ->
        with {:ok, value, warnings} <- nearly(part, asked),
             do: {:ok, value, ["took the last of #{count} answers" | warnings]}

      {:several, count} ->
        errors = [%{path: [], message: "The answer has #{count} different values: write one"}]
        {:error, errors, feedback(errors, text, {:place, nil}, %{asked | limits: []}), true}
    end
  end

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

  defp asked(signature, opts) do
    began = System.monotonic_time(:millisecond)
    coerce? = signature != nil and Keyword.get(opts, :coerce, true)
    repair? = Keyword.get(opts, :repair, true)
    enums = enums(signature, Wrapper.wrapped(signature), opts)
    signature = if coerce? and repair?, do: nullable(signature), else: signature
    wrapped = Wrapper.wrapped(signature)

    %{
      own: type(signature),
      wrapped?: wrapped != signature,
      signature: wrapped,
      type: type(wrapped),
      enums: enums,
      limits: opts |> Options.given([:timeout, :max_heap]) |> Limits.shared(began),
      coerce?: coerce?,
      repair?: repair?,
      truncated: Keyword.get(opts, :truncated, :error)
    }
  end

  defp nullable({:signature, params, type}), do: {:signature, params, Nearly.nullable(type)}

  defp type({:signature, _params, type}), do: type
  defp type(nil), do: nil

  # An error has the text in which the value is wrapped, and what was found in it.
  defp one(text, asked) do
    {text, outcome} = read = outcome(text, asked)
    found = found(read)

    with {:error, errors} <- outcome |> exact(asked) |> respelled(found, asked),
         no when no in [:error, :literal] <- converted(text, outcome, found, asked) do
      errors = errors |> left(found, asked) |> beside(found, asked)
      {:error, errors, feedback(errors, text, found, asked), {text, found}}
    else
      {:truncated, %{path: path, message: message}} ->
        {:error, [%{path: path, message: message}], Cut.feedback(message), {text, found}}

      {:ok, value, warnings} ->
        {:ok, if(asked.wrapped?, do: Wrapper.unwrapped(value), else: value), warnings}

      {:wrong, errors} ->
        {:error, errors, feedback(errors, text, found, asked), {text, :wrong}}

      # A text that met a limit is not read again.
      {:limit, wrong} ->
        {:error, wrong, Feedback.text(hd(wrong).message, nil, text, %{}, []), {text, :limit}}
    end
  end

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

  defp enums(nil, _wrapped, _opts), do: %{}

  # The enumeration of a wrapped value is under the wrapper's key.
  defp enums({:signature, _params, type}, wrapped, opts) do
    case {Annotations.of!(opts, type).enums, wrapped} do
      {%{"" => values}, {:signature, _, {:map, [{name, _type}]}}} -> %{name => values}
      {enums, _wrapped} -> enums
    end
  end

  defp exact(outcome, asked) do
    case outcome do
      {:ok, value, _found} -> allowed(value, asked, [])
      {:invalid, {errors, _more}, _line, _found} -> {:error, errors}
      {:error, reason, _found} when reason in @limits -> {:limit, [error(reason)]}
      {:error, reason, _found} -> {:error, [error(reason)]}
    end
  end

  # An optional field in another spelling is an undeclared key, and its value would be lost.
  defp respelled(
         {:ok, _value, _told} = right,
         {:value, found},
         %{repair?: true, type: type} = asked
       )
       when type != nil do
    with true <- Names.optional?(type),
         {value, [_ | _] = warnings} <- found |> Wrapper.inner(type) |> Names.renamed(type) do
      with {:error, _errors} = wrong <- judged(value, asked, warnings),
           no when no in [:error, :literal] <- coerce(value, asked, warnings),
           do: wrong
    else
      _as_declared -> right
    end
  end

  defp respelled(other, _found, _asked), do: other

  defp error(reason), do: %{path: [], message: Answer.message(reason)}

  # A number or string in a fence, where an object or a list is expected.
  defp judged(value, _asked, _warnings) when not is_map(value) and not is_list(value),
    do: {:error, [error(:not_an_object)]}

  defp judged(value, asked, warnings) do
    with {:ok, value} <- Answer.judged(value, asked.signature),
         do: allowed(value, asked, warnings)
  end

  defp allowed(value, %{signature: nil}, warnings), do: {:ok, value, warnings}

  defp allowed(value, asked, warnings) do
    until = Keyword.get(asked.limits, :until, :infinity)

    case Enums.errors(value, asked.type, asked.enums, until) do
      [] -> made(value, asked, warnings)
      :timeout -> {:limit, [error(:timeout)]}
      errors -> {:error, errors}
    end
  end

  defp made(value, %{coerce?: false}, warnings), do: {:ok, value, warnings}

  defp made(value, %{type: type}, warnings) do
    {value, told} = Nearly.defaults(value, type)
    {:ok, value |> Base.made(type) |> KeyNormalizer.normalize_keys(), warnings ++ told}
  end

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

  defp coerced({:value, value}, asked) do
    value = Wrapper.inner(value, asked.type)

    {value, warnings} =
      if asked.repair? and asked.coerce?, do: Names.renamed(value, asked.type), else: {value, []}

    coerce(value, asked, warnings)
  end

  defp coerced(_none, _asked), do: :error

  defp coerce(_value, %{coerce?: false}, _warnings), do: :error

  defp coerce(value, %{type: type} = asked, warnings) do
    {value, told} =
      value |> Wrapper.inner(type) |> Names.hyphenated(type) |> Nearly.defaults(type)

    with {:ok, value, more} <- Coercion.coerce(value, type),
         false <- Literals.named?(more),
         {:ok, value, warnings} <- allowed(value, asked, warnings ++ told ++ more) do
      {:ok, KeyNormalizer.normalize_keys(value), warnings}
    else
      {:error, _reason} -> :error
      # A repair must not read null as a text without quotes.
      true -> :literal
      {:limit, errors} -> {:limit, errors}
    end
  end

  defp repaired(text, found, asked) do
    limits = [{:truncated, asked.truncated} | asked.limits]

    case JsonRepair.read(text, asked.type, limits) do
      {:ok, value, repairs} ->
        with [] <- grouped(value, repairs, text, asked),
             do: value |> unwrapped(asked) |> fitting(messages(repairs), asked)

      {:error, reason} ->
        cut(reason, found)
    end
  end

  # Where JSON was found, it was coerced already, unless it is only a part of the answer. Without the type, it is not known
  # which fields are missing at the end.
  defp repaired_and_coerced(text, found, asked) do
    truncated = if asked.truncated == :error, do: :refuse, else: asked.truncated

    with true <- asked.coerce? and (match?({:place, _}, found) or JsonRepair.part?(text)),
         {:ok, value, repairs} <-
           JsonRepair.read(text, nil, [
             {:truncated, truncated},
             {:exact, asked.type} | asked.limits
           ]),
         [] <- grouped(value, repairs, text, asked) do
      {value, warnings} = value |> unwrapped(asked) |> Names.renamed(asked.type)
      coerce(value, asked, messages(repairs) ++ warnings)
    else
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
        errors =
          with %{type: type} when type != nil <- asked,
               value = Nearly.put_texts(value, numbers),
               {:error, errors} <- judged(unwrapped(value, asked), asked, []),
               do: errors,
               else: (_any -> [])

        {:wrong, Nearly.about_grouped(numbers, errors)}
    end
  end

  # A value that was found in the text is judged as it is.
  defp cut({:truncated, place}, {:place, _}), do: {:truncated, place}
  defp cut(_reason, _found), do: :error

  defp fitting(value, warnings, %{signature: nil}),
    do: if(is_map(value), do: {:ok, value, warnings}, else: :error)

  defp fitting(value, warnings, asked) do
    # A key in another spelling is left only if its value does not fit.
    with {_value, []} <- Names.renamed(value, asked.type),
         {:ok, value, warnings} <- judged(value, asked, warnings) do
      {:ok, value, warnings}
    else
      {:limit, errors} -> {:limit, errors}
      _wrong -> :error
    end
  end

  # The value of a repaired text.
  defp unwrapped(value, %{type: nil}), do: value

  defp unwrapped(value, asked) do
    value = Wrapper.inner(value, asked.type)
    if asked.wrapped?, do: Wrapper.object(value, asked.own), else: value
  end

  defp messages(repairs), do: Enum.map(repairs, & &1.message)

  defp feedback(errors, text, found, asked) do
    agent = %{parsed_signature: asked.signature}
    opts = [{:feedback, :detailed}, {:found, found} | asked.limits]

    case errors do
      [%{path: [], message: message}] ->
        Feedback.text(message, nil, text, agent, opts)

      errors ->
        line = JsonHandler.format_validation_errors(errors)
        Feedback.text(line, {errors, 0}, text, agent, opts)
    end
  end
end

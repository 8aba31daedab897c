defmodule PtcRunner.Agent.Answer do
  @moduledoc false
  # From the text of an answer to its value: unchanged, or else coerced, or else repaired, or else repaired
  # and coerced. The first result that fits the signature counts. The text is searched once; a repair is a search of its
  # own, and is tried without the signature only where no JSON was found.

  alias PtcRunner.Agent.{Literals, Nearly, Thinking, Uncoerced, Values}
  alias PtcRunner.Json.{Codec, Limits}
  alias PtcRunner.Options
  alias PtcRunner.SubAgent.{JsonParser, JsonRepair, KeyNormalizer, Signature}
  alias PtcRunner.SubAgent.JsonRepair.{Cut, Names}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Answer, Feedback}
  alias PtcRunner.SubAgent.Signature.{Annotations, Base, Coercion, Enums}

  # The key in an object that wraps a value that is not an object or list.
  @value "value"

  @limits [:timeout, :memory_exceeded]

  defguardp is_other(object)
            when is_map(object) and not is_map_key(object, @value) and map_size(object) > 0

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

    case Values.choose(text, &value_of(&1, signature, opts)) do
      :one ->
        nearly(text, signature, opts)

      {:only, part} ->
        nearly(part, signature, opts)

      {:last, part, count} ->
        with {:ok, value, warnings} <- nearly(part, signature, opts),
             do: {:ok, value, ["took the last of #{count} answers" | warnings]}

      {:several, count} ->
        errors = [%{path: [], message: "The answer has #{count} different values: write one"}]

        {:error, errors,
         feedback(errors, text, {:place, nil}, %{signature: wrapped(signature), limits: []}),
         true}
    end
  end

  defp value_of(text, signature, opts) do
    # An object where a list is declared may be one of its lines.
    with false <-
           String.starts_with?(text, "{") and Base.list?(type(signature)) and
             not (text =~ ~s("items")),
         {:ok, value, _warnings} <- nearly(text, signature, opts) do
      {:ok, value}
    else
      _other -> :error
    end
  end

  # What does not fit as it stands may have one obvious meaning.
  defp nearly(text, signature, opts) do
    case one(text, signature, opts) do
      {:ok, value, warnings} ->
        {value, defaults} = Nearly.defaults(value, type(signature))
        {:ok, value, warnings ++ defaults ++ Nearly.cut_times(value, text)}

      {:error, errors, _feedback, _whole?} = error ->
        type = type(signature)

        if type != nil and Keyword.get(opts, :repair, true) and Keyword.get(opts, :coerce, true) and
             (Base.makes?(type) or Enum.any?(errors, &absent?/1)),
           do: meant(error, text, signature, opts),
           else: error
    end
  end

  # The whole, or a field, is not there: it may stand at another place.
  defp absent?(%{path: path, message: message}),
    do: path == [] or String.starts_with?(message, "expected field")

  defp meant(error, text, signature, opts) do
    case JsonParser.locate(text, Options.given(opts, [:timeout, :max_heap])) do
      {:ok, value} ->
        {value, defaults} = Nearly.defaults(value, type(signature))
        error = if defaults == [], do: error, else: again(value, signature, opts, defaults)
        if elem(error, 0) == :ok, do: error, else: taken(error, value, signature, opts, defaults)

      {:error, _reason} ->
        error
    end
  end

  defp taken(error, value, signature, opts, warnings) do
    with {object, warning} <- Nearly.object(value, type(signature)),
         {:ok, _value, _warnings} = taken <- again(object, signature, opts, [warning | warnings]),
         do: taken,
         else: (_no -> error)
  end

  defp again(value, signature, opts, warnings) do
    with {:ok, value, more} <- value |> Codec.encode!() |> one(signature, opts),
         do: {:ok, value, warnings ++ more}
  end

  defp type({:signature, _params, type}), do: type
  defp type(nil), do: nil

  defp one(text, signature, opts) do
    began = System.monotonic_time(:millisecond)
    limits = opts |> Options.given([:timeout, :max_heap]) |> Limits.shared(began)
    wrapped = wrapped(signature)

    asked = %{
      signature: wrapped,
      type: if(wrapped, do: elem(wrapped, 2)),
      enums: enums(signature, wrapped, opts),
      limits: limits,
      coerce?: signature != nil and Keyword.get(opts, :coerce, true),
      repair?: Keyword.get(opts, :repair, true),
      truncated: Keyword.get(opts, :truncated, :error)
    }

    {text, outcome} = outcome(text, signature, asked)
    found = elem(outcome, tuple_size(outcome) - 1)

    with {:error, errors} <- outcome |> exact(asked) |> respelled(found, asked),
         no when no in [:error, :literal] <- converted(text, outcome, found, asked) do
      errors = errors |> left(found, asked) |> beside(found, asked)
      {:error, errors, feedback(errors, text, found, asked), whole?(found)}
    else
      {:truncated, %{path: path, message: message}} ->
        {:error, [%{path: path, message: message}], Cut.feedback(message), whole?(found)}

      {:ok, value, warnings} ->
        {:ok, unwrapped(value, signature), warnings}

      {:wrong, errors} ->
        {:error, errors, feedback(errors, text, found, asked), true}

      # A text that met a limit is not read again.
      {:limit, wrong} ->
        {:error, wrong, Feedback.text(hd(wrong).message, nil, text, %{}, []), true}
    end
  end

  defp left(errors, {:value, value}, %{coerce?: true, type: type}) when type != nil,
    do: Uncoerced.left(errors, items(value, type), type)

  defp left(errors, _found, _asked), do: errors

  defp beside(errors, {:value, value}, %{type: type} = asked) when type != nil do
    until = Keyword.get(asked.limits, :until, :infinity)
    Enums.beside(errors, items(value, type), type, asked.enums, until)
  end

  defp beside(errors, _found, _asked), do: errors

  defp whole?(found), do: match?({:value, _value}, found)

  @doc """
  The signature for the model: a type that is not an object or list is wrapped in an object, since an
  interface for structured output, and a text around the JSON, allow nothing else.

      iex> PtcRunner.Agent.Answer.wrapped({:signature, [], :int})
      {:signature, [], {:map, [{"value", :int}]}}

  """
  @spec wrapped(Signature.t() | nil) :: Signature.t() | nil
  def wrapped({:signature, params, type} = signature),
    do: if(scalar?(type), do: {:signature, params, {:map, [{@value, type}]}}, else: signature)

  def wrapped(nil), do: nil

  defp scalar?({:optional, _type}), do: true

  defp scalar?({:where, :any, rules}),
    do: rules[:enum] != nil and not Enum.any?(rules[:enum], &(is_map(&1) or is_list(&1)))

  defp scalar?({:where, type, _rules}), do: scalar?(type)
  defp scalar?({:defs, names, type}), do: type |> named(names) |> scalar?()
  defp scalar?({:one_of, types, _field}), do: Enum.any?(types, &scalar?/1)

  defp scalar?(type),
    do: type in [:string, :int, :float, :number, :bool, :keyword, :datetime, :date, :decimal]

  # The text, in which a bare number or string is wrapped, and what reading it has found.
  defp outcome(text, {:signature, _params, type}, asked) do
    if scalar?(type) do
      bare = String.trim(text)
      text = wrap(bare, text, type, asked.limits)

      case Answer.read_all(text, asked.signature, asked.limits) do
        # Only a fence can have a value that is neither an object nor a list. The backticks in a string are its content,
        # also if it was cut off.
        {:error, :not_an_object, {:value, value}} when not is_map(value) and not is_list(value) ->
          if String.starts_with?(bare, "\""),
            do: read_all(text, asked),
            else: read_value(value, asked)

        outcome ->
          case elem(outcome, tuple_size(outcome) - 1) do
            {:value, object} when is_other(object) ->
              object |> bare(type) |> rewrapped(text, outcome, asked)

            _found ->
              {text, outcome}
          end
      end
    else
      read_all(text, asked)
    end
  end

  defp outcome(text, nil, asked), do: read_all(text, asked)

  # An object that is not the wrapper stands for itself, and is not null.
  defp rewrapped({:ok, value}, _text, _outcome, asked), do: read_value(value, asked)
  defp rewrapped(:error, text, outcome, _asked), do: {text, outcome}

  defp read_value(value, asked), do: read_all(Codec.encode!(%{@value => value}), asked)
  defp read_all(text, asked), do: {text, Answer.read_all(text, asked.signature, asked.limits)}

  defp wrap(bare, text, type, limits) do
    {timeout, max_heap} = Limits.of_text(limits, byte_size(text))

    with {:ok, value} <- Codec.decode(bare, timeout: timeout, max_heap: max_heap),
         {:ok, value} <- bare(value, type) do
      # A number keeps its digits, as they are written.
      if is_number(value), do: ~s({"#{@value}": #{bare}}), else: Codec.encode!(%{@value => value})
    else
      _wrapped_or_none -> text
    end
  end

  # The value that stands for itself. An object does if the type takes objects, as in `{name :string}?`; a list may be under `"items"`.
  defp bare(value, _type) when not is_map(value), do: {:ok, value}
  defp bare(%{@value => _}, _type), do: :error

  defp bare(value, type) do
    case {value, inside(type)} do
      {%{"items" => items}, {:list, _type}} when is_list(items) -> {:ok, items}
      {object, _type} when object == %{} -> :error
      {_object, inner} -> if object?(inner) or optional?(type), do: {:ok, value}, else: :error
    end
  end

  # An object without the wrapper's key would be null.
  defp optional?({:optional, _type}), do: true
  defp optional?({:where, type, _rules}), do: optional?(type)
  defp optional?({:defs, _names, type}), do: optional?(type)
  defp optional?(_type), do: false

  defp inside({:optional, type}), do: inside(type)
  defp inside({:where, type, _rules}), do: inside(type)
  defp inside({:defs, names, type}), do: type |> named(names) |> inside()
  defp inside(type), do: type

  defp object?(type) do
    case inside(type) do
      {:one_of, types, _field} -> Enum.any?(types, &object?/1)
      {kind, _fields} when kind in [:map, :closed_map, :map_of] -> true
      {:struct, _module, _type} -> true
      type -> type in [:map, :any]
    end
  end

  defp unwrapped(value, {:signature, _params, type}),
    do: if(scalar?(type), do: Map.get(value, @value), else: value)

  defp unwrapped(value, nil), do: value

  defp enums(nil, _wrapped, _opts), do: %{}

  # The enumeration of a wrapped value is under the wrapper's key.
  defp enums({:signature, _params, type}, wrapped, opts) do
    case {Annotations.of!(opts, type).enums, wrapped} do
      {%{"" => values}, {:signature, _, {:map, [{@value, _}]}}} -> %{@value => values}
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
  defp respelled({:ok, _value, []} = right, {:value, found}, %{repair?: true, type: type} = asked)
       when type != nil do
    with true <- Names.optional?(type),
         {value, [_ | _] = warnings} <- found |> items(type) |> Names.renamed(type) do
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
      [] -> {:ok, if(asked.coerce?, do: Base.made(value, asked.type), else: value), warnings}
      :timeout -> {:limit, [error(:timeout)]}
      errors -> {:error, errors}
    end
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
    value = items(value, asked.type)

    {value, warnings} =
      if asked.repair? and asked.coerce?, do: Names.renamed(value, asked.type), else: {value, []}

    coerce(value, asked, warnings)
  end

  defp coerced(_none, _asked), do: :error

  defp coerce(_value, %{coerce?: false}, _warnings), do: :error

  defp coerce(value, %{type: type} = asked, warnings) do
    value = value |> items(type) |> Names.hyphenated(type)

    with {:ok, value, more} <- Coercion.coerce(value, type),
         false <- Literals.named?(more),
         {:ok, value, warnings} <- allowed(value, asked, warnings ++ more) do
      {:ok, KeyNormalizer.normalize_keys(value), warnings}
    else
      {:error, _reason} -> :error
      # A repair must not read null as a text without quotes.
      true -> :literal
      {:limit, errors} -> {:limit, errors}
    end
  end

  defp items(value, {:where, type, _rules}), do: items(value, type)
  defp items(value, {:defs, names, type}), do: items(value, named(type, names))
  defp items(%{"items" => items}, {:list, _type}) when is_list(items), do: items

  # In a schema for a provider, a union is a property of an object.
  defp items(%{@value => value} = whole, {:one_of, types, _field})
       when is_map(value) and map_size(whole) == 1,
       do: if(Enum.any?(types, &value_field?/1), do: whole, else: value)

  defp items(value, _type), do: value

  # What a name stands for; a name may stand for a name.
  defp named({:ref, name}, names) when is_map_key(names, name) do
    {type, names} = Map.pop!(names, name)
    named(type, names)
  end

  defp named(type, _names), do: type

  # A name may stand for anything.
  defp value_field?({kind, fields}) when kind in [:map, :closed_map],
    do: List.keymember?(fields, @value, 0)

  defp value_field?({:where, type, _rules}), do: value_field?(type)
  defp value_field?({:struct, _module, type}), do: value_field?(type)
  defp value_field?(_other), do: true

  defp repaired(text, found, asked) do
    limits = [{:truncated, asked.truncated} | asked.limits]

    case JsonRepair.read(text, asked.type, limits) do
      {:ok, value, repairs} -> ungrouped(value, repairs, asked)
      {:error, reason} -> cut(reason, found)
    end
  end

  defp ungrouped(value, repairs, asked) do
    with text when text != nil <- Nearly.ungrouped(value, repairs),
         {:error, errors} <- judged(text, asked, []) do
      {:wrong, errors}
    else
      _fits -> fitting(value, messages(repairs), asked)
    end
  end

  # Where JSON was found, it was coerced already, unless it is only a part of the answer. Without the type, it is not known
  # which fields are missing at the end.
  defp repaired_and_coerced(text, found, asked) do
    truncated = if asked.truncated == :error, do: :refuse, else: asked.truncated

    with true <- asked.coerce? and (match?({:place, _}, found) or JsonRepair.part?(text)),
         {:ok, value, repairs} <-
           JsonRepair.read(text, nil, [{:truncated, truncated} | asked.limits]) do
      {value, warnings} =
        value |> items(asked.type) |> within(asked.type) |> Names.renamed(asked.type)

      coerce(value, asked, messages(repairs) ++ warnings)
    else
      {:error, reason} -> cut(reason, found)
      false -> :error
    end
  end

  # A value that was found in the text is judged as it is.
  defp cut({:truncated, place}, {:place, _}), do: {:truncated, place}
  defp cut(_reason, _found), do: :error

  defp fitting(value, warnings, %{signature: nil}),
    do: if(is_map(value), do: {:ok, value, warnings}, else: :error)

  defp fitting(value, warnings, asked) do
    value = value |> items(asked.type) |> within(asked.type)

    # A key in another spelling is left only if its value does not fit.
    with {_value, []} <- Names.renamed(value, asked.type),
         {:ok, value, warnings} <- judged(value, asked, warnings) do
      {:ok, value, warnings}
    else
      {:limit, errors} -> {:limit, errors}
      _wrong -> :error
    end
  end

  # The same for an object of a repaired text.
  defp within(object, {:map, [{@value, {:optional, _type}}]}) when is_other(object),
    do: %{@value => object}

  defp within(value, _type), do: value

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

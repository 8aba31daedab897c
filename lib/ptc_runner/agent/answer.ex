defmodule PtcRunner.Agent.Answer do
  @moduledoc false
  # From the text of an answer to its value: unchanged, or else coerced, or else repaired, or else repaired
  # and coerced. The first result that fits the signature counts.

  alias PtcRunner.Agent.Literals
  alias PtcRunner.Json.{Codec, Limits}
  alias PtcRunner.Options
  alias PtcRunner.SubAgent.{JsonParser, KeyNormalizer, Signature}
  alias PtcRunner.SubAgent.JsonRepair.{Cut, Names}
  alias PtcRunner.SubAgent.Loop.JsonHandler
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Answer, Feedback}
  alias PtcRunner.SubAgent.Signature.{Annotations, Coercion, Enums}

  # The key in an object that wraps a value that is not an object or list.
  @value "value"

  @limits [:timeout, :memory_exceeded]

  @type result ::
          {:ok, term(), warnings :: [String.t()]}
          | {:error, errors :: [map(), ...], feedback :: String.t()}

  @doc "See `PtcRunner.Agent.answer/3`; the options are already validated."
  @spec read(String.t(), Signature.t() | nil, keyword()) :: result()
  def read(text, signature, opts) do
    began = System.monotonic_time(:millisecond)
    limits = opts |> Options.given([:timeout, :max_heap]) |> Limits.shared(began)
    {text, wrapped} = {primitive(text, signature, limits), wrapped(signature)}
    enums = {enums(signature, opts), Keyword.get(limits, :until, :infinity)}

    with {why, wrong} when why in [:error, :unread] <-
           text |> exact(wrapped, limits, enums) |> respelled(text, wrapped, limits, enums, opts),
         found when found in [:error, :literal] <-
           coerced(
             text,
             wrapped,
             limits,
             enums,
             Keyword.get(opts, :coerce, true),
             Keyword.get(opts, :repair, true)
           ),
         no
         when no in [:error, :literal] or (why == :error and elem(no, 0) == :truncated) <-
           if(found == :error, do: repaired(text, wrapped, limits, enums, opts), else: found) do
      {:error, wrong, feedback(wrong, text, wrapped, limits)}
    else
      {:truncated, %{path: path, message: message}} ->
        {:error, [%{path: path, message: message}], Cut.feedback(message)}

      {:ok, value, warnings} ->
        {:ok, unwrapped(value, signature), warnings}

      # A text that met a limit is not read again.
      {:limit, wrong} ->
        {:error, wrong, Feedback.text(hd(wrong).message, nil, text, %{}, [])}
    end
  end

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
  defp scalar?(type), do: type in [:string, :int, :float, :bool, :keyword, :datetime]

  # Wraps a bare number or string, also in a fence.
  defp primitive(text, {:signature, _params, type}, limits) do
    if scalar?(type), do: text |> String.trim() |> wrap(text, limits), else: text
  end

  defp primitive(text, nil, _limits), do: text

  defp wrap(bare, text, limits) do
    {timeout, max_heap} = Limits.of_text(limits, byte_size(text))

    case Codec.decode(bare, timeout: timeout, max_heap: max_heap) do
      {:ok, value} when not is_map(value) -> Codec.encode!(%{@value => value})
      {:ok, _map} -> text
      {:error, _no_json} -> if fence?(bare), do: fenced(text, limits), else: text
    end
  end

  # The backticks in a string are its content, also if it was cut off.
  defp fence?(bare),
    do: not String.starts_with?(bare, "\"") and :binary.match(bare, "```") != :nomatch

  # Only a fence can have a value that is neither an object nor a list.
  defp fenced(text, limits) do
    case JsonParser.locate(text, limits) do
      {:ok, value} when not is_map(value) and not is_list(value) ->
        Codec.encode!(%{@value => value})

      _other ->
        text
    end
  end

  defp unwrapped(value, {:signature, _params, type}),
    do: if(scalar?(type), do: Map.get(value, @value), else: value)

  defp unwrapped(value, nil), do: value

  defp enums(nil, _opts), do: %{}
  defp enums({:signature, _params, type}, opts), do: Annotations.of!(opts, type).enums

  defp exact(text, signature, limits, enums) do
    case exactly(text, signature, limits) do
      {:ok, value} -> allowed(value, signature, enums, [])
      {:invalid, errors} -> {:error, errors}
      {found, value} when found in [:map, :list] -> judged(value, signature, enums)
      {:error, reason} when reason in @limits -> {:limit, [error(reason)]}
      {:error, reason} -> {:unread, [error(reason)]}
    end
  end

  # An optional field in another spelling is an undeclared key, and its value would be lost.
  defp respelled({:ok, _value, []} = right, text, {_, _, type} = signature, limits, enums, opts) do
    with true <- Keyword.get(opts, :repair, true) and Names.optional?(type),
         {:ok, value} <- JsonParser.locate(text, limits),
         {value, [_ | _] = warnings} <- value |> items(type) |> Names.renamed(type) do
      case judged(value, signature, enums) do
        {:ok, value, []} ->
          {:ok, value, warnings}

        wrong ->
          if Keyword.get(opts, :coerce, true),
            do: wrong |> or_coerced(value, signature, enums, warnings),
            else: wrong
      end
    else
      _as_declared -> right
    end
  end

  defp respelled(other, _text, _signature, _limits, _enums, _opts), do: other

  defp or_coerced(wrong, value, signature, enums, warnings) do
    with no when no in [:error, :literal] <- coerce(value, signature, enums, warnings), do: wrong
  end

  defp exactly(text, nil, limits), do: Answer.read_all(text, :any, limits)
  defp exactly(text, {:signature, _params, type}, limits), do: Answer.read_all(text, type, limits)

  defp error(reason), do: %{path: [], message: Answer.message(reason)}

  # A number or string in a fence, where an object or a list is expected.
  defp judged(value, signature, _enums)
       when not is_map(value) and not is_list(value) and signature != nil,
       do: {:error, [error(:not_an_object)]}

  defp judged(value, signature, enums) do
    value =
      if is_list(value),
        do: JsonHandler.atomize_list(value, signature),
        else: JsonHandler.atomize_keys(value, signature)

    with :ok <- JsonHandler.validate_return(%{parsed_signature: signature}, value),
         do: value |> KeyNormalizer.normalize_keys() |> allowed(signature, enums, [])
  end

  defp allowed(value, nil, _enums, warnings), do: {:ok, value, warnings}

  defp allowed(value, {:signature, _params, type} = signature, enums, warnings) do
    # `wrapped_enums/2` moves the enumeration of a wrapped value under the wrapper's key.
    {enums, until} = enums

    case Enums.errors(value, type, wrapped_enums(enums, signature), until) do
      [] -> {:ok, value, warnings}
      :timeout -> {:limit, [error(:timeout)]}
      errors -> {:error, errors}
    end
  end

  defp wrapped_enums(%{"" => values}, {:signature, _, {:map, [{@value, _}]}}),
    do: %{@value => values}

  defp wrapped_enums(enums, _signature), do: enums

  defp renamed(value, type, true), do: Names.renamed(value, type)
  defp renamed(value, _type, false), do: {value, []}

  defp coerced(_text, nil, _limits, _enums, _coerce?, _repair?), do: :error
  defp coerced(_text, _signature, _limits, _enums, false, _repair?), do: :error

  defp coerced(text, signature, limits, enums, true, repair?) do
    case JsonParser.locate(text, limits) do
      {:ok, value} ->
        {:signature, _params, type} = signature
        {value, warnings} = value |> items(type) |> renamed(type, repair?)
        coerce(value, signature, enums, warnings)

      {:error, _reason} ->
        :error
    end
  end

  defp coerce(value, {:signature, _params, type} = signature, enums, warnings) do
    value = value |> items(type) |> Names.hyphenated(type)

    with {:ok, value, more} <- Coercion.coerce(value, type),
         false <- Literals.named?(more),
         {:ok, value, warnings} <- allowed(value, signature, enums, warnings ++ more) do
      {:ok, KeyNormalizer.normalize_keys(value), warnings}
    else
      {:error, _reason} -> :error
      # A repair must not read null as a text without quotes.
      true -> :literal
      {:limit, errors} -> {:limit, errors}
    end
  end

  defp items(%{"items" => items}, {:list, _type}) when is_list(items), do: items
  defp items(value, _type), do: value

  defp repaired(text, signature, limits, enums, opts) do
    if Keyword.get(opts, :repair, true) do
      truncated = Keyword.get(opts, :truncated, :error)

      with :error <- repaired(text, signature, [{:truncated, truncated} | limits], enums),
           true <- Keyword.get(opts, :coerce, true) and signature != nil,
           # Without the type, it is not known which fields are missing at the end.
           truncated = if(truncated == :error, do: :refuse, else: truncated),
           limits = [{:truncated, truncated} | limits],
           {:ok, value, repairs} <- JsonParser.repair_within(text, nil, limits) do
        {:signature, _params, type} = signature
        {value, warnings} = value |> items(type) |> Names.renamed(type)
        coerce(value, signature, enums, messages(repairs) ++ warnings)
      else
        {:ok, value, warnings} -> {:ok, value, warnings}
        {:limit, errors} -> {:limit, errors}
        {:truncated, place} -> {:truncated, place}
        {:error, {:truncated, place}} -> {:truncated, place}
        _no -> :error
      end
    else
      :error
    end
  end

  defp repaired(text, signature, limits, enums) do
    with {:ok, value, repairs} <- JsonParser.repair_within(text, signature, limits),
         {:ok, value, warnings} <- fitting(value, signature, enums, messages(repairs)) do
      {:ok, value, warnings}
    else
      {:error, {:truncated, place}} -> {:truncated, place}
      {:limit, errors} -> {:limit, errors}
      _wrong -> :error
    end
  end

  defp fitting(value, nil, _enums, warnings) when is_map(value), do: {:ok, value, warnings}
  defp fitting(_value, nil, _enums, _warnings), do: :error

  defp fitting(value, {:signature, _params, type} = signature, enums, warnings) do
    value = items(value, type)

    # A key in another spelling is left only if its value does not fit.
    with {_value, []} <- Names.renamed(value, type),
         {:ok, value, []} <- judged(value, signature, enums),
         do: {:ok, value, warnings}
  end

  defp messages(repairs), do: Enum.map(repairs, & &1.message)

  defp feedback(errors, text, signature, limits) do
    agent = %{parsed_signature: signature}
    opts = [{:feedback, :detailed} | limits]

    case errors do
      [%{path: [], message: message}] ->
        Feedback.text(message, nil, text, agent, opts)

      errors ->
        line = JsonHandler.format_validation_errors(errors)
        Feedback.text(line, {errors, 0}, text, agent, opts)
    end
  end
end

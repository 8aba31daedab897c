defmodule PtcRunner.Agent.Answer do
  @moduledoc false
  # From the text of an answer to its value: which part of the text is the answer, and what stands beside it and would be lost. `Part` reads
  # the part.

  alias PtcRunner.Agent.Answer.{Asked, Part, Rows, Told}
  alias PtcRunner.Agent.{Behind, Candidates, Commented, Elsewhere, Nearly, Parts, Thinking}
  alias PtcRunner.Json.NumberTokens
  alias PtcRunner.SubAgent.Loop.JsonHandler.Answer
  alias PtcRunner.SubAgent.Signature
  alias PtcRunner.SubAgent.Signature.{Base, Exact}

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

  # A text that is JSON and nothing else is read once, and not searched.
  defp as_it_is(text, signature, opts) do
    asked = Asked.new(signature, opts)
    first = if not asked.wrapped?, do: Part.first(text, asked)

    case first && Part.whole(first) do
      nil -> searched(text, first, asked)
      span -> alone({text, [span]}, nil, first, asked)
    end
  end

  defp searched(whole, first, asked) do
    {text, _commented?} = blanked = whole |> Thinking.blanked() |> Commented.blanked()
    first = if text == whole, do: first

    read =
      case Nearly.sign(text) do
        nil -> chosen(text, first, asked)
        sign -> refused([signed(sign, "before")], text, asked)
      end

    with {:error, _errors, _feedback, _whole?} <- read,
         true <- Commented.all?(blanked),
         do: refused([commented()], text, asked),
         else: (_other -> read)
  end

  defp chosen(text, first, asked) do
    {spans, _open} = parts = Parts.of(text)
    choosing = [fenced: true, plain: asked.wrapped?, parts: parts]

    case Candidates.choose(text, &value_of(&1, asked), choosing) do
      :one ->
        alone({text, spans}, nil, first, asked)

      {:only, part} ->
        alone({text, spans}, part, nil, asked)

      {:last, part, count} ->
        with {:ok, value, warnings} <- alone({text, spans}, part, nil, asked),
             do: {:ok, value, ["took the last of #{count} answers" | warnings]}

      {:several, count} ->
        refused([several(count)], text, %{asked | limits: []})
    end
  end

  # `spans`: the places of the objects and lists of the text, which is searched once for them; `first`: what was found in the text, if it
  # was read.
  defp alone({text, spans}, part, first, asked) do
    with {:ok, value, _warnings} = right <- read_part(part, {text, spans}, first, asked) do
      case around({text, spans}, part, value, asked) do
        nil -> right
        error -> refused([error], text, asked)
      end
    end
  end

  # The error of what stands beside a value and would be lost.
  defp around({text, spans}, part, value, asked) do
    cond do
      sign = Behind.found(text, spans, part, value) -> signed(sign, "behind")
      sign = Elsewhere.operator(text, spans) -> signed(sign, "before")
      true -> elsewhere(Elsewhere.lost({text, spans}, part, value, asked.own))
    end
  end

  defp elsewhere(nil), do: nil
  defp elsewhere(:value), do: several(2)
  defp elsewhere({:field, field}), do: signed(field, "beside")

  # One object has no rows beside it.
  defp read_part(nil, {text, [_only]}, first, asked), do: Part.nearly(text, asked, first)

  defp read_part(nil, {text, _spans}, first, asked) do
    with {:several, count} <-
           text |> Part.nearly(asked, first) |> Rows.all(text, asked, &Part.nearly/2),
         do: refused([several(count)], text, %{asked | limits: []})
  end

  defp read_part(part, _whole, _first, asked), do: Part.nearly(part, asked)

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
    {spans, _open} = parts = Parts.of(text)
    choosing = [fenced: true, plain: asked.wrapped?, parts: parts]
    whole = {text, spans}

    read =
      case sign || Candidates.choose(text, &value_of(&1, asked), choosing) do
        ^sign when sign != nil -> {:error, [signed(sign, "before")]}
        :one -> alone_exactly(whole, nil, signature, asked, strict)
        {:only, part} -> alone_exactly(whole, part, signature, asked, strict)
        {:last, part, _count} -> alone_exactly(whole, part, signature, asked, strict)
        {:several, count} -> {:error, [several(count)]}
      end

    if match?({:error, _errors}, read) and Commented.all?(blanked),
      do: {:error, [commented()]},
      else: read
  end

  defp alone_exactly({text, _spans} = whole, part, signature, asked, strict) do
    with {:ok, value} = right <- made_exactly(part || text, signature, asked, strict) do
      case around(whole, part, value, asked) do
        nil -> right
        error -> {:error, [error]}
      end
    end
  end

  # What `read/3` takes without a repair and without a warning is not converted.
  defp made_exactly(text, signature, asked, strict) do
    with {:error, errors, _feedback, _found} <- Part.one(text, strict) do
      with {^text, []} <- Part.unquoted(text, asked),
           {:ok, value, []} <- Part.nearly(text, %{asked | repair?: false, spelling: :refuse}),
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
    case Part.nearly(text, %{asked | repair?: false}) do
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
         {:ok, value, _warnings} <- Part.nearly(text, asked) do
      {:ok, value}
    else
      _other -> :error
    end
  end
end

defmodule PtcRunner.Agent.Source do
  @moduledoc false
  # From the text of an answer to a compiled program: without prose and fence, wrapped in `"program"` if
  # necessary, repaired if it is almost JSON.

  alias PtcRunner.Agent.{Candidates, Commented, Feedback, Nearly, Run, Thinking}
  alias PtcRunner.Agent.Source.Safe
  alias PtcRunner.{Json, Options}
  alias PtcRunner.Json.{Checking, ExactArguments, Limits, Message}
  alias PtcRunner.SubAgent.{JsonParser, JsonRepair}
  alias PtcRunner.SubAgent.Loop.JsonHandler.{Answer, Place}

  @limits [:timeout, :max_heap]

  @type result ::
          {:ok, Json.Program.t(), warnings :: [String.t()]}
          | {:error, Json.error(), feedback :: String.t()}

  @doc "See `PtcRunner.Agent.program/2`; the options are already validated."
  @spec read(String.t(), keyword()) :: result()
  def read(text, opts) do
    began = System.monotonic_time(:millisecond)
    limits = opts |> Options.given(@limits) |> Limits.shared(began)
    compiling = compiling(opts)

    with {:ok, found, warnings} <- text |> Thinking.blanked() |> uncommented(limits, opts),
         {:ok, program, more} <- compiled(found, limits, compiling) do
      {:ok, program, warnings ++ more}
    else
      {:error, fault} ->
        {:error, Message.error(fault), Feedback.program(fault, compiling[:edition])}

      {:truncated, error} ->
        {:error, error, Feedback.truncated(error)}
    end
  end

  @doc """
  Whether two sources are the same program, however they are written.

      iex> PtcRunner.Agent.Source.same?(~s({"program": {"op": "count"}}), %{"program" => %{"op" => "count"}})
      true

  """
  @spec same?(String.t() | map(), String.t() | map()) :: boolean()
  def same?(source, source), do: true
  def same?(one, other), do: parsed(one) == parsed(other)

  defp parsed(source) when is_binary(source), do: JsonParser.parse(source)
  defp parsed(source), do: {:ok, source}

  # A field that an operation does not have is a mistake, not a comment.
  defp compiling(opts),
    do:
      opts
      |> Keyword.drop([:repair, :truncated, :tools])
      |> Keyword.put_new(:strict, true)
      |> Run.read()

  # The text of a program is compiled as it is. If it is not framed as a program, or nested deeper than a text may be, its
  # value is compiled.
  defp compiled(json, limits, opts) when is_binary(json) do
    case compile(json, opts) do
      {:ok, program} ->
        {:ok, program, []}

      {:error, fault} ->
        case Message.error(fault) do
          {:parse_error, _text} -> of_value(json, limits, opts)
          _error -> {:error, fault}
        end
    end
  end

  defp compiled(value, _limits, opts) do
    with {:ok, map, warnings} <- framed(value),
         {:ok, program} <- compile(map, opts),
         do: {:ok, program, warnings}
  end

  defp of_value(json, limits, opts) do
    case JsonParser.locate(json, limits) do
      {:ok, value} -> compiled(value, limits, opts)
      {:error, {reason, nil}} when is_atom(reason) -> refused(reason, nil, json)
      {:error, error} -> {:error, error}
    end
  end

  # What an agent observes, it compiles for that. An error is a fault, which has its code.
  defp compile(program, opts) do
    case Keyword.pop(opts, :findings) do
      {:feedback, opts} -> Checking.observed(program, opts)
      {_other, opts} -> Checking.faulted(program, opts)
    end
  end

  defp uncommented(text, limits, opts) do
    {text, _commented?} = blanked = Commented.blanked(text)

    if Commented.all?(blanked),
      do: {:error, {:parse_error, "The program stands in a comment: write it alone"}},
      else: found(text, limits, opts)
  end

  defp found(text, limits, opts) do
    case Nearly.sign(text) do
      nil -> chosen(text, limits, opts)
      sign -> {:error, {:parse_error, "The answer has #{sign} before its program"}}
    end
  end

  defp chosen(text, limits, opts) do
    case Candidates.choose(text, &program(&1, limits)) do
      :one ->
        located(text, limits, opts)

      {:only, part} ->
        located(part, limits, opts)

      {:last, part, count} ->
        with {:ok, found, warnings} <- located(part, limits, opts),
             do: {:ok, found, ["took the last of #{count} programs" | warnings]}

      {:several, count} ->
        {:error, {:parse_error, "The answer has #{count} different programs. Write one."}}
    end
  end

  # The program of a text, without the placeholders of an explanation, such as {"program": NODE}.
  defp program(text, limits) do
    found =
      with {:error, _reason} <- JsonParser.locate(text, limits),
           {:ok, value, _repairs} <- JsonRepair.read(text, nil, limits),
           do: {:ok, value}

    case found do
      {:ok, %{"program" => %{}}} -> found
      {:ok, %{"op" => op}} when is_binary(op) -> found
      _other -> :error
    end
  end

  # The text of the program, or its value, if it has to be repaired.
  defp located(text, limits, opts) do
    case JsonParser.find(text, limits) do
      {:ok, json} ->
        {:ok, json, []}

      {:error, {reason, place}} ->
        tools = Keyword.get(opts, :tools, [])

        with :error <- ExactArguments.found(text, tools, &JsonParser.find(&1, limits)) do
          limits = [{:truncated, Keyword.get(opts, :truncated, :error)} | limits]
          repaired(reason, place, text, limits, opts)
        else
          {:ok, json} -> {:ok, json, []}
        end
    end
  end

  defp repaired(reason, place, text, limits, opts) do
    with true <- Keyword.get(opts, :repair, true) and reason in [:invalid_json, :no_json_found],
         {:ok, value, [_ | _] = repairs} <- JsonRepair.read(text, nil, limits),
         true <- limits[:truncated] == :complete or whole?(value, repairs, text),
         :kept <- Safe.kept(value, repairs, Keyword.get(opts, :tools, [])) do
      {:ok, value, Enum.map(repairs, & &1.message)}
    else
      {:error, {:truncated, %{message: message}}} ->
        {:truncated, {:parse_error, message}}

      {:writes, tool, repair} ->
        {:error, {:parse_error, unsafe(reason, place, text, tool, repair)}}

      _no ->
        refused(reason, place, text)
    end
  end

  defp unsafe(reason, place, text, tool, repair) do
    {:error, {:parse_error, message}} = refused(reason, place, text)

    "#{message}. A program that calls a tool which may write (#{tool}) is repaired only in keys, quotes, commas and closing " <>
      "brackets; this would be needed: #{repair}"
  end

  # A program without its last brackets may be half a program: without "default", without a field of its object. Only
  # the bracket around "program" may be missing, if a fence is closed after it.
  defp whole?(value, repairs, text) do
    case for %{kind: :missing_close, path: path} <- repairs, do: path do
      [] -> true
      [[]] -> match?(%{"program" => _node}, value) and fenced?(text)
      _inner -> false
    end
  end

  defp fenced?(text), do: text |> String.trim_trailing() |> String.ends_with?("```")

  defp refused(reason, nil, _text), do: {:error, {:parse_error, Answer.message(reason)}}

  defp refused(reason, place, text),
    do: {:error, {:parse_error, "#{what(reason, place)}: #{Place.describe(text, place)}"}}

  defp what(_reason, {:unexpected_end, _offset}), do: "The JSON is not complete"
  defp what(reason, _place), do: Answer.message(reason)

  @doc "The program of a paused run, compiled as it was."
  @spec again(Json.Paused.t()) :: {:ok, Json.Program.t()} | {:error, Json.error()}
  def again(%Json.Paused{} = run) do
    options = Map.take(run, [:edition, :keys, :strict, :structs, :max_depth])
    Json.compile(run.program, Map.to_list(options))
  end

  defp framed(%{"program" => _node} = map), do: {:ok, map, []}

  defp framed(%{"op" => _op} = node),
    do: {:ok, %{"program" => node}, [~s(put the operation under "program")]}

  defp framed(map) when is_map(map), do: {:ok, map, []}

  defp framed(_other),
    do: {:error, {:parse_error, ~s(The answer must be one JSON object {"program": NODE})}}
end

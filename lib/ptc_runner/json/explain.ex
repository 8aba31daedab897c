defmodule PtcRunner.Json.Explain do
  @moduledoc """
  The work of a program that `PtcRunner.Json.explain/2` ran: for each operation how often it ran, the
  items that went in and came out, its time and its words.

  An explanation is plain data: it can be stored, sent to another node, and compared. Three views:

    * the struct, for programs: `operations` in the order of the program, `findings`
    * `to_text/1` (and `to_string/1`), a tree for people
    * `to_json/1`, for other tools; without the result

  The program is compiled specially for this: operations are not
  fused, and the time includes two clock readings and the counting. So the
  shares of time are valid; for the time of the program without them, measure `PtcRunner.Json.run/2`.
  """

  alias PtcRunner.Json.Check.Words
  alias PtcRunner.Json.Explain.{Encoded, Tree}

  @enforce_keys [:result]
  defstruct [:result, :failed_at, operations: [], findings: [], near: [], duration: 0, words: 0]

  @typedoc """
  A path in the program, starting with `"program"`: `["program", "steps", 1, "where"]`. The path of an operation or of
  a finding has at most 65 parts: of a longer one it has the first 32, `"…"`, and the last 32. `failed_at` is whole.
  """
  @type path :: [String.t() | non_neg_integer() | term()]

  @typedoc """
  A possible problem:

    * `:kept_nothing` - a filter with items in and none out
    * `:key_not_found` - an operation's field (or path) that none of its values had
    * `:not_converted` - a `to_number` or an `extract` that gave null for each of its values, of which none was null, in a sum, a
      mean or the like, or where one of these had only null
  """
  @type finding :: %{
          kind: :kept_nothing | :key_not_found | :not_converted,
          path: path(),
          message: String.t()
        }

  @typedoc """
  One operation.

    * `runs`, `ended` - how often it started, and finished
    * `items_in`, `items_out` - the items of all the lists that were its current value, and its value; nil
      if there was none
    * `held` - how often its value was neither nil nor false
    * `time` - its own nanoseconds, without the operations inside it and without the wait for tools
    * `total_time` - nanoseconds with the operations inside it, and with the wait for tools
    * `words`, `total_words` - words it built, without and with the operations inside it
    * `tool_calls`, `tool_time` - how often the run was suspended in it for a tool, and the nanoseconds of that
    * `breaks` - how often the run was suspended in it for other processes
    * `keys` - the fields it looks up: how many values were examined, and how many had the field. Rows
      are examined up to the first that has it.
    * `type` - only with the option `check:`: the type of its value, nil where nothing was found
  """
  @type operation :: %{
          optional(:type) => PtcRunner.Json.Checked.type() | nil,
          path: path(),
          op: String.t(),
          about: String.t(),
          depth: non_neg_integer(),
          runs: non_neg_integer(),
          ended: non_neg_integer(),
          items_in: non_neg_integer() | nil,
          items_out: non_neg_integer() | nil,
          held: non_neg_integer(),
          time: non_neg_integer(),
          total_time: non_neg_integer(),
          words: non_neg_integer(),
          total_words: non_neg_integer(),
          tool_calls: non_neg_integer(),
          tool_time: non_neg_integer(),
          breaks: non_neg_integer(),
          keys: [%{key: term(), looked: non_neg_integer(), found: non_neg_integer()}]
        }

  @typedoc """
  `result` is the result of `PtcRunner.Json.run/2`; `failed_at` the innermost operation in which the run (or
  the check) ended early; `duration` the nanoseconds from start to end, `words` those the run built. `near` has the limits of which the run has used more than
  half, by the names of their options: milliseconds of `:timeout`, words of `:max_heap`, calls of `:max_tool_calls` and of `:max_calls` of a tool.
  """
  @type t :: %__MODULE__{
          result: PtcRunner.Json.result(),
          failed_at: path() | nil,
          operations: [operation()],
          findings: [finding()],
          near: [PtcRunner.Json.Near.t()],
          duration: non_neg_integer(),
          words: non_neg_integer()
        }

  @doc false
  # Adds the types of the operations, which are known by their paths.
  @spec with_types(t(), %{path() => PtcRunner.Json.Checked.type()}) :: t()
  def with_types(%__MODULE__{operations: operations} = explanation, types) do
    operations = for operation <- operations, do: Map.put(operation, :type, types[operation.path])
    %{explanation | operations: operations}
  end

  @doc """
  The explanation as a tree of text.

  Times are each operation's own, with its share as a bar; `!` marks findings, and the operation where the run
  failed.

      iex> program = ~s({"program": {"op": "pipe", "steps": [
      ...>   {"op": "load", "name": "rows"}, {"op": "filter", "where": {"op": "eq", "field": "n", "value": 9}}]}})
      iex> explanation = PtcRunner.Json.explain(program, context: %{"rows" => [%{"n" => 1}]})
      iex> PtcRunner.Json.Explain.to_text(explanation) =~ "! kept nothing"
      true

  """
  @spec to_text(t()) :: String.t()
  defdelegate to_text(explanation), to: Tree, as: :text

  @doc """
  The explanation as JSON text, without the result.

      iex> explanation = PtcRunner.Json.explain(~s({"program": {"op": "literal", "value": 1}}))
      iex> {:ok, json} = PtcRunner.Json.Codec.decode(PtcRunner.Json.Explain.to_json(explanation))
      iex> {json["outcome"], Enum.map(json["operations"], & &1["path"])}
      {"ok", [["program"]]}

  """
  @spec to_json(t()) :: String.t()
  def to_json(%__MODULE__{} = explanation),
    do: Encoded.text(explanation, outcome(explanation.result), &operation/1, &shown/1)

  @doc """
  A path as text.

      iex> PtcRunner.Json.Explain.path_text(["program", "steps", 1, "where"])
      "program.steps[1].where"

  """
  @spec path_text(path()) :: String.t()
  def path_text(path), do: path |> Enum.map_join(&part/1) |> String.trim_leading(".")

  defp part(index) when is_integer(index), do: "[#{index}]"
  defp part(name), do: "." <> PtcRunner.Json.Explain.About.name(name)

  defp outcome({:ok, _result, _delta, _memory}), do: "ok"
  defp outcome({:paused, _paused}), do: "paused"
  defp outcome({:error, reason}), do: PtcRunner.Json.format_error(reason)

  defp operation(operation) do
    keys = Enum.map(operation.keys, &%{&1 | key: shown(&1.key)})
    operation = %{operation | path: shown(operation.path), keys: keys}

    case operation do
      %{type: nil} -> operation
      %{type: type} -> %{operation | type: Words.shown(type)}
      _untyped -> operation
    end
  end

  # Keys of a program that was given as terms may be any terms.
  defp shown(nil), do: nil
  defp shown(list) when is_list(list), do: Enum.map(list, &shown/1)
  defp shown(integer) when is_integer(integer), do: integer
  defp shown(text) when is_binary(text), do: PtcRunner.Shown.name(text)
  defp shown(other), do: PtcRunner.Shown.text(other)

  defimpl Inspect do
    alias PtcRunner.Json.Explain.Format
    alias PtcRunner.Shown.Brief

    # One line; `to_string/1` has the tree.
    def inspect(explanation, _opts) do
      parts = [
        result(explanation.result),
        Brief.count(length(explanation.operations), "operation"),
        Brief.count(length(explanation.findings), "finding"),
        Format.time(explanation.duration),
        Brief.count(explanation.words, "word")
      ]

      "#PtcRunner.Json.Explain<#{Enum.join(parts, ", ")}>"
    end

    defp result({:ok, value, _delta, _memory}), do: "ok: " <> Brief.value(value)
    defp result({:error, reason}), do: "error: " <> Brief.value(reason)
    defp result(other), do: Brief.value(other)
  end

  defimpl String.Chars do
    defdelegate to_string(explanation), to: PtcRunner.Json.Explain, as: :to_text
  end
end

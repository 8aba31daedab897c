defmodule PtcRunner.Lisp.Explain do
  @moduledoc """
  The work of a program that `PtcRunner.Lisp.explain/2` ran: for each form how often it ran, its time, its words, its calls of tools, and
  what its values were.

  It has the fields of a `PtcRunner.Json.Explain`, and the same three views:

    * the struct, for programs: `operations` are the forms, each behind the one around it
    * `to_text/1` (and `to_string/1`), a tree for people
    * `to_json/1`, for other tools; without the result

  A form is what does something: a call, `let`, `if`, `data/orders`, a vector. Constants, names and functions that are only made are none.
  A form that a macro leads to (`cond`, `when`, `->`) is one form where it is one in the text. The calls of a function are a form of their own
  (`calls of (defn f …)`), inside the form that makes the function, except where the body of the function runs in place, as in `(map #(…) xs)`.

  The program is compiled specially for this, and each form reads a clock at its beginning and its end. So the shares of time are
  valid; for the time of the program without them, measure `PtcRunner.Lisp.run/2`. Of a program with more than 5,000 forms, those behind count
  for the form around them.
  """

  alias PtcRunner.Json.Explain.{Encoded, Tree}
  alias PtcRunner.Json.{Near, Paused}
  alias PtcRunner.{Lisp, Step}

  @enforce_keys [:result]
  defstruct [:result, :failed_at, operations: [], findings: [], near: [], duration: 0, words: 0]

  @typedoc """
  Where a form is: `["program", line, column]`, or `["memory", number, line, column]` for a function of the memory. Lines, columns and
  numbers begin with 1.
  """
  @type path :: [String.t() | pos_integer()]

  @typedoc """
  One form.

    * `path`, `span` - where it is; `span` has its first byte and its length
    * `op` - `"call"`, `"tool"`, `"data"`, `"let"`, `"branch"`, `"loop"`, `"fn"` (the calls of a function), …
    * `about` - its text, on one line and cut
    * `depth` - number of the forms around it
    * `runs`, `ended` - how often it started, and finished. A form that is left by `recur`, an error, `return` or `fail` does not finish.
    * `held` - how often its value was neither nil nor false
    * `kinds` - the kinds of its values: `:nil`, `:boolean`, `:number`, `:string`, `:list`, `:map` and `:other` (keywords, functions, …); sets
      are maps
    * `items_out` - the items of all the lists that were its values; nil if there was none. Of a run with lists of more than 4,000,000 items in
      all, only lists of up to 16 items are counted from there on.
    * `time` - its own nanoseconds, without the forms inside it, the functions it calls, and the wait for tools
    * `total_time` - nanoseconds from its start to its end, with all of these. A form that runs inside of itself, by recursion, counts once.
    * `words`, `total_words` - words it built, without and with what ran inside it
    * `tool_calls`, `tool_time` - how often the run was suspended in it for a tool, and the nanoseconds of that
    * `breaks` - how often the run was suspended in it for other processes
  """
  @type operation :: %{
          path: path(),
          span: {non_neg_integer(), non_neg_integer()},
          op: String.t(),
          about: String.t(),
          depth: non_neg_integer(),
          runs: non_neg_integer(),
          ended: non_neg_integer(),
          items_in: nil,
          items_out: non_neg_integer() | nil,
          held: non_neg_integer(),
          kinds: [kind()],
          time: non_neg_integer(),
          total_time: non_neg_integer(),
          words: non_neg_integer(),
          total_words: non_neg_integer(),
          tool_calls: non_neg_integer(),
          tool_time: non_neg_integer(),
          breaks: non_neg_integer(),
          keys: []
        }

  @typedoc "What a value was, see `t:operation/0`."
  @type kind :: nil | :boolean | :number | :string | :list | :map | :other

  @typedoc """
  `result` is the result of `PtcRunner.Lisp.run/2`; `failed_at` the innermost form in which the run ended early, or the place of what is wrong with
  the text. `findings` is empty: those of PTC-JSON come from its operations. `near`, `duration` and `words` are as in `t:PtcRunner.Json.Explain.t/0`.
  """
  @type t :: %__MODULE__{
          result: {:ok, Step.t()} | {:error, Step.t()} | {:paused, Paused.t()},
          failed_at: path() | nil,
          operations: [operation()],
          findings: [],
          near: [Near.t()],
          duration: non_neg_integer(),
          words: non_neg_integer()
        }

  @doc """
  The explanation as a tree of text.

  Times are each form's own, with its share as a bar; `!` marks the form where the run failed.

      iex> explanation = PtcRunner.Lisp.explain("(filter #(> % 1) data/ns)", context: %{"ns" => [1, 2]})
      iex> PtcRunner.Lisp.Explain.to_text(explanation) =~ "├─ data/ns"
      true

  """
  @spec to_text(t()) :: String.t()
  defdelegate to_text(explanation), to: Tree, as: :text

  @doc """
  The explanation as JSON text, without the result.

      iex> explanation = PtcRunner.Lisp.explain("(+ 1 data/n)", context: %{"n" => 2})
      iex> {:ok, json} = PtcRunner.Json.Codec.decode(PtcRunner.Lisp.Explain.to_json(explanation))
      iex> {json["outcome"], Enum.map(json["operations"], & &1["about"])}
      {"ok", ["(+ 1 data/n)", "data/n"]}

  """
  @spec to_json(t()) :: String.t()
  def to_json(%__MODULE__{} = explanation),
    do: Encoded.text(explanation, outcome(explanation.result), &operation/1, & &1)

  defp operation(%{span: {start, length}} = operation),
    do: %{
      operation
      | span: [start, length],
        kinds: Enum.map(operation.kinds, &to_string(&1 || nil))
    }

  defp outcome({:ok, _step}), do: "ok"
  defp outcome({:paused, _paused}), do: "paused"
  defp outcome({:error, step}), do: Lisp.format_error(step)

  defimpl Inspect do
    alias PtcRunner.Json.Explain.Format
    alias PtcRunner.Shown.Brief

    # One line; `to_string/1` has the tree.
    def inspect(explanation, _opts) do
      parts = [
        result(explanation.result),
        Brief.count(length(explanation.operations), "form"),
        Format.time(explanation.duration),
        Brief.count(explanation.words, "word")
      ]

      "#PtcRunner.Lisp.Explain<#{Enum.join(parts, ", ")}>"
    end

    defp result({:ok, step}), do: "ok: " <> Brief.value(step.return)
    defp result({:error, step}), do: "error: " <> Brief.value(PtcRunner.Lisp.format_error(step))
    defp result(other), do: Brief.value(other)
  end

  defimpl String.Chars do
    defdelegate to_string(explanation), to: PtcRunner.Lisp.Explain, as: :to_text
  end
end

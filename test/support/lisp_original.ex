defmodule PtcRunner.Test.LispOriginal do
  @moduledoc """
  Stands in for `PtcRunner.Lisp` of `ptc_runner` 0.11 to 0.13: its functions and the forms of its values, as its documentation shows them. A function is a tuple
  with a tree of syntax, a built-in an Elixir function.

  It evaluates with this library, so only the forms differ; and it has one name of those that are left out there, `describe`. It has no `try`.
  It is compiled without this library too, so it names no struct of it: see `PtcRunner.Test.Upstream`.
  """

  alias PtcRunner.Lisp.{Evaluation, Function, Given}

  # Where this library is not there yet, or is no dependency, a call that names these modules is a warning.
  @evaluation Evaluation
  @given Given

  defmodule Var do
    @moduledoc "What `def` gives."
    defstruct [:name]
  end

  defmodule Sources do
    @moduledoc "Stands in for `PtcRunner.Lisp.CoreToSource`."

    @doc "The source of a function, from its tree."
    def serialize_closure({:closure, _params, {:tree, source}, _captured, _history, _metadata}),
      do: source
  end

  @options ~w(context memory tools turn_history signature float_precision max_symbols max_program_bytes max_tool_calls
    max_heap timeout strict_data budget)a

  @doc "Runs a program."
  def run(source, opts \\ []) do
    if String.contains?(source, "(try"),
      do:
        {:error,
         PtcRunner.Step.error(:unbound_var, "Undefined variable: try", opts[:memory] || %{})},
      else: evaluated(source, opts)
  end

  defp evaluated(source, opts) do
    given = opts |> Keyword.take(@options) |> theirs()
    memory = Map.put_new(given[:memory] || %{}, "describe", describe())
    given = [memory: memory] ++ given
    {ended, step} = apply(@evaluation, :run, [source, apply(@given, :read, [given])])

    {ended,
     %{step | return: ours(step.return), memory: ours(Map.delete(step.memory, "describe"))}}
  end

  defp describe do
    source = ~S|(fn [x] (str "described " x))|
    struct(Function, kind: :closure, source: source, params: ["x"])
  end

  @doc "A function that only the original has."
  def validate(source), do: {:validated, source}

  @doc "A function of both."
  def format_error(error), do: "theirs: #{inspect(error)}"

  # What the evaluation gives, in the original's forms.
  defp ours(%{__struct__: Function, kind: :closure} = function) do
    params = Enum.map(function.params, &{:var, &1})
    meta = if function.doc, do: %{docstring: function.doc}, else: %{}
    {:closure, params, {:tree, tree(function.source)}, ours(function.captured), [], meta}
  end

  defp ours(%{__struct__: Function} = function), do: fn -> function end
  defp ours(%{__struct__: PtcRunner.Lisp.Var, name: name}), do: %Var{name: name}
  defp ours(%{__struct__: PtcRunner.Lisp.Regex, source: source}), do: {:re_mp, nil, nil, source}
  defp ours(%MapSet{} = set), do: MapSet.new(set, &ours/1)
  defp ours([head | tail]), do: [ours(head) | ours(tail)]

  defp ours(map) when is_map(map) and not is_struct(map),
    do: Map.new(map, fn {key, value} -> {key, ours(value)} end)

  defp ours(other), do: other

  # A tree has no names of definitions.
  defp tree(source), do: Regex.replace(~r/\A\(defn \S+\s+("[^"]*"\s+)?/, source, "(fn ")

  @doc "The reverse, for what it is given."
  def theirs({:closure, params, {:tree, source}, captured, _history, meta}) do
    struct(Function,
      kind: :closure,
      params: for({:var, name} <- params, do: name),
      source: source,
      doc: meta[:docstring],
      captured: theirs(captured)
    )
  end

  def theirs({:re_mp, _, _, source}), do: struct(PtcRunner.Lisp.Regex, source: source)
  def theirs(%Var{name: name}), do: struct(PtcRunner.Lisp.Var, name: name)
  def theirs(fun) when is_function(fun, 0), do: fun.()
  def theirs({key, value}) when is_atom(key), do: {key, theirs(value)}
  def theirs(%MapSet{} = set), do: MapSet.new(set, &theirs/1)
  def theirs([head | tail]), do: [theirs(head) | theirs(tail)]

  def theirs(map) when is_map(map) and not is_struct(map),
    do: Map.new(map, fn {key, value} -> {key, theirs(value)} end)

  def theirs(other), do: other
end

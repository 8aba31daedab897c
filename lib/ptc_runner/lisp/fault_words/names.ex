defmodule PtcRunner.Lisp.FaultWords.Names do
  @moduledoc false
  # The errors of names that have no value.

  alias PtcRunner.Lisp.FaultWords
  alias PtcRunner.Shown

  @forms ~w(let loop recur fn if if-not when when-not if-let when-let if-some when-some when-first cond case condp and or do -> ->> as->
            cond-> cond->> some-> some->> for doseq def defonce defn return fail juxt apply pmap pcalls comment quote)

  # What other Clojures have, and what stands for it here.
  @others %{
    "try" => "tool errors end the program, so check what a tool needs before the call",
    "catch" => "tool errors end the program, so check what a tool needs before the call",
    "throw" => "use (fail value) to end the program with an error",
    "atom" => "use loop/recur or reduce for changing values",
    "swap!" => "use loop/recur or reduce for changing values",
    "reset!" => "use def to bind a new value",
    "deref" => "values are used directly",
    "ref" => "use def to bind a value",
    "dotimes" => "use (doseq [i (range n)] ...)",
    "while" => "use loop/recur",
    "letfn" => "use (let [f (fn [x] ...)] ...)",
    "defmacro" => "use functions",
    "lazy-seq" => "sequences are vectors, use range or loop/recur",
    "iterate" => "use loop/recur",
    "repeat" => "use (map (constantly x) (range n))",
    "repeatedly" => "use (map (fn [_] ...) (range n))",
    "cycle" => "use (mod i n) for the index",
    "reduced" => "use loop/recur to end early",
    "transduce" => "use reduce",
    "require" => "all functions are there without it",
    "ns" => "all functions are there without it",
    "import" => "all functions are there without it",
    "prn" => "use println with pr-str",
    "print" => "use println",
    "printf" => "use (println (format ...))",
    "slurp" => "read data with data/name or a tool",
    "spit" => "use a tool",
    "capitalize" => "use (str (upper-case (subs s 0 1)) (subs s 1))",
    "subset?" => "use (every? b a)",
    "superset?" => "use (every? a b)",
    "rand" => "random numbers are not available",
    "rand-int" => "random numbers are not available",
    "shuffle" => "random numbers are not available",
    "long" => "use int or parse-long",
    "bigint" => "integers have any size",
    "eval" => "programs cannot make programs",
    "resolve" => "use the name itself",
    "volatile!" => "use loop/recur or reduce for changing values",
    "future" => "use pmap or pcalls",
    "promise" => "use pmap or pcalls"
  }

  # Names that are compared, and how similar they must be.
  @similar 0.8

  @spec words(atom(), String.t(), String.t() | nil, [term()]) :: FaultWords.words() | nil
  def words(:unbound, name, _detail, known) do
    {:unbound_var, "undefined variable: #{Shown.name(name)}" <> hint(name, known)}
  end

  def words(:no_data, key, _detail, _terms) do
    key = Shown.name(key)

    {:exactly, :runtime_error,
     "runtime_error: data/#{key} is not bound: the `context` object did not provide a `#{key}` key"}
  end

  def words(_code, _name, _detail, _terms), do: nil

  @doc """
  What a name that is not bound may have meant: the first hint that applies, or nothing.

      iex> alias PtcRunner.Lisp.FaultWords.Names
      iex> {Names.hint("let", []), Names.hint("my_var", []), Names.hint("while", []), Names.hint("totl", ["total"])}
      {". Hint: 'let' is a special form, use (let ...) with parentheses", ". Hint: Use hyphens not underscores (try: my-var)",
       ". Not available in PTC-Lisp — use loop/recur", ". Did you mean: total"}

  """
  @spec hint(String.t(), [String.t()]) :: String.t()
  def hint(name, _known) when name in @forms,
    do: ". Hint: '#{name}' is a special form, use (#{name} ...) with parentheses"

  def hint(name, _known) when is_map_key(@others, name),
    do: ". Not available in PTC-Lisp — #{@others[name]}"

  def hint(name, known) do
    if String.contains?(name, "_") do
      ". Hint: Use hyphens not underscores (try: #{Shown.name(String.replace(name, "_", "-"))})"
    else
      case similar(name, known) do
        nil -> ""
        other -> ". Did you mean: #{Shown.name(other)}"
      end
    end
  end

  defp similar(name, known) do
    known
    |> Enum.filter(&is_binary/1)
    |> Enum.map(&{String.jaro_distance(name, &1), &1})
    |> Enum.filter(fn {similarity, _name} -> similarity >= @similar end)
    |> Enum.max(fn -> {0, nil} end)
    |> elem(1)
  end
end

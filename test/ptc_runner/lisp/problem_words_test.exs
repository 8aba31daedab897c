defmodule PtcRunner.Lisp.ProblemWordsTest do
  use ExUnit.Case, async: true

  alias PtcRunner.Lisp.ProblemWords
  alias PtcRunner.{Native, Quanta}
  alias PtcRunner.Test.Vectors

  doctest ProblemWords

  # More symbols than any program has.
  @any 0xFFFFFFFF

  @files Path.wildcard("test/vectors/lisp_*.eterm") |> Enum.map(&Path.basename(&1, ".eterm"))
  @before ~w(parse_error invalid_arity invalid_form invalid_cond_form invalid_thread_form duplicate_key
             unsupported_pattern invalid_placeholder unsupported_method)a

  defp problem(source) do
    limits = {5_000, 100_000_000}

    case Quanta.finish(
           Native.lisp_compile({source, [], [], false}, {:program, MapSet.new(), @any}, limits)
         ) do
      {:error, {:problem, reason, code, parts, start, stop}} ->
        assert start <= stop and stop <= byte_size(source)
        {reason, ProblemWords.message(reason, code, parts)}

      other ->
        other
    end
  end

  test "the golden cases have their messages" do
    cases =
      for file <- @files,
          %{expect: {:error, %{message: message, reason: reason}}, opts: []} = vector <-
            Vectors.read(file),
          reason in @before and message not in [nil, ""],
          # Regular expressions are compiled by the caller.
          not String.contains?(message, "invalid regex literal"),
          do: {vector.source, to_string(reason), message}

    assert length(cases) > 80

    for {source, reason, message} <- cases do
      assert {source, problem(source)} == {source, {reason, message}}
    end
  end

  # One program for each message that no golden case has.
  @programs [
    {"\"a\\", "parse_error", "unclosed string at line 1, column 3"},
    {"[\"a\\\nb\"]", "parse_error", "unclosed string at line 1, column 4"},
    {~S|(str ")" |, "parse_error", "unclosed list at line 1, column 10"},
    {~S|[1 "]"|, "parse_error", "unclosed vector at line 1, column 7"},
    {~S|#{1 "}"|, "parse_error", "unclosed set at line 1, column 8"},
    {~S|{1 "}"|, "parse_error", "unclosed map at line 1, column 7"},
    {"\n #(+ 1 \")\"", "parse_error", "unclosed short function at line 2, column 11"},
    {"\"é\" \\", "parse_error", "invalid character literal at line 1, column 5"},
    {"#'1", "parse_error", "syntax error: could not parse var at line 1, column 1"},
    {"[a '1]", "parse_error", "syntax error: could not parse quoted symbol at line 1, column 4"},
    {String.duplicate("1", 101), "parse_error", "integer literal exceeds 100 digit limit"},
    {String.duplicate("[", 65) <> String.duplicate("]", 65), "parse_error",
     "nesting depth exceeds limit of 64"},
    {"(let [x 1 2] x)", "invalid_form",
     "invalid_form: let bindings require even number of forms"},
    {"(loop 5 x)", "invalid_form", "invalid_form: let bindings must be a vector"},
    {"(if-let [x] 1 2)", "invalid_form",
     "invalid_form: if-let requires exactly one binding pair [name expr]"},
    {"(when-let)", "invalid_arity", "Analysis error: expected (when-let [name expr] body ...)"},
    {"(when-some [[a] 1] 1)", "invalid_form",
     "invalid_form: binding must be a simple symbol, not a destructuring pattern"},
    {"(if-some [x 1] x)", "invalid_arity",
     "Analysis error: expected (if-some [name expr] then else)"},
    {"(when-not)", "invalid_arity", "Analysis error: expected (when-not cond body ...)"},
    {"(case)", "invalid_form", "invalid_form: case requires at least an expression to test"},
    {"(case 1 () 2)", "invalid_form",
     "invalid_form: case grouped match must contain at least one value"},
    {"(condp some 1 2 :>> inc)", "invalid_form",
     "invalid_form: condp :>> result-fn form is not supported in PTC-Lisp"},
    {"(for [:when 1 x [1]] x)", "invalid_form",
     "invalid_form: expected a binding symbol, got keyword :when. " <>
       "Keywords like :when/:let/:while must follow a binding pair"},
    {"(for [x [1] :if 1] x)", "invalid_form",
     "invalid_form: unknown modifier :if in for/doseq. Known: :when, :let, :while"},
    {"(for [x [1] :when] x)", "invalid_form", "invalid_form: modifier :when requires a value"},
    {"(doseq [x [1] y] x)", "invalid_form",
     "invalid_form: for/doseq bindings require pairs, got trailing element"},
    {"(doseq [x [1]])", "invalid_arity",
     "Analysis error: doseq requires at least one body expression, missing body"},
    {"(doseq)", "invalid_arity", "Analysis error: expected (doseq [bindings] body ...)"},
    {"(defn 5 [x] x)", "invalid_form", "invalid_form: defn name must be a symbol, got: 5"},
    {"(defonce 5.50 1)", "invalid_form", "invalid_form: defonce name must be a symbol, got: 5.5"},
    {"(defn f ([x] x) ([x y] y))", "invalid_form",
     "invalid_form: multi-arity defn not supported, use separate defn forms for each arity"},
    {"(def data/x 1)", "invalid_form",
     "invalid_form: cannot define data/x: data is a protected namespace whose names cannot be redefined by user code."},
    {"(apply inc)", "invalid_arity",
     "Analysis error: expected (apply f coll) or (apply f x y coll)"},
    {"(fail 1 2)", "invalid_arity", "Analysis error: expected (fail error)"},
    {"(quote 5)", "invalid_form",
     "invalid_form: quote only supports symbols in this phase, got 5"},
    {"(budget/left)", "invalid_form",
     "invalid_form: Unknown budget function: budget/left. Available: budget/remaining"},
    {"{\"a\\n\" 1 \"a\\n\" 2}", "duplicate_key",
     "duplicate_key: duplicate key \"a\\n\" in map literal"},
    {"\#{\"a\" \"a\"}", "duplicate_key", "duplicate_key: duplicate element \"a\" in set literal"},
    {"{1e3 1 1000.0 2}", "duplicate_key", "duplicate_key: duplicate key 1000.0 in map literal"},
    {"\#{(f) [f]}", "duplicate_key", "duplicate_key: duplicate element [f] in set literal"},
    {"(let [{:keys a} {}] a)", "invalid_form", "invalid_form: invalid :keys destructuring form"},
    {"(let [{:keys [a] :or {:a 1}} {}] a)", "invalid_form",
     "invalid_form: default keys must be symbols"},
    {"(try 1 (catch e 2) (catch f 3))", "invalid_form",
     "invalid_form: try takes one catch, which catches each tool that fails"},
    {"(try 1 (finally 2))", "invalid_form",
     "invalid_form: finally is not supported: (try body ... (catch e handler ...))"},
    {"(let [[a & b c] []] a)", "invalid_form", "invalid_form: only one pattern may follow &"},
    {"(let [{:keys [a] :or 5} {}] a)", "invalid_form",
     "invalid_form: :or requires a map of names and defaults"},
    {"(let [{:keys [a] :or {a (f 1)}} {}] a)", "invalid_form",
     "invalid_form: defaults must be literals (strings, keywords, numbers, booleans, nil), got: (f 1)"},
    {"(->> 1 ())", "invalid_thread_form", "invalid_thread_form: an empty list is no step"},
    {"(cond->> 1 2)", "invalid_thread_form",
     "invalid_thread_form: cond->> requires pairs of a test and a step"},
    {"(as-> 1 [x])", "invalid_thread_form",
     "invalid_thread_form: as-> requires a name that is a symbol, got: [x]"},
    {"(for [x [1] :let x] x)", "invalid_form",
     "invalid_form: modifier :let requires a vector of bindings"},
    {"(for 5 x)", "invalid_form", "invalid_form: for bindings must be a vector"},
    {"(defn f 5)", "invalid_form",
     "invalid_form: defn parameters must be a vector: (defn name [params] body)"},
    {"(try (catch e 1) 2)", "invalid_form", "invalid_form: catch must be the last part of try"},
    {"(try 1 (catch [e] 1))", "invalid_form",
     "invalid_form: expected (catch name handler ...) or (catch Exception name handler ...)"},
    {"(try (throw 1) (catch e 1))", "invalid_form",
     "invalid_form: throw is not supported: try catches tools that fail. Use (fail error) to end the program"},
    {"(core/nope 1)", "invalid_form",
     "invalid_form: core/nope does not exist. core has the built-in functions, and none of them is nope"},
    {"(Math/abs2 1)", "invalid_form",
     "invalid_form: Math/abs2 does not exist. Math has: abs, ceil, floor, max, min, pow, round, sqrt, trunc"},
    {"(fn [" <> String.duplicate("p ", 70_000) <> "] p)", "invalid_form",
     "invalid_form: a function has more than 65,535 parameters, or uses as many names from around it"}
  ]

  test "the other messages" do
    for {source, reason, message} <- @programs do
      assert {source, problem(source)} == {source, {reason, message}}
    end
  end

  test "each code has words, and a program here" do
    sources = Path.wildcard("native/ptc_lisp/src/{read,analyze}/*.rs")
    text = Enum.map_join(sources, &File.read!/1)
    words = File.read!("lib/ptc_runner/lisp/problem_words.ex")
    worded = for [_, code] <- Regex.scan(~r/words\("(\w+)"/, words), uniq: true, do: code

    calls =
      ~r/(?:(?:invalid|arity|Wrong::at|Wrong::placed|Wrong::between)\(\s*|problem\(\s*[\w"]+,\s*|=> )"([a-z]\w+)"/

    made = for [_, code] <- Regex.scan(calls, text), uniq: true, do: code
    assert length(made) > 60
    # Other strings stand behind `=>` too.
    assert Enum.filter(made -- worded, &String.contains?(&1, "_")) == []

    # This one is about bytes that are no text: the NIF finds them.
    text = text <> File.read!("native/ptc_lisp/src/compile/mod.rs")

    assert for(code <- worded, not String.contains?(text, ~s("#{code}")), do: code) == [
             "not_text"
           ]

    golden = for file <- @files, %{source: source} <- Vectors.read(file), do: source
    ours = for {source, _, _} <- @programs, do: source
    seen = for source <- golden ++ ours, code = code(source), uniq: true, do: code
    assert worded -- seen == ["too_many_symbols", "not_text"]
  end

  defp code(source) do
    limits = {5_000, 100_000_000}

    case Quanta.finish(
           Native.lisp_compile({source, [], [], false}, {:program, MapSet.new(), @any}, limits)
         ) do
      {:error, {:problem, _reason, code, _parts, _start, _stop}} -> code
      _ -> nil
    end
  end
end

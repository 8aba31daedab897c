defmodule PtcRunner.Lisp.ProblemWords do
  @moduledoc false

  @type part :: String.t() | integer()

  @doc """
  Returns the message of an error that a program has before it runs.

      iex> PtcRunner.Lisp.ProblemWords.message("invalid_arity", "expected_if", ["if-not"])
      "Analysis error: expected (if-not cond then else?)"
      iex> PtcRunner.Lisp.ProblemWords.message("invalid_form", "empty_list", [])
      "invalid_form: Empty list is not a valid expression"
  """
  @spec message(reason :: String.t(), code :: String.t(), parts :: [part]) :: String.t()
  def message(reason, code, parts), do: prefix(reason) <> words(code, parts)

  defp prefix(reason) when reason in ["parse_error", "symbol_limit_exceeded"], do: ""

  defp prefix(reason) when reason in ["invalid_arity", "invalid_placeholder"],
    do: "Analysis error: "

  defp prefix(reason), do: reason <> ": "

  # Limits

  defp words("too_many_symbols", [count, most]),
    do: "program contains #{count} unique symbols/keywords, exceeds limit of #{most}"

  # Reading

  defp words("not_text", [at]), do: "the program is not UTF-8: the first wrong byte is at #{at}"
  defp words("discard", []), do: "reader discard syntax (#_) is not supported. Use ; for comments"

  defp words("deref", []),
    do: "deref syntax (@var) is not supported. Atoms and refs are not available"

  defp words("quoted_collection", []),
    do: "quoted collections are not supported; only quoted symbols like 'github are allowed"

  defp words("unclosed_brackets", [kind, count, bracket]),
    do: "unbalanced #{kind}: #{count} unclosed '#{bracket}'"

  defp words("extra_brackets", [kind, count, bracket]),
    do: "unbalanced #{kind}: #{count} extra '#{bracket}'"

  defp words("odd_map", [count]), do: "Map literal requires even number of forms, got #{count}"
  defp words("unclosed_text", [line, column]), do: "unclosed string" <> place(line, column)

  defp words("unclosed", [kind, line, column]), do: "unclosed #{kind}" <> place(line, column)

  defp words("bad_character", [line, column]),
    do: "invalid character literal" <> place(line, column)

  defp words("no_form", [line, column]),
    do: "syntax error: could not parse expression" <> place(line, column)

  defp words("no_keyword", [line, column]),
    do: "syntax error: could not parse keyword" <> place(line, column)

  defp words("no_var", [line, column]),
    do: "syntax error: could not parse var" <> place(line, column)

  defp words("no_quoted", [line, column]),
    do: "syntax error: could not parse quoted symbol" <> place(line, column)

  defp words("long_integer", []), do: "integer literal exceeds 100 digit limit"
  defp words("bad_float", [text]), do: "invalid float: #{text}"
  defp words("too_deep", []), do: "nesting depth exceeds limit of 64"

  # Bindings and patterns

  defp words("expected_bindings", [form]), do: "expected (#{form} [bindings] body ...)"
  defp words("bindings_vector", [form]), do: "#{form} bindings must be a vector"
  defp words("bindings_odd", [form]), do: "#{form} bindings require even number of forms"
  defp words("one_binding", [form]), do: "#{form} requires exactly one binding pair [name expr]"

  defp words("binding_symbol", []),
    do: "binding must be a simple symbol, not a destructuring pattern"

  defp words("expected_if_binding", [form]), do: "expected (#{form} [name expr] then else)"
  defp words("expected_when_binding", [form]), do: "expected (#{form} [name expr] body ...)"

  defp words("pattern", [text]),
    do:
      "#{text} cannot be bound. A pattern is a name, [a b & rest], {:keys [a b]}, {:strs [a b]} or {name :key}, " <>
        "with :or {name default} and :as name in the map"

  defp words("empty_pattern", [text]),
    do: "#{text} binds nothing. Name at least one key, as in {:keys [a] :as all}"

  defp words("missing_rest", []), do: "& must be followed by a pattern"
  defp words("several_rest", []), do: "only one pattern may follow &"
  defp words("keys_form", [key]), do: "invalid #{key} destructuring form"
  defp words("keys_element", []), do: "expected keyword or symbol in destructuring key"
  defp words("source_key", [text]), do: "invalid source key: #{text}"
  defp words("or_form", []), do: ":or requires a map of names and defaults"
  defp words("or_key", []), do: "default keys must be symbols"

  defp words("or_value", [text]),
    do: "defaults must be literals (strings, keywords, numbers, booleans, nil), got: #{text}"

  # Branches

  defp words("expected_if", [form]), do: "expected (#{form} cond then else?)"
  defp words("expected_when", [form]), do: "expected (#{form} cond body ...)"
  defp words("odd_clauses", []), do: "cond requires even number of test/result forms"
  defp words("case_subject", []), do: "case requires at least an expression to test"

  defp words("case_constant", []),
    do:
      "case test values must be compile-time constants (keywords, strings, numbers, booleans, nil)"

  defp words("case_group", []), do: "case grouped match must contain at least one value"

  defp words("condp_arity", []),
    do: "condp requires a predicate, an expression, and at least one clause"

  defp words("condp_clause", []), do: "condp requires at least one test/result clause pair"

  defp words("condp_result", []),
    do: "condp :>> result-fn form is not supported in PTC-Lisp"

  # Threading

  defp words("thread_value", [form]), do: "#{form} requires a value: (#{form} value step ...)"
  defp words("thread_pairs", [form]), do: "#{form} requires pairs of a test and a step"
  defp words("thread_as", []), do: "as-> requires a value and a name: (as-> value name step ...)"
  defp words("thread_name", [text]), do: "as-> requires a name that is a symbol, got: #{text}"
  defp words("thread_step", []), do: "an empty list is no step"

  # Rounds

  defp words("for_pair", []), do: "for/doseq requires at least one binding pair"

  defp words("for_trailing", []), do: "for/doseq bindings require pairs, got trailing element"

  defp words("for_keyword", [key]),
    do:
      "expected a binding symbol, got keyword :#{key}. " <>
        "Keywords like :when/:let/:while must follow a binding pair"

  defp words("for_modifier", [key]),
    do: "unknown modifier :#{key} in for/doseq. Known: :when, :let, :while"

  defp words("for_value", [key]), do: "modifier :#{key} requires a value"
  defp words("for_let", []), do: "modifier :let requires a vector of bindings"

  defp words("for_collection", [form, binding, value, kind]),
    do: "#{form} binding '#{binding}' expected a collection, got: #{value} (#{kind})"

  defp words("for_body", []), do: "for requires at least one body expression"

  defp words("doseq_body", []),
    do: "doseq requires at least one body expression, missing body"

  # Functions and definitions

  defp words("expected_fn", []),
    do: "expected (fn [params] body ...) or (fn name [params] body ...)"

  defp words("function_too_large", []),
    do: "a function has more than 65,535 parameters, or uses as many names from around it"

  defp words("params_vector", []), do: "fn parameters must be a vector"
  defp words("recur_not_tail", []), do: "recur must be in tail position"
  defp words("nested_short", []), do: "Nested #() anonymous functions are not allowed"

  defp words("placeholder_limit", [name]),
    do: "short function placeholder #{name} exceeds max arity of 20"

  defp words("placeholder", [name]),
    do: "placeholder '#{name}' can only be used inside #() anonymous function syntax"

  defp words("def_without_value", [form]),
    do: "expected (#{form} name value), got (#{form} name) without value"

  defp words("expected_def", [form]),
    do: "expected (#{form} name value) or (#{form} name docstring value)"

  defp words("expected_defn", []), do: "expected (defn name [params] body)"
  defp words("def_symbol", [form, text]), do: "#{form} name must be a symbol, got: #{text}"

  defp words("multi_arity", []),
    do: "multi-arity defn not supported, use separate defn forms for each arity"

  defp words("defn_params", []),
    do: "defn parameters must be a vector: (defn name [params] body)"

  defp words("qualified_def", [name]),
    do:
      "qualified definitions are not supported: cannot define #{name}. " <>
        "Define unqualified names in the user namespace instead."

  defp words("protected_def", [name, space]),
    do:
      "cannot define #{name}: #{space} is a protected namespace whose names cannot be redefined by user code."

  # Other forms

  defp words("expected_end", [form, operand]), do: "expected (#{form} #{operand})"
  defp words("expected_juxt", [_]), do: "expected (juxt f ...) with at least one function"
  defp words("expected_apply", [_]), do: "expected (apply f coll) or (apply f x y coll)"
  defp words("expected_pmap", [_]), do: "expected (pmap f coll) or (pmap f c1 c2 ...)"

  defp words("expected_quote", [count]),
    do: "(quote symbol) requires exactly 1 symbol, got #{count}"

  defp words("quote_symbol", [text]),
    do: "quote only supports symbols in this phase, got #{text}"

  defp words("empty_list", []), do: "Empty list is not a valid expression"

  defp words("dot", []),
    do: "(. obj method) syntax is not supported. Use (.method obj) instead."

  defp words("finally", []),
    do: "finally is not supported: (try body ... (catch e handler ...))"

  defp words("several_catches", []),
    do: "try takes one catch, which catches each tool that fails"

  defp words("catch_last", []), do: "catch must be the last part of try"

  defp words("catch_form", []),
    do: "expected (catch name handler ...) or (catch Exception name handler ...)"

  defp words("throw", []),
    do: "throw is not supported: try catches tools that fail. Use (fail error) to end the program"

  defp words("duplicate_key", [text]), do: "duplicate key #{text} in map literal"
  defp words("duplicate_key_text", [text]), do: "duplicate key #{inspect(text)} in map literal"
  defp words("duplicate_key_form", [text]), do: "duplicate key #{text} in map literal"
  defp words("duplicate_element", [text]), do: "duplicate element #{text} in set literal"

  defp words("duplicate_element_text", [text]),
    do: "duplicate element #{inspect(text)} in set literal"

  defp words("duplicate_element_form", [text]), do: "duplicate element #{text} in set literal"

  # Names

  defp words("budget_arguments", []), do: "(budget/remaining) takes no arguments"

  defp words("unknown_budget", [name]),
    do: "Unknown budget function: budget/#{name}. Available: budget/remaining"

  defp words("unknown_in_namespace", [name, space, known]),
    do: "#{name} does not exist. #{space} has: #{known}"

  defp words("unknown_in_core", [name, space, plain]),
    do:
      "#{name} does not exist. #{space} has the built-in functions, and none of them is #{plain}"

  defp words("unknown_namespace", [name, space, known]),
    do: "#{name}: there is no namespace #{space}. Namespaces: #{known}"

  defp words("method", [name, known]), do: "#{name} does not exist. Methods: #{known}"

  defp place(line, column), do: " at line #{line}, column #{column}"
end

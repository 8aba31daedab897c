defmodule PtcRunner.Test.LispGuide.Forms do
  @moduledoc false
  # The special forms of PTC-Lisp, for its page: what is written, what it means, and an example.

  @doc "Forms by section: how a form is written, what it means, a program."
  @spec sections() :: [{String.t(), [{String.t(), String.t(), String.t()}]}]
  def sections do
    [
      {"Names and functions",
       [
         {"(let [name value …] body …)",
          "names values, one after another; patterns take values apart",
          "(let [[a & more] [1 2 3] {:keys [n]} {:n 4}] [a more n])"},
         {"(def name value)", "keeps a value for the program and for later ones",
          "(do (def rate 2) (* rate 21))"},
         {"(defonce name value)", "the same, unless the name has a value",
          "(do (def n 1) (defonce n 2) n)"},
         {"(defn name [p …] body …)", "keeps a function",
          "(do (defn vat [x] (* x 0.25)) (vat 80))"},
         {"(fn [p … & rest] body …)", "a function; `(fn name [p] …)` can call itself",
          "((fn fact [n] (if (< n 2) 1 (* n (fact (dec n))))) 20)"},
         {"#(… % %2)",
          "a short function: `%` is its first argument, `%2` its second, `%&` the others",
          "(map #(+ % (* 10 %2)) [1 2] [3 4])"},
         {"(loop [name value …] body …)", "a body that `recur` starts again",
          "(loop [n 5 acc 1] (if (zero? n) acc (recur (dec n) (* acc n))))"},
         {"(recur value …)", "starts the innermost loop or function again, in tail position",
          "((fn [n] (if (> n 100) n (recur (* 2 n)))) 1)"},
         {"(do body …)", "the value of the last one", "(do 1 2)"},
         {"(apply f x … coll)", "calls `f` with the items as arguments", "(apply max 0 [3 1])"},
         {"(juxt f …)", "a function that gives a vector of all values",
          "((juxt :id count) {:id 7 :n 1})"},
         {"(comment …)", "nothing: its value is nil", "(comment whatever)"},
         {"'name, (quote name)", "a symbol", "(str 'total)"}
       ]},
      {"Choices",
       [
         {"(if test then else)", "only nil and false are not true", "(if 0 \"yes\" \"no\")"},
         {"(if-not test then else)", "the opposite", "(if-not nil 1 2)"},
         {"(when test body …)", "nil if the test is not true", "(when false 1)"},
         {"(when-not test body …)", "the opposite", "(when-not false 1)"},
         {"(if-let [x value] then else)", "names the value that is tested",
          "(if-let [x (:n {:n 1})] (inc x) 0)"},
         {"(when-let [x value] body …)", "the same without an else", "(when-let [x nil] x)"},
         {"(if-some [x value] then else)", "tests for nil only", "(if-some [x false] [x] 0)"},
         {"(when-some [x value] body …)", "the same without an else",
          "(when-some [x false] [x])"},
         {"(when-first [x coll] body …)", "with the first item, if there is one",
          "(when-first [x [7 8]] x)"},
         {"(cond test value … :else value)", "the value of the first test that is true",
          "(let [n 5] (cond (< n 0) :negative (< n 10) :small :else :large))"},
         {"(case x value result … default)", "constants, or lists of them",
          "(case :b :a 1 (:b :c) 2 0)"},
         {"(condp f x value result … default)", "the first for which `(f value x)` is true",
          "(condp < 5 10 :large 3 :medium :small)"},
         {"(and x …)", "the first that is not true, else the last", "(and 1 nil 2)"},
         {"(or x …)", "the first that is true, else the last", "(or nil 2)"}
       ]},
      {"Threading",
       [
         {"(-> x form …)", "puts the value in as the first argument",
          "(-> {:n 1} (assoc :m 2) :m)"},
         {"(->> x form …)", "as the last argument", "(->> [1 2 3] (map inc) (filter even?))"},
         {"(as-> x name form …)", "under a name", "(as-> 5 n (range n) (count n))"},
         {"(cond-> x test form …)", "the forms whose tests are true",
          "(cond-> {:a 1} true (assoc :b 2) false (assoc :c 3))"},
         {"(cond->> x test form …)", "the same, as the last argument",
          "(cond->> [1 2] true (map inc))"},
         {"(some-> x form …)", "ends at nil", "(some-> {:a nil} :a inc)"},
         {"(some->> x form …)", "the same, as the last argument", "(some->> nil (map inc))"}
       ]},
      {"Loops over collections",
       [
         {"(for [x coll …] body)",
          "a vector of values; `:when`, `:while` and `:let` may follow a collection",
          "(for [x [1 2 3] y [10 20] :let [z (* x y)] :when (> z 20)] z)"},
         {"(doseq [x coll …] body …)", "the same for its effects; its value is nil",
          "(doseq [x [1 2]] (println x))"}
       ]},
      {"Data and tools",
       [
         {"data/name", "the value of the context", "(:name (first data/people))"},
         {"(tool/name {:arg value})", "calls a tool; `(tool/name :arg value)` is the same",
          "(tool/double {:n 21})"},
         {"(try body … (catch e handler …))",
          "`e` is the error of a tool that has failed: a map of `:message` and `:tool`",
          "(try (tool/broken {}) (catch e (:message e)))"},
         {"*1, *2, *3", "the values of the last programs", "[*1 *2]"},
         {"(budget/remaining)", "what the application gives as its budget", "(budget/remaining)"},
         {"(return value)", "ends the program with a value", "(do (return 1) 2)"},
         {"(fail value)", "ends the program: there is no result", "(do (fail \"why\") 2)"}
       ]}
    ]
  end
end

//! Built-ins that call functions: each program has one value, however short its executions are.

use crate::expected::{fails, same};

#[test]
fn each_item() {
    same(&[
        ("(map inc [1 2])", "[2, 3]"),
        ("(map (fn [x] (* x x)) [1 2 3])", "[1, 4, 9]"),
        (
            "(map :name [{:name 1} {\"name\" 2} nil {:id 3}])",
            "[1, 2, nil, nil]",
        ),
        (
            "(map :user-id [{:user-id 1} {\"user_id\" 2} {:a 3}])",
            "[1, 2, nil]",
        ),
        ("(map :a \"ab\")", "[nil, nil]"),
        ("(map #{1 2} [1 3 2])", "[1, nil, 2]"),
        (
            "(map (fn [a b c] [a b c]) [1 2] [3 4 5] \"ab\")",
            r#"[[1, 3, "a"], [2, 4, "b"]]"#,
        ),
        ("(map + [1 2] [3 4])", "[4, 6]"),
        (
            "(map (fn [x] (map (fn [y] (+ x y)) [1 2])) [10 20])",
            "[[11, 12], [21, 22]]",
        ),
        ("(filter odd? (range 6))", "[1, 3, 5]"),
        ("(filter (fn [x] (> x 2)) #{1 2 3 4})", "[3, 4]"),
        ("(remove (fn [x] (> x 2)) [1 2 3 4])", "[1, 2]"),
        ("(keep (fn [x] (if (odd? x) x)) [1 2 3])", "[1, 3]"),
        (
            "(keep-indexed (fn [i x] (if (odd? i) x)) [1 2 3 4])",
            "[2, 4]",
        ),
        ("(map-indexed vector \"ab\")", r#"[[0, "a"], [1, "b"]]"#),
        ("(mapcat (fn [x] [x x]) [1 2])", "[1, 1, 2, 2]"),
        ("(mapcat (fn [x] #{x}) [1 2])", "[1, 2]"),
        ("(mapcat :n [{:n 1} {:n [2 3]} {}])", "[1, 2, 3]"),
        (
            "[(some odd? [2 3]) (some #{7} [1]) (some :a [{:a 5}])]",
            "[true, nil, 5]",
        ),
        (
            "[(every? odd? [1 3]) (not-every? odd? [1 2]) (not-any? odd? [2]) (every? odd? nil)]",
            "[true, true, true, true]",
        ),
        (
            "[(take-while odd? [1 3 4 5]) (drop-while (fn [x] (odd? x)) [1 3 4 5])]",
            "[[1, 3], [4, 5]]",
        ),
        ("(split-with pos? [1 2 -1 3])", "[[1, 2], [-1, 3]]"),
        (
            "(partition-by (fn [x] (quot x 3)) (range 8))",
            "[[0, 1, 2], [3, 4, 5], [6, 7]]",
        ),
        ("(partition-by odd? nil)", "[]"),
        (
            "[(pmap (fn [x] (* x x)) [1 2]) (pmap + [1 2] [3 4]) (pmap inc nil)]",
            "[[1, 4], [4, 6], []]",
        ),
        (
            "[(pcalls (fn [] 1) (fn [] (+ 1 1))) (pcalls)]",
            "[[1, 2], []]",
        ),
        (
            "(map (fn [n] (if (> n 10) n (recur (* n 2)))) [1 3 5])",
            "[16, 12, 20]",
        ),
    ]);
    fails(&[
        ("(map :name [1 2])", "invalid_types map  :name, [1, 2]"),
        ("(map-indexed inc [1])", "arity inc  2, 1, 1"),
        ("(some 5 [1])", "invalid_types some  5, [1]"),
        ("(not-any? [1] 7)", "not_a_collection seq  7"),
        ("(pmap nil [1])", "pmap_function pmap  nil"),
        ("(pcalls 1)", "thunk pcalls  1"),
        ("(pcalls (fn [x] x))", "thunk_arity pcalls  1"),
        ("(pcalls inc)", "thunk_arity pcalls  1"),
        ("(mapcat inc [1])", "mapcat_result mapcat  2"),
    ]);
}

#[test]
fn keys_of_items() {
    same(&[
        ("(sort [3 1 2])", "[1, 2, 3]"),
        ("(sort > [1 3 2])", "[3, 2, 1]"),
        ("(sort (fn [a b] (- b a)) [3 1 2 5 4])", "[5, 4, 3, 2, 1]"),
        ("(sort :desc [1 3 2])", "[3, 2, 1]"),
        ("(sort < [2 ##Inf 1 ##-Inf])", "[:negative_infinity, 1, 2, :infinity]"),
        ("(sort compare [3 1 2])", "[1, 2, 3]"),
        ("(map second (sort-by first > [[1 :a] [2 :b] [1 :core]]))",
         r#"["b", :core, "a"]"#),
        ("(sort-by (fn [x] (- x)) [1 3 2])", "[3, 2, 1]"),
        ("(sort-by count (fn [a b] (> a b)) [\"a\" \"ccc\" \"bb\"])", r#"["ccc", "bb", "a"]"#),
        ("(sort-by [:name :id] [{:name {:id 2}} {:name {:id 1}}])",
         r#"[%{:name => %{"id" => 1}}, %{:name => %{"id" => 2}}]"#),
        ("(group-by odd? [1 2 3])", "%{false => [2], true => [1, 3]}"),
        ("(group-by (fn [x] (mod x 3)) (range 7))", "%{0 => [0, 3, 6], 1 => [1, 4], 2 => [2, 5]}"),
        ("(distinct-by count [\"a\" \"b\" \"cc\"])", r#"["a", "cc"]"#),
        ("[(sum-by :name [{:name 1} {:name nil} {:name 2.5}]) (avg-by identity [1 2]) (sum-by :a nil) (avg-by :a nil)]",
         "[3.5, 1.5, 0, nil]"),
        ("[(min-by abs [-3 2 -1 1]) (max-by :a nil) (max-by count \"a\" \"bbb\" \"ccc\") (min-by abs 7)]",
         r#"[-1, nil, "bbb", 7]"#),
        ("[(max-key count \"a\" \"bbb\") (min-key (fn [x] (- x)) 1 3 2) (max-key inc 5)]", r#"["bbb", 3, 5]"#),
    ]);
    fails(&[
        ("(sort nil [1])", "argument sort callable 1, nil, [1]"),
        (
            "(sort :up [1])",
            "comparator sort  %{:__struct__ => :Elixir.PtcRunner.Lisp.Keyword, :name => \"up\"}",
        ),
        ("(sort (fn [a b] nil) [2 1])", "comparator_result sort  nil"),
        ("(sort-by :name [5])", "sort_key sort-by  5"),
        ("(sum-by identity [\"a\"])", "bad_arith sum-by  \"a\""),
        ("(group-by 5 [1])", "invalid_types group-by  5, [1]"),
        ("(max-key inc)", "key_count max-key"),
        ("(min-by inc)", "at_least min-by  1, 2"),
    ]);
}

#[test]
fn folds_trees_and_maps() {
    same(&[
        ("[(reduce + [1 2 3]) (reduce + []) (reduce + 5 []) (reduce (fn [a x] (+ a x)) 10 (range 5))]",
         "[6, nil, 5, 20]"),
        ("(reduce-kv (fn [a k v] (conj a [k v])) [] {1 2 3 4})", "[[1, 2], [3, 4]]"),
        ("(map :id (tree-seq :kids :kids {:id 1 :kids [{:id 2 :kids []} {:id 3}]}))", "[1, 2, 3]"),
        ("(tree-seq (fn [x] (vector? x)) (fn [x] x) [1 [2 [3]] 4])",
         "[[1, [2, [3]], 4], 1, [2, [3]], 2, [3], 3, 4]"),
        ("(walk inc (fn [x] (reduce + x)) [1 2])", "5"),
        ("(postwalk (fn [x] (if (number? x) (inc x) x)) [1 [2 {3 4}]])", "[2, [3, %{4 => 5}]]"),
        ("(prewalk (fn [x] (if (number? x) (inc x) x)) [1 [2 {3 4}] #{}])",
         "[2, [3, %{4 => 5}], %{:__struct__ => :Elixir.MapSet, :map => %{}, :version => 2}]"),
        ("(postwalk identity [])", "[]"),
        ("[(update {1 2} 1 inc) (update {1 2} 1 + 5) (update [1 2] 0 (fn [x] [x])) (update {} 1 (fn [x] [x]))]",
         "[%{1 => 3}, %{1 => 7}, [[1], 2], %{1 => [nil]}]"),
        ("[(update-in {1 {2 3}} [1 2] inc) (update-in {} [1 2] (fnil inc 0)) (update-in [{1 1}] [0 1] inc) (update-in nil [] (fn [x] 1))]",
         "[%{1 => %{2 => 4}}, %{1 => %{2 => 1}}, [%{1 => 2}], %{nil => 1}]"),
        ("[(update-vals {1 2 3 4} inc) (update-keys {1 2 3 4} (fn [k] 0)) (update-vals nil inc)]",
         "[%{1 => 3, 3 => 5}, %{0 => 4}, nil]"),
        ("[(merge-with + {1 2} {1 3 4 5} nil) (merge-with (fn [a b] [a b]) {1 2} {1 3}) (merge-with +) (merge-with + nil nil)]",
         "[%{1 => 5, 4 => 5}, %{1 => [2, 3]}, %{}, %{}]"),
    ]);
    fails(&[
        (
            "(reduce :name [1 2])",
            "invalid_types reduce  :name, [1, 2]",
        ),
        (
            "(postwalk (fn [x] (if (vector? x) (count x) x)) {1 2})",
            "walk_entry walk  2",
        ),
        ("(update [1 2] 2 inc)", "index update  2, 2"),
        (
            "(update {1 2} 1 (fn [x] x) 1 2)",
            "update_arity update  1, 3",
        ),
        (
            "(merge-with 5 {})",
            "argument merge-with callable 1, 5, %{}",
        ),
    ]);
}

#[test]
fn made_functions() {
    same(&[
        ("[((comp str inc) 1) ((comp) 5) ((comp inc) 1) ((comp inc (fn [a b] (+ a b))) 1 2)]", r#"["2", 5, 2, 4]"#),
        ("[((partial + 1 2) 3) ((partial map inc) [1 2]) ((partial (fn [a b c] [a b c]) 1) 2 3)]",
         "[6, [2, 3], [1, 2, 3]]"),
        ("[((juxt inc dec) 5) ((juxt :name (fn [x] 1)) {:name 2})]", "[[6, 4], [2, 1]]"),
        ("[((complement nil?) 1) ((constantly 3) 1 2) ((fnil + 10) nil 5) ((fnil conj []) nil 1)]",
         "[true, 3, 15, [1]]"),
        ("[((every-pred pos? (fn [x] (odd? x))) 1 3) ((every-pred pos? odd?) 1 2) ((every-pred pos?))]",
         "[true, false, true]"),
        ("[((some-fn nil?) 1 2) ((some-fn odd? neg?) 2 -2) ((some-fn odd?)) ((some-fn :name (fn [x] 7)) {})]",
         "[false, true, nil, 7]"),
        ("(map (comp (partial * 2) inc) [1 2])", "[4, 6]"),
        ("(filter (every-pred pos? even?) [1 2 -2 4])", "[2, 4]"),
        ("(map (juxt identity (fn [x] (* x x))) [1 2])", "[[1, 1], [2, 4]]"),
        ("((reduce comp (map (fn [n] (partial + n)) (range 20))) 0)", "190"),
    ]);
    fails(&[
        ("((comp 5) 1)", "not_callable call  5"),
        ("(partial)", "partial_function partial"),
        ("(fnil 5 0)", "invalid_types fnil  5, 0"),
    ]);
}

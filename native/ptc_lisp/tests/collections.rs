//! Sequences, maps, sets and comparisons: each program has one value, however short its executions are.

use crate::expected::{fails, same};
use crate::running::Run;
use ptc_term::meter::Limits;

#[test]
fn ends() {
    same(&[
        ("[(first [1 2]) (second [1 2]) (last [1 2 3]) (first []) (last nil)]", "[1, 2, 3, nil, nil]"),
        (r#"[(first "ñb") (second "añ") (last "abç") (first "") (second "a") (first "e\u0301")]"#,
         r#"["ñ", "ñ", "ç", nil, nil, "e"]"#),
        ("[(rest [1 2]) (rest nil) (next [1]) (rest \"abc\") (next \"\")]", r#"[[2], [], nil, ["b", "c"], nil]"#),
        ("[(butlast [1 2]) (butlast [1]) (pop [1]) (pop []) (peek [1 2]) (butlast \"abc\")]",
         r#"[[1], nil, [], nil, 2, ["a", "b"]]"#),
        ("[(ffirst [[1 2]]) (ffirst [\"ab\"]) (nfirst [[1 2] 3]) (fnext [1 2]) (nnext [1 2 3]) (nnext [1])]",
         r#"[1, "a", [2], 2, [3], nil]"#),
        ("[(nth [1 2 3] 2) (nth [1] 5) (nth [1] 5 9) (nth \"añb\" 1) (nth nil 0 7) (nth [1] -1) (nth [1] 99999999999999999999 8)]",
         r#"[3, nil, 9, "ñ", 7, nil, 8]"#),
    ]);
    fails(&[
        ("(first {:a 1})", "invalid_types first  %{%{:__struct__ => :Elixir.PtcRunner.Lisp.Keyword, :name => \"a\"} => 1}"),
        ("(nth [1] nil)", "invalid_types nth  [1], nil"),
        ("(peek \"ab\")", "invalid_types peek  \"ab\""),
    ]);
}

#[test]
fn parts() {
    same(&[
        ("[(take 2 [1 2 3]) (take -2 [1 2 3]) (take 9 \"ab\") (take 0 [1]) (take 2 nil) (take 1 {1 2})]",
         r#"[[1, 2], [2, 3], ["a", "b"], [], [], [[1, 2]]]"#),
        ("[(drop 2 [1 2 3]) (drop -2 [1 2 3]) (drop 9 [1]) (drop 1 \"abc\") (drop 99999999999999999999 [1])]",
         r#"[[3], [1], [], ["b", "c"], []]"#),
        ("[(take-last 2 [1 2 3]) (take-last 0 [1]) (take-last 1 []) (drop-last [1 2]) (drop-last 2 [1 2 3]) (drop-last -1 [1])]",
         "[[2, 3], [], nil, [1], [1], [1]]"),
        ("[(nthrest [1 2 3] 1) (nthnext [1] 1) (nthrest #{1} 0) (split-at 1 [1 2]) (split-at -1 \"a\")]",
         r#"[[2, 3], nil, [1], [[1], [2]], [[], ["a"]]]"#),
        ("[(subvec [1 2 3 4] 1 3) (subvec [1 2 3] -5 10) (subvec [1 2 3] 2 1) (subvec [1 2] 1)]",
         "[[2, 3], [1, 2, 3], [], [2]]"),
        ("[(partition 2 [1 2 3]) (partition 2 1 [1 2 3]) (partition 3 3 [] [1 2 3 4]) (partition 3 2 [8 9] [1 2 3 4])]",
         "[[[1, 2]], [[1, 2], [2, 3]], [[1, 2, 3], [4]], [[1, 2, 3], [3, 4, 8]]]"),
        ("[(partition-all 2 [1 2 3]) (partition-all 2 3 [1 2 3 4 5]) (partition-all 3 1 [1 2 3 4]) (partition 1 3 [1 2 3 4])]",
         "[[[1, 2], [3]], [[1, 2], [4, 5]], [[1, 2, 3], [2, 3, 4], [3, 4], [4]], [[1], [4]]]"),
        ("(partition 2 2 \"xy\" \"abc\")", r#"[["a", "b"], ["c", "x"]]"#),
    ]);
    fails(&[
        ("(take 1 #{1})", "invalid_types take  1, %{:__struct__ => :Elixir.MapSet, :map => %{1 => []}, :version => 2}"),
        ("(partition 0 [1])", "not_positive partition  0"),
        ("(partition 2 5)", "not_a_collection seq  5"),
        ("(split-at nil [1])", "invalid_types split-at  nil, [1]"),
    ]);
}

#[test]
fn joins() {
    same(&[
        ("[(concat [1] nil [2] #{3}) (concat) (concat [1]) (concat nil) (concat {1 2} [3])]",
         "[[1, 2, 3], [], [1], nil, [{1, 2}, 3]]"),
        ("[(conj [1] 2 3) (conj nil 1) (conj) (conj {1 2} [3 4] {1 5}) (conj 5)]",
         "[[1, 2, 3], [1], [], %{1 => 5, 3 => 4}, 5]"),
        ("[(into [1] #{2}) (into [] \"ab\") (into {} [[1 2] [1 3]]) (into {1 2} nil) (into [1] nil) (= (into #{1} [2 2]) #{1 2})]",
         r#"[[1, 2], ["a", "b"], %{1 => 3}, %{1 => 2}, [1], true]"#),
        ("[(interleave [1 2] \"ab\" [3]) (interleave) (interleave nil [1]) (interpose 0 [1 2 3]) (zip [1 2] [3])]",
         r#"[[1, "a", 3], [], [], [1, 0, 2, 0, 3], [[1, 3]]]"#),
        ("[(cons 1 {2 3}) (cons 1 nil) (vec #{1}) (vec nil) (seq {}) (seq \"a\") (list 1 2)]",
         r#"[[1, [2, 3]], [1], [1], nil, nil, ["a"], [1, 2]]"#),
        ("[(empty [1]) (empty \"a\") (empty {1 2}) (empty nil) (empty? \"\") (not-empty [1]) (not-empty \"\")]",
         r#"[[], "", %{}, nil, true, [1], nil]"#),
    ]);
    fails(&[
        ("(concat [1] \"ab\")", "concat_text concat  \"ab\""),
        ("(into {} [[1]])", "not_a_pair into  [1]"),
        ("(conj {} 5)", "not_a_pair conj  5"),
        ("(interleave #{1})", "invalid_types interleave  %{:__struct__ => :Elixir.MapSet, :map => %{1 => []}, :version => 2}"),
    ]);
}

#[test]
fn arranged_and_counted() {
    same(&[
        ("[(reverse [1 2 3]) (reverse \"aé\") (distinct [1 1.0 1 \"a\" [2] [2]]) (dedupe [1 1 2 1]) (flatten [1 [2 [[3] []]] nil])]",
         r#"[[3, 2, 1], ["é", "a"], [1, 1.0, "a", [2]], [1, 2, 1], [1, 2, 3, nil]]"#),
        ("[(distinct?) (distinct? 1 1.0) (distinct? 1 2 1)]", "[true, true, false]"),
        ("[(count \"héllo 👍🏽\") (count {1 2}) (count #{1 2}) (count nil) (count [1 2])]", "[7, 1, 2, 0, 2]"),
        ("[(frequencies [1 1.0 1]) (frequencies \"aba\") (sum [1 nil 2.5]) (sum []) (avg [1 2 nil]) (avg [])]",
         r#"[%{1 => 2, 1.0 => 1}, %{"a" => 2, "b" => 1}, 3.5, 0, 1.5, nil]"#),
        ("[(range 3) (range 1 3) (range 0 1 0.25) (range 5 0 -2) (range 0) (range 9223372036854775806 9223372036854775809)]",
         "[[0, 1, 2], [1, 2], [0, 0.25, 0.5, 0.75], [5, 3, 1], [], [9223372036854775806, 9223372036854775807, 9223372036854775808]]"),
        ("[(combinations [1 2 3] 2) (combinations \"ab\" 0) (combinations [1] 2) (combinations 5 -1)]",
         "[[[1, 2], [1, 3], [2, 3]], [[]], [], []]"),
        ("[(contains? [1 2] 2) (contains? #{1} 1.0) (contains? {\"a\" 1} :a) (contains? nil 1) (find {\"a\" 1} \"a\") (find [5 6] 1)]",
         r#"[true, false, true, false, ["a", 1], [1, 6]]"#),
        ("[(replace {1 5} [1 2 1]) (replace [7 8] [1 0 9]) (replace {} nil)]", "[[5, 2, 5], [8, 7, 9], []]"),
    ]);
    fails(&[
        ("(sum [1 \"a\"])", "bad_arith sum  \"a\""),
        ("(range 0 5 0)", "zero_step range  0"),
        ("(range nil)", "invalid_types range  nil"),
        ("(flatten 5)", "invalid_types flatten  5"),
    ]);
}

#[test]
fn maps() {
    same(&[
        ("[(get {\"a\" 1} :a) (get {:a {:b 2}} [:a :b]) (get [5] 0) (get nil 1 2) (get {1 nil} 1 5)]", "[1, 2, 5, 2, nil]"),
        ("[(get-in {:a [{\"b-c\" 3}]} [:a 0 :b-c]) (get-in {1 2} nil) (get-in {:a 1} [:a :b] 9) (get-in {\"ab\" 1} \"ab\")]",
         "[3, %{1 => 2}, 9, nil]"),
        ("[(assoc {1 2} 3 4 1 5) (assoc nil 1 2) (assoc [1 2] 0 9 2 8) (assoc-in {} [1 2] 3) (assoc-in [[1]] [0 1] 2) (assoc-in {1 2} nil 3)]",
         "[%{1 => 5, 3 => 4}, %{1 => 2}, [9, 2, 8], %{1 => %{2 => 3}}, [[1, 2]], %{1 => 2, nil => 3}]"),
        ("[(dissoc {1 2 3 4} 1 9) (dissoc nil) (merge {1 2} nil {1 3 4 5}) (merge) (merge 5) (select-keys {\"a\" 1 \"b\" 2} [\"a\" \"z\"])]",
         r#"[%{3 => 4}, nil, %{1 => 3, 4 => 5}, %{}, 5, %{"a" => 1}]"#),
        ("[(keys {2 1 1 2 \"a\" 3}) (vals {2 1 1 5}) (entries {2 1 1 5}) (keys nil) (entries #{}) (key [1 2]) (val [1 2])]",
         r#"[[1, 2, "a"], [5, 1], [[1, 5], [2, 1]], nil, [], 1, 2]"#),
        ("[(zipmap [1 2 1] \"abc\") (hash-map 1 2 1 3) (array-map)]", r#"[%{1 => "c", 2 => "b"}, %{1 => 3}, %{}]"#),
    ]);
    fails(&[
        ("(get :x {1 2})", "swapped get  %{:__struct__ => :Elixir.PtcRunner.Lisp.Keyword, :name => \"x\"}, %{1 => 2}"),
        ("(get-in [1] {1 2})", "swapped get-in  [1], %{1 => 2}"),
        ("(assoc [1] 5 1)", "index assoc  5, 1"),
        ("(assoc {} 1)", "assoc_arguments assoc  2"),
        ("(assoc-in {1 nil} [1 2] 3)", "not_updatable assoc-in  2"),
        ("(merge {} 5)", "argument merge map 2, 5"),
        ("(dissoc nil 1)", "not_a_map dissoc  nil"),
        ("(hash-map 1)", "even_arguments hash-map  1"),
    ]);
}

#[test]
fn sets_and_comparisons() {
    same(&[
        ("[(= (union #{1} #{2 3} #{1}) #{1 2 3}) (= (intersection #{1 2 3} #{2 3} #{3 4}) #{3}) (= (difference #{1 2 3} #{1}) #{2 3}) (= (disj #{1 2} 2 5) #{1})]",
         "[true, true, true, true]"),
        ("[(= (set [1 1.0 1]) #{1 1.0}) (= (hash-set 1 1) #{1}) (disj nil 1) (union 5) (= (union) #{})]", "[true, true, nil, 5, true]"),
        ("[(= 1 1.0) (= :a :a) (= :count (keyword \"count\")) (= :a \"a\") (= ##NaN ##NaN) (= [##NaN] [##NaN]) (= 1 1 2) (not= 1 2)]",
         "[true, true, true, false, false, true, false, true]"),
        ("[(< 1 2 3) (< 1 \"a\") (< ##-Inf 0 ##Inf) (<= 1 1) (> ##NaN 1) (>= 2 3) (< 5)]",
         "[true, true, true, true, false, false, true]"),
        ("[(compare 1 1.0) (compare 1 ##Inf) (compare \"b\" \"a\") (compare [1] [1 2])]", "[0, -1, 1, -1]"),
        ("(= (fn [x] x) (fn [x] x))", "true"),
        ("(let [f (fn [n] (fn [] n))] [(= (f 1) (f 1)) (= (f 1) (f 2))])", "[true, false]"),
    ]);
    fails(&[
        ("(=)", "at_least_one =  0, 1, -1"),
        ("(union #{1} nil)", "invalid_types union  %{:__struct__ => :Elixir.MapSet, :map => %{1 => []}, :version => 2}, nil"),
    ]);
}

#[test]
fn long_ones_go_on_where_they_were_suspended() {
    same(&[
        (
            "(map (fn [xs] [(count xs) (first xs) (last xs)]) [(range 130 -1 -2) (range 0 1000 7) (range 5 -5) (range -5 5 -1) (range 64) (range 65)])",
            "[[66, 130, 0], [143, 0, 994], [0, nil, nil], [0, nil, nil], [64, 0, 63], [65, 0, 64]]",
        ),
        // The items become too large to be made many at a time.
        (
            "(let [xs (range 1125899906842600 1125899906842700)] [(count xs) (last xs) (apply < xs)])",
            "[100, 1125899906842699, true]",
        ),
        ("(let [xs (range 3000)] [(count xs) (last xs) (sum (reverse xs)) (count (take 2000 xs)) (first (drop -1000 xs)) (count (distinct (concat xs xs)))])",
         "[3000, 2999, 4498500, 2000, 0, 3000]"),
        ("(let [m (zipmap (range 2000) (range 2000))] [(count m) (get m 1999) (count (seq m)) (last (keys m)) (count (into m [[5 5] [-1 0]])) (count (dissoc m 3 4)) (count (merge m {1 1} m))])",
         "[2000, 1999, 2000, 1999, 2001, 1998, 2000]"),
        ("(let [a (set (range 2000)) b (set (range 1000 3000))] (map count [(union a b) (intersection a b) (difference a b) (difference a #{1 2}) (into a [5000])]))",
         "[3000, 1000, 1000, 1998, 2001]"),
        ("(let [of (fn [n more] (apply interleave (concat (map (fn [k] [k (- k)]) (range n)) more)))] [(= (of 70 nil) (concat (range 70) (map - (range 70)))) (map count [(of 69 [[1]]) (of 69 [\"abc\"]) (of 69 [nil]) (of 69 [[1 2 3]])])])",
            "[true, [70, 140, 0, 140]]"),
        ("(let [sets (map (fn [k] #{0 k}) (range 200))] [(count (apply union sets)) (apply intersection sets) (count (apply difference (set (range 300)) (rest sets))) (count (apply difference (set (range 3000)) sets)) (apply map + (map vector (range 200) (range 200)))])",
            "[200, %{:__struct__ => :Elixir.MapSet, :map => %{0 => []}, :version => 2}, 100, 2800, [19900, 19900]]"),
        ("(let [xs (vec (range 2500))] [(count (flatten (partition 3 xs))) (count (partition 2 1 xs)) (last (interpose 0 xs)) (count (interleave xs xs)) (count (frequencies xs)) (count (assoc xs 0 1 2500 7))])",
         "[2499, 2499, 2499, 5000, 2500, 2501]"),
        ("(apply = (map (fn [_] 1) (range 500)))", "true"),
        ("(apply distinct? (range 500))", "true"),
    ]);
}

#[test]
fn an_endless_list_ends_by_its_limit() {
    let run = Run {
        source: "(range 0 1e308 1)",
        context: &[],
        units: 1_000,
        limits: Limits {
            words: 100_000,
            ..Limits::UNLIMITED
        },
    };
    assert_eq!(run.run().end, Err("MemoryExceeded".to_string()));
}

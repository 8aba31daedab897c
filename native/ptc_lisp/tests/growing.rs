//! Values that grow in loops: they are what the built-ins give one by one, however short the executions are, and take space in
//! proportion to what is added.

use crate::running::{value, Run};
use ptc_term::meter::Limits;

#[test]
fn what_is_added_one_by_one() {
    let cases = [
        // `reduce` with a function that is written there.
        ("(reduce (fn [a x] (conj a (* x x))) [] (range 5))", "[0, 1, 4, 9, 16]"),
        ("(reduce #(conj %1 %2 %2) [9] [1 2])", "[9, 1, 1, 2, 2]"),
        ("(reduce #(conj %1 %2) nil [1 2])", "[1, 2]"),
        ("(reduce #(conj %1 %2) nil [])", "nil"),
        ("(reduce #(conj %1 %2) [] nil)", "[]"),
        ("(reduce (fn [a [k v]] (conj a v k)) [] {:a 1})", r#"[1, "a"]"#),
        ("(reduce (fn [a x] (if (odd? x) (conj a x) a)) [] (range 6))", "[1, 3, 5]"),
        ("(reduce (fn [a x] (cond (= x 1) a (= x 2) (conj a :two) :else (-> a (conj x) (conj x)))) [] (range 4))",
            r#"[0, 0, "two", 3, 3]"#),
        ("(reduce (fn [a x] (let [y (* 2 x)] (when (> y 2) (conj a y)))) [] [1 2 3])", "[4, 6]"),
        ("(reduce (fn [a x] (if (> (count a) 2) [x] (conj a x))) [] (range 8))", "[6, 7]"),
        ("(reduce (fn [a x] (conj a (last a) x)) [0] [1 2])", "[0, 0, 1, 1, 2]"),
        ("(map (fn [f] (f)) (reduce (fn [a x] (conj a (fn [] (count a)))) [] (range 3)))", "[0, 1, 2]"),
        ("(reduce (fn [a x] (conj a (reduce (fn [b y] (conj b (* x y))) [] (range x)))) [] (range 4))",
            "[[], [0], [0, 2], [0, 3, 6]]"),
        ("(reduce (fn [a x] (into a (range x))) [] (range 4))", "[0, 0, 1, 0, 1, 2]"),
        ("(reduce (fn [a x] (into a x)) [] [[1] \"ab\" {:k 2} nil #{3}])", r#"[1, "a", "b", ["k", 2], 3]"#),
        ("(reduce (fn [a x] (concat a x)) nil [[1] nil [2 3]])", "[1, 2, 3]"),
        ("(reduce (fn [a x] (str a x \",\")) \"\" [1 :b nil \"c\"])", r#""1,:b,,c,""#),
        ("(reduce (fn [a x] (str a x)) nil [1 2])", r#""12""#),
        ("(reduce (fn [a x] (str a x)) 5 [1 2])", r#""512""#),
        ("(reduce (fn [a x] (if (> (count a) 3) (str x) (str a x))) \"\" (range 7))", r#""456""#),
        // The kind of value may change.
        ("(reduce (fn [a x] (if (= x 2) (str a x) (conj a x))) [] [0 1 2])", r#""[0 1]2""#),
        ("(reduce (fn [a x] (if (= x 1) [a] (if (= x 2) (conj a x) (str a x)))) \"\" [0 1 2])", r#"["0", 2]"#),
        ("(count (reduce (fn [a x] (conj a x)) #{} [3 1 3]))", "2"),
        ("(reduce (fn [a x] (conj a [x 1])) {} [1 2])", "%{1 => 1, 2 => 1}"),
        ("(reduce (fn [a x] (into a {x 1})) {} [1 2])", "%{1 => 1, 2 => 1}"),
        // Lists in a map.
        ("(reduce (fn [m x] (update m (rem x 2) (fnil conj []) x)) {} (range 5))", "%{0 => [0, 2, 4], 1 => [1, 3]}"),
        ("(reduce (fn [m x] (update m (rem x 2) conj x)) {} (range 4))", "%{0 => [0, 2], 1 => [1, 3]}"),
        ("(reduce (fn [m x] (update m :k (fnil conj []) x)) {:k [7] :l 1} [1 2])", r#"%{"k" => [7, 1, 2], "l" => 1}"#),
        ("(reduce (fn [m x] (update m :k (fnil conj []) x)) {:k nil} [1])", r#"%{"k" => [1]}"#),
        ("(count (:k (reduce (fn [m x] (update m :k (fnil conj #{}) x)) {} [1 1])))", "1"),
        ("(count (:k (reduce (fn [m x] (update m :k (fnil conj []) x)) {:k #{2}} [1 1])))", "2"),
        ("(reduce (fn [m x] (update (update m :a (fnil conj []) x) :b (fnil conj []) (count (:a m)))) {} [5 6])",
            r#"%{"a" => [5, 6], "b" => [0, 1]}"#),
        ("(reduce (fn [m x] (if (= x 2) (assoc m :k 0) (if (= (:k m) 0) m (update m :k (fnil conj []) x)))) {} [0 1 2 3])",
            r#"%{"k" => 0}"#),
        ("(loop [i 0 m {}] (if (< i 3) (recur (inc i) (update m 1 (fnil conj []) i)) m))", "%{1 => [0, 1, 2]}"),
        ("(reduce (fn [m x] (update m 0 conj x)) [[1]] [2 3])", "[[1, 2, 3]]"),
        ("(reduce (fn [m [k v]] (update m k (fnil conj []) v)) {} [[1 :a] [1.0 :b] [\"1\" :c] [1 :d]])",
            r#"%{1 => ["a", "d"], 1.0 => ["b"], "1" => ["c"]}"#),
        // The built-in itself.
        ("(reduce conj [] (range 4))", "[0, 1, 2, 3]"),
        ("(reduce conj [[1] 2 3])", "[1, 2, 3]"),
        ("(reduce conj nil \"ab\")", r#"["a", "b"]"#),
        ("(reduce conj nil [])", "nil"),
        ("(count (reduce conj #{} [1 1]))", "1"),
        // `loop`, and functions that jump to their start.
        ("(loop [i 0 a []] (if (< i 4) (recur (inc i) (conj a i)) a))", "[0, 1, 2, 3]"),
        ("(loop [a [] i 0] (if (< i 4) (recur (if (odd? i) (conj a i) a) (+ i (count a) 1)) [a i]))", "[[1], 4]"),
        ("(loop [i 0 a [] b \"\"] (if (< i 3) (recur (inc i) (conj a b) (str b i)) [a b]))", r#"[["", "0", "01"], "012"]"#),
        ("(loop [a [1] b []] (if (seq a) (recur (rest a) (conj b (peek a))) (loop [c b] (if (< (count c) 3) (recur (conj c 0)) c))))",
            "[1, 0, 0]"),
        ("(loop [a [] b [9] i 0] (if (< i 3) (recur b (conj a i) (inc i)) [a b]))", "[[9, 1], [0, 2]]"),
        ("((fn [xs a] (if (seq xs) (recur (rest xs) (conj a (first xs))) a)) [1 2 3] [])", "[1, 2, 3]"),
        ("(defn f [n a] (if (> n 0) (recur (dec n) (into a [n n])) a)) [(f 2 []) (f 1 [0])]", "[[2, 2, 1, 1], [0, 1, 1]]"),
        ("((fn [n & r] (if (> n 0) (recur (dec n) (conj r n)) r)) 2 7)", "[7, 2, 1]"),
        // A name of the program stands before the built-in.
        ("(let [conj (fn [a x] x)] (reduce (fn [a x] (conj a x)) [] [1 2]))", "2"),
        ("(defn conj [a x] [x]) (reduce (fn [a x] (conj a x)) [] [1 2])", "[2]"),
        // A function that jumps to its own start is called.
        ("(reduce (fn [a x] (if (> x 1) (recur a (dec x)) (conj a x))) [] [3 2])", "[1, 1]"),
    ];
    let wrong = cases.iter().filter_map(|(source, expected)| {
        let got = value(source);
        (got.as_deref() != Ok(expected)).then(|| format!("{source}: {got:?}, not {expected}"))
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn errors_are_those_of_the_built_ins() {
    // Each call in a loop, and outside of one.
    for (growing, plain) in [
        ("(reduce (fn [a x] (conj a x)) 5 [1])", "(conj 5 1)"),
        ("(reduce (fn [a x] (into a x)) [1] [5])", "(into [1] 5)"),
        (
            "(reduce (fn [a x] (concat a x)) [1] [\"a\"])",
            "(concat [1] \"a\")",
        ),
        ("(reduce (fn [a x] (into a x)) {} [[5]])", "(into {} [5])"),
        ("(loop [a 5] (recur (conj a 1)))", "(conj 5 1)"),
    ] {
        assert!(value(plain).is_err());
        assert_eq!(value(growing), value(plain), "{growing}");
    }
    // The function among the arguments is another term in each run.
    let error = |source: &str| {
        let run = Run {
            source,
            context: &[],
            units: 1_000,
            limits: Limits::UNLIMITED,
        };
        let error = run.run().end.expect_err("an error");
        error.split(' ').take(4).collect::<Vec<_>>().join(" ")
    };
    for (growing, plain) in [
        (
            "(reduce (fn [m x] (update m :k conj x)) {:k 5} [1])",
            "(update {:k 5} :k conj 1)",
        ),
        (
            "(reduce (fn [m x] (update m :k conj x)) nil [1])",
            "(update nil :k conj 1)",
        ),
        (
            "(reduce (fn [m x] (update m :k conj x)) [1] [1])",
            "(update [1] :k conj 1)",
        ),
    ] {
        assert_eq!(error(growing), error(plain), "{growing}");
    }
    for coll in ["5", ":a", "inc"] {
        let growing = format!("(reduce (fn [a x] (conj a x)) [] {coll})");
        let plain = format!("(reduce + [] {coll})");
        assert_eq!(error(&growing), error(&plain), "{coll}");
    }
}

#[test]
fn what_is_added_takes_space_in_proportion() {
    for source in [
        "(count (reduce conj [] (range 50000)))",
        "(count (reduce (fn [a x] (conj a x)) [] (range 50000)))",
        "(count (reduce (fn [a x] (if (odd? x) (conj a x) a)) [] (range 50000)))",
        "(count (loop [i 0 a []] (if (< i 50000) (recur (inc i) (conj a i)) a)))",
        "(count (reduce (fn [a x] (into a [x x])) [] (range 25000)))",
        "(count (reduce (fn [a x] (str a x)) \"\" (range 20000)))",
        "(count (:k (reduce (fn [m x] (update m :k (fnil conj []) x)) {} (range 30000))))",
    ] {
        let limits = Limits {
            words: 500_000,
            ..Limits::UNLIMITED
        };
        for units in [1_000, 1_000_000] {
            let run = Run {
                source,
                context: &[],
                units,
                limits,
            };
            assert!(run.run().end.is_ok(), "{source}: {:?}", run.run().end);
        }
    }
}

#[test]
fn a_suspended_run_has_few_terms_however_deep_or_many_its_values_are() {
    let most = |source| {
        let run = Run {
            source,
            context: &[],
            units: 20_000,
            limits: Limits::UNLIMITED,
        };
        let (ended, .., most) = run.measured();
        assert!(ended.end.is_ok(), "{ended:?}");
        most
    };
    // A value on its way out of the run.
    let deep = "(def d (loop [i 0 d [:k (fn [] 1)]] (if (< i 40000) (recur (inc i) [d i]) d))) 1";
    assert!(most(deep) < 4_000);
    // The arguments of one call, and the state of a built-in that has them.
    assert!(most("(count (apply str (range 20000)))") < 4_000);
    assert!(most("(count (apply concat (map list (range 20000))))") < 4_000);
    assert!(most("(count (apply merge (map (fn [k] {k 1}) (range 20000))))") < 4_000);
}

#[test]
fn many_arguments_of_a_built_in_are_not_exchanged_with_each_suspension() {
    let most = |source: &str| {
        let run = Run {
            source,
            context: &[],
            units: 2_000,
            limits: Limits::UNLIMITED,
        };
        let (ended, .., most) = run.measured();
        assert!(ended.end.is_ok(), "{ended:?}");
        most
    };
    for call in [
        "(count (apply concat (map list (range N))))",
        "(count (apply merge (map (fn [k] {(mod k 7) 1}) (range N))))",
        "(apply + (range N))",
        "(count (apply str (range N)))",
        "(apply < (range N))",
        "(count (apply hash-map (range N)))",
        "(count (apply interleave (map list (range N))))",
        "(count (apply union (map hash-set (range N))))",
        "(count (apply intersection (map (fn [k] #{0 k}) (range N))))",
        "(count (apply difference (map hash-set (range N))))",
        "(count (apply merge-with + (map (fn [k] {(mod k 7) 1}) (range N))))",
        "(count (apply map (fn [& xs] (count (map inc xs))) (map list (range N))))",
    ] {
        let [few, many] = ["10000", "40000"].map(|count| most(&call.replace('N', count)));
        // One more for each thousand that is kept.
        assert!(many < few + 300, "{call}: {few}, then {many}");
    }
}

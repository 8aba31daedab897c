//! What forms become.

use ptc_lisp::analyze::{analyze, Added};
use ptc_lisp::ast::{Analyzed, Expr};

fn program(source: &str) -> Analyzed {
    let analyzed = analyze(source, &[]).unwrap_or_else(|problem| panic!("{source}: {problem:?}"));
    assert_eq!(analyzed.exprs.len(), analyzed.spans.len());
    analyzed
}

/// Checks what programs become.
fn become_these(cases: &[(&str, &str)]) {
    for (source, text) in cases {
        assert_eq!(crate::shown::shown(&program(source)), *text, "{source}");
    }
}

#[test]
fn literals() {
    become_these(&[
        ("", "nil"),
        ("1 :a", "(do 1 :a)"),
        (
            "[1 1.50 \"a\\n\" \\b nil true]",
            "(vector 1 1.5 \"a\\n\" \"b\" nil true)",
        ),
        ("{:a 1 b'? 2}", "(map :a 1 b'? 2)"),
        ("#{1 'x}", "(set 1 'x)"),
        ("#\"\\d\\\\d\"", "#\"\\\\d\\\\d\""),
        ("(quote a/b)", "'a/b"),
        ("99999999999999999999", "99999999999999999999"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("[-007 1e2 -1.5E-1]", "(vector -7 100.0 -0.15)"),
        ("1/2", "(do 1 /2)"),
        ("(comment (undefined) #(#(%)))", "nil"),
    ]);
}

#[test]
fn branches() {
    become_these(&[
        ("(if 1 2)", "(if 1 2 nil)"),
        ("(if-not 1 2 3)", "(if 1 3 2)"),
        ("(if-not 1 2)", "(if 1 nil 2)"),
        ("(when 1 2 3)", "(if 1 (do 2 3) nil)"),
        ("(when-not 1)", "(if 1 nil nil)"),
        ("(cond)", "nil"),
        ("(cond 1 2 :else 3)", "(if 1 2 3)"),
        ("(cond :else 1 3 4)", "(if :else 1 (if 3 4 nil))"),
        ("(case 1 2 3 (:a nil) 5)", "(case 1 (2) 3 (:a nil) 5)"),
        ("(case 1 2 3 4)", "(case 1 (2) 3 4)"),
        ("(condp = 1 2 3)", "(let [_0 1] (if (= 2 _0) 3 nil))"),
        (
            "(let [f =] (condp f 1 2 3 4))",
            "(let [f =] (let [_1 f _2 1] (if (_1 2 _2) 3 4)))",
        ),
        ("[(and) (or) (and 1) (or 2)]", "(vector true nil 1 2)"),
        ("(or a nil? (b))", "(or a? nil? (b))"),
        ("(if-let [x 1] x 2)", "(let [x 1] (if x x 2))"),
        ("(if-some [x 1] x 2)", "(let [x 1] (if-nil x 2 x))"),
        ("(when-let [x 1] 2 3)", "(let [x 1] (if x (do 2 3) nil))"),
        ("(when-some [x 1] x)", "(let [x 1] (if-nil x nil x))"),
        (
            "(when-first [x 1] x)",
            "(let [_0 (builtin:seq 1)] (if-nil _0 nil (let [x (builtin:first _0)] x)))",
        ),
    ]);
}

#[test]
fn threads() {
    become_these(&[
        ("(-> 1 inc (+ 2))", "(+ (inc 1) 2)"),
        ("(->> 1 (- 5) :a)", "(:a (- 5 1))"),
        ("(-> {:n 1} tool/t)", "(call t (map :n 1))"),
        ("(->> x (let [x 2]))", "(let [x 2] x)"),
        ("(-> x (or 5))", "(or x? 5)"),
        ("(let [when inc] (-> 5 when))", "(let [when inc] (when 5))"),
        ("(-> 5 return)", "(return 5)"),
        (
            "(as-> 1 x (+ x 1) (* x 2))",
            "(let [x 1 x (+ x 1)] (* x 2))",
        ),
        ("(as-> 1 x)", "(let [x 1] x)"),
        (
            "(cond-> 1 true inc false (+ 2))",
            "(let [_0 1 _1 (if true (inc _0) _0)] (if false (+ _1 2) _1))",
        ),
        ("(cond->> 1)", "1"),
        (
            "(some->> 1 inc (- 2))",
            "(let [_0 1 _1 (if-nil _0 nil (inc _0))] (if-nil _1 nil (- 2 _1)))",
        ),
        ("(some-> 1)", "1"),
    ]);
    // As a value, the name of a form is a variable that nobody has defined.
    let program = program("(-> 5 return)");
    assert_eq!(program.unbound.len(), 1);
}

#[test]
fn functions() {
    become_these(&[
        ("(fn [x & r] x r)", "(fn [x & r] (do x r))"),
        ("(fn f [] f)", "(fn f [] f)"),
        ("#(+ %2 %&)", "(fn [%1 %2 & %&] (+ %2 %&))"),
        ("[#() #(%) #([%]) #(f) #(tool/t) #(data/x) #(5)]",
         "(vector (fn [] nil) (fn [%1] %1) (fn [%1] (vector %1)) (fn [] (f)) (fn [] (call t)) (fn [] data/x) (fn [] 5))"),
        ("(let [p1 1] #(fn [y] (+ % p1 y)))", "(let [p1 1] (fn [%1] (fn [y] (+ %1 p1 y))))"),
        ("(defn f \"doc\" [{:keys [a] :or {a :x}} [b]] a)",
         "(def f (fn [{a :a|\"x\"} [b]] a))"),
        ("(def f \"doc\" 5)", "(def f \"doc\" 5)"),
        ("(loop [x 1] (cond x (recur 2) :else (and 1 (recur 3))))",
         "(loop [x 1] (if x (recur 2) (and 1 (recur 3))))"),
        ("(let [if inc when dec] [(if 1 2 3) (when 5)])",
         "(let [if inc when dec] (vector (if 1 2 3) (when 5)))"),
        ("(let [{[a] :k {:strs [b]} \"s\" c d :as e :or {c 1}} {}] e)",
         "(let [{[a] :k {b \"b\"} \"s\" c :d|1 :as e} (map)] e)"),
    ]);
    let about = program("(def f (fn [x [y] & {:keys [a]}] x)) (defn g \"doc\" [] #(+ %2 %&))");
    let names: Vec<_> = about
        .functions
        .iter()
        .map(|it| it.name.as_deref())
        .collect();
    assert_eq!(names, [Some("f"), Some("g"), None]);
    assert_eq!(about.functions[0].printed, ["x", "_", "&", "_"]);
    assert_eq!(about.functions[1].doc.as_deref(), Some("doc"));
    assert_eq!(about.functions[2].printed, ["p1", "p2", "&", "rest"]);
    assert_eq!(about.functions[2].parent, Some(1));
}

#[test]
fn rounds_tools_and_the_rest() {
    become_these(&[
        (
            "(for [x [1] :when x :let [y x] :while y z y] [x z])",
            "(for [x (vector 1) :when x (:let [y x]) :while y z y] (vector x z))",
        ),
        ("(doseq [[a] {}] a 2)", "(doseq [[a] (map)] (do a 2))"),
        (
            "[(tool/t) (tool/t m) (tool/t :a 1 :b 2) (tool/t 1 2) (tool/t :a 1 :b)]",
            "(vector (call t) (call t m) (call t (map :a 1 :b 2)) (bad t 1 2) (bad t :a 1 :b))",
        ),
        (
            "[(str/join data/a-b) Math/abs Double/NaN (budget/remaining) budget/remaining *2]",
            "(vector (builtin:join data/a-b) builtin:abs ##NaN budget budget *2)",
        ),
        (
            "(try (tool/t) 2 (catch Exception e (str e) 3))",
            "(try (do (call t) 2) (catch e (do (str e) 3)))",
        ),
        ("(try (catch e))", "(try nil (catch e nil))"),
        ("(try 1)", "(try 1)"),
        (
            "(apply f 1 [2]) (pmap f [1]) (pcalls f) (juxt f g)",
            "(do (apply f 1 (vector 2)) (pmap f (vector 1)) (pcalls f) (juxt f g))",
        ),
    ]);
}

#[test]
fn names_that_must_be_in_the_memory() {
    for (source, names) in [
        ("(let [x (def a 1)] 2) a", ""),
        ("(let [x (def a 1)] a)", "a"),
        ("(let [x 1] (def a x) a) a", ""),
        ("(do (loop [] (def a 1)) (fn [] a))", ""),
        ("(when c (def a 1) a) a", "c a"),
        ("(def a (fn [] (a b))) (b)", "b"),
        ("(when-let [x (def a 1)] (def b 2) b) a b", "b"),
        ("(when-let [x (def a 1)] (do (def b 2) b)) a b", "b"),
        ("(try (def a 1) a (catch e (def b 1) b)) a b", "a b"),
        ("(if (def a 1) a) (cond (def b 1) b)", "a b"),
        ("(->> b (f a))", "f a b"),
        ("(or a (or b (c b)) d)", "c b"),
        ("(or (do a) (when b c) (let [] d) 5)", "a b c d"),
        ("(def a (or a 5))", ""),
        ("(fn [& xs] xs &)", "&"),
        ("return (map recur [if])", "return recur if"),
        ("NaN (def NaN 1) NaN", ""),
        ("(defonce a 1) (comment b) a", ""),
        ("(for [x [1]] (def a x)) a", "a"),
        ("(-> 1 (do (def a 2))) a", ""),
        ("(def x y) (def y x)", "y"),
    ] {
        let program = program(source);
        let unbound = program
            .unbound
            .iter()
            .map(|name| &program.names[*name as usize]);
        let unbound: Vec<&str> = unbound.map(String::as_str).collect();
        assert_eq!(unbound.join(" "), names, "{source}");
    }
}

#[test]
fn what_a_program_names() {
    let program = program("(tool/b) tool/a (tool/b) (def x 1) (defn y [] (def x 2)) :k 'q data/d");
    let texts = |names: &[u32]| -> Vec<&str> {
        let texts = names
            .iter()
            .map(|name| program.names[*name as usize].as_str());
        texts.collect()
    };
    assert_eq!(texts(&program.tools), ["b", "a"]);
    assert_eq!(texts(&program.defined), ["x", "y"]);
    // tool/b tool/a def x defn y k q data/d
    assert_eq!(program.symbols, 9);
}

#[test]
fn functions_of_the_memory() {
    let captured = ["x".to_string(), "%1".to_string()];
    let none: [String; 0] = [];
    let added = [
        Added {
            source: "(fn [y] (+ x y % free (tool/t)))",
            captured: &captured,
        },
        Added {
            source: "(fn [y] (",
            captured: &none,
        },
        Added {
            source: "(defn f \"doc\" [& r] #(r %))",
            captured: &none,
        },
        Added {
            source: "5",
            captured: &none,
        },
        Added {
            source: "(fn [y] %)",
            captured: &none,
        },
    ];
    let program = analyze("(f free)", &added).expect("a program");
    assert_eq!(program.added.len(), 5);
    assert_eq!(program.unbound.len(), 2);
    assert!(program.tools.is_empty());
    let about = |index: usize| &program.functions[program.added[index] as usize];
    assert_eq!(about(0).printed, ["y"]);
    assert_eq!(about(0).unit, 1);
    let locals: Vec<_> = program
        .locals
        .iter()
        .filter(|local| local.function.is_none())
        .collect();
    assert_eq!(locals.len(), 2, "{locals:?}");
    for broken in [1, 3, 4] {
        let body = about(broken).body as usize;
        assert!(matches!(
            program.exprs[body],
            Expr::Const(ptc_lisp::ast::Literal::Nil)
        ));
        assert_eq!(about(broken).unit, broken as u32 + 1);
    }
    assert_eq!(about(2).doc.as_deref(), Some("doc"));
    assert_eq!(about(2).name.as_deref(), Some("f"));
}

#[test]
fn functions_that_threading_makes_have_a_text() {
    let text = |source: &str| program(source).functions[0].threaded.clone();
    assert_eq!(text("(fn [x] x)"), None);
    assert_eq!(
        text("(->> a (+ 1 \"(\") (fn [x] x))").as_deref(),
        Some("(fn [x] x (+ 1 \"(\" a))")
    );
    assert_eq!(
        text("(-> f (defn [x] x))").as_deref(),
        Some("(defn f [x] x)")
    );
    // A value without a name cannot be written down.
    assert_eq!(text("(cond->> 1 true (fn [x] x))").as_deref(), Some(""));
}

#[test]
fn places_of_problems() {
    for (source, part) in [
        ("(+ 1 (if))", "(if)"),
        ("(let [a 1 b] a)", "[a 1 b]"),
        ("(let [5 1] a)", "5"),
        ("[(foo/bar 1)]", "foo/bar"),
        ("{:a 1 :b 2 :a 3}", ":a"),
        ("(loop [] (inc (recur)))", "(recur)"),
        ("(map #(+ 1 #(inc %)) [])", "#(inc %)"),
        ("(-> 1 (case x 2))", "x"),
    ] {
        let problem = analyze(source, &[]).expect_err(source);
        let at = problem.at.start as usize..problem.at.end as usize;
        assert_eq!(&source[at], part, "{source}: {problem:?}");
    }
}

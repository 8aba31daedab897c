//! Texts, and values as texts.

use crate::expected::{fails, same};
use crate::running::{value, Run};
use ptc_term::meter::Limits;

#[test]
fn parts_and_places() {
    same(&[
        ("[(subs \"hello\" 1) (subs \"hello\" 1 3) (subs \"hello\" -1) (subs \"hello\" 2 99) (subs \"hello\" 3 1)]",
         r#"["ello", "el", "", "llo", ""]"#),
        ("[(subs \"añb☕👍🏽\" 2 3) (subs \"añb☕👍🏽\" 4) (subs \"añb\" 9 99)]", r#"["b", "👍🏽", ""]"#),
        ("[(index-of \"hello\" \"l\") (index-of \"hello\" \"l\" 3) (index-of \"hello\" \"z\") (index-of \"\" \"\" 3) (index-of \"añb☕c☕\" \"☕\" -5)]",
         "[2, 3, nil, 0, 3]"),
        ("[(last-index-of \"aaa\" \"aa\") (last-index-of \"hello\" \"l\" 2) (last-index-of \"hello\" \"\" 2) (last-index-of \"añb☕c☕\" \"☕\") (last-index-of \"hello\" \"l\" 0)]",
         "[1, 2, 2, 5, nil]"),
        ("[(.length \"añb☕👍🏽\") (.indexOf \"abc\" \"z\") (.lastIndexOf \"hello\" \"\") (.substring \"hello\" 1.9 3) (.substring \"hello\" 5)]",
         r#"[5, -1, 5, "el", ""]"#),
        ("[(includes? \"abc\" \"\") (starts-with? \"abc\" \"ab\") (ends-with? \"abc\" \"ab\") (.contains \"abc\" \"c\")]",
         "[true, true, false, true]"),
        ("(for [x [\"a\" \"ab\" \"👍🏽\" \"\" nil]] (char? x))", "[true, false, true, false, false]"),
    ]);
    fails(&[
        ("(subs \"a\" 1.5)", "invalid_types subs  \"a\", 1.5"),
        ("(.length nil)", "method_text .length receiver nil"),
        ("(.contains \"a\" 5)", "method_text .contains argument 5"),
        (
            "(.indexOf \"a\" \"b\" nil)",
            "method_text .indexOf index nil",
        ),
        (
            "(.substring \"hello\" nil 3)",
            "method_number .substring start nil",
        ),
        (
            "(.substring \"hello\" -1 0)",
            "substring_range .substring start -1, 5",
        ),
        (
            "(.substring \"hello\" 9 3)",
            "substring_order .substring  9, 3",
        ),
        (
            "(.substring \"hello\" 9)",
            "substring_range .substring start 9, 5",
        ),
        (
            "(.substring \"hello\" 5 99)",
            "substring_range .substring end 99, 5",
        ),
    ]);
}

#[test]
fn splits_and_replacements() {
    same(&[
        ("(split \"a,b,,c,\" \",\")", r#"["a", "b", "", "c", ""]"#),
        ("[(split \"\" \",\") (split \"\" \"\") (split \"añ👍🏽\" \"\") (split \"a☕b☕\" \"☕\")]",
         r#"[[""], [], ["a", "ñ", "👍🏽"], ["a", "b", ""]]"#),
        ("[(split-lines \"x\\r\\ny\\n\\n\") (split-lines \"\") (split-lines \"\\n\") (split-lines \"a\\r\")]",
         r#"[["x", "y"], [""], [], ["a\r"]]"#),
        ("[(replace \"hello\" \"l\" \"[\\\\1]\") (replace \"abc\" \"\" \"-\") (replace \"\" \"\" \"X\") (replace \"añb\" \"ñ\" \"\")]",
         r#"["he[\\1][\\1]o", "-a-b-c-", "X", "ab"]"#),
        ("[(trim \"  a b \\n\") (triml \"  a \") (trimr \" a  \") (trim-newline \"a \\r\\n\\n\") (blank? \" \\t\") (blank? nil)]",
         r#"["a b", "a ", " a", "a ", true, true]"#),
        ("[(upper-case \"straße\") (downcase \"ÀÉΣ\")]", r#"["STRASSE", "àéσ"]"#),
        ("[(name :a) (name :count) (keyword \"count\") (= (keyword \"ab\") :ab) (keyword nil)]",
         r#"["a", "count", :count, true, nil]"#),
    ]);
    fails(&[
        ("(split \"a--b\" \"--\")", "long_separator split  \"--\""),
        ("(trim nil)", "invalid_types trim  nil"),
        ("(keyword \"a/b\")", "invalid_keyword keyword  \"a/b\""),
        ("(keyword 5)", "no_keyword keyword  5"),
        ("(name nil)", "no_name name  nil"),
        (
            "(replace \"a\" \"b\" nil)",
            "invalid_types replace  \"a\", \"b\", nil",
        ),
    ]);
}

#[test]
fn only_regular_expressions_are_asked_for() {
    let run = |source| {
        let run = Run {
            source,
            context: &[],
            units: 50,
            limits: Limits::UNLIMITED,
        };
        run.run().asked
    };
    assert_eq!(run("(split \"a,b\" \",\")").len(), 0);
    assert_eq!(run("(apply split [\"a\" \",\"])").len(), 0);
    assert_eq!(run("(split \"a,b\" #\",\")").len(), 1);
    assert_eq!(
        run("(for [s [\"a\" \"b\"]] (replace s #\"a\" \"b\"))").len(),
        2
    );
}

#[test]
fn values_as_texts() {
    same(&[
        (
            "(str nil \"a\" :k 1 1.5 1e20 0.1 ##-Inf true)",
            r#""a:k11.51.0e200.1-Infinitytrue""#,
        ),
        (
            "(str [nil \"a\" :k {:a #{1}} 0.30000000000000004])",
            r##""[nil \"a\" :k {:a #{1}} 0.3]""##,
        ),
        (
            "(pr-str {\"b\" 1 :a 2 3 4 nil 5 true 6 ##NaN 7})",
            r#""{3 4 :nan 7 :nil 5 :true 6 :a 2 \"b\" 1}""#,
        ),
        (
            "(pr-str \"a\\nb\" 'sym #\"re\" (def x 1))",
            r#""\"a\\nb\" 'sym #\"re\" #'x""#,
        ),
        (
            "(pr-str inc + str println (juxt :a) (fn [x & r] x))",
            r##""#<builtin> #<builtin> #fn[...] #<fn> #<fn> #fn[x & r]""##,
        ),
        ("(str 'sym inc (fn [x y] x))", r#""sym#<builtin>#fn[x y]""#),
        (
            "[(join [1 nil \"a\" [2]]) (join \", \" #{3 1 2}) (join \"-\" [])]",
            r#"["1a[2]", "1, 2, 3", ""]"#,
        ),
        (
            "(str 123456789012345678901234567890 [] {} #{})",
            r##""123456789012345678901234567890[]{}#{}""##,
        ),
        ("(count (str (range 2000)))", "8891"),
    ]);
    fails(&[
        ("(join nil)", "invalid_types join  nil"),
        ("(join \",\" {1 2})", "invalid_types join  \",\", %{1 => 2}"),
    ]);
}

#[test]
fn printed_texts() {
    let printed = |source, units| {
        let run = Run {
            source,
            context: &[],
            units,
            limits: Limits::UNLIMITED,
        };
        run.run().asked
    };
    for units in [1, 20, 1_000_000] {
        for (source, text) in [
            ("(println)", ""),
            ("(println nil \"a\" [\"a\"])", "nil a a"),
            (
                "(println [\"a\" \"ñ\"] [] [\"ab\"] [\"a\" 1])",
                "añ [] [\"ab\"] [\"a\" 1]",
            ),
            ("(println {:a [\"x\"]} ##Inf 1.0)", "{:a [\"x\"]} ##Inf 1.0"),
        ] {
            assert_eq!(printed(source, units), [text], "{source}");
        }
    }
}

#[test]
fn large_maps_are_sorted() {
    let map = "(let [m (zipmap (range 300) (range 300))] [(subs (str m) 0 12) (count (str m)) (subs (str {:b m :a 1}) 0 12)])";
    assert_eq!(
        value(map).as_deref(),
        Ok("[\"{0 0 1 1 2 2\", 2181, \"{:a 1 :b {0 \"]")
    );
}

#[test]
fn deep_and_long_values_have_texts() {
    let deep = "(loop [i 0 acc 1] (if (< i 2000) (recur (inc i) [acc]) (count (str acc))))";
    assert_eq!(value(deep).as_deref(), Ok("4001"));
    let long = "(count (split-lines (join \"\\n\" (for [i (range 300)] (str i \",\" i)))))";
    assert_eq!(value(long).as_deref(), Ok("300"));
}

#[test]
fn long_texts_are_worked_on_in_pieces() {
    let text = "žluťoučký kůň,\r\n".repeat(3_000);
    let bytes = text.as_bytes();
    let run = |source, units| {
        let run = Run {
            source,
            context: &[("t", bytes), ("bad", b" a\xFFb\xC3 ")],
            units,
            limits: Limits::UNLIMITED,
        };
        run.run().end
    };
    for (source, expected) in [
        ("(.length data/t)", "45000"),
        ("(index-of data/t \"k\" 44000)", "44002"),
        ("(last-index-of data/t \"ž\")", "44985"),
        ("(count (subs data/t 15 44985))", "44970"),
        ("(count (split data/t \",\"))", "3001"),
        ("(count (split data/t \"ž\"))", "3001"),
        ("(count (split-lines data/t))", "3000"),
        ("(count (upper-case data/t))", "45000"),
        ("(count (replace data/t \"kůň\" \"x\"))", "39000"),
        ("(count (replace data/t \"\" \"-\"))", "90001"),
        ("(count (trim data/t))", "44999"),
        ("(count (str data/t data/t))", "90000"),
        (
            "[(count data/bad) (count (trim data/bad)) (subs data/bad 2 3)]",
            "[6, 4, <<255>>]",
        ),
        ("(pr-str data/bad)", "\"<<32, 97, 255, 98, 195, 32>>\""),
        (
            "(split data/bad \"\")",
            "[\" \", \"a\", <<255>>, \"b\", <<195>>, \" \"]",
        ),
    ] {
        let whole = run(source, 100_000_000);
        assert_eq!(whole.as_deref(), Ok(expected), "{source}");
        for units in [300, 5_000] {
            assert_eq!(run(source, units), whole, "{source} in {units}");
        }
    }
}

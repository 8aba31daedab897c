//! The fuzzer's dictionary of programs of PTC-Lisp names every built-in and every special form.

use ptc_lisp::table::ROWS;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/lisp.dict");
const FORMS: &[&str] = &[
    "let",
    "loop",
    "recur",
    "fn",
    "if",
    "if-not",
    "when",
    "when-not",
    "if-let",
    "when-let",
    "if-some",
    "when-some",
    "when-first",
    "cond",
    "case",
    "condp",
    "and",
    "or",
    "do",
    "->",
    "->>",
    "as->",
    "cond->",
    "cond->>",
    "some->",
    "some->>",
    "for",
    "doseq",
    "def",
    "defonce",
    "defn",
    "return",
    "fail",
    "juxt",
    "apply",
    "pmap",
    "pcalls",
    "comment",
    "quote",
    "try",
    "catch",
    ".",
];
const PARTS: &[&str] = &[
    "#(",
    "#{",
    "#\"",
    "%",
    "%&",
    "%20",
    "{:keys [a]",
    ":or {",
    ":as ",
    "& ",
    ":when ",
    ":while ",
    ":let [",
    ":else ",
    "data/a",
    "tool/t ",
    "budget/remaining",
    "##Inf",
    "##NaN",
    "*1",
    "\\newline",
    "#'a",
    "'a",
    "1e3",
    "-0.0",
];

#[test]
fn is_that_of_the_built_ins_and_forms() {
    let quoted = |text: &str| {
        let text = text.replace('\\', r"\\").replace('"', r"\x22");
        format!("\"{text}\"\n")
    };
    let names = ROWS.iter().map(|row| row.name).chain(FORMS.iter().copied());
    let calls = names.map(|name| quoted(&format!("({name} ")));
    let wanted: String = calls.chain(PARTS.iter().map(|part| quoted(part))).collect();
    crate::written::assert_written(FILE, &wanted, "-p ptc_lisp dictionary::");
}

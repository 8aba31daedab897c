//! Missing names: mistyped fields, unknown fields and names in strict programs, and keys that are
//! atoms.

use crate::common::{term, End, Lab, STRICT};
use ptc_program::compile::Options;
use ptc_program::fault::Code;
use ptc_term::heap::Heap;
use ptc_term::plain::{PlainHeap, Term};

const NO_UNKNOWN: Options = Options {
    strict: true,
    ..STRICT
};

const ANY_KEYS: Options = Options {
    any_keys: true,
    ..STRICT
};

/// The result as text and as terms, which must be equal.
fn run(program: &str, context: &str, options: Options) -> End {
    let run = |lab: Result<Lab, End>| match lab {
        Ok(lab) => lab.given(context, "{}").in_one_go(),
        Err(end) => end,
    };
    let of_text = run(Lab::of_text(PlainHeap::new(), program.as_bytes(), options));
    let mut heap = PlainHeap::new();
    let root = term(&mut heap, program).expect("the program is JSON");
    assert_eq!(run(Lab::of_term(heap, root, options)), of_text, "{program}");
    of_text
}

/// The code, the field that was meant, and the first term.
fn mistake(end: End) -> (Code, &'static str, String) {
    match end {
        End::Rejected(mistake) | End::Fault(mistake) => {
            let term = mistake.terms.first().cloned().unwrap_or_default();
            (mistake.code, mistake.field.unwrap_or(""), term)
        }
        end => panic!("{end:?}"),
    }
}

#[test]
fn a_field_close_to_one_that_is_missing_was_mistyped() {
    rejects!(r#"{"op":"gt","feild":"x","value":1}"# => UnknownField, "field", r#""feild""#);
    rejects!(r#"{"op":"sort_by","field":"x","oder":"desc"}"# => UnknownField, "order", r#""oder""#);
    rejects!(r#"{"op":"call","tool":"t","arg":{}}"# => UnknownField, "args", r#""arg""#);
    rejects!(r#"{"op":"round","value":1,"Precision":2}"# => UnknownField, "precision", r#""Precision""#);
    rejects!(r#"{"op":"get","field":"x","defualt":1}"# => UnknownField, "default", r#""defualt""#);
    // Of several the first in order, whatever their places in the text.
    rejects!(r#"{"op":"eq","fields":"x","feild":"x","value":1}"# => UnknownField, "field", r#""feild""#);
    // Deep inside, and in every part that is checked.
    rejects!(r#"{"a":{"op":"pipe","steps":[{"op":"map","expr":{"op":"gt","feild":"x","value":1}}]}}"#
        => UnknownField, "field", r#""feild""#);
}

#[test]
fn other_fields_are_allowed() {
    runs!(r#"{"op":"literal","value":1,"comment":"one"}"# => "1");
    runs!(r#"{"op":"eq","value":1,"comment":"one","__input":1,"why":[]}"# => "true");
    // A close name beside the field itself may be a comment on it.
    runs!(r#"{"op":"literal","value":1,"valeu":2}"# => "1");
    runs!(r#"{"op":"sort_by","field":"x","feild":"y","__input":[]}"# => "[]");
    runs!(r#"{"op":"literal","value":1,"value":2}"# => "1");
    // The names in an object, and what is taken literally, are free.
    runs!(r#"{"feild":1}"# => r#"%{"feild" => 1}"#);
    runs!(r#"{"op":"object","fields":{"feilds":1}}"# => r#"%{"feilds" => 1}"#);
    runs!(r#"{"op":"literal","value":{"op":"gt","feild":1}}"# => r#"%{"feild" => 1, "op" => "gt"}"#);
}

#[test]
fn the_operations_own_mistakes_come_first() {
    rejects!(r#"{"op":"filter","wher":{"op":"gt","value":1}}"# => FieldMissing, "where");
    // The term says that the field which is normally given is missing too.
    rejects!(r#"{"op":"gt","feild":"x"}"# => FieldMissing, "value", "nil");
    rejects!(r#"{"op":"round","precison":1,"value":{"op":"x"}}"# => UnknownOp, "", r#""x""#);
    rejects!(r#"{"op":"sort_by","field":1,"oder":"desc"}"# => FieldNotString, "field");
    rejects!(r#"{"op":"get","feild":"x"}"# => NeitherFieldNorPath, "field");
}

#[test]
fn in_a_part_that_is_not_checked_it_matters_once_it_is_reached() {
    let inner = r#"{"op":"eq","feild":"a","value":1,"__input":1}"#;
    let program = |op: &str| format!(r#"{{"op":"{op}","value":{inner},"__input":1}}"#);
    fails!(program("eq").as_str() => UnknownField, r#""feild""#);
    // A body that is missing is not reached where there is no item.
    let no_item = r#"{"op":"map","exprx":{},"__input":[]}"#;
    fails!(format!(r#"{{"op":"eq","value":{no_item},"__input":1}}"#).as_str() => UnknownField, r#""exprx""#);
    let branch = format!(
        r#"{{"op":"if","condition":{{"op":"literal","value":true}},"then":{{"op":"literal","value":1}},"else":{inner}}}"#
    );
    runs!(format!(r#"{{"op":"eq","value":{branch},"__input":1}}"#).as_str() => "true");
}

#[test]
fn a_strict_program_has_no_unknown_fields() {
    let unknown = |program: &str| mistake(run(program, "{}", NO_UNKNOWN));
    let found = |name: &str| (Code::UnknownField, "", format!(r#""{name}""#));
    assert_eq!(
        unknown(r#"{"op":"literal","value":1,"comment":"one","about":2}"#),
        found("about")
    );
    assert_eq!(unknown(r#"{"op":"count","x":1}"#), found("x"));
    assert_eq!(
        unknown(r#"{"op":"literal","value":1,"valeu":2}"#),
        found("valeu")
    );
    let direct = r#"{"op":"pipe","steps":[{"op":"var","name":"__input","comment":1}]}"#;
    assert_eq!(unknown(direct), found("comment"));
    // A close one is told first.
    let close = r#"{"op":"gt","about":1,"feild":"x","value":1}"#;
    let meant = (Code::UnknownField, "field", r#""feild""#.to_string());
    assert_eq!(unknown(close), meant);
    let allowed = r#"{"op":"eq","value":1,"__input":1}"#;
    assert_eq!(run(allowed, "{}", NO_UNKNOWN), End::Value("true".into()));
}

#[test]
fn a_strict_program_loads_no_unknown_names() {
    let program = r#"{"op":"load","name":"b"}"#;
    let names: Vec<_> = (10..40).map(|n| format!(r#""n{n}":0"#)).collect();
    let context = format!("{{{}}}", names.join(","));
    let End::Fault(mistake) = run(program, &context, NO_UNKNOWN) else {
        panic!("the name is not there");
    };
    assert_eq!(mistake.code, Code::UnknownName);
    let first: Vec<_> = (10..22).map(|n| format!(r#""n{n}""#)).collect();
    let first = format!("[{}]", first.join(", "));
    assert_eq!(mistake.terms, [r#""b""#, &first, "30"]);
    let there = r#"{"b":null}"#;
    assert_eq!(run(program, there, NO_UNKNOWN), End::Value("nil".into()));
    assert_eq!(run(program, "{}", STRICT), End::Value("nil".into()));
}

/// Rows with these names as atom keys.
fn atom_rows(heap: &mut PlainHeap, names: &[&str], rows: &[&[&str]]) -> Term {
    let keys: Vec<_> = names.iter().map(|name| heap.atom(name)).collect();
    let rows: Vec<_> = rows
        .iter()
        .map(|row| {
            let values: Vec<_> = row
                .iter()
                .map(|value| term(heap, value).expect("a value is JSON"))
                .collect();
            heap.make_map(&keys, &values)
        })
        .collect();
    heap.make_list(&rows)
}

fn over_atoms(program: &str, options: Options) -> End {
    let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), options);
    let mut lab = lab.unwrap_or_else(|end| panic!("{end:?}"));
    let rows = atom_rows(
        &mut lab.heap,
        &["n", "s"],
        &[&["1", r#""a""#], &["2", r#""b""#]],
    );
    let name = lab.heap.atom("items");
    lab.context = lab.heap.make_map(&[name], &[rows]);
    lab.in_one_go()
}

#[test]
fn atoms_are_keys_if_that_is_asked_for() {
    let cases = [
        (r#"{"op":"sum","field":"n"}"#, "3"),
        (
            r#"{"op":"filter","where":{"op":"gt","field":"n","value":1}},{"op":"count"}"#,
            "1",
        ),
        (r#"{"op":"first"},{"op":"get","path":["n"]}"#, "1"),
        (
            r#"{"op":"sort_by","field":"n","order":"desc"},{"op":"first"},{"op":"get","field":"s"}"#,
            r#""b""#,
        ),
        (
            r#"{"op":"select","fields":["n","nothing"]}"#,
            "[%{:n => 1}, %{:n => 2}]",
        ),
        (
            r#"{"op":"filter_in","field":"s","value":["b"]},{"op":"max","field":"n"}"#,
            "2",
        ),
    ];
    for (steps, value) in cases {
        let program = crate::common::over(steps);
        assert_eq!(
            over_atoms(&program, ANY_KEYS),
            End::Value(value.into()),
            "{steps}"
        );
    }
    let sum = crate::common::over(r#"{"op":"sum","field":"n"}"#);
    assert!(matches!(over_atoms(&sum, STRICT), End::Fault(_)));
}

#[test]
fn a_string_is_found_before_an_atom() {
    let program = r#"{"op":"pipe","steps":[{"op":"load","name":"row"},
        {"all":{"op":"select","fields":["a","b"]},"a":{"op":"get","field":"a"},"b":{"op":"get","field":"b"}}]}"#;
    let lab = Lab::of_text(PlainHeap::new(), program.as_bytes(), ANY_KEYS);
    let mut lab = lab.unwrap_or_else(|end| panic!("{end:?}"));
    let heap = &mut lab.heap;
    let keys = [heap.atom("a"), heap.make_string(b"a"), heap.atom("b")];
    let values = ["1", "2", "3"].map(|value| term(heap, value).expect("JSON"));
    let row = heap.make_map(&keys, &values);
    let name = heap.make_string(b"row");
    lab.context = lab.heap.make_map(&[name], &[row]);
    let value = r#"%{"a" => 2, "all" => %{:b => 3, "a" => 2}, "b" => 3}"#;
    assert_eq!(lab.in_one_go(), End::Value(value.into()));
}

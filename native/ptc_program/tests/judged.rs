//! Answers from their text to a judged value or to errors, on plain values.

use crate::common::answers::{self, read_as, read_by};
use crate::common::generate;
use crate::common::rng::Rng;
use ptc_answer::{Keys, Report};

const ROWS: &str = "{rows [{id :int, name :string?}]}";

fn read(text: &str, signature: &str) -> String {
    read_as(text.as_bytes(), signature, Report::All, usize::MAX)
}

#[test]
fn each_kind_of_reply() {
    let cases = [
        (
            "So: {\"a\": 1}.",
            "{a :int}",
            r#"right %{"a" => 1} %{"a" => 1}"#,
        ),
        (
            "{\"a-b\": 1}",
            "{a_b :int}",
            r#"right %{"a_b" => 1} %{"a-b" => 1}"#,
        ),
        (
            "{\"a-b\": 1, \"a_b\": 2}",
            "{a_b :int}",
            r#"hyphens %{"a-b" => 1, "a_b" => 2}"#,
        ),
        ("{\"items\": [1]}", "[:int]", "right [1] [1]"),
        ("{\"a\": [1]}", "[:int]", r#"NotWrapped %{"a" => [1]}"#),
        ("[1]", "{a :int}", "NotAnObject [1]"),
        (
            "{\"a\": \"x\"}",
            "{a :datetime}",
            r#"undecided %{"a" => "x"}"#,
        ),
        ("none", "{a :int}", "None(NotFound(None))"),
        (
            "{\"a\": null}",
            "{a :int, b :bool}",
            r#"wrong [%{:message => "expected int, got keyword", :path => ["a"]}, %{:message => "expected field, got nil", :path => ["b"]}] None %{"a" => nil}"#,
        ),
    ];
    for (text, signature, expected) in cases {
        assert_eq!(read(text, signature), expected, "{text} as {signature}");
    }
}

#[test]
fn a_value_with_its_declared_keys_is_coerced() {
    let read = |text: &str, signature: &str| {
        read_by(text.as_bytes(), signature, (Report::All, true), usize::MAX)
    };
    let (shown, found) = read(r#" {"rows": [{"id": "7"}]}."#, ROWS);
    assert!(
        shown.starts_with(r#"coerced %{"rows" => [%{"id" => 7}]} ["coerced string"#),
        "{shown}"
    );
    assert_eq!(found, Some((Keys::Declared, (1, 24))));
    for text in [
        r#"{"rows": [{"id": "7", "Name": "a"}]}"#,
        r#"{"rows": [{"id": "7", "na-me": "a"}]}"#,
        r#"{"rows": [{"id": "x"}]}"#,
        r#"{"rows": [{"name": "7"}]}"#,
    ] {
        assert!(read(text, ROWS).0.starts_with("wrong"), "{text}");
    }
}

#[test]
fn the_keys_of_a_value_are_declared_or_others() {
    for (text, signature, expected) in [
        (r#"{"rows": [{"id": 1}]}"#, ROWS, Keys::Declared),
        (r#"{"rows": [{"id": 1, "x": 1}]}"#, ROWS, Keys::Plain),
        (
            r#"{"rows": [{"id": 1}, {"id": 2, "Name": "a"}]}"#,
            ROWS,
            Keys::Plain,
        ),
        (
            r#"{"rows": [{"id": 1}, {"name": "a"}], "x": {}}"#,
            ROWS,
            Keys::Plain,
        ),
        (
            r#"{"rows": [{"id": 1, "name": "a-b"}]}"#,
            ROWS,
            Keys::Declared,
        ),
        (r#"{"a_b": 1}"#, "{a-b :int}", Keys::Plain),
        (r#"{"a": {"x-y": 1}}"#, "{a :map}", Keys::Hyphens),
        (
            r#"{"a": {"x": 1}, "b": null}"#,
            "{a :map, b {c :int}?, d :int?}",
            Keys::Declared,
        ),
    ] {
        let (shown, found) = read_by(text.as_bytes(), signature, (Report::All, true), usize::MAX);
        assert_eq!(
            found.map(|found| found.0),
            Some(expected),
            "{text} {signature} {shown}"
        );
    }
}

#[test]
fn a_line_shows_all_errors_and_lists_the_first() {
    let rows: Vec<_> = (0..30).map(|id| format!(r#"{{"id": "{id}"}}"#)).collect();
    let text = format!(r#"{{"rows": [{}]}}"#, rows.join(", "));
    let shown = read_as(text.as_bytes(), ROWS, Report::Line, usize::MAX);
    let errors: Vec<_> = (0..30)
        .map(|at| format!("rows.{at}.id: expected int, got string"))
        .collect();
    assert!(
        shown.contains(&format!("{:?}, 9)", format!("{:?}", errors.join("; ")))),
        "{shown}"
    );
    assert_eq!(shown.matches(":message").count(), 21);
    let root = read_as(b"[[1], 2]", "[[:int]]", Report::Line, usize::MAX);
    assert!(root.contains("1: expected list, got int"), "{root}");
}

#[test]
fn a_long_name_is_cut_off_in_the_line_and_a_long_line_ends() {
    let signature = format!("{{rows [{{{} :int}}]}}", "x".repeat(2_100));
    let text = format!(r#"{{"rows": [{}]}}"#, vec!["{}"; 600].join(","));
    let shown = read_as(text.as_bytes(), &signature, Report::Line, usize::MAX);
    assert!(
        shown.contains("… (2107 bytes): expected field, got nil; rows.1."),
        "{}",
        &shown[..500]
    );
    // 517 errors of 2,027 bytes have room.
    assert!(
        shown.contains("; and 83 more"),
        "{}",
        &shown[shown.len() - 3_000..]
    );
}

#[test]
fn reading_in_pieces_gives_the_same() {
    let mut rng = Rng::new(7);
    for _ in 0..300 {
        let text = answers::answer(&mut rng, |rng| generate::json(rng, 4));
        answers::judged(&text);
    }
    for row in [
        r#"{"id": 1, "name": "Ann"}"#,
        r#"{"id": "1"}"#,
        r#"{"na-me": 1}"#,
    ] {
        let text = format!("Here:\n{{\"rows\": [{}]}}", vec![row; 400].join(",\n"));
        for report in [Report::All, Report::Line] {
            let whole = read_as(text.as_bytes(), ROWS, report, usize::MAX);
            assert_eq!(read_as(text.as_bytes(), ROWS, report, 1_500), whole);
        }
    }
}

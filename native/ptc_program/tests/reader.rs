//! The JSON reader: accepted texts, their values, and the offsets of errors.

use crate::common::rng::Rng;
use crate::common::{generate, oracle, term, DEEP};
use ptc_json::{Document, JsonError, Table};
use ptc_term::plain::PlainHeap;

fn value(text: &str) -> String {
    let mut heap = PlainHeap::new();
    match term(&mut heap, text) {
        Ok(term) => heap.show(term),
        Err(error) => error.to_string(),
    }
}

#[test]
fn values() {
    for (text, shown) in [
        (" \t\r\n null \n", "nil"),
        ("[true,false]", "[true, false]"),
        ("{}", "%{}"),
        (
            r#"{"b":[],"a":{"c":[{}]}}"#,
            r#"%{"a" => %{"c" => [%{}]}, "b" => []}"#,
        ),
        ("\"\u{7f}é日\u{10ffff}\"", "\"\\u{7f}é日\\u{10ffff}\""),
    ] {
        assert_eq!(value(text), shown, "{text}");
    }
}

#[test]
fn numbers() {
    for (text, shown) in [
        ("0", "0"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("1e5", "100000.0"),
        ("1E+2", "100.0"),
        ("0.1", "0.1"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("1e-400", "0.0"),
        ("5e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e308"),
        ("9007199254740993.0", "9007199254740992.0"),
        ("2.2250738585072011e-308", "2.225073858507201e-308"),
    ] {
        assert_eq!(value(text), shown, "{text}");
    }
    let digits = format!("-1{}", "0".repeat(5_000));
    assert_eq!(value(&digits), digits);
}

#[test]
fn of_repeated_keys_the_first_one_counts() {
    assert_eq!(value(r#"{"a":1,"b":2,"a":3}"#), r#"%{"a" => 1, "b" => 2}"#);
    assert_eq!(
        value(r#"[{"a":{"a":1,"\u0061":2}}]"#),
        r#"[%{"a" => %{"a" => 1}}]"#
    );
    let text = br#"{"op":"first","\u006fp":"last"}"#;
    let table = Table::parse(text, DEEP).expect("JSON");
    let document = Document::new(text, &table);
    let op = document.field(0, "op").expect("it is there");
    assert_eq!(document.bytes(document.entry(op)), Some(&b"first"[..]));
}

#[test]
fn escapes() {
    for (text, shown) in [
        (r#""\"\\\/\b\f\n\r\t""#, r#""\"\\/\u{8}\u{c}\n\r\t""#),
        (r#""\u00e9\u65E5\uD83D\uDE00\u0000""#, r#""é日😀\0""#),
        (r#""a\u0062c\u0064e""#, r#""abcde""#),
        (r#""\ud7ff\ue000\uffff""#, r#""\u{d7ff}\u{e000}\u{ffff}""#),
        (r#""\udbff\udfff""#, r#""\u{10ffff}""#),
    ] {
        assert_eq!(value(text), shown, "{text}");
    }
}

/// The offset where a text stops being JSON.
fn token_at(text: impl AsRef<[u8]>, at: usize) {
    let text = text.as_ref();
    let error = Table::parse(text, DEEP).err();
    assert_eq!(
        error,
        Some(JsonError::UnexpectedToken(at)),
        "{}",
        oracle::shown(text)
    );
    oracle::agree(text);
}

fn end(text: &str) {
    let error = Table::parse(text.as_bytes(), DEEP).err();
    assert_eq!(error, Some(JsonError::UnexpectedEnd(text.len())), "{text}");
    oracle::agree(text.as_bytes());
}

#[test]
fn the_first_byte_that_cannot_stand_there() {
    for (text, at) in [
        ("01", 1),
        ("-01", 2),
        ("+1", 0),
        (".5", 0),
        ("1.x", 2),
        ("1.e5", 2),
        ("1e+x", 3),
        ("-x", 1),
        ("1 2", 2),
        ("[1,]", 3),
        ("[,1]", 1),
        ("[1 2]", 3),
        ("{1:2}", 1),
        ("{\"a\" 1}", 5),
        ("{\"a\":1,}", 7),
        ("{\"a\":}", 5),
        ("{\"a\":1]", 6),
        ("[1}", 2),
        ("]", 0),
        ("{,}", 1),
        ("'a'", 0),
        ("NaN", 0),
        ("[Infinity]", 1),
        ("/* */1", 0),
        ("\u{feff}1", 0),
        ("\u{a0}1", 0),
        ("1\u{c}", 1),
        ("{}x", 2),
        ("\"\n\"", 1),
        ("\"a\u{1f}", 2),
        ("[\"\t\"]", 2),
    ] {
        token_at(text, at);
    }
}

#[test]
fn keywords_are_wrong_from_their_first_letter_on() {
    for (text, at) in [
        ("nul", 0),
        ("tru", 0),
        ("falsy", 0),
        ("nulL", 0),
        ("[true,fals", 6),
        ("t", 0),
        ("True", 0),
    ] {
        token_at(text, at);
    }
    token_at("nullx", 4);
    token_at("truefalse", 4);
}

#[test]
fn numbers_that_no_double_can_hold() {
    for (text, at) in [
        ("1e309", 0),
        ("[1, -1e309]", 4),
        ("1.7976931348623159e308", 0),
        ("-1e99999999999999999999", 0),
    ] {
        token_at(text, at);
    }
    assert_eq!(value("0e99999999999999999999"), "0.0");
    assert_eq!(value("1e-99999999999999999999"), "0.0");
}

#[test]
fn the_end() {
    for text in [
        "",
        " ",
        "[",
        "[1",
        "[1,",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "\"",
        "\"abc",
        "-",
        "1.",
        "1e",
        "1e+",
        "[[]",
        "\"\\n",
        "\"\\ud800\\udc00",
        "\"\\ud800",
    ] {
        end(text);
    }
}

#[test]
fn bad_escapes() {
    for (text, at) in [
        (r#""\x""#, 1),
        (r#""ab\u12""#, 3),
        (r#""\u12g4""#, 1),
        (r#""\u+123""#, 1),
        (r#""\"#, 1),
        (r#""\u"#, 1),
        (r#""\u123"#, 1),
        // Surrogates: a low one alone, a high one followed by no low one, by nothing of the kind.
        (r#""\udc00""#, 1),
        (r#""\ud800\u0041""#, 1),
        (r#""\ud800\ud800""#, 1),
        (r#""\ud800""#, 7),
        (r#""\ud800a""#, 7),
        (r#""\ud800\n""#, 7),
        (r#""\ud800\u12""#, 7),
        (r#""\ud800\"#, 7),
        (r#""x\ud800\udc0"#, 8),
    ] {
        token_at(text, at);
    }
}

#[test]
fn bytes_that_are_no_utf8() {
    for (text, at) in [
        (&b"\"\xff\""[..], 1),
        (b"\"ab\x80\"", 3),
        (b"\"\xc3\"", 1),
        (b"\"\xc3", 1), // cut off by the end
        (b"\"\xe6\x97", 1),
        (b"\"a\xe6\x97\"", 2),
        (b"\"\xc0\xaf\"", 1),         // longer than needed
        (b"\"\xed\xa0\x80\"", 1),     // a surrogate
        (b"\"\xf4\x90\x80\x80\"", 1), // beyond the last character
        (b"\"\xc3\xa9\\n\xff\"", 5),  // behind an escape
        (b"\"\xff\n\"", 1),           // before a control character
        (b"{\"\xff\":1}", 2),
        (b"\xff", 0),
        (b"[1,\xc3\xa9]", 3),
    ] {
        token_at(text, at);
    }
}

/// Every prefix of a text is valid, incomplete, or cut off inside a keyword or escape.
#[test]
fn every_prefix_of_a_text() {
    let mut rng = Rng::new(21);
    for _ in 0..500 {
        let text = generate::json(&mut rng, 4);
        for end in 0..text.len() {
            oracle::agree(&text.as_bytes()[..end]);
        }
    }
}

#[test]
fn a_document_is_the_table_of_its_parts() {
    let mut rng = Rng::new(22);
    for _ in 0..2_000 {
        let text = generate::json(&mut rng, 4);
        let table = Table::parse(text.as_bytes(), DEEP).expect("JSON");
        let document = Document::new(text.as_bytes(), &table);
        for at in 0..document.end(0) {
            let (end, mut parts) = (document.end(at), at + 1);
            let children = document
                .elements(at)
                .chain(document.pairs(at).flat_map(|(key, value)| [key, value]));
            for child in children {
                assert_eq!(child, parts, "{text}");
                parts = document.end(child);
            }
            assert_eq!(parts, end, "{text}");
        }
    }
}

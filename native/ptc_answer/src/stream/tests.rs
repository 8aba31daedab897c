//! Tests where a stream halts, byte by byte; the Elixir tests cover all of it.

use super::{Caution, Mistake, Rules, Stream, What};
use crate::PathPart;
use ptc_term::plain::PlainHeap;
use ptc_type::{parse, AnswerType, Got, Mismatch, Scalar, Target, Type};

fn stream(signature: &str, caution: Caution) -> Stream {
    let signature = parse(signature.as_bytes()).expect("a signature");
    let is_list = matches!(signature.types.get(signature.returns), Type::List(_));
    let answer_type = AnswerType::new(signature.types, signature.returns, is_list);
    Stream::new(
        answer_type,
        Rules {
            caution,
            prose: true,
        },
    )
}

/// Returns the number of bytes received before the stream halts, and the reason.
fn halt(signature: &str, text: &str) -> Option<(usize, Mistake)> {
    let mut stream = stream(signature, Caution::Early);
    (0..text.len()).find_map(|at| {
        let mistake = stream.feed(&text.as_bytes()[at..=at])?;
        Some((at, mistake.clone()))
    })
}

fn other(path: &[&str], wanted: &'static str, got: &'static str) -> Mistake {
    let segment = |name: &&str| match name.parse() {
        Ok(index) => PathPart::Index(index),
        Err(_) => PathPart::Name(name.as_bytes().into()),
    };
    Mistake {
        path: path.iter().map(segment).collect(),
        what: What::Mismatch(mismatch(wanted, got)),
    }
}

/// Returns the mismatch with these type words.
fn mismatch(wanted: &str, got: &str) -> Mismatch {
    let scalars = Scalar::ALL.map(Target::Scalar);
    let targets = scalars.into_iter().chain([Target::List, Target::Map]);
    let gots = [
        Got::String,
        Got::Int,
        Got::Float,
        Got::Bool,
        Got::Keyword,
        Got::Map,
        Got::List,
    ];
    let all = targets.flat_map(|expected| gots.map(|got| Mismatch { expected, got }));
    let text = format!("expected {wanted}, got {got}");
    let mut all = all.filter(|mismatch| mismatch.to_string() == text);
    all.next_back().expect("these words are in use")
}

#[test]
fn halts_at_the_byte() {
    let rows = "{r [{a :int, b :bool?}]}";
    for (text, at, mistake) in [
        (
            r#"{"r": [{"a": ""#,
            13,
            other(&["r", "0", "a"], "int", "string"),
        ),
        (
            r#"{"r": [{"a": 1.0"#,
            14,
            other(&["r", "0", "a"], "int", "float"),
        ),
        (
            r#"{"r": [{"a": 1}, {"b": 10 }"#,
            25,
            other(&["r", "1", "b"], "bool", "int"),
        ),
        (r#"{"r": n"#, 6, other(&["r"], "list", "keyword")),
    ] {
        assert_eq!(halt(rows, text), Some((at, mistake)), "{text}");
    }
}

#[test]
fn goes_on_past_what_may_be_right() {
    for text in [
        r#"{"r": [{"a": 1, "b": null, "c": [[{}]]}]}"#,
        r#"{"r": [], "r": 1}"#,
        r#"{"\u0072": [], "r": 1}"#,
        "[1 of 2] and (see [3, 4])",
        "```py\n{\"r\": 1}",
        "{r: 1}",
    ] {
        assert_eq!(halt("{r [{a :int, b :bool?}]}", text), None, "{text}");
    }
}

#[test]
fn many_fields_are_found_by_name() {
    let fields: Vec<_> = (0..100).map(|n| format!("f_{n} :int")).collect();
    let signature = format!("{{{}}}", fields.join(", "));
    assert_eq!(halt(&signature, r#"{"f_70": 1, "x": "", "f-7": "#), None);
    let wrong = other(&["f_70"], "int", "string");
    assert_eq!(halt(&signature, r#"{"f_70": ""#), Some((9, wrong)));
}

#[test]
fn is_certain_in_fences_only() {
    let text = r#"{"r": 1}"#;
    let mut bare = stream("{r :string}", Caution::Certain);
    assert_eq!(bare.feed(text.as_bytes()), None);
    let mut fenced = stream("{r :string}", Caution::Certain);
    assert!(fenced.feed(b"```json\n").is_none());
    assert!(fenced.feed(text.as_bytes()).is_some());
}

#[test]
fn a_fork_is_what_the_stream_was() {
    let mut stream = stream("{r :string}", Caution::Early);
    stream.feed(br#"{"r": "ab"#);
    let mut fork = stream.again(br#"{"r": "a"#);
    stream.feed(b"cd");
    fork.feed(b"x");
    for (stream, text, shown) in [
        (&stream, r#"{"r": "abcd"#, r#"%{"r" => "abcd"}"#),
        (&fork, r#"{"r": "ax"#, r#"%{"r" => "ax"}"#),
        (&stream, r#"{"r": "abc"#, r#"%{"r" => "abc"}"#),
    ] {
        let mut heap = PlainHeap::new();
        let value = stream.partial(text.as_bytes(), &mut heap);
        assert_eq!(
            value.map(|answer| heap.show(answer.value)).as_deref(),
            Some(shown)
        );
    }
}

#[test]
fn a_key_is_read_as_a_whole_wherever_it_is_cut() {
    for name in ["a", "abcdefgh", &"k".repeat(70_000)] {
        let text = format!("{{\"{name}\": 1}}");
        for size in [1, 3, 7, 65_536] {
            let mut stream = stream("{abcdefgh :string?}", Caution::Early);
            let halted = text
                .as_bytes()
                .chunks(size)
                .any(|chunk| stream.feed(chunk).is_some());
            assert_eq!(halted, name == "abcdefgh", "{size}");
        }
    }
}

#[test]
fn keeps_no_text_but_that_of_an_open_key() {
    let mut stream = stream("{a :string?}", Caution::Early);
    for (chunk, kept) in [
        ("Sure: ", 0),
        ("{\"", 0),
        ("b", 1),
        ("cd", 3),
        ("\": \"some", 0),
        ("thing", 0),
        ("\", \"a", 1),
        ("\": \"", 0),
    ] {
        assert!(stream.feed(chunk.as_bytes()).is_none());
        assert_eq!(stream.kept.len(), kept, "{chunk}");
    }
}

#[test]
fn a_number_out_of_range_is_no_json_to_halt_at() {
    let long = format!("[{}]", "1".repeat(2_000));
    for text in ["[1e309] {\"a\": 1}", "[-2E400]", &long] {
        assert_eq!(halt("{a :int}", text), None, "{text}");
    }
    for text in ["[1.5] {\"a\": 1}", "[12345678901234567890]"] {
        assert!(halt("{a :int}", text).is_some(), "{text}");
    }
}

/// Returns the offset after the chunk that halts the stream, and the reason.
fn halt_in_chunks(signature: &str, text: &str, size: usize) -> Option<(usize, Mistake)> {
    let mut stream = stream(signature, Caution::Early);
    text.as_bytes().chunks(size).find_map(|chunk| {
        let mistake = stream.feed(chunk)?.clone();
        Some((stream.taken(), mistake))
    })
}

#[test]
fn a_token_may_be_cut_anywhere() {
    let text = r#"```json
        {"a": -12.50e+3, "\u0061\ud83d\ude00": [true, false, null], "k": "na\"me", "n": 0, "wrong": 1x}"#;
    let signature = "{a :float, k :string, n :int, wrong :int}";
    let syntax = What::Syntax(text.len() - 2);
    for size in 1..text.len() {
        let halted = halt_in_chunks(signature, text, size);
        let end = (text.len() - 1).div_ceil(size) * size;
        let (at, mistake) = halted.expect("it is not JSON");
        assert_eq!(
            (at, mistake.what),
            (end.min(text.len()), syntax.clone()),
            "{size}"
        );
    }
}

#[test]
fn syntax_errors_are_at_the_first_byte_that_is_invalid() {
    for (text, at) in [
        (r#"{"a": tru}"#, 9),
        (r#"{"a": nulL}"#, 9),
        (r#"{"a": 1.}"#, 8),
        (r#"{"a": 01}"#, 7),
        (r#"{"a": -}"#, 7),
        (r#"{"a": 1e+x}"#, 9),
        (r#"{"a": "\u12g"}"#, 11),
        (r#"{"a": "\x"}"#, 8),
        ("{\"a\": \"\n\"}", 7),
        (r#"{"a": 1]"#, 7),
        (r#"{"a" 1}"#, 5),
        (r#"{,}"#, 1),
    ] {
        let fence = "```json\n";
        for size in [1, 2, 3, 100] {
            let halted = halt_in_chunks("{a :any}", &format!("{fence}{text}"), size);
            let what = halted.map(|(_, mistake)| mistake.what);
            assert_eq!(what, Some(What::Syntax(fence.len() + at)), "{text} {size}");
        }
    }
}

#[test]
fn a_number_of_another_type_must_be_a_number() {
    for (text, what) in [
        ("```\n[1 x", What::Mismatch(mismatch("map", "int"))),
        ("```\n[1x", What::Syntax(6)),
        ("```\n[1, 2x", What::Mismatch(mismatch("map", "int"))),
    ] {
        for size in [1, 4, 100] {
            let halted = halt_in_chunks("[{a :int}]", text, size);
            assert_eq!(
                halted.map(|(_, mistake)| mistake.what),
                Some(what.clone()),
                "{text} {size}"
            );
        }
    }
}

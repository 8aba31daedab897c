//! Dates and the operations on numbers that edition 2 brought, in one go and suspended at each unit of fuel.

use crate::common::{run_in, End, Lab, STRICT};
use ptc_program::compile::Options;
use ptc_program::fault::Code;
use ptc_term::heap::Heap;
use ptc_term::number::Number;
use ptc_term::plain::{PlainHeap, Term};

/// The value of a step on `x`, the same wherever the run is left.
fn value_in(options: Options, step: &str, make: impl Fn(&mut PlainHeap) -> Term) -> String {
    let program = format!(r#"{{"op":"pipe","steps":[{{"op":"load","name":"x"}},{step}]}}"#);
    let lab = || {
        let mut heap = PlainHeap::new();
        let (x, name) = (make(&mut heap), heap.make_string(b"x"));
        let context = heap.make_map(&[name], &[x]);
        let lab = Lab::of_text(heap, program.as_bytes(), options);
        lab.expect("a program").over(context)
    };
    let whole = lab().in_one_go();
    for units in [1, 7] {
        assert_eq!(lab().in_executions(|| units), whole, "{step}");
    }
    match whole {
        End::Value(value) => value,
        end => panic!("{step}: {end:?}"),
    }
}

fn value(step: &str, x: &str) -> String {
    value_in(STRICT, step, |heap| {
        crate::common::term(heap, x).expect("JSON")
    })
}

/// The code and the field of an error.
fn error(program: &str, context: &str) -> (Code, Option<&'static str>) {
    match run_in(STRICT, program, context, "{}") {
        End::Rejected(mistake) | End::Fault(mistake) => (mistake.code, mistake.field),
        end => panic!("{program}: {end:?}"),
    }
}

#[test]
fn dates_are_texts() {
    let x = r#""2024-02-29T23:30:15.250-05:00""#;
    assert_eq!(value(r#"{"op":"date_part","part":"day"}"#, x), "29");
    assert_eq!(
        value(r#"{"op":"date_part","part":"week_start"}"#, x),
        r#""2024-02-26""#
    );
    assert_eq!(
        value(r#"{"op":"date_add","amount":1,"unit":"hour"}"#, x),
        r#""2024-03-01T00:30:15.250-05:00""#
    );
    let diff = r#"{"op":"date_diff","from":{"op":"it"},"to":"2024-03-01","unit":"hour"}"#;
    let diff = diff.replace(r#"{"op":"it"}"#, r#"{"op":"var","name":"__input"}"#);
    assert_eq!(value(&diff, x), "-4");
    let nil = r#"{"op":"date_add","amount":{"op":"count"},"unit":"hour"}"#;
    assert_eq!(value(nil, "null"), "nil");
    let now = r#"{"op":"merge","objects":[{"a":{"op":"now"}},{"b":[{"op":"now"}]}]}"#;
    assert_eq!(
        value(now, "1"),
        r#"%{"a" => "2024-02-29T10:30:00Z", "b" => ["2024-02-29T10:30:00Z"]}"#
    );
}

#[test]
fn structs_are_dates_whatever_the_options() {
    let date = |heap: &mut PlainHeap| {
        let calendar = heap.atom("Elixir.Calendar.ISO");
        let [year, month, day] = [2024, 2, 29].map(|part| {
            let number = heap.make_number(Number::Int(part));
            number.expect("an integer")
        });
        let fields = [
            ("calendar", calendar),
            ("year", year),
            ("month", month),
            ("day", day),
        ];
        heap.structure("Date", &fields)
    };
    let values = Options {
        values: true,
        ..STRICT
    };
    for options in [STRICT, values] {
        let part = r#"{"op":"date_part","part":"weekday"}"#;
        assert_eq!(value_in(options, part, date), "4");
        let add = r#"{"op":"date_add","amount":-1,"unit":"year"}"#;
        assert_eq!(value_in(options, add, date), r#""2023-02-28""#);
    }
}

#[test]
fn mistakes_about_dates() {
    let unit = "'unit' must be one of year, month, week, day, hour, minute, second";
    for (program, expected) in [
        (
            r#"{"op":"date_diff","from":1,"to":2,"unit":"days"}"#,
            (Code::FieldWrong, Some(unit)),
        ),
        (
            r#"{"op":"date_diff","from":1,"to":2,"unit":5}"#,
            (Code::FieldNotString, Some("unit")),
        ),
        (
            r#"{"op":"date_add","amount":1,"unit":null,"value":"2024-01-01"}"#,
            (Code::FieldNotString, Some("unit")),
        ),
        (
            r#"{"op":"date_diff","from":1,"to":"2024-01-01","unit":"day"}"#,
            (Code::NeedsDates, None),
        ),
        (
            r#"{"op":"date_add","value":"9999-12-31","amount":1,"unit":"day"}"#,
            (Code::NeedsDates, None),
        ),
        (
            r#"{"op":"date_add","value":"2024-12-31","amount":1.0,"unit":"day"}"#,
            (Code::Requires, Some("an integer amount")),
        ),
        (
            r#"{"op":"date_part","field":"a","value":"b","part":"day"}"#,
            (Code::Accepts, Some("'field' or 'value', not both")),
        ),
    ] {
        assert_eq!(error(program, "{}"), expected, "{program}");
    }
}

#[test]
fn whole_numbers() {
    for (step, x, expected) in [
        (r#"{"op":"floor"}"#, "-2.5", "-3"),
        (r#"{"op":"ceil"}"#, "-2.5", "-2"),
        (r#"{"op":"floor"}"#, "1e20", "100000000000000000000"),
        (r#"{"op":"floor","field":"a"}"#, r#"{"a":7}"#, "7"),
        (r#"{"op":"ceil","value":0.5}"#, "null", "1"),
        (
            r#"{"op":"abs"}"#,
            "-9223372036854775808",
            "9223372036854775808",
        ),
        (r#"{"op":"abs"}"#, "-0.5", "0.5"),
        (r#"{"op":"abs","field":"a"}"#, "{}", "nil"),
        (r#"{"op":"mod","left":-7,"right":3}"#, "null", "2"),
    ] {
        assert_eq!(value(step, x), expected, "{step} {x}");
    }
    let none = r#"{"op":"mod","left":1,"right":0}"#;
    assert_eq!(error(none, "{}"), (Code::DivisionByZero, None));
    let float = r#"{"op":"mod","left":1,"right":2.0}"#;
    assert_eq!(error(float, "{}").0, Code::RequiresBoth);
}

#[test]
fn ranks() {
    let rows = r#"[{"n":4},{"n":"x"},{"n":1},7,{},{"n":2.5},{"n":8}]"#;
    let of = |fields: &str| format!(r#"{{"op":{fields}}}"#);
    for (fields, expected) in [
        (r#""median","field":"n""#, "3.25"),
        (r#""median","expr":{"op":"get","field":"n"}"#, "3.25"),
        (r#""median","field":"none""#, "nil"),
        (r#""percentile","field":"n","p":0"#, "1"),
        (r#""percentile","field":"n","p":100"#, "8"),
        (r#""percentile","field":"n","p":50.0"#, "3.25"),
        (
            r#""percentile","expr":{"op":"get","field":"n"},"p":50"#,
            "3.25",
        ),
    ] {
        assert_eq!(value(&of(fields), rows), expected, "{fields}");
    }
    let beyond = r#"{"op":"percentile","field":"n","p":101}"#;
    let phrase = "'p' must be a number from 0 to 100";
    assert_eq!(error(beyond, "{}"), (Code::FieldWrong, Some(phrase)));
    let none = r#"{"op":"percentile","p":101}"#;
    assert_eq!(error(none, "{}"), (Code::FieldMissing, Some("field")));
    let overflow = r#"{"op":"pipe","steps":[{"op":"load","name":"x"},
        {"op":"median","expr":{"op":"var","name":"__input"}}]}"#;
    let x = r#"{"x":[1.5e308,1.5e308]}"#;
    assert_eq!(error(overflow, x), (Code::BadArith, None));
}

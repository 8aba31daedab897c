//! How the arguments of calls are made: recipes as terms, suspension, and programs that are made to be hard.

use crate::common::generate;
use crate::common::rng::Rng;
use crate::common::types::{for_people, plan_alone, quantum};
use crate::common::{EDITION_1, STRICT};

const ROWS: &str = r#"{"op":"load","name":"rows"}"#;
const N: &str = r#"{"op":"get","field":"n"}"#;

/// The recipes and calls of a program, without its plan.
fn recipes(program: &str) -> String {
    let both = for_people(program, STRICT, None).unwrap_or_else(|| panic!("{program}"));
    assert_eq!(Some(both.plan), plan_alone(program, STRICT), "{program}");
    both.recipes
}

/// The call of a tool with one argument.
fn call(argument: &str) -> String {
    format!(r#"{{"op":"call","tool":"t","args":{{"n":{argument}}}}}"#)
}

/// A call for each row.
fn each(argument: &str) -> String {
    let body = call(argument);
    format!(r#"{{"op":"pipe","steps":[{ROWS},{{"op":"map","expr":{body}}}]}}"#)
}

#[test]
fn recipes_and_calls_are_one_term() {
    assert_eq!(
        recipes(&each(N)),
        concat!(
            r#"{[:nothing, :unknown, {:memory, "__input"}, {:context, "rows"}, {:item, 3}, {:field, 4, "n"}, "#,
            r#"{:object, [{"n", 5}]}, {:answer, "t"}, {:each, 3, 7}], "#,
            r#"[{"t", [{1, [{:context, ["rows"], false}]}], [{1, [{:context, ["rows"], false}]}], 6}]}"#
        )
    );
}

#[test]
fn an_argument_is_made_of_what_flows_into_it() {
    let when = r#"{"op":"if","condition":{"op":"load","name":"c"},"then":1,"else":2}"#;
    let sum = format!(r#"{{"op":"sum","from":{ROWS},"field":"n"}}"#);
    for (argument, parts) in [
        (r#""Ada""#, vec![r#"{:constant, "Ada"}"#]),
        (
            r#"{"op":"literal","value":{"op":"it"}}"#,
            vec![r#"{:constant, %{"op" => "it"}}"#],
        ),
        (r#"{"op":"now"}"#, vec![":now"]),
        (
            r#"{"op":"var","name":"kept"}"#,
            vec![r#"{:memory, "kept"}"#],
        ),
        (ROWS, vec![r#"{:context, "rows"}"#]),
        (
            when,
            vec!["{:constant, 1}", "{:constant, 2}", "{:one_of, ["],
        ),
        (&sum, vec![r#"{:made, "sum", "#]),
        (
            r#"{"a":1,"b":{"op":"load","name":"x"}}"#,
            vec![
                "{:constant, 1}",
                r#"{:context, "x"}"#,
                r#"{:object, [{"a", "#,
            ],
        ),
        (
            r#"{"op":"call","tool":"other","args":{}}"#,
            vec![r#"{:answer, "other"}"#, r#"{"other", "#],
        ),
    ] {
        let made = recipes(&call(argument));
        for part in parts {
            assert!(made.contains(part), "{argument}: {made} has no {part}");
        }
    }
}

#[test]
fn another_constant_another_place_and_another_operation_are_other_recipes() {
    let all = [
        "1",
        "2",
        r#""1""#,
        "[1]",
        r#"{"a":1}"#,
        N,
        r#"{"op":"get","field":"m"}"#,
        r#"{"op":"load","name":"n"}"#,
        r#"{"op":"load","name":"m"}"#,
        r#"{"op":"var","name":"n"}"#,
        r#"{"op":"now"}"#,
        r#"{"op":"it"}"#,
    ];
    let made: Vec<_> = all
        .iter()
        .map(|argument| recipes(&each(argument)))
        .collect();
    for (at, one) in made.iter().enumerate() {
        for (other_at, other) in made.iter().enumerate() {
            assert_eq!(
                one == other,
                at == other_at,
                "{} and {}",
                all[at],
                all[other_at]
            );
        }
    }
}

#[test]
fn random_programs_have_the_same_recipes_when_they_are_suspended() {
    let mut rng = Rng::new(11);
    for _ in 0..25 {
        let program = generate::program(&mut rng, 4);
        for options in [STRICT, EDITION_1] {
            let whole = for_people(&program, options, None);
            // A constant that is a long number is made in one go.
            let units = Some(quantum(&program).max(1_000));
            let parts = for_people(&program, options, units);
            assert_eq!(whole, parts, "{program}");
        }
    }
}

#[test]
fn large_constants_are_whole_and_can_be_suspended() {
    let numbers: Vec<_> = (0..2_000).map(|n| n.to_string()).collect();
    let program = call(&format!("[{}]", numbers.join(",")));
    let whole = recipes(&program);
    for number in [0, 1_000, 1_999] {
        assert!(whole.contains(&number.to_string()), "{number}");
    }
    let parts = for_people(&program, STRICT, Some(quantum(&program)));
    assert_eq!(parts.expect("a plan").recipes, whole);
}

#[test]
fn hard_programs_end() {
    let nested = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(60), close.repeat(60))
    };
    let pair = r#"{"op":"object","fields":{"a":{"op":"it"},"b":{"op":"it"},"c":{"op":"it"}}}"#;
    for program in [
        nested(
            r#"{"op":"pipe","steps":["#,
            ROWS,
            &format!(",{pair},{}]}}", call(r#"{"op":"it"}"#)),
        ),
        nested(
            r#"{"op":"map","expr":{"op":"pipe","steps":[{"op":"load","name":"rows"},"#,
            &format!(r#"{{"op":"map","expr":{}}}"#, call(N)),
            "]}}",
        ),
        nested(
            r#"{"op":"fold","init":{"op":"load","name":"a"},"expr":{"op":"pipe","steps":[{"op":"var","name":"acc"},"#,
            &call(r#"{"op":"var","name":"acc"}"#),
            "]}}",
        ),
    ] {
        let program = format!(r#"{{"op":"pipe","steps":[{ROWS},{program}]}}"#);
        let whole = for_people(&program, STRICT, None);
        assert!(whole.is_some(), "{program}");
        let parts = for_people(&program, STRICT, Some(50));
        assert_eq!(whole, parts);
    }
}

#[test]
fn what_is_refused_has_no_recipes() {
    for program in [r#"{"op":"lod"}"#, "1", r#"{"op":"map"}"#] {
        assert_eq!(for_people(program, STRICT, None), None);
    }
}

/// The bytes of a program as text, each that is not ASCII as a question mark.
fn bytes(program: &str) -> String {
    let bytes = for_people(program, STRICT, None).expect("a plan").bytes;
    let shown = |byte: &u8| {
        if byte.is_ascii() {
            char::from(*byte)
        } else {
            '?'
        }
    };
    bytes.iter().map(shown).collect()
}

#[test]
fn a_program_without_calls_has_no_recipes() {
    assert_eq!(recipes(ROWS), "{[], []}");
}

#[test]
fn the_bytes_of_a_program_do_not_depend_on_how_it_is_written() {
    let literal = |value: &str| format!(r#"{{"op":"literal","value":{value}}}"#);
    let of_value = |value: &str| format!("m2:s2:ops7:literals5:value{value}");
    for (value, expected) in [
        ("null", "as3:nil"),
        ("true", "as4:true"),
        ("false", "as5:false"),
        ("-12", "i-12;"),
        ("-0", "i0;"),
        ("9223372036854775808", "i9223372036854775808;"),
        ("1.5", "f??\0\0\0\0\0\0"),
        (r#""""#, "s0:"),
        (r#""\u00e4\n""#, "s3:??\n"),
        ("[1,[],{}]", "l3:i1;l0:m0:"),
        (
            r#"{"b":1,"a":[2],"b":3,"ab":{"c":4,"B":5}}"#,
            "m3:s1:al1:i2;s2:abm2:s1:Bi5;s1:ci4;s1:bi1;",
        ),
    ] {
        assert_eq!(bytes(&literal(value)), of_value(expected), "{value}");
    }
    let spaced = r#" { "value" : 1.50e0, "op" : "literal" } "#;
    assert_eq!(bytes(spaced), bytes(&literal("1.5")));
}

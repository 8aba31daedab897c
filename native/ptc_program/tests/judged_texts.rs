//! Texts that are judged where they stand. `PTC_ROUNDS=1000000 cargo test --release --test judged_texts` runs longer.

use crate::common::judging::{judge, same};
use crate::common::rng::Rng;
use crate::common::rounds;

#[test]
fn random_texts_are_judged_as_what_they_are_decoded_to() {
    let mut random = Rng::new(4);
    let (all, mut valid) = (rounds(5_000), 0);
    for _ in 0..all {
        let length = random.below(300);
        let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        valid += usize::from(judge(&bytes));
    }
    assert!(valid > all / 4 && valid < 3 * all / 4, "{valid} of {all}");
}

const UNITS: [usize; 3] = [1, 7, 5_000];

fn map(fields: &str) -> String {
    format!(r#"["()",":map",[{fields}]]"#)
}

#[test]
fn fields_are_found_by_all_spellings_and_the_first_of_equal_keys_counts() {
    let of = map(r#"["()","user_id",":int"],["()","c",":string"]"#);
    for (text, expected) in [
        (r#"{"user_id":1,"c":""}"#, true),
        (r#"{"c":"","user-id":1}"#, true),
        (r#"{"\u0075ser_id":1,"c":""}"#, true),
        (r#"{"user-id":"x","user_id":1,"c":""}"#, true),
        (r#"{"user_id":1,"user_id":"x","c":""}"#, true),
        (r#"{"user_id":"x","user_id":1,"c":""}"#, false),
        (r#"{"user_id":"x","\u0075ser_id":1,"c":""}"#, false),
        (r#"{"userId":1,"c":""}"#, false),
        (r#"{"user_id":1}"#, false),
        (r#"{"user_id":1.0,"c":""}"#, false),
        (r#"{"user_id":1,"c":""}}"#, false),
        ("[]", false),
        ("", false),
    ] {
        assert_eq!(same(&of, text, &UNITS), expected, "{text}");
    }
}

#[test]
fn rows_may_have_their_keys_in_any_order() {
    let row = map(r#"["()","a",":int"],["()","b",["()",":optional",":string"]]"#);
    let of = format!(r#"["()",":list",{row}]"#);
    let rows = [
        r#"{"a":1,"b":"x"}"#,
        r#"{"b":"x","a":1}"#,
        r#"{"a":1}"#,
        r#"{"a":1,"b":null,"c":{"a":"x"}}"#,
        r#"{"\u0061":1,"b":null}"#,
        r#"{"a":1,"b":"x","a":""}"#,
    ];
    let mut random = Rng::new(5);
    for _ in 0..rounds(50) {
        let mut all: Vec<_> = (0..random.below(40))
            .map(|_| rows[random.below(rows.len())])
            .collect();
        assert!(same(&of, &format!("[{}]", all.join(",")), &UNITS));
        all.push(r#"{"b":"x"}"#);
        assert!(!same(&of, &format!("[{}]", all.join(",")), &UNITS));
    }
}

#[test]
fn a_closed_map_counts_a_repeated_key_once() {
    let of = r#"["()",":closed_map",[["()","a",":int"]]]"#;
    assert!(same(of, r#"{"a":1,"\u0061":2}"#, &UNITS));
    assert!(!same(of, r#"{"a":1,"a ":2}"#, &UNITS));
    assert!(!same(of, r#"{"a":1,"b":2,"b":3}"#, &UNITS));
}

#[test]
fn deep_and_wide_texts() {
    let tree = r#"["()",":defs",{"n":["()",":list",["()",":ref","n"]]},["()",":ref","n"]]"#;
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(same(tree, &deep(3_000), &[3, 5_000]));
    assert!(!same(tree, &deep(3_000).replace("[]", "[1]"), &[5_000]));
    let any = r#"["()",":map_of",":int"]"#;
    let wide = |count: usize| {
        let members: Vec<_> = (0..count).map(|n| format!("\"{n}\":{n}")).collect();
        format!("{{{}}}", members.join(","))
    };
    assert!(same(any, &wide(1_000), &[50, 5_000]));
}

//! Tests of each rule; the vectors of the Elixir side test all rules together.

use super::choice::Choosing;
use super::recovery::Recovery;
use super::scan::region_end;
use super::walks::{Journal, Walks};
use super::{read_answer, NoAnswer};
use ptc_term::plain::PlainHeap;
use ptc_term::stop::Stop;

fn found(text: &str) -> Result<String, NoAnswer> {
    let mut heap = PlainHeap::new();
    read_answer(text.as_bytes(), &mut heap).map(|answer| heap.show(answer.value))
}

fn assert_found(cases: &[(&str, &str)]) {
    for (text, value) in cases {
        assert_eq!(found(text).as_deref(), Ok(*value), "{text}");
    }
}

#[test]
fn fences_before_brackets() {
    assert_found(&[
        ("[1] and ```json\n[2]\n```", "[2]"),
        ("```42```", "42"),
        ("```\u{A0}\u{3000}\n[1]\u{2003}``` [2]", "[1]"),
        ("``````[1]", "[1]"),
        ("```json\n```{}", "%{}"),
        ("Use ``` and [1]", "[1]"),
    ]);
}

#[test]
fn markers_in_strings() {
    assert_found(&[
        (r#"{"a": "```[1]```"}"#, r#"%{"a" => "```[1]```"}"#),
        (r#"{"a": "```"} ```[1]```"#, "[1]"),
        (
            "```json\n{\"a\": \"```x```\"}\n```",
            r#"%{"a" => "```x```"}"#,
        ),
    ]);
}

#[test]
fn one_value_among_other_things() {
    assert_found(&[
        ("[Note] {x} [1]", "[1]"),
        ("```python\nx = {'a': 1}\n```\n```json\n[1]\n```", "[1]"),
        ("````json\n[1]\n````", "[1]"),
        ("````x [a ``` b] ```` [1]", "[1]"),
    ]);
    for text in [
        "{a: 1} [1]",
        "[a] [1] [2]",
        "[a] [1] {",
        "```json\nno\n```\n[1]",
    ] {
        assert!(matches!(found(text), Err(NoAnswer::Invalid(_))), "{text}");
    }
}

#[test]
fn errors_say_where() {
    let place = |text: &str| match found(text) {
        Err(NoAnswer::Invalid(error)) => Some(error.position()),
        Err(NoAnswer::NotFound(error)) => error.map(|error| error.position()),
        Ok(_) => None,
    };
    assert_eq!(place("none"), None);
    assert_eq!(place("é [1,]"), Some(6));
    assert_eq!(place("é [1, "), Some(7));
    assert_eq!(place("```json\n[1] x\n```"), Some(12));
}

#[test]
fn numbers_have_a_limit() {
    let fits = format!("[{}]", "9".repeat(1024));
    assert!(found(&fits).is_ok());
    let longer = format!("[-{}]", "9".repeat(1024));
    assert!(matches!(found(&longer), Err(NoAnswer::Invalid(_))));
}

#[test]
fn regions() {
    let region_end = |text: &[u8]| region_end(text, 0, &mut |_| Ok(()));
    assert_eq!(region_end(br#"{"}\"}": [}] }"#), Ok(Some(11)));
    assert_eq!(region_end(b"[\\\"]\"]"), Ok(Some(6)));
    assert_eq!(region_end(b"[[]"), Ok(None));
    let trim = |text: &[u8]| {
        let (mut journal, mut count) = (Journal::default(), |_, _| Ok(()));
        Walks::new(&mut journal, &mut count).trim(text, 0..text.len())
    };
    assert_eq!(trim(b"  a b \xC2\xA0"), Ok(2..5));
    assert_eq!(trim(b"   "), Ok(3..3));
}

/// Texts of 100 kB that take minutes if a step scans all the remaining text.
#[test]
fn hostile_texts_are_read_in_linear_time() {
    let units = [
        "[",
        "{",
        "\"",
        "`",
        "```",
        "```x\n[ ",
        "```x [\"",
        "```\n[1]",
        "[\"```",
        "[a]",
        "{\"a\":",
        "```json ",
        "````[1]```",
        "\\",
        "[\"```x [\\\"``` ",
        "``` x",
        "[`]```",
        "{\"a\":\"```\"}",
    ];
    for unit in units {
        let _ = found(&unit.repeat(100_000 / unit.len()));
        let _ = found(&format!("[x]{}", unit.repeat(100_000 / unit.len())));
    }
    let falling: Vec<_> = (3..800).rev().map(|length| "`".repeat(length)).collect();
    let _ = found(&format!("[x]{}", falling.join(" a ")));
}

/// Returns the result of a search, and the units it counted. The search is suspended wherever possible
/// once it has counted `most` units since it was resumed.
fn searched<R>(most: usize, mut resume: impl FnMut(&mut Walks) -> Result<R, Stop>) -> (R, usize) {
    let (mut journal, mut all) = (Journal::default(), 0);
    loop {
        let mut now = 0;
        let mut count = |units: usize, leave: bool| {
            now += units;
            match leave && now > most && now > units {
                true => Err(Stop::SliceOver),
                false => {
                    all += units;
                    Ok(())
                }
            }
        };
        if let Ok(end) = resume(&mut Walks::new(&mut journal, &mut count)) {
            return (end, all);
        }
    }
}

#[test]
fn searches_count_what_they_look_at_and_can_be_left_in_the_middle() {
    let units = [
        "a`b",
        "``",
        "```",
        "```` ",
        "[a]",
        "[\"```\"]",
        "```x\n[1]",
        "[\"\\\"`",
        "\u{A0}",
        " ",
    ];
    for unit in units {
        let filling = unit.repeat(200_000 / unit.len());
        for text in [
            format!("```\n{filling}```"),
            format!("{filling}```json\n[1]\n```"),
            format!("[{filling} ```\n{{}}``` {filling}"),
            format!("Note: [\"{filling}\", 1] ```"),
        ] {
            let text = text.as_bytes();
            let recover = |most| {
                let mut recovery = Recovery::default();
                searched(most, |walks| recovery.resume(text, walks))
            };
            let choose = |most| {
                let mut choosing = Choosing::default();
                searched(most, |walks| choosing.resume(text, None, walks))
            };
            let (found, counted) = recover(usize::MAX);
            let (chosen, _) = choose(usize::MAX);
            for most in [10_000, 20_000] {
                assert_eq!(recover(most).0, found, "{unit:?} {most}");
                assert_eq!(choose(most).0, chosen, "{unit:?} {most}");
            }
            // Without brackets the recovery stops at the end.
            if !text.iter().any(|byte| b"{[".contains(byte)) {
                assert!(counted >= text.len() / 64, "{unit:?}: {counted}");
            }
        }
    }
}

//! Searches in one step, in pieces and by threads find what the `regex` crate finds.

use super::*;
use crate::Source;

fn free(_: usize) -> Result<(), ()> {
    Ok(())
}

fn compile(text: &str) -> Pattern {
    Source::read(text).unwrap().compile().unwrap()
}

fn all(pattern: &str, text: &str) -> Vec<(usize, usize)> {
    let (pattern, mut matches) = (compile(pattern), Matches::default());
    let next = || {
        let found = matches.next(&pattern, text.as_bytes(), free).unwrap();
        let span = found.map(|(span, _)| span);
        matches.take();
        span
    };
    std::iter::from_fn(next).collect()
}

const PATTERNS: &[&str] = &[
    "",
    "a",
    "a*",
    "a+?",
    "x?",
    "\\b",
    "^",
    "$",
    "(?m)^.*$",
    "\\bab\\b",
    "[^a]*",
    "ž",
    "(?:a|ab)(?:c|bcd)*",
    "b$",
    ".",
    "(?i)A",
    "\\w+",
    "\\d+|[a-c]{2,3}",
    "(?s).*",
    "\\B",
    "a{2}|b{3,}",
    "é?",
    ".*?b",
    "(ab)+",
];
const TEXTS: &[&str] = &[
    "",
    "a",
    "aab",
    "abcd abc",
    "žluť ab 12",
    "e\u{301}x",
    "a\nb\n",
    "aaa bbb",
    "ababxab",
    "é😀é",
    " ",
    "xaxbx",
];

#[test]
fn matches_are_those_of_the_engine() {
    for pattern in PATTERNS {
        let compiled = compile(pattern);
        for text in TEXTS {
            let engine: Vec<_> = compiled.regex.find_iter(*text).collect();
            let engine: Vec<_> = engine.iter().map(|m| (m.start(), m.end())).collect();
            assert_eq!(all(pattern, text), engine, "{pattern} in {text:?}");
        }
    }
}

/// All matches of a pattern in long-text manner: by automata, or by threads; `count` fails every time but the next.
fn all_by_steps(pattern: &Pattern, text: &str, with_threads: bool) -> Vec<(Span, Groups)> {
    let (mut from, mut last, mut all) = (0, None, vec![]);
    let mut search = Search::default();
    while from <= text.len() {
        let found = by_steps(pattern, text, from, with_threads, &mut search);
        match found {
            None => break,
            Some((start, end)) if start == end && Some(end) == last => {
                from = if end == text.len() {
                    end + 1
                } else {
                    next_boundary(text.as_bytes(), end)
                };
            }
            Some(span) => {
                let groups = pattern.names().len();
                let slots = pattern.by_threads(
                    text.as_bytes(),
                    span,
                    false,
                    groups.max(1),
                    &mut search,
                    &mut free,
                );
                let (slots, _) = slots.unwrap().unwrap().as_chunks::<2>();
                assert_eq!((slots[0][0], slots[0][1]), span);
                let place = |[start, end]: &[usize; 2]| (*end != NONE).then_some((*start, *end));
                all.push((span, slots[1..=groups].iter().map(place).collect()));
                (from, last) = (span.1, Some(span.1));
            }
        }
    }
    search.end(pattern);
    all
}

fn by_steps(
    pattern: &Pattern,
    text: &str,
    at: usize,
    with_threads: bool,
    search: &mut Search,
) -> Option<Span> {
    let mut fails = false;
    loop {
        let mut count = |_| {
            fails = !fails;
            if fails {
                Err(())
            } else {
                Ok(())
            }
        };
        let found = match with_threads {
            true => pattern
                .by_threads(
                    text.as_bytes(),
                    (at, text.len()),
                    false,
                    0,
                    search,
                    &mut count,
                )
                .map(|slots| slots.map(|slots| (slots[0], slots[1]))),
            false => pattern.find_by_steps(text.as_bytes(), at, false, search, &mut count),
        };
        if let Ok(found) = found {
            return found;
        }
    }
}

#[test]
fn step_by_step_the_matches_are_the_same() {
    for pattern in PATTERNS.iter().chain(GROUPED) {
        let compiled = compile(pattern);
        for text in TEXTS {
            let mut engine = vec![];
            for captures in compiled.regex.captures_iter(*text) {
                let span = captures.get_match().unwrap();
                let place = |index| captures.get_group(index).map(|it| (it.start, it.end));
                let groups: Groups = (1..=compiled.names().len()).map(place).collect();
                engine.push(((span.start(), span.end()), groups));
            }
            for with_threads in [false, true] {
                let steps = all_by_steps(&compiled, text, with_threads);
                assert_eq!(steps, engine, "{pattern} in {text:?}, {with_threads}");
            }
            let mut search = Search::default();
            let found = compiled.is_in_long(text.as_bytes(), &mut search, free);
            assert_eq!(found, Ok(!engine.is_empty()), "{pattern} in {text:?}");
        }
    }
}

const GROUPED: &[&str] = &[
    "(a)|(b)(c)?",
    "\\b(\\w+)\\b",
    "(a*)(a*)",
    "(?:(a)|b)*",
    "(\\w)(\\W)?(?<n>.)",
    "(a|ab)(c|bcd)?",
    "()|x",
    "(x?)*y?",
    "(?:(a+)|(b+?))+$",
];

#[test]
fn long_texts_are_searched_in_chunks() {
    let text = "žluť ab 12 aab; ".repeat(300) + &" ".repeat(150_000);
    let text = text.repeat(4);
    for pattern in [
        "\\bž",
        "ab",
        "a|ab",
        "[a-c]{2,3}",
        "\\b",
        ";",
        "zz",
        "(a)(?:b|ab)?;",
        "\\w{3}",
    ] {
        let compiled = compile(pattern);
        let engine = compiled
            .regex
            .find_iter(&text)
            .map(|it| (it.start(), it.end()));
        assert_eq!(all(pattern, &text), engine.collect::<Vec<_>>(), "{pattern}");
        let mut search = Search::default();
        let found = compiled.is_in_long(text.as_bytes(), &mut search, free);
        assert_eq!(found, Ok(compiled.regex.is_match(&text)), "{pattern}");
    }
}

#[test]
fn the_groups_of_long_matches() {
    let text = "ab".repeat(600_000) + "!";
    let pattern = compile("((?:a|b)*)(.)$");
    let mut matches = Matches::default();
    let found = matches.next(&pattern, text.as_bytes(), free).unwrap();
    let (span, groups) = found.unwrap();
    assert_eq!(span, (0, 1_200_001));
    assert_eq!(
        groups,
        &[Some((0, 1_200_000)), Some((1_200_000, 1_200_001))]
    );
    matches.take();
    assert_eq!(matches.next(&pattern, text.as_bytes(), free), Ok(None));
}

#[test]
fn a_search_goes_on_where_counting_has_failed() {
    for (pattern, text, expected) in [
        ("[ab]*a[ab]{100}c", "ab".repeat(20_000), vec![]),
        ("\\bž+ ", "xž ž ".repeat(20_000), vec![1; 20_000]),
        ("(\\w+) x", "ab".repeat(20_000) + " x", vec![1]),
    ] {
        let pattern = compile(pattern);
        let (mut matches, mut found, mut calls) = (Matches::default(), vec![], 0);
        loop {
            let mut count = |cost: usize| {
                assert!(cost < 70_000 || pattern.built().is_none(), "{cost}");
                calls += 1;
                (calls % 3 > 0).then_some(()).ok_or(())
            };
            match matches.next(&pattern, text.as_bytes(), &mut count) {
                Err(()) => {}
                Ok(None) => break,
                Ok(Some(_)) => {
                    matches.take();
                    found.push(1);
                }
            }
        }
        assert_eq!(found, expected);
    }
}

#[test]
fn a_search_ends_where_counting_fails() {
    let pattern = compile("[ab]*a[ab]{200}c");
    let text = "ab".repeat(500_000);
    let times = (0..5).map(|_| {
        let (mut left, mut search) = (100, Search::default());
        let mut count = |_| {
            left -= 1;
            (left > 0).then_some(()).ok_or("over")
        };
        let before = std::time::Instant::now();
        let ended = pattern.is_in_long(text.as_bytes(), &mut search, &mut count);
        assert_eq!(ended, Err("over"));
        before.elapsed()
    });
    // A machine may stand still in one of them.
    assert!(times.min() < Some(std::time::Duration::from_secs(2)));
}
